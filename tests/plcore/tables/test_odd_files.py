"""Every odd file is read correctly, refused or doubted, with a message."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from plcore.tables import LabelTable, TableError, find_doubts, read_table, shape_name, shaped
from plcore.tables.readers.reading import TableReading
from tests.plcore.tables.odd_entry import Odd
from tests.plcore.tables.odd_files import ODD_FILES

_OF_NO_HARM = {"unused"}


def taken(odd: Odd) -> tuple[TableReading, LabelTable]:
    """The table as the import reads it, in the shape that it offers first."""
    reading = read_table(odd.data, odd.file)
    if shape_name(reading) is not None:
        reading = shaped(reading)
    return reading, LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)


def candidates(table: LabelTable, row: int) -> dict[str, float]:
    """{label: weight} of a row; 1 if the table keeps no weights."""
    weights = table.candidates.astype(float) if table.candidate_weights is None else table.candidate_weights
    if table.label_vectors is not None:
        weights = (table.label_vectors != 0).astype(float)
    return {table.classes[k]: float(weights[row, k]) for k in np.flatnonzero(weights[row])}


def test_every_odd_file_is_read_refused_or_doubted_as_expected(subtests: pytest.Subtests) -> None:
    for odd in ODD_FILES:
        with subtests.test(odd.name):
            check_odd(odd)


def check_odd(odd: Odd) -> None:
    if odd.rows is None:
        with pytest.raises(TableError) as caught:
            taken(odd)
        said = str(caught.value)
        assert [word for word in odd.refused if word not in said] == [], said
        assert all(problem.message and problem.fix for problem in caught.value.problems)
        return
    reading, table = taken(odd)
    for row, wanted in enumerate(odd.rows):
        found = candidates(table, row)
        if isinstance(wanted, dict) and table.candidate_weights is not None:
            assert found == pytest.approx(wanted)
        else:
            assert found.keys() == set(wanted)
    if any(isinstance(wanted, dict) and len(set(wanted.values())) > 1 for wanted in odd.rows):
        assert table.candidate_weights is not None
    assert {doubt.name for doubt in find_doubts(table)} - _OF_NO_HARM == odd.doubts
    assert [words for words in odd.notes if not any(words in note for note in reading.notes)] == []
    for column, cells in odd.cells.items():
        assert reading.cells[column].tolist() == list(cells)
    if odd.truth:
        names = [None if k < 0 else table.classes[k] for k in table.truth[: len(odd.truth)]]
        assert names == list(odd.truth)


def test_odd_files_are_numerous_and_distinct() -> None:
    assert len(ODD_FILES) >= 100
    assert [name for name, count in Counter(odd.name for odd in ODD_FILES).items() if count > 1] == []
    alike = Counter((odd.data, odd.file) for odd in ODD_FILES)
    assert [odd.name for odd in ODD_FILES if alike[odd.data, odd.file] > 1] == []
    assert all(odd.rows is not None or odd.refused for odd in ODD_FILES)
