"""More rows for a project in use: read, checked, and added by one entry of the log. Vectors of encoders for existing
rows arrive in the same way, as an addition of no rows: only the table changes.

The project's rows, samples, answers and model stay; blind checks and held-out rows of the new rows are drawn in the
same shares. The project then points to a table of all rows; the previous table stays in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from db import entries, projects, trained
from db.entries import NO_ROW, DuplicateEntry, NewEntry
from plcore import Roles, TableError
from plcore.arrays import counted
from plcore.loop import ClassChange, ClassMap, EntryKind, changed_at
from plcore.tables import (
    ColumnVectors,
    Doubt,
    Grown,
    LabelTable,
    Problem,
    column_way,
    describe,
    with_encoded,
    without_vectors,
)
from workflow.access import Right
from workflow.files import limited
from workflow.importing.reading import Out, Upload, room_wanted, table_of
from workflow.log.reading import read_class_changes
from workflow.projects.managing import CannotLearn
from workflow.saving import NotSaved, raising_not_saved, saving_files

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.seat import Seat

__all__ = ["Addition", "CannotLearn", "NotSaved", "RowsError", "TableError", "add_rows", "added_anew", "read_rows"]

NEW_ROWS = ""
"""In place of an encoder's name in a request: rows that arrived later, with the encoders of the other rows."""
TRIES = 8
"""Limit of attempts to store what a program sends. Of several simultaneous additions, each round stores one."""
Added = TypeVar("Added")


class RowsError(ValueError):
    """The rows cannot be added now; nothing was stored."""


class AlreadyThere(RowsError):  # noqa: N818 - what a page says, not a fault
    """The project already has these vectors. notes : sentences about rows that have none"""

    def __init__(self, notes: Sequence[str] = ()) -> None:
        super().__init__("The project has these vectors already. Fix: nothing has to be done.")
        self.notes = tuple(notes)


Version = tuple[str, int]
"""State of a project that rows are read for: the hash of its table, and the seq of the latest change of its classes or
rows."""


@dataclass(frozen=True)
class Addition:
    """Rows that were read for a project and fit it, not stored yet.

    grown : the table with them      version : the state of the project they were read for
    doubts : oddities of the table with them that it did not have without them
    token, note : of their entry in the log; None: the token comes from the table, and there is no note
    """

    grown: Grown
    version: Version
    doubts: tuple[Doubt, ...] = ()
    token: str | None = None
    note: str | None = None

    @property
    def reading(self) -> str:
        """How the project's table is read with the new rows, in words."""
        return str(describe(self.grown.table, "the project's table"))


def columns(seat: Seat) -> tuple[str, ...]:
    """The columns of the project's table, for rows to be added. Raises NotAllowed unless the person is an owner,
    NotFound."""
    with seat.learner(Right.OWN, changes=True) as opened:
        return tuple(map(str, opened.learner.table.cells.columns))


def accepts_label_columns(seat: Seat) -> bool:
    """Whether new rows may come with new label columns: each of the project's candidates has its own column.

    Raises as ``columns``.
    """
    with seat.reading(Right.OWN) as reading:
        return column_way(Roles.from_json(reading.project.roles)) is not None


def needs_vectors(seat: Seat) -> bool:
    """Whether the project's rows came with embeddings, so that new rows need them, too. Raises as ``columns``."""
    with seat.reading(Right.OWN) as reading:
        return Roles.from_json(reading.project.roles).embedding is not None


def version(seat: Seat) -> Version:
    """The state of the project to read an addition for. If it changes, the addition can no longer be stored. Raises as
    ``columns``."""
    with seat.reading(Right.OWN) as reading:
        return version_of(reading.project, read_class_changes(reading.session, reading.project.id))


