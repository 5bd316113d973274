"""Small files of other tools, read as an import reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from plcore import LabelTable, Roles
from plcore.tables import TableError, TableReading, read_table, shape_name, shaped
from plcore.tables.writers.disambiguated import Disambiguated

CASES = Path(__file__).parent / "cases"


def read_case(name: str) -> TableReading:
    """Read a file in its default shape."""
    reading = read_table(CASES / name)
    return reading if shape_name(reading) is None else shaped(reading)


def refused(data: bytes) -> str:
    """The message of the refusal of this file, each problem with its fix."""
    with pytest.raises(TableError) as caught:
        read_table(data)
    assert all(problem.message and problem.fix.endswith((".", ")")) for problem in caught.value.problems)
    return str(caught.value)


def table_of(reading: TableReading) -> LabelTable:
    """The table of a reading under the roles that it suggests."""
    return LabelTable.from_cells(reading.cells, reading.suggest_roles())


def same_reading(found: TableReading, wanted: TableReading, roles: Roles | None = None) -> None:
    """Check that both have the same cells, notes, arrays and roles. roles : those suggested by `wanted`, if known"""
    pd.testing.assert_frame_equal(found.cells, wanted.cells, check_column_type=False)
    assert found.cells.dtypes.tolist() == wanted.cells.dtypes.tolist()
    assert found.cells.index.name == wanted.cells.index.name
    assert (found.format, found.roles, found.notes) == (wanted.format, wanted.roles, wanted.notes)
    assert found.groups == wanted.groups
    assert found.suggest_roles() == (roles or wanted.suggest_roles())
    assert found.arrays.keys() == wanted.arrays.keys()
    for name, array in wanted.arrays.items():
        stored = found.arrays[name]
        assert sp.issparse(stored) == sp.issparse(array)
        dense = [one.toarray() if sp.issparse(one) else one for one in (stored, array)]
        np.testing.assert_array_equal(*dense)


def weights(reading: TableReading) -> list[dict[str, float | None]]:
    """The candidates of every row with their weights; None if the row has none."""
    found = [json.loads(cell) for cell in reading.cells["candidates"]]
    return [cell if isinstance(cell, dict) else dict.fromkeys(cell) for cell in found]


def candidates(reading: TableReading) -> list[set[str]]:
    """The candidates of every row."""
    table = table_of(reading)
    assert [set(one) for one in weights(reading)] == [
        {table.classes[place] for place in np.flatnonzero(row)} for row in table.candidates
    ]
    return [set(one) for one in weights(reading)]


def voters(reading: TableReading) -> list[dict[str, list[str]]]:
    """Voters of each label, per row."""
    return [json.loads(cell) if cell else {} for cell in reading.cells["sources"]]


def decided(reading: TableReading, answers: dict[int, str]) -> Disambiguated:
    """The table after Ann named the class of these rows."""
    table = table_of(reading)
    after = table.candidates.copy()
    given: list[dict[str, Any]] = []
    source = np.full(table.n_rows, "open", dtype=object)
    for row, label in answers.items():
        after[row] = [name == label for name in table.classes]
        source[row] = "person"
        given.append({"row": row, "person": "Ann", "kind": "is", "labels": [label], "at": "2026-05-01T10:00:00+00:00"})
    return Disambiguated(
        ids=table.ids,
        cells=table.cells,
        classes=table.classes,
        candidates_before=table.candidates,
        candidates_after=after,
        weights=table.candidate_weights,
        label=np.where(after.sum(axis=1) == 1, after.argmax(axis=1), -1),
        source=source,
        probability=np.full(table.n_rows, np.nan),
        answers=given,
    )


def says(reading: TableReading, words: str) -> bool:
    """Whether a note of the reading holds these words."""
    return any(words in note for note in reading.notes)
