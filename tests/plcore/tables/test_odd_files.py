"""Every odd file is read correctly, refused or doubted, with a message; stored and streamed, it is the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from plcore import Roles
from plcore.tables import (
    LabelTable,
    TableError,
    TableReading,
    find_doubts,
    read_stored,
    read_table,
    shape_name,
    shaped,
    store_reading,
)
from plcore.tables.text import stream
from tests.plcore.tables.odd_entry import Odd
from tests.plcore.tables.odd_files import ODD_FILES
from tests.plcore.tables.readers.cases import same_reading
from tests.plcore.tables.readers.test_streaming import BLOCKS, compared

_OF_NO_HARM = {"unused"}


def taken(reading: TableReading, roles: Roles) -> tuple[TableReading, LabelTable]:
    """The reading and its table as the import makes them, in the shape that it offers first.

    roles : those that the reading suggests
    """
    if shape_name(reading) is not None:
        reading = shaped(reading)
        roles = reading.suggest_roles()
    return reading, LabelTable.from_cells(reading.cells, roles, reading.files)


def candidates(table: LabelTable, row: int) -> dict[str, float]:
    """{label: weight} of a row; 1 if the table keeps no weights."""
    weights = table.candidates.astype(float) if table.candidate_weights is None else table.candidate_weights
    if table.label_vectors is not None:
        weights = (table.label_vectors != 0).astype(float)
    return {table.classes[k]: float(weights[row, k]) for k in np.flatnonzero(weights[row])}


def test_every_odd_file_is_read_refused_or_doubted_as_expected(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for number, odd in enumerate(ODD_FILES):
        with subtests.test(odd.name):
            folder = tmp_path / str(number)
            folder.mkdir()
            try:
                reading = read_table(odd.data, odd.file)
            except TableError as error:
                check_refused(odd, error)
                assert streamed(odd) == 0, "what is refused is refused there"
            else:
                roles = reading.suggest_roles()
                store_reading(reading, folder)
                same_reading(read_stored(folder), reading, roles)
                streamed(odd, reading, roles)
                check_odd(odd, reading, roles)


def streamed(odd: Odd, *read: TableReading | Roles) -> int:
    """At how many sizes of blocks the file is plain. At these, streaming must equal what was read."""
    n_plain = 0
    for block in BLOCKS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stream, "_BLOCK", block)
            n_plain += compared(odd.data, *read)
    return n_plain


def check_refused(odd: Odd, error: TableError) -> None:
    said = str(error)
    assert odd.rows is None, said
    assert [word for word in odd.refused if word not in said] == [], said
    assert all(problem.message and problem.fix for problem in error.problems)


def check_odd(odd: Odd, reading: TableReading, roles: Roles) -> None:
    if odd.rows is None:
        with pytest.raises(TableError) as caught:
            taken(reading, roles)
        check_refused(odd, caught.value)
        return
    reading, table = taken(reading, roles)
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
