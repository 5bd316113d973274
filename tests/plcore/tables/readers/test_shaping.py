"""Tables in another layout, and candidates whose rows are in a second file."""

from __future__ import annotations

import json

import pytest

from plcore import LabelTable, TableError
from plcore.tables import NEEDS_ROWS, joined, lacks_rows, read_table, shape_name, shaped

VOTES = b"task,worker,label\nt1,ann,wren\nt1,bob,robin\nt1,cid,wren\nt2,ann,owl\n"
ROWS = b"task,grams\nt1,9.5\nt2,210\n"


def test_vote_tables_have_a_layout_and_ordinary_tables_do_not() -> None:
    assert shape_name(read_table(VOTES)) is not None
    plain = read_table(b"id,labels,w\n1,a|b,2\n2,b,3\n")
    assert shape_name(plain) is None
    assert shaped(plain) is plain
    told = read_table(json.dumps([{"sequence": "x", "labels": ["a", "b"], "scores": [0.7, 0.3]}]).encode())
    assert told.roles is not None
    assert shape_name(told) is None, "the format has said what it is"


def test_votes_become_one_row_per_task() -> None:
    reading = shaped(read_table(VOTES))
    assert reading.cells["task"].tolist() == ["t1", "t2"]
    assert NEEDS_ROWS in reading.notes


def test_votes_are_joined_to_their_rows_without_a_doubt() -> None:
    reading = joined(read_table(VOTES), read_table(ROWS))
    assert NEEDS_ROWS not in reading.notes
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert table.roles.numbers == ("grams",)
    assert table.classes == ("owl", "robin", "wren")
    assert table.candidate_weights.tolist() == [[0, 1, 2], [1, 0, 0]]


def test_model_candidates_are_joined_to_their_rows() -> None:
    lines = [
        {"id": "t1", "candidates": [{"label": "wren", "p": 0.7}, {"label": "robin", "p": 0.3}]},
        {"id": "t2", "candidates": [{"label": "owl", "p": 1.0}]},
    ]
    reading = joined(read_table("\n".join(map(json.dumps, lines)).encode()), read_table(ROWS))
    assert NEEDS_ROWS not in reading.notes
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert table.candidate_weights.tolist() == [[0, 0.3, 0.7], [1, 0, 0]]


def test_table_without_row_names_cannot_be_joined() -> None:
    with pytest.raises(TableError, match="name no rows"):
        joined(read_table(b"labels,w\na|b,1\nb,2\n"), read_table(ROWS))


def test_candidates_without_rows_are_distinguished_from_rows() -> None:
    model = b'{"id": "t1", "candidates": [{"label": "wren", "p": 0.7}]}\n'
    assert all(lacks_rows(read_table(data)) for data in (VOTES, model, b"id,labels\nt1,a|b\nt2,b\n"))
    assert not any(lacks_rows(read_table(data)) for data in (ROWS, b"id,labels,grams\nt1,a|b,2\nt2,b,3\n"))
