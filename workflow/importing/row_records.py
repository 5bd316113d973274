"""Rows that programs send as records: they are written to a file like an upload's, and imported the same way."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from plcore.arrays import counted
from plcore.tables import Doubt, Problem, TableError, read_as_nothing
from workflow.importing import more_rows
from workflow.importing.more_rows import added_anew
from workflow.importing.reading import read_upload

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["Appended", "append_rows"]


class Appended(NamedTuple):
    """The result of sending records. rows : how many the project has now      added : how many of them are new

    known, new_classes, dropped, empty : as in `plcore.tables.Grown`
    notes : sentences about cells read as empty, and oddities of the table with the new rows
    reading : how the project's table is read, with the new rows
    doubts : in a dry run, those that would stop the import
    """

    rows: int
    added: int
    known: tuple[str, ...]
    new_classes: tuple[str, ...]
    dropped: tuple[str, ...]
    empty: tuple[str, ...]
    notes: tuple[str, ...] = ()
    reading: str = ""
    doubts: tuple[Doubt, ...] = ()


def append_rows(
    seat: Seat, records: Sequence[Mapping[str, str]], accept: Collection[str] = (), dry_run: bool = False
) -> Appended:
    """Add these rows to the project, all new ones or none; returns what was added and what was skipped.

    records : each {column: cell}, the cells as a CSV file would have them; a column that a record lacks is empty
    accept : names of doubts to accept; each would otherwise stop the import
    dry_run : store nothing; report the result, with the doubts that would stop the import

    Raises
    TableError : A column is missing, a cell cannot be read, or no row is new, as when the same rows are sent twice. A
        doubt that `accept` does not name stops the import.
    RowsError : Other rows or classes came in between at all `more_rows.TRIES` attempts.
    CannotLearn, LongLine, NotAllowed, NotSaved, NotFound : As in `workflow.importing.more_rows`.
    """
    known = more_rows.columns(seat)  # check permissions before reading anything
    names = [*known, *dict.fromkeys(name for one in records for name in one if name not in known)]
    sent = {name for one in records for name in one}
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [name for name in names if name in sent], restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(records)
    upload = read_upload(text.getvalue().encode(), "rows.csv", as_it_is=True)

    def add() -> Appended:
        addition = more_rows.read_rows(seat, upload)
        nothing = read_as_nothing(upload.cells, addition.grown.table.roles)
        notes = [f"{word!r} was read as an empty cell, {counted(count, 'time')}." for word, count in nothing.items()]
        stops = tuple(doubt for doubt in addition.doubts if doubt.stops and doubt.name not in accept)
        if stops and not dry_run:
            raise TableError(*(Problem(None, None, None, one.message, _or_accept(one)) for one in stops))
        notes += map(str, (doubt for doubt in addition.doubts if doubt not in stops))
        n_rows = addition.grown.table.n_rows if dry_run else more_rows.add_rows(seat, addition)
        return Appended(n_rows, *addition.grown[1:], tuple(notes), addition.reading, stops)

    return added_anew(add, "rows")


def _or_accept(doubt: Doubt) -> str:
    return f'{doubt.fix} If it is right as it is read, send "accept": ["{doubt.name}"] with the rows.'
