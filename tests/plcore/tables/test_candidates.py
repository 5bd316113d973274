"""Candidates with weights: every form of labels in a table, cuts, spelling, and refusals."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError, suggest_roles
from plcore.tables.candidates import cut_weights, parse_candidates
from plcore.tables.columns import Finder

W = ("w",)


def table(columns: dict[str, list[str]], roles: Roles) -> LabelTable:
    n = len(next(iter(columns.values())))
    frame = pd.DataFrame({**columns, "w": [str(k) for k in range(n)]}, dtype="str")
    return LabelTable.from_cells(frame, roles)


def listed(cells: list[str], form: str, separator: str = "|", **more: object) -> LabelTable:
    roles = Roles(candidates="c", form=form, separator=separator, numbers=W, **more)  # type: ignore[arg-type]
    return table({"c": cells}, roles)


def sets(found: LabelTable) -> list[dict[str, float]]:
    """{label: weight} of every row; 1 if the table keeps no weights."""
    weights = found.candidates.astype(float) if found.candidate_weights is None else found.candidate_weights
    return [
        {found.classes[k]: float(row[k]) for k in np.flatnonzero(kept)}
        for row, kept in zip(weights, found.candidates, strict=True)
    ]


def problems(error: pytest.ExceptionInfo[TableError]) -> list[tuple[int | None, str | None, str]]:
    return [(one.row, one.column, one.message) for one in error.value.problems]


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ('["wren", "robin"]', {"wren": 1.0, "robin": 1.0}),
        ("['wren', 'robin']", {"wren": 1.0, "robin": 1.0}),
        ("('wren', 'robin')", {"wren": 1.0, "robin": 1.0}),
        ("{'wren', 'robin'}", {"wren": 1.0, "robin": 1.0}),
        ("['wren' 'robin']", {"wren": 1.0, "robin": 1.0}),
        ('["wren"\n "robin"]', {"wren": 1.0, "robin": 1.0}),
        ('{"wren": 0.6, "robin": 0.3}', {"wren": 0.6, "robin": 0.3}),
        ('[{"label": "wren", "score": 0.6}, {"label": "robin", "score": 0.3}]', {"wren": 0.6, "robin": 0.3}),
        ('[{"name": "wren", "p": 2}, {"name": "robin", "p": 1}]', {"wren": 2.0, "robin": 1.0}),
        ('[["wren", 0.6], ["robin", 0.3]]', {"wren": 0.6, "robin": 0.3}),
        ('{"labels": ["wren", "robin"], "scores": [0.6, 0.3]}', {"wren": 0.6, "robin": 0.3}),
        ('{"wren": 0.6, "robin": 0}', {"wren": 0.6}),
        ("[true, 3, 2.5]", {"true": 1.0, "3": 1.0, "2.5": 1.0}),
    ],
)
def test_json_and_python_lists_are_read(cell: str, wanted: dict[str, float]) -> None:
    other = '["owl"]' if set(wanted.values()) == {1.0} else '{"owl": 1, "tit": 2}'
    pair = listed([cell, other], "json")
    assert sets(pair)[0] == wanted


@pytest.mark.parametrize(
    "cell",
    ["wren", "[wren", '["wren"', '[["wren"]]', '{"wren": "much"}', '[{"kind": "wren"}]', "{'wren': nan}", "[" * 5000],
)  # fmt: skip
def test_json_cell_of_another_kind_names_its_row(cell: str) -> None:
    with pytest.raises(TableError) as error:
        listed(['["wren", "robin"]', cell], "json")
    (row, column, message) = problems(error)[0]
    assert (row, column) == (2, "c")
    assert message.startswith("expected a list or an object of labels")


def test_partly_weighted_row_is_refused() -> None:
    assert sets(listed(['{"wren": 0.6, "owl": 0.2}', '["owl", "tit"]'], "json")) == [
        {"wren": 0.6, "owl": 0.2},
        {"owl": 1.0, "tit": 1.0},
    ]
    with pytest.raises(TableError, match="the label 'owl' has no number, others of the row have") as error:
        listed(['["tit"]', '[["wren", 0.6], "owl"]'], "json")
    assert [row for row, _, _ in problems(error)] == [2]


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("wren:0.6|robin:0.3", {"wren": 0.6, "robin": 0.3}),
        ("wren=0.6|robin=.3", {"wren": 0.6, "robin": 0.3}),
        ("wren (0.6) | robin (0.3)", {"wren": 0.6, "robin": 0.3}),
        ("wren: 0.6|robin : 3e-1", {"wren": 0.6, "robin": 0.3}),
        ("wren:60%|robin:30 %", {"wren": 0.6, "robin": 0.3}),
        ("wren (0,5)|robin=1", {"wren": 0.5, "robin": 1.0}),
        ("a:b:0.5|a:c:1", {"a:b": 0.5, "a:c": 1.0}),  # a name keeps its colon
        ("a:1|b:1|a:1", {"a": 2.0, "b": 1.0}),  # equal labels add up
    ],
)
def test_weighted_cells_are_read(cell: str, wanted: dict[str, float]) -> None:
    assert sets(listed([cell, "owl:1"], "weighted")) == [wanted, {"owl": 1.0}]


def test_equal_labels_without_weights_count_once() -> None:
    assert listed(["a|b|a", "b"], "list").candidate_weights is None


def test_weighted_cell_without_number_or_below_zero_is_refused() -> None:
    with pytest.raises(TableError) as error:
        listed(["wren:0.6|robin", "wren:-1|robin:2"], "weighted")
    assert [(row, column) for row, column, _ in problems(error)] == [(1, "c"), (2, "c")]
    assert "expected labels with numbers, got 'robin'" in str(error.value)
    assert "the weight -1 is below 0" in str(error.value)


PAIRS = Roles(choices=("l1", "l2"), choice_scores=("s1", "s2"), numbers=W)


def test_label_and_score_columns_are_read() -> None:
    cells = {"l1": ["wren", "owl"], "s1": ["0.6", "1"], "l2": ["robin", ""], "s2": ["0.3", ""]}
    assert sets(table(cells, PAIRS)) == [{"wren": 0.6, "robin": 0.3}, {"owl": 1.0}]
    without = Roles(choices=("l1", "l2"), numbers=W)
    assert sets(table(cells, without)) == [{"wren": 1.0, "robin": 1.0}, {"owl": 1.0}]
    assert table(cells, without).candidate_weights is None


def test_mismatched_pairs_are_refused() -> None:
    cells = {"l1": ["wren", "owl"], "s1": ["0.6", ""], "l2": ["robin", ""], "s2": ["-0.3", "0.2"]}
    with pytest.raises(TableError) as error:
        table(cells, PAIRS)
    assert {(row, column) for row, column, _ in problems(error)} == {(2, "s1"), (1, "s2"), (2, "s2"), (2, "l1")}
    uneven = Roles(choices=("l1", "l2"), choice_scores=("s1",), numbers=W)
    with pytest.raises(TableError, match="2 columns of candidates and 1 of scores"):
        table(cells, uneven)


SCORES = Roles(score_columns=("p_a", "p_b", "p_c"), score_prefix="p_", numbers=W)


def test_one_score_column_per_label_is_read() -> None:
    cells = {"p_a": ["0.7", "0", "0.2"], "p_b": ["0.2", "1", "0.4"], "p_c": ["0.1", "", "0.4"]}
    assert sets(table(cells, SCORES)) == [{"a": 0.7, "b": 0.2, "c": 0.1}, {"b": 1.0}, {"a": 0.2, "b": 0.4, "c": 0.4}]
    assert table(cells, SCORES).classes == ("a", "b", "c")


def test_invalid_scores_are_refused() -> None:
    with pytest.raises(TableError) as error:
        table({"p_a": ["0.7", "0"], "p_b": ["-2", "0"], "p_c": ["x", "0"]}, SCORES)
    found = problems(error)
    assert [(row, column) for row, column, _ in found] == [(1, "p_c"), (1, "p_b"), (2, "p_a")]
    assert found[2][2] == "no label has a score above 0 in this row."
    same = Roles(score_columns=("p_a", "a"), score_prefix="p_", numbers=W)
    with pytest.raises(TableError, match="its label 'a' is also that of column 'p_a'"):
        table({"p_a": ["1", "0"], "a": ["1", "0"]}, same)


@pytest.mark.parametrize(
    ("cut", "at", "wanted"),
    [
        ("all", 0.0, [{"a": 0.7, "b": 0.2, "c": 0.1}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
        ("threshold", 0.5, [{"a": 0.7}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
        ("threshold", 0.2, [{"a": 0.7, "b": 0.2}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
        ("top", 1, [{"a": 1.0}, {"a": 1.0}]),
        ("top", 2, [{"a": 0.7, "b": 0.2}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
        ("mass", 0.9, [{"a": 0.7, "b": 0.2}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
        ("mass", 0.7, [{"a": 0.7}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
        ("mass", 1.0, [{"a": 0.7, "b": 0.2, "c": 0.1}, {"a": 0.4, "b": 0.3, "c": 0.3}]),
    ],
)
def test_cuts_remove_light_candidates(cut: str, at: float, wanted: list[dict[str, float]]) -> None:
    cells = ["a:0.7|b:0.2|c:0.1", "a:0.4|b:0.3|c:0.3"]
    assert sets(listed(cells, "weighted", cut=cut, cut_at=at)) == wanted


@pytest.mark.parametrize(
    ("cut", "at"), [("threshold", 0.0), ("top", 0), ("top", 1.5), ("top", float("inf")), ("mass", 0.0), ("mass", 1.1)]
)
def test_invalid_cut_is_refused(cut: str, at: float) -> None:
    with pytest.raises(TableError, match=f"cannot be cut at {at:g}"):
        listed(["a:1|b:2"], "weighted", cut=cut, cut_at=at)


@given(
    st.lists(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=4, max_size=4), min_size=1, max_size=6),
    st.floats(0.01, 1),
)
def test_mass_cut_keeps_the_fewest_labels_with_the_share(rows: list[list[float]], share: float) -> None:
    weights = np.array(rows)
    kept = cut_weights(weights, "mass", share)
    for before, after in zip(weights, kept, strict=True):
        assert after.sum() >= share * before.sum() * (1 - 1e-9)
        assert all(after[k] in (0.0, before[k]) for k in range(4))
        least = min((value for value in after if value > 0), default=0.0)
        # Without the lightest that stay, and those as light, the share would not be held.
        assert least == 0 or after[after > least].sum() < share * before.sum() * (1 + 1e-9)


def test_labels_that_look_the_same_get_one_spelling() -> None:
    assert listed(["caf\u00e9|tea", "cafe\u0301|t\u200bea", "\ufefftea|cafe\u0301"], "list").classes == (
        "caf\u00e9",
        "tea",
    )
    assert listed(["1|2.0", "1.0|3"], "list").classes == ("1", "2", "3")
    assert listed(["1|2.0", "1.5|3"], "list").classes == ("1", "1.5", "2.0", "3")
    assert listed(['["1.0", "02"]', '["02", "2"]'], "json").classes == ("02", "1.0", "2"), "in quotes, a name"
    assert listed(["True|false", "true|FALSE"], "list").classes == ("false", "true")
    assert listed(["True|maybe", "true|maybe"], "list").classes == ("True", "maybe", "true")


def test_truth_is_spelled_like_labels() -> None:
    found = table(
        {"c": ["1|2", "1.0|2", "1|2"], "t": ["1.0", "2", "nan"]},
        Roles(candidates="c", truth="t", numbers=W, ignored=("nan",)),
    )
    assert found.truth.tolist() == [0, 1, -1]
    with pytest.raises(TableError, match="'3' is not among the row's candidates"):
        table({"c": ["1|2", "2"], "t": ["3", ""]}, Roles(candidates="c", truth="t", numbers=W))


def test_ignored_values_are_not_labels() -> None:
    assert listed(["a|nan", "b|a"], "list", ignored=("nan",)).classes == ("a", "b")
    assert listed(['["a", "b"]', '["b", "NA"]'], "json", ignored=("NA",)).classes == ("a", "b")
    with pytest.raises(TableError, match="the row has no candidate label"):
        listed(["nan", "b|a"], "list", ignored=("nan",))


LABELS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zs", "Cf")), min_size=1, max_size=8)


@given(rows=st.lists(st.dictionaries(LABELS, st.floats(1e-6, 1e6), min_size=1, max_size=4), min_size=1, max_size=5))
def test_any_labels_and_weights_round_trip_through_json_and_storage(
    rows: list[dict[str, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A label of every kind, so that neither numbers nor truth values are all there is, and nothing is respelled.
    rows = [*rows, {"x y": 1.0}]
    found = listed([json.dumps(row, ensure_ascii=False) for row in rows], "json")
    path = tmp_path_factory.mktemp("kept") / "table.parquet"
    found.write(path)
    again = LabelTable.read(path)
    assert (again.candidates == found.candidates).all()
    assert again.classes == found.classes
    wanted: list[dict[str, float]] = []
    for row in rows:
        one: dict[str, float] = {}
        for name, weight in row.items():
            plain = unicodedata.normalize("NFC", name)
            one[plain] = one.get(plain, 0.0) + weight
        wanted.append(one)
    if again.candidate_weights is None:
        wanted = [dict.fromkeys(one, 1.0) for one in wanted]
    assert sets(again) == [pytest.approx(one) for one in wanted]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("a:1e400|b:2", "is too large to calculate with"),
        ("a:1e200|b:2", "is too large to calculate with"),
        ("a:1,234|b:2,345", r"Write 1234 or 1\.234, whichever it is"),  # between thousands, or decimal
        ("a:007|b:1", "expected labels with numbers"),
        ("a:12:05|b:1", "expected labels with numbers"),
    ],
)
def test_invalid_weight_is_refused(cell: str, words: str) -> None:
    with pytest.raises(TableError, match=words):
        listed([cell], "weighted")


@pytest.mark.parametrize(
    "cell", ['{"a": 1' + 400 * "0" + ', "b": 2}', "[1" + 5000 * "0" + "]", r'["\ud800", "b"]', r'["a\u0000", "b"]']
)
def test_cells_without_a_valid_label_are_refused_with_a_message(cell: str) -> None:
    with pytest.raises(TableError, match="expected a list or an object of labels"):
        listed(['["a", "b"]', cell], "json")


def test_long_numbers_can_be_labels() -> None:
    assert listed([f"{'1' * 5000}.0|2", "3|2"], "list").classes[-1] == "3"


def test_long_cell_of_digits_is_parsed_quickly() -> None:
    digits = "1" * 100_000
    frame = pd.DataFrame({"labels": [f"a:{digits}x|b", "a|b"], "w": [f"{digits}x", "2"]}, dtype="str")
    assert (suggest_roles(frame).candidates, suggest_roles(frame).form) == ("labels", "list")


@pytest.mark.parametrize(
    "cell", ['{"a": 0.6, "a": 0.3, "b": 1}', "{'a': 0.6, 'a': 0.3}", '[{"label": "a", "label": "b"}]']
)
def test_object_with_a_repeated_key_is_refused(cell: str) -> None:
    with pytest.raises(TableError) as caught:
        listed(['{"a": 1, "b": 2}', cell, '["b"]'], "json")
    key = "label" if "label" in cell else "a"
    assert problems(caught)[0] == (2, "c", f"the object names {key!r} twice.")
    assert {row for row, _, _ in problems(caught)} == {2}


def test_one_non_numeric_truth_is_one_problem() -> None:
    cells = {"c": ["1|2", "2|3", "1|3"], "t": ["1.0", "robin", "3.0"]}
    with pytest.raises(TableError) as caught:
        table(cells, Roles(candidates="c", truth="t", numbers=W))
    assert [row for row, _, _ in problems(caught)] == [2]
    cells["t"][1] = ""
    truth = table(cells, Roles(candidates="c", truth="t", numbers=W)).truth
    assert truth.tolist() == [0, -1, 2]


def test_weights_too_large_for_memory_are_refused_but_not_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plcore.tables.candidates.MAX_WEIGHTS", 5)
    assert listed(["a|b", "b|c"], "list").candidates.shape == (2, 3)
    words = "2 rows and 3 classes make 6 weights; at most 5 are allowed."
    with pytest.raises(TableError, match=words):
        listed(["a:1|b:2", "b:2|c:1"], "weighted")
    scores = {"a": ["1", "2"], "b": ["2", "1"], "c": ["1", "1"]}
    with pytest.raises(TableError, match=words):
        table(scores, Roles(score_columns=("a", "b", "c"), numbers=W))


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ({"c": ["a:0|b:0", "a:1|b:2"]}, Roles(candidates="c", form="weighted", numbers=("x",))),
        ({"c": ['{"a": 0}', '{"a": 1, "b": 2}']}, Roles(candidates="c", form="json", numbers=("x",))),
        (
            {"c": ["a", "a"], "s": ["0", "1"], "d": ["b", "b"], "t": ["0", "2"]},
            Roles(choices=("c", "d"), choice_scores=("s", "t"), numbers=("x",)),
        ),
    ],
)
def test_row_with_all_zero_weights_is_reported(columns: dict[str, list[str]], roles: Roles) -> None:
    with pytest.raises(TableError) as error:
        table({**columns, "x": ["1", "2"]}, roles)
    assert problems(error) == [(1, "c", "all weights of the row are 0.")]


def test_prefix_without_columns_is_refused() -> None:
    columns = {"p_a": ["1", "2"], "p_b": ["2", "1"], "x": ["1", "2"]}
    roles = Roles(score_columns=("p_a", "p_b"), score_prefix="prob_", numbers=("x",))
    with pytest.raises(TableError, match="begins with 'prob_'; they are 'p_a', 'p_b'"):
        table(columns, roles)
    assert table(columns, replace(roles, score_prefix="p_")).classes == ("a", "b")


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
def test_lists_are_read_in_blocks_of_rows(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = pd.DataFrame({"c": ["wren|robin", "", " tit ", "robin||wren", "tit|wren"]}, dtype="str")
    roles = Roles(candidates="c")
    whole, finder = parse_candidates(cells, roles, Finder(None)), Finder(None)
    monkeypatch.setattr("plcore.tables.roles.cells._ROWS_AT_ONCE", at_once)
    found = parse_candidates(cells, roles, finder)
    assert found.classes == whole.classes == ("robin", "tit", "wren")
    wanted = [[True, False, True], [False] * 3, [False, True, False], [True, False, True], [False, True, True]]
    assert found.candidates.tolist() == whole.candidates.tolist() == wanted
    assert [problem.row for problem in finder.problems] == [2]
