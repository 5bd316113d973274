"""Files that a project exports: its table with the labels people have made exact, and the log they come from.

A file is never built in memory. Its content is copied at once, while the learner is open; a thread then writes it to
the home (`workflow.files.prepared`), and people download it from there. The command line writes to a given path.
"""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from db import entries
from workflow.access import NotFound, Right
from workflow.exporting.as_of import AsOf, AsOfError, open_as_of, read_as_of
from workflow.exporting.card_text import CardDetails
from workflow.exporting.project_files import (
    DATA_SET,
    GUARDED,
    LOG,
    TABLE,
    ExportChoice,
    ProjectFile,
    file_called,
    files_of,
    find_file,
)
from workflow.exporting.snapshot import ABOVE, ALL, ANSWERED, CHOICES, SURE
from workflow.files.prepared import FAILED, READY, WAITING, PreparedFile, Taken, Whose, clear
from workflow.files.stored import whole_file
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.rows.finding import names_of
from workflow.saving import NotSaved, saving_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    import pandas as pd

    from plcore.tables import Tell
    from workflow.seat import Seat
    from workflow.server.home import Home

__all__ = [
    "ABOVE",
    "ALL",
    "ANSWERED",
    "CHOICES",
    "DATA_SET",
    "FAILED",
    "GUARDED",
    "LOG",
    "PATH",
    "READY",
    "SURE",
    "TABLE",
    "WAITING",
    "AsOf",
    "AsOfError",
    "CardDetails",
    "ExportChoice",
    "ExportView",
    "PreparedFile",
    "ProjectFile",
    "read_as_of",
]

PATH = "/exports"
"""Where the server gives prepared files out."""


@dataclass(frozen=True)
class ExportView:
    """Data of the Export page.

    files : all there are, by name
    sources : for each choice of rows, how many of its labels come from each source
    counts : how many rows each choice of rows holds
    first : the first rows of the table as CSV has it, what is added first
    labels_disputed : whether disputed rows can get their most likely label
    seq : of the latest entry in it      last : of the log's latest entry      moment : when entry `seq` was made
    """

    files: Mapping[str, ProjectFile]
    sources: Mapping[str, Mapping[str, int]]
    counts: Mapping[str, int]
    first: pd.DataFrame
    seq: int
    last: int
    moment: datetime
    labels_disputed: bool


def export_view(
    seat: Seat, n_rows: int, above: float = ABOVE, as_of: AsOf | None = None, *, with_undecided: bool = False
) -> ExportView:
    """Available exports. n_rows : of the table, to look at      above : the least probability that is sure
    as_of : an earlier state; None: the present one      with_undecided : as `ExportChoice.with_undecided`

    Raises
    AsOfError : There is no such state.
    ValueError : The model of that time cannot be fitted.
    NotAllowed : The person is not an owner.
    NotFound : No such project.
    """
    from plcore.tables import read_cells

    with open_as_of(seat, as_of) as opened:
        kind, found = opened.kind, opened.kind.snapshot(opened)
        names = names_of(opened.session)
        table, classes = opened.learner.table, opened.learner.classes
        log = entries.each(opened.session, opened.project_id, found.seq, rows_below=n_rows)
        whole = found.whole(log, names)
        last = entries.last_seq(opened.session, opened.project_id)
        made = entries.time_of(opened.session, opened.project_id, found.seq)
        moment = made or opened.project.created_at
    beginning = whole.chosen(np.arange(min(n_rows, found.n_rows)))
    file = io.BytesIO()
    next(iter(kind.FORMATS.values())).write(beginning, file, lambda _: None)
    frame = read_cells(file.getvalue())
    known = set(table.cells.columns) - {table.roles.id, *classes}
    front = sorted(frame.columns, key=lambda name: name in known)
    files = files_of(kind, table.cells)
    if as_of is not None:
        del files[DATA_SET]  # its card is of the present state
    sources = {choice: found.sources(choice, above, with_undecided=with_undecided) for choice in CHOICES}
    counts = found.counts(above, with_undecided=with_undecided)
    return ExportView(files, sources, counts, frame[front], found.seq, last, moment, kind.DISPUTES is not None)


