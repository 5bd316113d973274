"""Check that a log is unchanged: a file by its seals, a project by its table.

If the chain of a file holds, no line was changed, removed, added or moved since it was written, unless everything after
the change was rewritten as well. If the log of a project holds, each entry has the labels that follow from its table
and the previous entries. Neither proves that the whole log was not rewritten. For that, note the head elsewhere (in an
e-mail, a paper, a colleague's folder), and compare.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from db import entries
from db.entries import LogEntry
from db.projects import Project
from plcore import LabelTable
from plcore.arrays import counted
from plcore.loop import ClassChange, EntryKind, class_changes
from workflow.access import Right
from workflow.exporting.card_facts import without_names
from workflow.kinds import AnyKind
from workflow.log.columns import LogError as LogError
from workflow.log.columns import LogLine, line_of, values_of
from workflow.log.lines import FIX, LogFooter, LogHeader, check_log_lines, first_table, head_of
from workflow.log.reading import learner_entry, take_in
from workflow.rows.finding import names_of
from workflow.seat import Seat


@dataclass(frozen=True)
class Verified:
    """A log that passed. entries : number of entries      head : the seal of the last one (`workflow.log.lines`)

    checked : what was checked, as in a sentence
    """

    checked: str
    entries: int
    head: str

    def __str__(self) -> str:
        count = counted(self.entries, "entry", "entries")
        return f"{self.checked} holds: {count}, head {self.head}"


def header_of(project: Project, log: Iterable[LogEntry], written_at: datetime) -> LogHeader:
    """Header of a file of the project's log. log : all entries, or those about no row"""
    return LogHeader(project.name, first_table(log, project.table_hash), project.settings, written_at)


def verify_file(path: Path) -> Verified:
    """Check the seals of a log written as JSON Lines.

    Raises LogError, naming the first wrong line and the fault; OSError.
    """
    with path.open("rb") as lines:
        (last,) = deque(check_log_lines(lines), maxlen=1)
    assert isinstance(last, LogFooter)  # noqa: S101 - else the check has raised
    return Verified(f"{path.name}: the chain", last.entries, last.head)


def verify_project(seat: Seat, path: Path | None = None) -> tuple[Verified, ...]:
    """Fold the project's log again from its table, and compare each entry with the result.

    path : a file of the log, which must be the beginning of the project's log

    Raises
    LogError : Something does not fit; the message names the entry and the fault.
    NotAllowed : The person is not an owner.
    NotFound, OSError
    """
    alone = None if path is None else verify_file(path)
    with seat.reading(Right.OWN) as reading:
        project = reading.project
        log = entries.after(reading.session, project.id, 0)
        names = names_of(reading.session)
        hidden = without_names(reading.session, project.id)
    first = first_table(log, project.table_hash)
    ids = check_fold(seat.kind, seat.home.table_path, project, first, log)
    head = head_of(log, names, ids, first)
    found = Verified(f"Project {project.id}: the log", len(log), head)
    if path is None or alone is None:
        return (found,)
    part = log[: alone.entries]
    own = head if len(part) == len(log) else head_of(part, names, ids, first)
    nameless = alone.head != own and alone.head == head_of(part, hidden, ids, first)
    called = hidden if nameless else names  # names are hidden in a data set without annotators
    lines = [line_of(values_of(entry, called, ids)) for entry in log]
    with path.open("rb") as file:
        beginning = _check_beginning(file, path.name, project, first, lines)
    # Equal values can be written differently, such as 0.0 and -0.0 or 1.0 and 1, with different seals.
    if not nameless and beginning.head != own:
        raise LogError(
            f"{path.name} says the same as the log of project {project.id} in another form, with a head of its own, "
            f"{beginning.head}: it was rewritten. {FIX}"
        )
    return found, beginning


def _read_table(path: Path, table_hash: str, project: Project) -> LabelTable:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise LogError(
            f"The table of project {project.id} is not there: {path}. Fix: put it back from a backup."
        ) from error
    if found != table_hash:
        raise LogError(
            f"The table of project {project.id} was changed: its SHA-256 is {found}, the project says "
            f"{table_hash}. Fix: put {path} back from a backup."
        )
    return LabelTable.read(path)


