"""A table in parts, as sheets of a workbook or files of a zip: the rows of all parts, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from plcore.arrays.words import counted, listed
from plcore.tables.readers.reading import TableReading

SHEET, SOURCE_FILE = "sheet", "source_file"
"""Columns that name the part of a row. They say nothing of the item, so nothing is learnt from them."""


def are_parts(tables: Sequence[TableReading]) -> bool:
    """Whether these are parts of one table: plain tables of the same columns, in any order."""
    heads = {frozenset(one.cells.columns) for one in tables}
    return len(tables) > 1 and len(heads) == 1 and all(one.roles is None and not one.arrays for one in tables)


def rows_again(tables: Mapping[str, TableReading]) -> str:
    """Which rows stand in several parts, in words; "" if none do. tables : parts of one table by their names

    Rows are the same if their id is, in a column of ids that are unique in each part; without such a column, if all
    cells are. A few rows alike come by chance: without ids, half of a part has to stand elsewhere.
    """
    first = next(iter(tables.values()))
    column = first.suggest_roles().id
    if column is not None and all(one.cells[column].is_unique for one in tables.values()):
        found = Counter(cell for one in tables.values() for cell in set(one.cells[column].str.strip()) - {""})
        again = [name for name, count in found.items() if count > 1]
        return f"{counted(len(again), 'id')}, such as {listed(again, 1)}" if again else ""
    columns = list(first.cells.columns)
    rows = [set(map(tuple, one.cells[columns].to_numpy())) for one in tables.values()]
    for place, own in enumerate(rows):
        same = len(own & set().union(*rows[:place], *rows[place + 1 :]))
        if 2 * same >= len(own):
            return counted(same, "row")
    return ""


def stacked(tables: Mapping[str, TableReading], column: str, what: str) -> TableReading:
    """The rows of these parts, one after the other, each with the name of its part.

    tables : `are_parts`, by their names      column : the name of the column for these, if it is free
    what : the parts are, in the plural, such as "sheets"
    """
    readings = list(tables.values())
    names = list(map(str, readings[0].cells.columns))
    # No line of a file tells where a row of several files is.
    cells = pd.concat([one.cells[names] for one in readings], ignore_index=True).astype("str")
    if column not in names:
        sizes = [len(one.cells) for one in readings]
        parts = [name for name, size in zip(tables, sizes, strict=True) for _ in range(size)]
        cells = cells.assign(**{column: parts}).astype("str")
    rows = ", ".join(f"{len(one.cells):,}" for one in readings[:8])
    said = (
        f"The {len(tables):,} {what} with the same columns were read one after the other: {listed(list(tables))}; they "
        f"have {rows}{' and more' if len(readings) > 8 else ''} rows."
    )
    notes = dict.fromkeys(note for one in readings for note in one.notes)
    typed = all(one.typed for one in readings)
    return replace(readings[0], cells=cells, notes=(said, *notes), typed=typed)
