"""Rows that programs send as records: they become a file as people upload it, and go the same way."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workflow.importing import more_rows
from workflow.importing.more_rows import added_anew
from workflow.importing.reading import read_upload

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["Appended", "append_rows"]


class Appended(NamedTuple):
    """What became of the records. rows : how many the project has now      added : how many of them are new

    known, new_classes, dropped, empty : as of `plcore.tables.Grown`
    """

    rows: int
    added: int
    known: tuple[str, ...]
    new_classes: tuple[str, ...]
    dropped: tuple[str, ...]
    empty: tuple[str, ...]


def append_rows(seat: Seat, records: Sequence[Mapping[str, str]]) -> Appended:
    """Add these rows to the project, all that are new or none; what was done with them, and what was passed over.

    records : each {column: cell}, the cells as a CSV file would have them; a column that a record lacks is empty

    Raises
    ------
    TableError
        A column is missing, a cell cannot be read, or no row is new: where the same are sent twice, the second time.
    RowsError
        Other rows, or other classes, came between at every one of `more_rows.TRIES`.
    CannotLearn, LongLine, NotAllowed, NotSaved, NotFound
        As of `workflow.importing.more_rows`.
    """
    known = more_rows.columns(seat)  # before anything is read: whether they may
    names = [*known, *dict.fromkeys(name for one in records for name in one if name not in known)]
    sent = {name for one in records for name in one}
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [name for name in names if name in sent], restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(records)
    upload = read_upload(text.getvalue().encode(), "rows.csv", as_it_is=True)

    def add() -> Appended:
        addition = more_rows.read_rows(seat, upload)
        return Appended(more_rows.add_rows(seat, addition), *addition.grown[1:])

    return added_anew(add, "rows")