def check_fold(
    kind: AnyKind, path_of: Callable[[str], Path], project: Project, first: str, log: Sequence[LogEntry]
) -> list[str]:
    """Fold the log again from the table; return the ids of all rows. first : the table's SHA-256 before any rows were
    added
    path_of : returns the path of the table with a SHA-256

    Raises LogError if an entry is impossible after the table and the previous entries, or has other labels.
    """
    settings = kind.read_settings(project.settings)
    changes: list[ClassChange] = []
    table, table_hash = _read_table(path_of(first), first, project), first
    pool, model = kind.make_pool(table, settings, changes), None
    for number, stored in enumerate(log, start=1):
        if stored.seq != number:
            raise _fault(number, f"is not in the log; entry {stored.seq} is in its place")
        entry = learner_entry(stored)
        try:
            if stored.kind == EntryKind.MODEL:
                before, after = stored.before if model is None else model, stored.labels[:1]
                model = stored.after
                pool.pass_over(stored.seq)
            elif stored.row == entries.NO_ROW:
                before = tuple(pool.classes)
                changes += class_changes([entry])
                if _came_with_rows(log, number):
                    before = after = ()  # the entry that adds rows names their table
                else:
                    if stored.kind == EntryKind.ROWS:
                        before, table_hash = (table_hash,), stored.labels[-1]
                        table = _read_table(path_of(table_hash), table_hash, project)
                    # Entries count under the classes of their time, so all of them are folded again.
                    pool = kind.make_pool(table, settings, changes)
                    take_in(pool, log[:number], pool.apply)
                    after = (table_hash,) if stored.kind == EntryKind.ROWS else tuple(pool.classes)
            else:
                pool.check(entry)
                before = pool.labels_at(entry)
                pool.apply(entry)
                after = pool.labels_at(entry)
        except LogError:
            raise
        except ValueError as error:  # AnswerError, ClassError, a table that does not fit the rows
            raise _fault(number, f"is impossible after those before it: {error}") from error
        for name, said, comes_to in (("before", stored.before, before), ("after", stored.after, after)):
            if said != comes_to:
                raise _fault(number, f"says {_words(said)} were there {name} it; table and log give {_words(comes_to)}")
    if model is not None and model != (in_force := (settings.model_in_force,)):
        raise LogError(
            f"The latest change of the model in the log is to {_words(model)}, but the settings of project "
            f"{project.id} say {_words(in_force)}: one of the two was changed outside Winnow."
        )
    if table_hash != project.table_hash:
        raise LogError(
            f"The log ends with the table {table_hash}, but project {project.id} has {project.table_hash}: one of the "
            "two was changed outside Winnow. Fix: restore a backup."
        )
    return list(map(str, table.ids))


def _came_with_rows(log: Sequence[LogEntry], number: int) -> bool:
    """Return whether this entry adds a class for new rows: the next entry of another kind must be the one that adds the
    rows."""
    kinds = (None if one.kind == EntryKind.CLASS and not one.after else one.kind for one in log[number - 1 :])
    return not log[number - 1].after and next(filter(None, kinds), None) == EntryKind.ROWS


def _check_beginning(
    lines: Iterable[bytes], name: str, project: Project, first: str, log: Sequence[LogLine]
) -> Verified:
    """Check a file as the beginning of the project's log. Raises LogError."""
    whose = f"project {project.id}"
    for part in check_log_lines(lines):
        if isinstance(part, LogHeader):
            if part.table_sha256 != first:
                raise LogError(
                    f"{name} is the log of another table: the SHA-256 of its table is {part.table_sha256}, that of "
                    f"{whose} has {first}."
                )
        elif isinstance(part, LogFooter):
            found = part
        elif part.entry.seq > len(log):
            raise LogError(
                f"{name} has an entry {part.entry.seq}, the log of {whose} only {len(log):,}: entries were removed "
                "from the project, or the file was rewritten with more."
            )
        else:
            _check_same(part, log[part.entry.seq - 1], name, whose)
    whole = "all" if found.entries == len(log) else f"the beginning, of {counted(len(log), 'entry', 'entries')},"
    return Verified(f"{name}: {whole} of the log of {whose}", found.entries, found.head)


def _check_same(line: LogLine, stored: LogLine, name: str, whose: str) -> None:
    said, known = ({**asdict(one.entry), "annotator": one.annotator, "row_id": one.row_id} for one in (line, stored))
    for what, value in said.items():
        if value != known[what]:
            raise LogError(
                f"Entry {line.entry.seq} is not the same: {name} says {what} {value!r:.80}, the log of {whose} says "
                f"{known[what]!r:.80}. One of the two was changed, or rewritten."
            )


def _fault(number: int, how: str) -> LogError:
    return LogError(f"Entry {number} of the log {how}. It was changed outside Winnow. Fix: restore a backup.")


def _words(labels: Sequence[str]) -> str:
    return ", ".join(map(repr, labels)) or "none"
