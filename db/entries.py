"""The log: every answer, skip and withdrawal of a project, in order, never changed afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, ScalarSelect, Select, bindparam, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import Base
from db.identity import tell
from db.models import EntryRow, ProjectRow

NO_ROW = -1
"""Row of the entries that change the classes or the model: they are about no row, and are not answers."""


READ_AT_ONCE = 1_000
"""Entries that `each` holds in memory at once."""


class DuplicateEntry(ValueError):  # noqa: N818 - a state of affairs, as the callers word it
    """This question has an entry already: a double click, a second tab, a replayed request. Nothing was written."""


_TABLE = Base.metadata.tables["entries"]
_IN_PROJECT = _TABLE.c.project_id == bindparam("project")
# Built once: they run for every answer, and building one takes as long as running it.
_EVERYTHING = select(*_TABLE.c).where(_IN_PROJECT)
_AFTER = _EVERYTHING.where(_TABLE.c.seq > bindparam("seq")).order_by(_TABLE.c.seq)
_WITH_TOKEN = _EVERYTHING.where(_TABLE.c.token == bindparam("token"))
_LATEST_OF = (
    _EVERYTHING.where(_TABLE.c.row != NO_ROW, _TABLE.c.person_id == bindparam("person"))
    .order_by(_TABLE.c.seq.desc())
    .limit(bindparam("limit"))
)
_COUNT = select(func.count()).where(
    _IN_PROJECT,
    _TABLE.c.person_id == bindparam("person"),
    _TABLE.c.row == bindparam("row"),
    _TABLE.c.label == bindparam("label"),
)
_ROWS_OF_PRESS = select(_TABLE.c.row).where(
    _IN_PROJECT,
    _TABLE.c.seq.between(bindparam("first"), bindparam("last")),
    _TABLE.c.person_id == bindparam("person"),
    _TABLE.c.at == bindparam("at"),
)
_MOMENT = (
    select(_TABLE.c.seq)
    .where(_IN_PROJECT, _TABLE.c.at <= bindparam("moment"))
    .order_by(_TABLE.c.seq.desc())
    .limit(1)
    .scalar_subquery()
)
_CHANGES = select(_TABLE.c.person_id, _TABLE.c.before, _TABLE.c.after).where(
    _IN_PROJECT, _TABLE.c.row == bindparam("row"), _TABLE.c.seq > func.coalesce(_MOMENT, 0)
)
_LAST_SEQ = select(func.max(_TABLE.c.seq)).where(_IN_PROJECT)
_PROJECTS = Base.metadata.tables["projects"]
_OF_PROJECT = _TABLE.c.project_id == _PROJECTS.c.id


def _latest_about_a_row(column: ColumnElement[Any]) -> ScalarSelect[Any]:
    """The column of the latest entry about a row of the enclosing query's project."""
    about = select(column).where(_OF_PROJECT, _TABLE.c.row != NO_ROW)
    return about.order_by(_TABLE.c.seq.desc()).limit(1).scalar_subquery()


# Each subquery reads the end of one project's log by the primary key: a join or a GROUP BY would read whole logs.
_LOG_ENDS = select(
    _PROJECTS.c.id,
    select(func.max(_TABLE.c.seq)).where(_OF_PROJECT).scalar_subquery(),
    _latest_about_a_row(_TABLE.c.at),
    _latest_about_a_row(_TABLE.c.person_id),
)
_APPEND = insert(_TABLE)


@dataclass(frozen=True, kw_only=True)
class NewEntry:
    """An entry before the log gives it its place.

    kind : a word of the caller, stored as it is and not interpreted here
    row : row number in the table, from 0; NO_ROW if classes, rows or the model are changed
    label : the one label asked about, None if the whole set is the question
    revision : number of earlier entries of this person on this row and label
    token : name of the question answered; unique in the project
    target_seq : the entry that this one withdraws; None if it withdraws none
    before, after : the row's labels before and after it, in the caller's form      seconds : from shown to answered
    predicted : the model's prediction when the question was shown      flagged : marked for a second look
    asked : how the question was put, in the caller's form; None: not recorded
    """

    project_id: int
    kind: str
    row: int
    person_id: int
    token: str
    revision: int
    at: datetime
    label: str | None = None
    labels: tuple[str, ...] = ()
    target_seq: int | None = None
    strategy: str | None = None
    score: float | None = None
    model_version: int = 0
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    seconds: float | None = None
    note: str | None = None
    predicted: str | None = None
    flagged: bool = False
    asked: dict[str, object] | None = None


