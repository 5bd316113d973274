"""The table interface used by writers: rows one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.writers.disambiguated import VOTES, Disambiguated, names_beside
from tests.plcore.tables.writers.tables import TEXTS, decided, disambiguated, frame, small_table


@given(disambiguated())
def test_candidates_and_answers_of_a_row_are_listed(table: Disambiguated) -> None:
    for row, (before, after) in enumerate(zip(table.weighted(before=True), table.weighted(), strict=True)):
        assert list(before) == [
            name for name, bit in zip(table.classes, table.candidates_before[row], strict=True) if bit
        ]
        assert set(after) == {name for name, bit in zip(table.classes, table.candidates_after[row], strict=True) if bit}
        assert after.items() <= before.items()
        if table.weights is None:
            assert set(before.values()) == {None}
        else:
            assert sum(before.values()) == np.float64(table.weights[row].sum()) or len(before) > 1
    found = table.answers_by_row()
    assert sorted(found) == sorted({answer["row"] for answer in table.answers})
    for row, answers in found.items():
        assert answers == [answer for answer in table.answers if answer["row"] == row]
        assert {answer["kind"] for answer in answers} <= set(VOTES)


def test_labels_have_probabilities() -> None:
    ones = np.ones((2, 2), dtype=bool)
    table = Disambiguated(
        np.array(["p", "q"], dtype=object), frame({"text": "x", "n": 1}, {"text": "y", "n": 2}), ("a", "b"), ones, ones,
        None, np.array([1, -1]), np.array(["m", ""], dtype=object), np.array([0.5, np.nan]),
    )  # fmt: skip
    assert [table.label_name(row) for row in (0, 1)] == ["b", None]
    assert [table.known_probability(row) for row in (0, 1)] == [0.5, None]
    assert table.records() == [{"text": "x", "n": "1"}, {"text": "y", "n": "2"}]
    assert table.answers_by_row() == {}
    assert replace(table, weights=ones * 0.5).weighted(before=True)[0] == {"a": 0.5, "b": 0.5}


@given(decided(), st.integers(1, 5), st.data())
def test_selected_rows_keep_their_answers_and_pieces_contain_all_rows(
    table: Disambiguated, size: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(table.ids))))
    rows = np.array(order[: data.draw(st.integers(0, len(order)))], dtype=np.int64)
    found = table.chosen(rows)
    assert found.ids.tolist() == [table.ids[row] for row in rows]
    assert found.records() == [table.records()[row] for row in rows]
    for after in (False, True):
        assert found.weighted(before=not after) == [table.weighted(before=not after)[row] for row in rows]
    assert [found.label_name(row) for row in range(len(rows))] == [table.label_name(row) for row in rows]
    back = [{**answer, "row": rows[answer["row"]]} for answer in found.answers]
    assert back == [answer for answer in table.answers if answer["row"] in rows]
    check_pieces(table, size)


def test_selecting_all_rows_makes_no_copy() -> None:
    table = small_table()
    assert table.chosen(np.arange(3)) is table
    assert table.chosen(np.array([2, 1, 0])) is not table
    first = next(table.pieces(2))
    assert first.candidates_after.base is not None, "a piece is a view"
    assert np.shares_memory(first.weights, table.weights)


def check_pieces(table: Disambiguated, size: int) -> None:
    """Pieces of so many rows contain all rows in order."""
    pieces = list(table.pieces(size))
    assert [len(piece.ids) for piece in pieces[:-1]] == [size] * (len(pieces) - 1)
    assert [name for piece in pieces for name in piece.ids] == table.ids.tolist()
    assert [row for piece in pieces for row in piece.weighted()] == table.weighted()
    assert [one for piece in pieces for one in said_last(piece)] == said_last(table)
    assert sum(len(piece.answers) for piece in pieces) == len(table.answers)
    starts = range(0, len(table.ids), size)
    if table.weights is not None:
        joined = np.concatenate([table.weights_left(slice(start, start + size)) for start in starts])
        assert (joined == table.weights_left()).all()


def said_last(table: Disambiguated) -> list[tuple[str, str] | None]:
    return [None if one is None else (one["person"], one["at"]) for one in table.deciding()]


def test_candidate_added_by_an_answer_gets_the_largest_weight() -> None:
    """The models do the same."""
    before = np.array([[True, True, False], [True, False, False]])
    after = np.array([[True, False, True], [False, True, True]])
    weights = np.array([[0.5, 2.0, 0.0], [0.0, 0.0, 0.0]])
    table = replace(small_table().chosen(np.array([0, 1])), candidates_before=before, candidates_after=after)
    found = replace(table, weights=weights).weights_left()
    assert found.tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 1.0]]
    assert replace(table, weights=None).weights_left() is None


def test_skip_and_unsure_decide_nothing() -> None:
    answer = {"row": 1, "labels": [], "at": "2026-01-01", "seconds": None, "model_version": None}
    kinds = ["none", "skip", "unsure"]
    answers = [{**answer, "person": kind, "kind": kind} for kind in kinds]
    assert said_last(replace(small_table(), answers=answers)) == [None, ("none", "2026-01-01"), None]


def test_only_model_labels_have_a_version() -> None:
    table = small_table()
    assert [table.version_of(row) for row in range(3)] == [None, None, "3"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [({"text": "p", "key": " p "}, "key"), ({"text": "p "}, "text"), ({"text": "x"}, None), ({}, None)],
)
def test_id_column_is_found_by_its_cells(columns: dict[str, str], found: str | None) -> None:
    cells = frame({"other": "q", **columns})
    table = replace(small_table().chosen(np.array([0])), cells=cells)
    assert table.id_column() == (next(iter(columns)) if columns.get("text") == "p" else found)


@given(st.lists(TEXTS, unique=True, max_size=4), st.lists(TEXTS, unique=True, max_size=4))
def test_taken_column_names_are_renamed(columns: list[str], added: list[str]) -> None:
    names = names_beside(columns, added)
    assert names.keys() == set(columns) & set(added)
    after = [names.get(name, name) for name in columns]
    assert len({*after, *added}) == len(columns) + len(added)
    assert all(new.removeprefix("before_") != new for new in names.values())


def test_taken_column_names_are_renamed_until_unique() -> None:
    assert names_beside(["a", "before_a", "b"], ["a"]) == {"a": "before_before_a"}


def test_no_single_candidate_leaves_unless_someone_named_it() -> None:
    """It would be certain when the file is imported again."""
    source = np.array(["remaining", "pending", "given"], dtype=object)
    before = np.array([[True, True, False], [True, True, False], [True, False, False]])
    after = np.array([[False, False, True], [True, False, False], [True, False, False]])
    table = replace(small_table(), candidates_before=before, candidates_after=after, source=source)
    assert table.left().tolist() == [[True] * 3, [True, True, False], [True, False, False]]
    assert table.left(slice(2, 3)).tolist() == [[True, False, False]]