def prepare(seat: Seat, choice: ExportChoice, stem: str) -> str:
    """Have a file written for this person; its key. stem : what the name of the file begins with

    Raises as `export_view`; ValueError where the project has no such file; NotSaved if nothing can be written.
    """
    with open_as_of(seat, choice.as_of) as opened:
        file = find_file(opened.kind, choice.file, opened.learner.table.cells)
        taken, whose = file.take(file.form, opened, choice), Whose(opened.person_id, opened.project_id)
    rows = f"-{choice.rows}" if file.by_rows and choice.rows != "all" else ""
    then = "" if choice.as_of is None else f"-as-of-{taken.seq}"
    name = f"{stem}-{file.sort}{rows}{then}{file.form.suffix}"
    with saving_files():
        taken = replace(taken, of_then=choice.as_of is not None)
        key = seat.home.prepared.begin(seat.home.exports_dir, whose, name, taken)
    _note_taken(seat, name)
    return key


def prepared(seat: Seat) -> tuple[PreparedFile, ...]:
    """The files of this project that this person has asked for, the latest first. Raises as `export_view`."""
    return seat.home.prepared.of(_whose(seat))


def wait(seat: Seat, key: str, seconds: float | None = None) -> None:
    """Until the file is written or has failed, no longer than this many seconds. Raises as `export_view`."""
    _whose(seat)
    seat.home.prepared.wait(key, seconds)


def remove(seat: Seat, key: str) -> None:
    """End the writing of a file of this person, or remove it. Raises as `export_view`."""
    seat.home.prepared.remove(_whose(seat), key)


def find(seat: Seat, key: str) -> tuple[Path, str]:
    """The path of a file that was prepared for this person, and its download name.

    Raises as `export_view`; NotFound, too, if there is no such file of theirs, or not any more.
    """
    found = seat.home.prepared.fetch(_whose(seat), key)
    if found is None:
        raise NotFound("The file is no longer here. Fix: prepare it again on the Export page.")
    return found


def take(seat: Seat, choice: ExportChoice) -> Taken:
    """Take the current contents of a file, ready to write. Raises as `prepare`, except NotSaved."""
    with open_as_of(seat, choice.as_of) as opened:
        file = find_file(opened.kind, choice.file, opened.learner.table.cells)
        taken = file.take(file.form, opened, choice)
    _note_taken(seat, choice.file or "table")
    return taken


def write_file(taken: Taken, target: Path, tell: Tell) -> None:
    """Write a file at a path that a person chose, completely or not at all. Raises NotSaved if it cannot be written."""
    if not target.parent.is_dir():
        raise NotSaved(f"Nothing was written: there is no folder {target.parent}. Fix: make it, or name another one.")
    try:
        with whole_file(target) as file:
            taken.write(file, tell)
    except OSError as error:
        raise NotSaved(f"Nothing was written: {error}") from error


def file_for(seat: Seat, file_name: str, sort: str = TABLE) -> str:
    """The name, for a `Choice`, of the file of this sort for a file name such as `birds.parquet`; "" is CSV.

    Raises as `export_view`, and ValueError where the name asks for none.
    """
    with seat.reading(Right.OWN):
        kind = seat.kind
    return file_called(kind, file_name, sort)


def clear_left(home: Home) -> None:
    """Remove files that earlier servers have left; servers call it regularly."""
    clear(home.exports_dir)


def _note_taken(seat: Seat, file: str) -> None:
    """Note an export. If nothing can be written, as on a full disk, people can still take their labels home."""
    with suppress(NotSaved), seat.writing(Right.OWN, changes=False) as noting:
        audit.note_at(noting, EventKind.EXPORT_TAKEN, file=file)


def _whose(seat: Seat) -> Whose:
    """The owner and the project of a seat, checked."""
    with seat.reading(Right.OWN) as reading:
        return Whose(reading.person.id, reading.project.id)