@dataclass(frozen=True, kw_only=True)
class LogEntry(NewEntry):
    """A line of the log. `seq` counts from 1 in each project, without gaps."""

    seq: int


def lock(session: Session, project_id: int) -> None:
    """Make writers of one project wait for each other (PostgreSQL); SQLite's BEGIN IMMEDIATE does so anyway. Writers
    that only add something that refers to the project (a model, a goal) do not wait."""
    if session.get_bind().dialect.name != "sqlite":
        session.execute(select(ProjectRow.id).where(ProjectRow.id == project_id).with_for_update(key_share=True))


def append(session: Session, new: NewEntry, last: int | None = None) -> LogEntry:
    """Write an entry at the end of its project's log; call it inside `Database.write`.

    last : seq of the latest entry, if the caller locked the project before reading it; None: it is read here

    Raises DuplicateEntry if there is an entry with this token, or this person's revision of the row and label.
    The transaction must then be rolled back: let the error leave the `with` block.
    """
    if last is None:
        lock(session, new.project_id)
        last = last_seq(session, new.project_id)
    entry = LogEntry(**vars(new), seq=last + 1)
    stored = vars(entry) | {"label": entry.label or ""}
    try:
        session.execute(_APPEND, {key: _json(value) for key, value in stored.items()})
    except IntegrityError as error:
        if _is_there_already(error):
            raise DuplicateEntry(
                f"Project {new.project_id} has an entry for token {new.token!r} already; nothing was written."
            ) from error
        raise
    tell(session, entry.project_id, entry.seq)
    return entry


def _is_there_already(error: IntegrityError) -> bool:
    """Whether there is an entry with this token, or this revision, already."""
    diagnosis = getattr(error.orig, "diag", None)  # PostgreSQL names the constraint
    if diagnosis is not None:
        return diagnosis.constraint_name in ("uq_entries_token", "uq_entries_revision")
    # SQLite gives only a message, which names the columns.
    return any(f"entries.{column}" in str(error.orig) for column in ("token", "revision"))


def after(session: Session, project_id: int, seq: int) -> list[LogEntry]:
    """The entries with a greater seq, in order."""
    return [as_entry(row) for row in session.execute(_AFTER, {"project": project_id, "seq": seq})]


def each(session: Session, project_id: int, upto: int, *, rows_below: int | None = None) -> Iterator[LogEntry]:
    """The entries up to this seq in order, streamed: never all of them in memory.

    rows_below : only entries about rows before this one
    """
    query = every_column().where(EntryRow.project_id == project_id, EntryRow.seq <= upto)
    if rows_below is not None:
        query = query.where(EntryRow.row > NO_ROW, EntryRow.row < rows_below)
    # Closed even if the reader stops early: else a server-side cursor would stay open.
    query = query.order_by(EntryRow.seq)
    with session.execute(query, execution_options={"yield_per": READ_AT_ONCE}) as found:
        yield from map(as_entry, found)


def people_of(session: Session, project_id: int) -> list[int]:
    """People with an entry in the project's log, in the order of their first entries."""
    first = func.min(EntryRow.seq)
    query = select(EntryRow.person_id).where(EntryRow.project_id == project_id)
    return list(session.scalars(query.group_by(EntryRow.person_id).order_by(first)))


def with_token(session: Session, project_id: int, token: str) -> LogEntry | None:
    """The entry that answered the question with this token, if one did."""
    row = session.execute(_WITH_TOKEN, {"project": project_id, "token": token}).one_or_none()
    return None if row is None else as_entry(row)


def count_for(session: Session, project_id: int, person_id: int, row: int, label: str | None = None) -> int:
    """How many entries this person has on this row and label: the revision of the next one."""
    place = {"project": project_id, "person": person_id, "row": row, "label": label or ""}
    return session.execute(_COUNT, place).scalar_one()


