"""Rows of public data sets, read from their own files, round-trip through every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorExport
from plcore.tables import read_table, shape_name, shaped
from plcore.tables.writers.disambiguated import Disambiguated, LabelVectorTable
from plcore.tables.writers.label_vectors import VECTOR_FORMATS
from plcore.tables.writers.writing import FILE_FORMATS
from tests.plcore.tables.writers.tables import same_candidates, written
from tests.plcore.tables.writers.vectors import origins_of, same_vectors

pytestmark = pytest.mark.public_data


def own_table(path: Path) -> LabelTable:
    reading = read_table(path)
    return LabelTable.from_cells(reading.cells, reading.suggest_roles())


@pytest.fixture(scope="module", params=["birdsong", "lost", "msrcv2"])
def decided_set(request: pytest.FixtureRequest, data_folder: Path) -> Disambiguated:
    """300 rows of each kind, every second answered by its true label, the others weighted by their features."""
    table = own_table(data_folder / f"{request.param}.npz")
    after = table.candidates.copy()
    answered = np.arange(0, table.n_rows, 2)
    after[answered] = np.eye(len(table.classes), dtype=bool)[table.truth[answered]]
    label = np.where(np.arange(table.n_rows) % 2, -1, table.truth)
    answer = {
        "person": "ann", "kind": "is", "at": "2026-01-01T00:00:00+00:00", "seconds": 2.0,
        "model_version": None,
    }  # fmt: skip
    answers = [{"row": int(row), "labels": [table.classes[table.truth[row]]], **answer} for row in answered]
    weights = table.candidates * (1 + np.abs(np.resize(table.numbers, table.candidates.shape)))
    source = np.where(label < 0, "open", "person").astype(object)
    share = np.where(label < 0, np.nan, 1.0)
    shown = table.cells.iloc[:, :6]
    return Disambiguated(
        table.ids, shown, table.classes, table.candidates, after, weights, label, source, share, answers
    ).chosen(np.arange(300))


@pytest.mark.parametrize("name", ["csv", "parquet", "jsonl", "npz"])
def test_candidate_sets_round_trip_in_every_format(decided_set: Disambiguated, name: str) -> None:
    table = decided_set
    reading = read_table(written(FILE_FORMATS[name].write, table), f"set{FILE_FORMATS[name].suffix}")
    reading = reading if shape_name(reading) is None else shaped(reading)
    cells = reading.cells
    roles = replace(reading.suggest_roles(), numbers=(), categories=(), truth=None)
    cells = cells.assign(shown="a text")
    again = LabelTable.from_cells(cells, replace(roles, text="shown"))
    same_candidates(table, again)
    if name == "npz":
        return
    for column in table.cells.columns:
        assert cells[column].tolist() == table.cells[column].tolist()


@pytest.mark.parametrize("name", ["emotions", pytest.param("cal500", marks=pytest.mark.proof)])
def test_label_vectors_round_trip_in_every_format(name: str, data_folder: Path) -> None:
    table = own_table(data_folder / f"{name}.npz")
    values = table.label_vectors.copy()
    values[::3, ::2] = -1
    origins = origins_of(np.where(values < 0, "model", "given"))
    shares = np.where(values < 0, 0.5, values)
    found = LabelVectorExport(tuple(table.ids), table.classes, values, shares, np.where(values < 0, 0, -1), origins)
    labels = table.roles.label_columns
    given = LabelVectorTable(found, table.cells[[*labels, table.roles.numbers[0]]], labels).chosen(np.arange(200))
    for each in (VECTOR_FORMATS[format_name] for format_name in ("csv", "parquet", "npz")):
        reading = read_table(written(each.write, given), f"vectors{each.suffix}")
        reading = reading if shape_name(reading) is None else shaped(reading)
        roles = replace(reading.suggest_roles(), numbers=(), categories=())
        cells = reading.cells.assign(shown="a text")
        same_vectors(given, LabelTable.from_cells(cells, replace(roles, text="shown")))