def read_rows(
    seat: Seat, upload: Upload, label_columns: Sequence[str] = (), on_wait: limited.OnWait | None = None
) -> Addition:
    """Read this upload's rows for the project; nothing is stored.

    label_columns : new columns of the upload that hold labels as the project's own do
    on_wait : as in `read_upload`

    Raises
    LongLine : Other files are read first.
    TableError : A column is missing, a cell cannot be read, no row is new, or there are more classes than can be added;
        with row, column and fix.
    NotAllowed : The person is not an owner.
    NotFound
    """
    with seat.reading(Right.OWN) as reading:
        project = reading.project
        changes = read_class_changes(reading.session, project.id)
    path = seat.home.table_path(project.table_hash)
    table = seat.home.read_table(project.table_hash)
    class_map = None if seat.kind.CLASSES is None else ClassMap(table.classes, changes)
    called = {} if class_map is None else class_map.first_names
    bounds = replace(upload.bounds, memory_mb=upload.bounds.memory_mb + path.stat().st_size // 25_000)
    with room_wanted():
        out = Out(upload)
        given = {
            "out": str(out.folder),
            "table": str(path),
            "called": dict(called),
            "label_columns": list(label_columns),
        }
        found = limited.run_in_turn("grow", given, upload.folder, bounds, on_wait=on_wait).result
    n_new, *others = found["grown"]
    grown = Grown(table_of(out, found["files"], found["inexact"]), n_new, *map(tuple, others))
    if class_map is not None and len(grown.new_classes) > class_map.n_addable:
        message = (
            f"The new rows name {counted(len(grown.new_classes), 'new class', 'new classes')}, such as "
            f"{grown.new_classes[0][:50]!r}; the project can take {class_map.n_addable:,} more."
        )
        fix = "Check the column of candidates and its separator. To have so many, import all rows as a new project."
        raise TableError(Problem(None, None, table.roles.candidates, message, fix))
    return Addition(grown, version_of(project, changes), (*upload.doubts, *(Doubt(**one) for one in found["doubts"])))


def read_encoded(seat: Seat, table_hash: str, vectors: ColumnVectors) -> Addition:
    """Read the project with an encoder's vectors: the same rows, no new ones; nothing is stored.

    table_hash : of the table that they were made from
    Raises RowsError if the project has another table by now, AlreadyThere if it has these vectors; else as
    ``read_rows``.
    """

    def change(table: LabelTable, called: Mapping[str, str]) -> Grown:
        for one in table.encoded:
            if (one.column, one.sha256) == (vectors.column, vectors.sha256) and np.array_equal(
                one.values, vectors.values, equal_nan=True
            ):
                raise AlreadyThere
        return with_encoded(table, vectors, called)

    return _changed(seat, change, f"vectors of {vectors.encoder}", table_hash)


def read_without_vectors(seat: Seat) -> Addition:
    """Read the project without the vectors of its rows; nothing is stored. Raises as ``read_rows``, and TableError if
    it has no vectors or nothing else to learn from."""
    return _changed(seat, without_vectors, "back to words")


def _changed(
    seat: Seat, change: Callable[[LabelTable, Mapping[str, str]], Grown], note: str, table_hash: str | None = None
) -> Addition:
    """Make an addition of no rows, which changes the table. table_hash : of the table it is for; None: the current
    table
    """
    with seat.reading(Right.OWN) as reading:
        project = reading.project
        changes = read_class_changes(reading.session, project.id)
    if table_hash not in (None, project.table_hash):
        raise _stale()
    table = seat.home.read_table(project.table_hash)
    called = {} if seat.kind.CLASSES is None else ClassMap(table.classes, changes).first_names
    return Addition(change(table, called), version_of(project, changes), note=note)


def add_rows(seat: Seat, addition: Addition) -> int:
    """Store the rows, exactly once; returns how many there are now. If columns of the project are encoded, a worker
    encodes the new rows. Until then they count as rows in the middle of the others.

    Raises
    RowsError : Classes or rows of the project have changed since the rows were read, perhaps by this very click.
    CannotLearn : The model cannot be built from all rows.
    NotAllowed : The person is not an owner.
    NotSaved, NotFound
    """
    home, grown = seat.home, addition.grown
    kind, table = seat.kind, grown.table
    with seat.reading(Right.OWN) as reading:
        project, last = reading.project, entries.last_seq(reading.session, reading.project.id)
        changes = read_class_changes(reading.session, project.id)
        _check_fresh(addition, project, changes)
    n_before = table.n_rows - grown.n_new
    with saving_files():
        table_hash = home.store_table(table)
    added = _changes(grown, n_before, last)
    try:  # before anything names the table; the next question then finds it ready
        with raising_not_saved():
            learner = kind.build_learner(home, table_hash, kind.read_settings(project.settings), (*changes, *added))
    except ValueError as error:
        raise CannotLearn(f"The model cannot be built from all rows: {error}") from error
    try:
        with seat.owning() as owning:
            session, project = owning.session, owning.project
            entries.lock(session, project.id)
            _check_fresh(addition, project, read_class_changes(session, project.id))
            _log(session, project, seat, addition, table_hash)
            projects.change(
                session,
                project.id,
                table_hash=table_hash,
                roles=table.roles.to_json(),
                n_rows=table.n_rows,
                n_classes=len(learner.classes),
                n_to_ask=learner.pool.n_to_ask,
            )
            if grown.n_new and table.encoded:  # a worker makes the vectors of the new rows
                now = datetime.now(UTC)
                trained.ENCODINGS.ask(session, project.id, asked_by=seat.person_id, asked_at=now, encoder=NEW_ROWS)
    except DuplicateEntry as error:
        raise _stale() from error
    table.let_go()
    return table.n_rows


def added_anew(add: Callable[[], Added], what: str) -> Added:
    """Return the result of `add`, which reads something for the project's current state and adds it. Retries if other
    rows or classes came in between, or the same was sent twice at once. what : what it adds, for users

    Raises RowsError if all TRIES attempts failed for this reason; else as `add`.
    """
    for _ in range(TRIES):
        try:
            return add()
        except AlreadyThere:
            raise
        except RowsError:
            continue
    raise RowsError(
        f"The project's rows or classes have changed again and again while these {what} were read. Nothing was stored. "
        "Fix: send them again, one program at a time."
    )


def _changes(grown: Grown, n_before: int, last: int) -> tuple[ClassChange, ...]:
    """Return the changes that the addition makes, after the entry `last`."""
    made: list[tuple[str, str]] = [("add", name) for name in grown.new_classes]
    made.append((EntryKind.ROWS, str(n_before)))
    return tuple(ClassChange(last + place, kind, (name,)) for place, (kind, name) in enumerate(made, start=1))


def _log(session: Session, project: projects.Project, seat: Seat, addition: Addition, table_hash: str) -> None:
    project_id, grown = project.id, addition.grown
    n_before = grown.table.n_rows - grown.n_new
    for place, change in enumerate(_changes(grown, n_before, entries.last_seq(session, project_id))):
        kind, labels = EntryKind.CLASS, change.labels
        if change.kind == EntryKind.ROWS:
            kind, labels = EntryKind.ROWS, (str(n_before), str(grown.n_new), table_hash)
        entries.append(
            session,
            NewEntry(
                project_id=project_id,
                row=NO_ROW,
                person_id=seat.person_id,
                # Include the state it was read for: a project may return to an earlier table.
                token=addition.token or f"rows.{table_hash}.{addition.version[1]}.{place}",
                revision=entries.count_for(session, project_id, seat.person_id, NO_ROW),
                at=datetime.now(UTC),
                kind=kind,
                labels=labels,
                note=addition.note,
                # the tables, if rows change
                before=(project.table_hash,) if kind == EntryKind.ROWS else (),
                after=(table_hash,) if kind == EntryKind.ROWS else (),
            ),
        )


def version_of(project: projects.Project, changes: Sequence[ClassChange]) -> Version:
    """Return the state of the project after these changes, for reading rows."""
    return project.table_hash, changed_at(changes)


def _check_fresh(addition: Addition, project: projects.Project, changes: Sequence[ClassChange]) -> None:
    if version_of(project, changes) != addition.version:
        raise _stale()


def _stale() -> RowsError:
    return RowsError(
        "The project's rows or classes have changed since this file was read, perhaps by this very press. Nothing more "
        "was stored. Fix: look at the file again."
    )
