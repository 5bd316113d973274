"""LabelTable: three ways to give candidates, parsing, and every invalid table refused with its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.text.arrow import to_csv_bytes
from plcore.tables.text.frames import frame_as_text

BIRDS = b"""id,candidates,width,kind,truth,note
a, wren | robin ,1.5,x,wren,"one, two"
b,robin|finch|robin,,y,, kept
c,wren,-2e3,x,wren,
"""
ROLES = Roles(candidates="candidates", truth="truth", id="id", numbers=("width",), categories=("kind",))
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def refused(data: bytes, roles: Roles | None = None) -> TableError:
    with pytest.raises(TableError) as caught:
        LabelTable.read_csv(data, roles)
    for problem in caught.value.problems:
        assert problem.fix.endswith(".")
        assert problem.message.endswith(".")
    return caught.value


def test_valid_table_is_read() -> None:
    table = LabelTable.read_csv(BIRDS, ROLES)
    assert table.n_rows == 3
    assert table.classes == ("finch", "robin", "wren")
    assert table.candidates.tolist() == [[False, True, True], [True, True, False], [False, False, True]]
    assert table.truth.tolist() == [2, -1, 2]
    assert table.ids.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(table.numbers, [[1.5], [np.nan], [-2000]])
    assert table.cells["candidates"][0] == " wren | robin "
    assert table.cells["note"].tolist() == ["one, two", " kept", ""]
    assert table.cells.index.tolist() == [0, 1, 2]


def test_table_is_immutable() -> None:
    table = LabelTable.read_csv(BIRDS, ROLES)
    for array in (table.candidates, table.truth, table.numbers, table.ids):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_cells_are_copies_that_can_be_changed(tmp_path) -> None:
    table = LabelTable.read_csv(BIRDS, ROLES)
    digest = table.write(tmp_path / "before")
    cells = table.cells
    cells.loc[0, "candidates"] = "finch"
    cells["new"] = "x"
    cells.columns = [*"abcdefg"]
    assert table.cells["candidates"][0] == " wren | robin "
    assert table.write(tmp_path / "after") == digest
    given = pd.DataFrame({"c": ["a|b", "b"], "k": ["x", "y"]}, dtype="str")
    other = LabelTable.from_cells(given, Roles(candidates="c", categories=("k",)))
    given.loc[0, "c"] = "c"
    assert other.cells["c"].tolist() == ["a|b", "b"]


def test_id_and_truth_columns_are_optional() -> None:
    table = LabelTable.read_csv(b"c,w\na|b,1\nb,2\n", Roles(candidates="c", numbers=("w",)))
    assert table.ids.tolist() == ["1", "2"]
    assert table.truth is None


def test_three_ways_give_the_same_candidates() -> None:
    one = LabelTable.read_csv(b"c,w\nb|a,1\nc,2\n", Roles(candidates="c", numbers=("w",)))
    columns = LabelTable.read_csv(
        b"a,b,c,w\n1,1.0,0,1\nFALSE,0, true,2\n", Roles(label_columns=("a", "b", "c"), numbers=("w",))
    )
    votes = LabelTable.read_csv(b"x,y,z,w\na,b,a,1\n,, c,2\n", Roles(annotators=("x", "y", "z"), numbers=("w",)))
    for other in (columns, votes):
        assert other.classes == one.classes
        assert other.candidates.tolist() == one.candidates.tolist()


VOTERS = Roles(annotators=("x", "y", "z"), numbers=("w",))


def test_vote_counts_are_candidate_weights() -> None:
    table = LabelTable.read_csv(b"x,y,z,w\na,b, a,1\nc,c,,2\nb,,b ,3\nc,b,a,4\n", VOTERS)
    assert table.classes == ("a", "b", "c")
    assert table.candidate_weights.tolist() == [[2, 1, 0], [0, 0, 2], [0, 2, 0], [1, 1, 1]]
    assert table.candidate_weights.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        table.candidate_weights[0, 0] = 9


@pytest.mark.parametrize("votes", [b"a,b,c,1\na,,b,2\n", b"a,a,a,1\nb,c,,2\nb,,,3\n"])
def test_equal_votes_within_rows_are_not_weights(votes: bytes) -> None:
    assert LabelTable.read_csv(b"x,y,z,w\n" + votes, VOTERS).candidate_weights is None


def test_other_forms_of_candidates_have_no_weights() -> None:
    listed = LabelTable.read_csv(b"c,w\nb|a|b,1\nc,2\n", Roles(candidates="c", numbers=("w",)))
    columns = LabelTable.read_csv(b"a,b,w\n1,1,1\n0,1,2\n", Roles(label_columns=("a", "b"), numbers=("w",)))
    vectors = Roles(label_columns=("a", "b"), label_vectors=True, numbers=("w",))
    for table in (listed, columns, LabelTable.read_csv(b"a,b,w\n1,1,1\n0,,2\n", vectors)):
        assert table.candidate_weights is None


@given(st.lists(st.tuples(*3 * [st.sampled_from(["", "1", "2", "10", " 2 "])]), min_size=2, max_size=9))
def test_votes_match_a_count_by_hand(rows: list[tuple[str, ...]]) -> None:
    rows = [("1", "2", "2"), *(row for row in rows if any(row))]
    cells = pd.DataFrame(rows, columns=["x", "y", "z"], dtype="str").assign(w="1").astype("str")
    table = LabelTable.from_cells(cells, VOTERS)
    weights = table.candidate_weights
    assert weights is not None
    for row, counts in zip(rows, weights, strict=True):
        assert counts.tolist() == [[vote.strip() for vote in row].count(name) for name in table.classes]
    assert (table.candidates == (weights > 0)).all()


def test_label_columns_keep_their_order() -> None:
    table = LabelTable.read_csv(b"z,a,w\n1,0,1\n1,1,2\n", Roles(label_columns=("z", "a"), numbers=("w",)))
    assert table.classes == ("z", "a")


def test_label_column_names_are_normalised_like_labels() -> None:
    roles = Roles(label_columns=(" wren", "robin "), numbers=("w",), truth="t")
    table = LabelTable.read_csv(b"id, wren,robin ,w,t\n1,1,0,1,wren\n2,1,1,2,robin\n", roles)
    assert table.classes == ("wren", "robin")
    assert table.truth.tolist() == [0, 1]
    assert list(table.cells.columns) == ["id", " wren", "robin ", "w", "t"]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [("10|9|-1|2", ("-1", "2", "9", "10")), ("10|9|b", ("10", "9", "b")), ("01|1|0", ("0", "01", "1")),
     ("1.5|10", ("1.5", "10")), ("9" * 5000 + "|1", ("1", "9" * 5000)), ("hid|hId", ("hId", "hid"))],
)  # fmt: skip
def test_classes_are_sorted(labels: str, classes: tuple[str, ...]) -> None:
    table = LabelTable.read_csv(f"c,w\n{labels},1\n".encode(), Roles(candidates="c", numbers=("w",)))
    assert table.classes == classes


@pytest.mark.parametrize("separator", [";", ",", "/", " ", "||", ".", "ß"])
def test_any_separator_is_accepted(separator: str) -> None:
    data = f'c,w\n"a{separator}b",1\nb{separator},2\n'.replace("b,", '"b,"').encode()
    table = LabelTable.read_csv(data, Roles(candidates="c", separator=separator, numbers=("w",)))
    assert table.candidates.tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        (" 2.5 ", 2.5),
        ("+3", 3.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1E-3", -0.001),
        ("", np.nan),
        ("  ", np.nan),
    ],
)
def test_every_accepted_number_format_is_read(text: str, value: float) -> None:
    table = LabelTable.read_csv(f"c,w,v\na|b,{text},1\n".encode(), Roles(candidates="c", numbers=("w", "v")))
    np.testing.assert_array_equal(table.numbers, [[value, 1.0]])


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100))
def test_every_number_is_read_exactly(value: float) -> None:
    table = LabelTable.read_csv(f"c,w\na|b,{value!r}\n".encode(), Roles(candidates="c", numbers=("w",)))
    assert table.numbers[0, 0] == value
    frame = pd.DataFrame({"c": ["a|b"], "w": [value]})
    assert LabelTable.from_frame(frame, table.roles).numbers[0, 0] == value


@pytest.mark.parametrize(
    "text",
    ["oops", "nan", "NA", "1_000", "0x10", "1 000", "1d", "-", "e5", "١", "1,500", "inf", "-Infinity", "1e999", "."],
)  # fmt: skip
def test_text_in_a_number_column_is_refused(text: str) -> None:
    error = refused(f'c,w\na|b,1\nb,"{text}"\nb,2\n'.encode(), Roles(candidates="c", numbers=("w",)))
    (problem,) = error.problems
    assert (problem.row, problem.line, problem.column) == (2, 3, "w")
    assert repr(text) in problem.message
    assert str(problem).startswith("Row 2 (line 3), column 'w': ")
    assert " Fix: " in str(problem)


WIDTHS = Roles(candidates="c", numbers=("w",))


def test_ambiguous_thousands_comma_is_refused() -> None:
    (first, second) = refused(b"c;w\na|b;1,234\nb;-12,345\na;999\n", WIDTHS).problems
    assert (first.row, first.fix) == (1, "Write 1234 or 1.234, whichever it is: a comma may be either here.")
    assert (second.row, second.fix.split(",")[0]) == (2, "Write -12345 or -12.345")


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_decimal_commas_are_read(between: str, tmp_path) -> None:
    rows = [["id", "c", "w", "n"], ["1", "a|b", "1,5", "1"], ["2", "b", " -0,25", "2.5"], ["3", "a", "7", ""]]
    rows += [["4", "b", "1,234", "3"], ["5", "b", ",5e2", "4"]]
    data = "\n".join(between.join(f'"{cell}"' for cell in row) for row in rows).encode()
    table = LabelTable.read_csv(data)
    assert table.roles.numbers == ("w", "n")
    np.testing.assert_array_equal(table.numbers[:, 0], [1.5, -0.25, 7, 1.234, 50])
    np.testing.assert_array_equal(table.numbers[:, 1], [1, 2.5, np.nan, 3, 4])
    assert list(table.cells.w) == [row[2] for row in rows[1:]], "the text stays as it is"
    table.write(tmp_path / "stored")
    for stored in (table, LabelTable.read(tmp_path / "stored")):
        stored.to_csv(tmp_path / "again.csv")
        again = LabelTable.read_csv(tmp_path / "again.csv", table.roles)
        assert again.cells.equals(table.cells)
        np.testing.assert_array_equal(again.numbers, table.numbers)


def test_decimal_commas_and_points_in_one_column_are_reported() -> None:
    (problem,) = refused(b"c;w\na|b;1,5\nb;2,5\nb;1.5\na;3\n", WIDTHS).problems
    assert (problem.row, problem.fix) == (3, "Write it with a decimal comma: 1,5.")
    (problem,) = refused(b"c;w\na|b;1.5\nb;2.5\nb;1,5\na;3\n", WIDTHS).problems
    assert (problem.row, problem.fix) == (3, "Write it with a decimal point, as others of this column: 1.5.")


LISTED = Roles(candidates="candidates", numbers=("width",))
PICTURED = Roles(candidates="candidates", numbers=("w",), image="pic")
COLUMNS = Roles(label_columns=("a", "b"), numbers=("w",))
MANY = b"candidates,w\n" + b"".join(b"c%d,1\n" % row for row in range(100_001))

# name: data, roles (None: guessed), (row, line, column) of the problem, words of its message
BAD: dict[str, tuple[bytes, Roles | None, tuple[int | None, int | None, str | None], str]] = {
    "no candidates column": (b"x,w\n1,2\n3,4\n", None, (None, None, None), "No column holds the candidate"),
    "no candidate": (b"candidates,w\na|b,1\n | ,2\n", None, (2, 3, "candidates"), "no candidate label"),
    "no votes": (b"rater_1,rater_2,w\na,b,1\n, ,2\n", None, (2, 3, "rater_1"), "no annotator has voted"),
    "no label set": (b"a,b,w\n1,1,1\n0,0,2\n", COLUMNS, (2, 3, "a"), "none of the label columns"),
    "no 0 or 1": (b"a,b,w\n1,1,1\n1,2,2\n", COLUMNS, (2, 3, "b"), "expected 0 or 1, got '2'"),
    "two columns for a label": (
        b"a, a,b,w\n1,0,1,1\n1,0,0,2\n",
        Roles(label_columns=("a", " a", "b"), numbers=("w",)),
        (None, None, " a"),
        "its label 'a' is also that of column 'a'",
    ),
    "empty 0/1 cell": (b"a,b,w\n1,1,1\n1,,2\n", COLUMNS, (2, 3, "b"), "expected 0 or 1, got ''"),
    "text in numbers": (b"candidates,w\na|b,1\nb,2\na,wide\n", None, (3, 4, "w"), "a number, got 'wide'"),
    "id twice": (b"id,candidates,w\nk,a|b,1\nj,a,2\n k,b,3\n", None, (3, 4, "id"), "already used in row 1"),
    "no id": (b"id,candidates,w\nk1,a|b,1\n ,a,2\n", None, (2, 3, "id"), "the id is empty"),
    "truth outside": (
        b"candidates,w,truth\na|b,1,a\na|b,2,c\n",
        None,
        (2, 3, "truth"),
        "'c' is not among the row's candidates 'a', 'b'",
    ),
    "truth of another row": (
        b"candidates,w,truth\na|b,1,a\nb|c,2,a\n",
        None,
        (2, 3, "truth"),
        "'a' is not among the row's candidates 'b', 'c'",
    ),
    "one class": (b"candidates,w\na,1\na,2\n", None, (None, None, "candidates"), "only one label occurs, 'a'"),
    "nothing to learn from": (b"id,candidates\n1,a|b\n2,b\n", None, (None, None, None), "nothing to learn"),
    "script as image": (
        b'candidates,w,pic\na|b,1,"data:image/svg+xml;base64,AAAA"\n',
        PICTURED,
        (1, 2, "pic"),
        "expected an image",
    ),
    "broken base64": (
        b'candidates,w,pic\na|b,1,"data:image/png;base64,AAAAA"\n',
        PICTURED,
        (1, 2, "pic"),
        "expected an image",
    ),
    "missing column": (BIRDS, replace(LISTED, candidates="birds"), (None, None, "birds"), "no such column"),
    "two roles": (
        BIRDS,
        replace(LISTED, truth="candidates"),
        (None, None, "candidates"),
        "cannot be both candidate labels and the true label",
    ),
    "named twice": (BIRDS, replace(LISTED, numbers=("width", "width")), (None, None, "width"), "named twice"),
    "two ways": (BIRDS, replace(LISTED, annotators=("note",)), (None, None, None), "more than one way"),
    "no separator": (BIRDS, replace(LISTED, separator=""), (None, None, "candidates"), "no separator"),
    "too many labels": (MANY, None, (None, None, "candidates"), "100001 different labels"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_invalid_table_is_refused_with_place_and_fix(name: str) -> None:
    data, roles, place, words = BAD[name]
    problem = refused(data, roles).problems[0]
    assert (problem.row, problem.line, problem.column) == place
    assert words in problem.message


def test_all_problems_are_reported_at_once_in_row_order() -> None:
    data = b'id,candidates,w,truth\nk,a|b,"x\ny",a\n\nk,,2,\nm,a,3,b\n'
    error = refused(data, Roles(candidates="candidates", id="id", numbers=("w",), truth="truth"))
    found = [(problem.row, problem.line, problem.column) for problem in error.problems]
    assert found == [(1, 2, "w"), (2, 5, "candidates"), (2, 5, "id"), (3, 6, "truth")]
    assert str(error).count("\n") == 3


def test_row_without_candidates_is_one_problem_whatever_its_truth() -> None:
    error = refused(b"candidates,w,truth\n,1,a\na|b,2,a\n")
    (problem,) = error.problems
    assert (problem.row, problem.column) == (1, "candidates")


def test_number_of_reported_problems_is_limited() -> None:
    error = refused(b"candidates,w\n" + b"a|b,x\n" * 300, Roles(candidates="candidates", numbers=("w",)))
    assert len(error.problems) == MAX_PROBLEMS
    assert [problem.row for problem in error.problems] == list(range(1, MAX_PROBLEMS + 1))


def test_long_cell_is_shortened_in_the_message() -> None:
    error = refused(b"candidates,w\na|b," + b"x" * 10_000 + b"\n", Roles(candidates="candidates", numbers=("w",)))
    assert len(str(error)) < 300


def test_problems_without_a_file_have_no_line() -> None:
    with pytest.raises(TableError, match=r"^Row 2, column 'w': expected a number, got 'x'"):
        LabelTable.from_frame(
            pd.DataFrame({"candidates": ["a|b", "a"], "w": ["1", "x"]}), Roles(candidates="candidates", numbers=("w",))
        )


def test_images_and_empty_images_are_kept() -> None:
    roles = Roles(candidates="c", numbers=("w",), image="pic")
    table = LabelTable.read_csv(f'c,w,pic\na|b,1,"{PIXEL}"\nb,2,\n'.encode(), roles)
    assert table.cells["pic"].tolist() == [PIXEL, ""]


def test_frame_with_many_types_is_read() -> None:
    frame = pd.DataFrame(
        {
            7: pd.Series([1, 2, None], dtype="Int64"),
            "candidates": pd.Categorical(["1|2", "2", "1|2"]),
            "truth": [1.0, np.nan, 2.0],
            "single": np.array([0.1, 0.2, np.nan], dtype=np.float32),
            "half": np.array([0.5, 1, 2], dtype=np.float16),
            "yes": [True, False, None],
            "day": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        }
    )
    frame.index = pd.Index([5, 5, 5])
    roles = Roles(candidates="candidates", truth="truth", numbers=("7", "single", "half"), categories=("yes",))
    table = LabelTable.from_frame(frame, roles)
    assert table.truth.tolist() == [0, -1, 1]
    np.testing.assert_array_equal(table.numbers, [[1, 0.1, 0.5], [2, 0.2, 1], [np.nan, np.nan, 2]])
    assert table.cells["yes"].tolist() == ["True", "False", ""]
    assert table.cells["day"].tolist() == ["2020-01-01 00:00:00", "", "2020-01-03 00:00:00"]


def test_floats_become_the_same_text_in_every_kind_of_column() -> None:
    values = [1.0, None, 2.5, 1e20, 0.1]
    plain = pd.Series(values, dtype=float)
    assert plain.tolist()[3] == 1e20
    columns = {
        "plain": plain,
        "Float64": pd.Series(values, dtype="Float64"),
        "Arrow": pd.Series(values, dtype="double[pyarrow]"),
        "objects": pd.Series(values, dtype=object),
        "categories": pd.Categorical(values),
        "numpy": pd.Series([None if value is None else np.float64(value) for value in values], dtype=object),
    }
    cells = frame_as_text(pd.DataFrame(columns))
    for name in columns:
        assert cells[name].tolist() == ["1", "", "2.5", "1e+20", "0.1"], name
    single = np.array([0.1, 3.0], dtype=np.float32)
    singles = {
        "plain": single,
        "Float32": pd.Series(single, dtype="Float32"),
        "Arrow": pd.Series(single, dtype="float[pyarrow]"),
        "objects": pd.Series(list(single), dtype=object),
        "categories": pd.Categorical(single),
    }
    assert frame_as_text(pd.DataFrame(singles)).T.to_numpy().tolist() == [["0.1", "3"]] * 5
    mixed = frame_as_text(pd.DataFrame({"x": pd.Series([2.0, "2.0", True, 7], dtype=object)}))
    assert mixed["x"].tolist() == ["2", "2.0", "True", "7"]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame(), "no rows"),
        (pd.DataFrame({"c": [], "w": []}), "no rows"),
        (pd.DataFrame([["a|b", 1, 2]], columns=["c", "1", 1]), "same name"),
        (pd.DataFrame([["a|b", 1]], columns=["c", " "]), "has no name"),
        (pd.DataFrame([["a|b", 1]], columns=["c", "w\0"]), "name of column 2 .* no file can hold"),
        (pd.DataFrame([["a|b", 1]], columns=pd.Index(["c", "\ud800"], dtype=object)), "no file can hold"),
        (pd.DataFrame({"c": ["a|b"], "w": pd.Series(["\ud800"], dtype=object)}), "half of a character"),
        (pd.DataFrame({"c": ["a|b"], "w": ["\0"]}), "NUL"),
    ],
)
def test_invalid_frames_are_refused(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(TableError, match=words):
        LabelTable.from_frame(frame, Roles(candidates="c", categories=("w",)))


def test_cells_must_be_text() -> None:
    with pytest.raises(TypeError, match="from_frame"):
        LabelTable.from_cells(pd.DataFrame({"c": ["a|b"], "w": [1]}), Roles(candidates="c", numbers=("w",)))


SHORT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.tuples(SHORT, SHORT, SHORT), min_size=1, max_size=6))
@example([("a|b", "", "x"), ("b", "b", "")])
def test_frame_and_its_csv_give_the_same_table_or_refusal(rows: list[tuple[str, str, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["c", "t", "k"], dtype="str")
    roles = Roles(candidates="c", truth="t", categories=("k",))
    refusal: list[tuple[object, ...]] = []
    try:
        table = LabelTable.from_frame(frame, roles)
    except TableError as error:
        refusal = [(problem.row, problem.column, problem.message) for problem in error.problems]
    if refusal:
        same = refused(to_csv_bytes(frame), roles)
        assert [(problem.row, problem.column, problem.message) for problem in same.problems] == refusal
        return
    again = LabelTable.read_csv(to_csv_bytes(table.cells), roles)
    assert again.cells.equals(table.cells)
    assert again.classes == table.classes
    np.testing.assert_array_equal(again.candidates, table.candidates)
    np.testing.assert_array_equal(again.truth, table.truth)


def test_table_is_written_as_csv(tmp_path) -> None:
    table = LabelTable.read_csv(BIRDS, ROLES)
    table.to_csv(tmp_path / "birds.csv")
    again = LabelTable.read_csv(str(tmp_path / "birds.csv"), ROLES)
    assert again.cells.equals(table.cells)


def test_cells_of_a_row_match_the_file() -> None:
    table = LabelTable.read_csv(BIRDS, ROLES)
    for row in range(table.n_rows):
        assert table.cells_of(row, tuple(table.cells.columns)) == tuple(table.cells.iloc[row])
    assert table.cells_of(1, ("note", "id")) == (" kept", "b")
    assert table.cells_of(0, ()) == ()