def latest(session: Session, project_id: int, person_id: int, limit: int) -> list[LogEntry]:
    """This person's newest entries about rows, of every kind, newest first."""
    rows = session.execute(_LATEST_OF, {"project": project_id, "person": person_id, "limit": limit})
    return [as_entry(row) for row in rows]


def get(session: Session, project_id: int, seq: int) -> LogEntry | None:
    """The entry at this place of the log."""
    row = session.execute(every_column().where(EntryRow.project_id == project_id, EntryRow.seq == seq)).one_or_none()
    return None if row is None else as_entry(row)


def rows_of_answer(session: Session, entry: LogEntry, most: int) -> set[int]:
    """Return the rows of the answer whose last entry this is: all entries that one answer stores have the same
    moment.

    most : entries that one answer stores at most
    """
    press = {"project": entry.project_id, "person": entry.person_id, "at": entry.at}
    bounds = {"first": entry.seq - most + 1, "last": entry.seq}
    return set(session.execute(_ROWS_OF_PRESS, press | bounds).scalars())


def between(session: Session, project_id: int, first: int, last: int) -> list[LogEntry]:
    """The entries from this seq to that one, in order."""
    here = (EntryRow.project_id == project_id, EntryRow.seq >= first, EntryRow.seq <= last)
    return [as_entry(row) for row in session.execute(every_column().where(*here).order_by(EntryRow.seq))]


def withdrawal_of(session: Session, project_id: int, seq: int) -> LogEntry | None:
    """The entry that withdraws this one, None if it is not withdrawn."""
    row = session.execute(
        every_column().where(EntryRow.project_id == project_id, EntryRow.target_seq == seq)
    ).one_or_none()
    return None if row is None else as_entry(row)


def changed_since(session: Session, project_id: int, row: int, moment: datetime, person_id: int | None = None) -> bool:
    """Whether an entry after this moment, of this person or of anyone, changed the row's candidates."""
    since = {"project": project_id, "row": row, "moment": moment}
    found = session.execute(_CHANGES, since)
    return any(old != new for who, old, new in found if person_id in (None, who))


def about_project(session: Session, project_id: int) -> list[LogEntry]:
    """The entries about no row: changes of classes, their withdrawals, rows added, changes of the model. In order;
    found by index, so the length of the log does not matter."""
    query = every_column().where(EntryRow.project_id == project_id, EntryRow.row == NO_ROW)
    return [as_entry(row) for row in session.execute(query.order_by(EntryRow.seq))]


def last_seq(session: Session, project_id: int) -> int:
    """The seq of the project's latest entry, 0 before the first."""
    return session.execute(_LAST_SEQ, {"project": project_id}).scalar_one() or 0


@dataclass(frozen=True)
class LogEnd:
    """The end of a project's log.

    height : seq of the latest entry, 0 before the first
    at, person_id : when and by whom the latest entry about a row was made; None if there is none
    """

    height: int
    at: datetime | None
    person_id: int | None


def log_ends(session: Session, project_ids: Collection[int] | None = None) -> dict[int, LogEnd]:
    """{project: end of its log} in one statement. project_ids : None: every project"""
    query = _LOG_ENDS if project_ids is None else _LOG_ENDS.where(_PROJECTS.c.id.in_(project_ids))
    return {key: LogEnd(height or 0, *last) for key, height, *last in session.execute(query)}


def time_of(session: Session, project_id: int, seq: int) -> datetime | None:
    """When this entry was made; None if there is none."""
    return session.execute(
        select(EntryRow.at).where(EntryRow.project_id == project_id, EntryRow.seq == seq)
    ).scalar_one_or_none()


def last_until(session: Session, project_id: int, moment: datetime) -> int:
    """The seq of the latest entry made until this moment, 0 before the first."""
    found = session.execute(select(_MOMENT), {"project": project_id, "moment": moment}).scalar_one()
    return found or 0


def every_column() -> Select[Any]:
    """A query of whole entries, which `as_entry` reads."""
    return select(*EntryRow.__table__.columns)


def as_entry(row: Row[Any]) -> LogEntry:
    """The entry of a row of `every_column`."""
    values = {str(key): tuple(value) if isinstance(value, list) else value for key, value in row._mapping.items()}
    return LogEntry(**(values | {"label": values["label"] or None}))


def _json(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
