"""Data of a project for the API: rows, the log, figures, predictions, a question, as plain values; and files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, BinaryIO

from db import entries
from plcore.loop import EntryKind
from winnow_labels import __version__
from workflow import kinds
from workflow.access import NotFound, Right
from workflow.answering import loop
from workflow.exporting import files
from workflow.exporting.project_files import ExportChoice, files_of
from workflow.kinds import needed
from workflow.log.columns import values_of
from workflow.log.reading import told_row
from workflow.projects import progress
from workflow.rows.finding import names_of
from workflow.rows.row import row_view
from workflow.saving import saving_files

if TYPE_CHECKING:
    from plcore.loop import Learner
    from workflow.files.prepared import PreparedFile
    from workflow.kinds.kind import AnyKind, ForPrograms
    from workflow.opened import Opened
    from workflow.seat import Seat

VERSION = __version__
"""Version of Winnow, for the API and the log."""
FILES = tuple(dict.fromkeys(name for kind in kinds.KINDS.values() for name in files_of(kind)))
"""Names of the files that projects of any kind export."""
ANSWERS = tuple(dict.fromkeys(one for kind in kinds.KINDS.values() if kind.PROGRAMS for one in kind.PROGRAMS.answers))
"""Kinds of answers that questions of any kind take."""
ENTRY_KINDS = tuple(map(str, EntryKind))
"""Kinds of entries of the log."""
ENOUGH = 8_000_000
"""Characters, about, after which a part ends: rows can hold pictures, and texts as long as books."""
MOST_SHARES = 100_000
"""Rows times labels of a part."""
SHARES_AT_ONCE = 20_000
"""The same of a part of all predictions: about a MB as JSON."""


MOST_EXPORTS = 8
"""Files that programs of one person have of a project."""


@dataclass(frozen=True)
class Part:
    """Some of many things, in order: at least one, if there are any, and fewer than were asked for where they are
    large. total : how many there are; of the log, the seq of its latest entry"""

    items: Sequence[Mapping[str, object]]
    total: int


@dataclass(frozen=True)
class PredictionLines:
    """Labels of all rows at one point in time, returned some at a time. size : rows returned at once told : of these
    rows, as `Part.items`
    """

    rows: range
    size: int
    told: Callable[[Sequence[int]], Sequence[Mapping[str, object]]]

    def parts(self) -> Iterator[range]:
        """All rows, in order, in parts of this size."""
        return (self.rows[start : start + self.size] for start in range(0, len(self.rows), self.size))


@dataclass(frozen=True)
class WrittenFile:
    """A file that is written and has no name on the disk: it is gone when it is closed.

    content : at its beginning      size : bytes
    """

    content: BinaryIO
    file_name: str
    size: int


def rows_of(seat: Seat, start: int, count: int) -> Part:
    """Rows of the project as the file had them, from this one on. Raises NotAllowed, NotFound."""
    with seat.learner() as opened:
        table = opened.learner.table
    rows = range(min(start, table.n_rows), min(start + count, table.n_rows))
    return Part(_enough(told_row(row_view(table, row)) for row in rows), table.n_rows)


def _told(kind: AnyKind) -> ForPrograms[Opened[Learner], object, object]:
    return needed(kind, kind.PROGRAMS, "questions, figures or predictions for programs")


def question_for(seat: Seat) -> Mapping[str, object] | None:
    """Like `workflow.answering.loop.next_question`."""
    programs, shown = _told(seat.kind), loop.next_question(seat)
    return None if shown is None else programs.question(shown)


def questions_for(seat: Seat, count: int) -> list[Mapping[str, object]]:
    """Like `workflow.answering.loop.lease_questions`."""
    programs = _told(seat.kind)
    return [programs.question(one) for one in loop.lease_questions(seat, count)]


def figures_of(seat: Seat) -> Mapping[str, object]:
    """How good and how far the project is, with the curve. Raises NotAllowed, NotFound."""
    return _told(seat.kind).figures(progress.read_progress(seat))


def log_since(seat: Seat, seq: int, count: int) -> Part:
    """The entries after this one, in order, this many at most.

    Raises
    NotAllowed : The person is not an owner: the log would tell others which questions are blind checks.
    NotFound
    """
    with seat.learner(Right.OWN) as opened:
        session, project, table = opened.session, opened.project_id, opened.learner.table
        names, found = names_of(session), entries.between(session, project, seq + 1, seq + count)
        ids = {entry.row: table.id_of(entry.row) for entry in found if entry.row != entries.NO_ROW}
        last = entries.last_seq(session, project)
    told = (values_of(entry, names, ids) for entry in found)
    # Files count rows as people do, from 1; programs, here, from 0.
    return Part(_enough(one | {"row": None if one["row"] is None else one["row"] - 1} for one in told), last)


def predictions_of(seat: Seat, start: int, count: int) -> Part:
    """The current label of each of these rows, with the shares. Raises NotFound; NotAllowed where the person is
    not an owner."""
    with seat.learner(Right.OWN) as opened:
        total = opened.learner.table.n_rows
        count = min(count, max(1, MOST_SHARES // len(opened.learner.classes)))
        rows = range(min(start, total), min(start + count, total))
        return Part(_told(opened.kind).predictions(opened, rows), total)


def take_predictions(seat: Seat, start: int) -> PredictionLines:
    """The current labels of all rows from this one on. Raises as `predictions_of`."""
    with seat.learner(Right.OWN) as opened:
        total = opened.learner.table.n_rows
        size = max(1, SHARES_AT_ONCE // len(opened.learner.classes))
        return PredictionLines(range(start, total), size, _told(opened.kind).take_predictions(opened))


def file_of(seat: Seat, choice: ExportChoice) -> WrittenFile:
    """The file that is chosen, written for one reader. Raises as `workflow.exporting.files.prepare`."""
    taken, kind = files.take(seat, choice), seat.kind
    file = files_of(kind)[choice.file]
    folder = seat.home.exports_dir
    with saving_files():
        folder.mkdir(mode=0o700, exist_ok=True)
        content = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by who reads it
        try:
            taken.write(content, lambda _done: None)
            size = content.tell()
            content.seek(0)
        except BaseException:
            content.close()
            raise
    return WrittenFile(content, f"project-{seat.project_id}-{file.sort}{file.form.suffix}", size)


def begin_export(seat: Seat, choice: ExportChoice) -> PreparedFile:
    """Have a file written for this person, to be fetched by `files.find`. Programs' files beyond the latest
    MOST_EXPORTS are removed. Raises as `workflow.exporting.files.prepare`."""
    stem = f"project-{seat.project_id}-"
    # Of one name there is one: programs that export at the same time must not remove each other's.
    key = files.prepare(seat, choice, f"{stem}{token_hex(4)}")
    for old in [one for one in files.prepared(seat) if one.file_name.startswith(stem)][MOST_EXPORTS:]:
        files.remove(seat, old.key)
    return export_state(seat, key)


def export_state(seat: Seat, key: str) -> PreparedFile:
    """Return a file of this person. Raises NotFound if there is none, or not any more; NotAllowed."""
    found = next((one for one in files.prepared(seat) if one.key == key), None)
    if found is None:
        raise NotFound("There is no such export, or not any more. Fix: start it again.")
    return found


def _enough(told: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """The first of these: until they are so large that more would be too much to hold at once."""
    taken, size = [], 0
    for one in told:
        taken.append(one)
        size += len(str(one))
        if size >= ENOUGH:
            break
    return taken
