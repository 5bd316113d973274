"""Tables that store candidates as sets behave like a matrix when read, stored, extended and exported."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable
from plcore.arrays import candidate_sets
from plcore.arrays.candidate_sets import CandidateSets
from plcore.tables import Disambiguated, Roles, TableError
from plcore.tables.growing import with_rows

ROLES = Roles(numbers=("x",), candidates="labels", separator="|", id="id", truth="truth")


def cells(rows, first=0):
    return pd.DataFrame(
        {
            "id": [f"r{first + place}" for place in range(len(rows))],
            "x": [str(place) for place in range(len(rows))],
            "labels": rows,
            "truth": [row.split("|")[0] if place % 2 else "" for place, row in enumerate(rows)],
        },
        dtype="str",
    )


ROWS = ["b|a", "c", "a|a|c", "d|c|b|a", "b"]


@pytest.fixture
def both(monkeypatch):
    """The same table twice: with a matrix, and with sets."""
    dense = LabelTable.from_cells(cells(ROWS), ROLES)
    for name in ("FEW_CELLS", "FEW_CLASSES"):
        monkeypatch.setattr(candidate_sets, name, 1)
    return dense, LabelTable.from_cells(cells(ROWS), ROLES)


def test_wide_table_round_trips(both, tmp_path):
    dense, sparse = both
    assert isinstance(dense.candidates, np.ndarray)
    assert isinstance(sparse.candidates, CandidateSets)
    np.testing.assert_array_equal(sparse.candidates, dense.candidates)
    assert sparse.truth.tolist() == dense.truth.tolist()
    with pytest.raises(ValueError, match="read-only"):
        sparse.candidates[0] = np.ones(4, dtype=bool)
    assert sparse.write(tmp_path / "sparse") == dense.write(tmp_path / "dense")
    again = LabelTable.read(tmp_path / "dense")
    assert isinstance(again.candidates, CandidateSets)
    np.testing.assert_array_equal(again.candidates, dense.candidates)


def test_rows_are_added_to_a_wide_table(both):
    more = cells(["e|a", "c|b", "b"], first=len(ROWS))
    dense, sparse = (with_rows(table, more).table for table in both)
    assert isinstance(sparse.candidates, CandidateSets)
    assert sparse.classes == ("a", "b", "c", "d", "e")
    expected = [sorted(set(row.split("|"))) for row in [*ROWS, *more["labels"]]]
    assert [[sparse.classes[label] for label in np.flatnonzero(row)] for row in sparse.candidates] == expected
    np.testing.assert_array_equal(dense.candidates, sparse.candidates)


@pytest.mark.parametrize("rows", [["b|a", "", "c"], ["a|a", "a"]])
def test_invalid_rows_are_refused_alike(rows, both, monkeypatch):
    with pytest.raises(TableError) as sparse:
        LabelTable.from_cells(cells(rows), ROLES)
    monkeypatch.undo()
    with pytest.raises(TableError) as dense:
        LabelTable.from_cells(cells(rows), ROLES)
    assert sparse.value.problems == dense.value.problems


def test_pieces_for_export_hold_matrices(both):
    tables = []
    for table in both:
        n = table.n_rows
        tables.append(
            Disambiguated(
                ids=table.ids,
                cells=table.cells,
                classes=table.classes,
                candidates_before=table.candidates,
                candidates_after=table.candidates.copy(),
                weights=None,
                label=np.zeros(n, dtype=np.int64),
                source=np.full(n, "open", dtype=object),
                probability=np.full(n, np.nan),
            )
        )
    for dense, sparse in zip(*(table.pieces(2) for table in tables), strict=True):
        assert isinstance(sparse.candidates_before, np.ndarray)
        np.testing.assert_array_equal(sparse.candidates_after, dense.candidates_after)
        assert sparse.weighted(before=True) == dense.weighted(before=True)
    few = [table.chosen(np.array([3, 0])) for table in tables]
    assert isinstance(few[1].candidates_before, CandidateSets)
    np.testing.assert_array_equal(few[1].candidates_before, few[0].candidates_before)
    assert dataclasses.replace(few[1]).weighted() == few[0].weighted()
