"""Label vectors beside the columns they came with: chosen, cut into pieces, as one wide frame and as lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.tables.writers.disambiguated import CELLS_AT_ONCE, LabelVectorTable
from tests.plcore.tables.writers.vectors import small_vectors, vector_tables


def test_cells_stand_in_the_place_of_their_columns() -> None:
    table = small_vectors()
    wide = table.wide()
    assert wide.columns[:4].tolist() == ["name", "sea", "text", "sand"]
    assert wide["sea"].tolist() == ["1", "", ""]
    assert wide["sand"].tolist() == ["0", "1", ""]
    assert wide["winnow_probability:sea"].tolist() == ["1.0000", "0.7500", "0.5000"]
    assert wide["winnow_predicted:sea"].tolist() == ["", "1", "0"]
    assert wide["winnow_source:sand"].tolist() == ["oracle", "truth", "bad"]
    assert wide.shape == (3, 4 + 3 * 2)


def test_where_labels_came_as_lists_the_lists_stay() -> None:
    table = replace(small_vectors(), replaced=())
    wide = table.wide()
    assert wide.columns[:6].tolist() == ["name", "sea", "text", "sand", "before_sea", "before_sand"]
    assert wide["sea"].tolist() == ["", "", ""], "the text that came"
    assert wide["before_sea"].tolist() == ["1", "", ""]


@given(vector_tables(), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_pieces_are_the_whole(table: LabelVectorTable, size: int) -> None:
    pieces = list(table.pieces(size))
    whole = table.wide()
    assert [row for piece in pieces for row in piece.wide().to_numpy().tolist()] == whole.to_numpy().tolist()
    assert all(piece.wide().columns.equals(whole.columns) for piece in pieces)
    assert [name for piece in pieces for name in piece.found.ids] == list(table.found.ids)


@given(vector_tables(), st.data())
@settings(max_examples=40, deadline=None)
def test_a_choice_of_rows_is_these_rows(table: LabelVectorTable, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(table.original))))
    rows = np.array(order[: data.draw(st.integers(1, len(order)))])
    found = table.chosen(rows)
    assert found.wide().to_numpy().tolist() == table.wide().iloc[rows].to_numpy().tolist()
    assert list(found.found.ids) == [table.found.ids[row] for row in rows]
    assert found.lists() == [table.lists()[row] for row in rows]


def test_all_rows_are_no_copy_and_pieces_are_small_where_labels_are_many() -> None:
    table = small_vectors()
    assert table.chosen(np.arange(3)) is table
    (piece,) = table.pieces()
    assert np.shares_memory(piece.found.cells, table.found.cells)
    many = np.zeros((3, CELLS_AT_ONCE), dtype=np.int8)
    wide = replace(
        table.found,
        labels=("x",) * CELLS_AT_ONCE,
        cells=many,
        probabilities=many,
        predicted=many,
        origins=many,
    )
    assert len(list(replace(table, found=wide).pieces())) == 3


@given(vector_tables())
@settings(max_examples=40, deadline=None)
def test_lists_say_what_is_right_what_is_not_and_all_that_is_known(table: LabelVectorTable) -> None:
    found = table.found
    for row, lists in enumerate(table.lists()):
        assert {*lists["labels"]} == {
            n for n, value in zip(found.labels, found.cells[row], strict=True) if value == 1
        }
        assert {*lists["not_labels"]} == {
            n for n, v in zip(found.labels, found.cells[row], strict=True) if v == 0
        }
        assert [cell["label"] for cell in lists["cells"]] == list(found.labels)
        for place, cell in enumerate(lists["cells"]):
            assert (-1 if cell["value"] is None else cell["value"]) == found.cells[row, place]
            assert (-1 if cell["predicted"] is None else cell["predicted"]) == found.predicted[row, place]
            share = found.probabilities[row, place]
            assert cell["probability"] == (None if np.isnan(share) else share)
            assert cell["source"] == found.sources[row, place]


def test_the_column_of_ids_is_none_that_is_replaced() -> None:
    table = small_vectors()
    assert table.id_column() == "name"
    assert replace(table, replaced=("name", "sand")).id_column() is None
    assert list(table.kept().columns) == ["name", "text"]
