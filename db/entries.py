"""The log: every answer, skip and withdrawal of a project, in order, never changed afterwards."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from db.models import EntryRow, ProjectRow

NO_ROW = -1
"""Row of the entries that change the classes: they are about no row, and no answers of anybody."""


class DuplicateEntry(ValueError):  # noqa: N818 - a state of affairs, as the callers word it
    """This question has an entry already: a second press or tab, a replayed request. Nothing was written."""


@dataclass(frozen=True, kw_only=True)
class NewEntry:
    """What is known of an entry before the log gives it its place.

    kind : is, among, not, none, unsure, bad, skip, withdraw, or class (of a change of classes)
    row : row number in the table, from 0; NO_ROW where the classes are changed
    label : the one label asked about, None where the whole set is the question
    revision : entries of this person on this row and label before this one
    token : name of the question answered; unique in the project
    target_seq : the entry a `withdraw` takes back
    before, after : candidate labels of the row, in class order      seconds : from shown to answered
    predicted : the label the model gave the row when it was shown      flagged : marked for a second look
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


@dataclass(frozen=True, kw_only=True)
class Entry(NewEntry):
    """A line of the log. `seq` counts from 1 in each project, without gaps."""

    seq: int


def lock(session: Session, project_id: int) -> None:
    """Let writers of one project wait for each other (PostgreSQL); SQLite's BEGIN IMMEDIATE does so anyway."""
    session.execute(select(ProjectRow.id).where(ProjectRow.id == project_id).with_for_update())


def append(session: Session, new: NewEntry) -> Entry:
    """Write an entry at the end of its project's log; call it inside `Database.write`.

    Raises DuplicateEntry when the token, or this person's revision of the row and label, has one already.
    The transaction must then be given up: let the error leave the `with` block.
    """
    lock(session, new.project_id)
    entry = Entry(**asdict(new), seq=last_seq(session, new.project_id) + 1)
    stored = asdict(entry) | {"label": entry.label or ""}
    try:
        session.execute(insert(EntryRow).values({key: _json(value) for key, value in stored.items()}))
    except IntegrityError as error:
        # SQLite names the columns, PostgreSQL the constraint: both of ours have one of these words in them.
        if any(word in str(error.orig) for word in ("token", "revision")):
            raise DuplicateEntry(
                f"Project {new.project_id} has an entry for token {new.token!r} already; nothing was written."
            ) from error
        raise
    return entry


def after(session: Session, project_id: int, seq: int) -> list[Entry]:
    """The entries with a greater seq, in order."""
    rows = session.execute(
        every_column().where(EntryRow.project_id == project_id, EntryRow.seq > seq).order_by(EntryRow.seq)
    )
    return [as_entry(row) for row in rows]


def with_token(session: Session, project_id: int, token: str) -> Entry | None:
    """The entry that answered the question with this token, if one did."""
    row = session.execute(
        every_column().where(EntryRow.project_id == project_id, EntryRow.token == token)
    ).one_or_none()
    return None if row is None else as_entry(row)


def count_for(session: Session, project_id: int, person_id: int, row: int, label: str | None = None) -> int:
    """How many entries this person has on this row and label: the revision of the next one."""
    return session.execute(
        select(func.count()).where(
            EntryRow.project_id == project_id,
            EntryRow.person_id == person_id,
            EntryRow.row == row,
            EntryRow.label == (label or ""),
        )
    ).scalar_one()


def latest(session: Session, project_id: int, limit: int, person_id: int | None = None) -> list[Entry]:
    """The newest entries about rows, of every kind, newest first; of one person or of everybody."""
    query = every_column().where(EntryRow.project_id == project_id, EntryRow.row != NO_ROW)
    if person_id is not None:
        query = query.where(EntryRow.person_id == person_id)
    return [as_entry(row) for row in session.execute(query.order_by(EntryRow.seq.desc()).limit(limit))]


def get(session: Session, project_id: int, seq: int) -> Entry | None:
    """The entry at this place of the log."""
    row = session.execute(
        every_column().where(EntryRow.project_id == project_id, EntryRow.seq == seq)
    ).one_or_none()
    return None if row is None else as_entry(row)


def withdrawal_of(session: Session, project_id: int, seq: int) -> int | None:
    """The seq of the entry that takes this one back, None where it stands."""
    return session.execute(
        select(EntryRow.seq).where(
            EntryRow.project_id == project_id, EntryRow.target_seq == seq, EntryRow.kind == "withdraw"
        )
    ).scalar_one_or_none()


@dataclass(frozen=True)
class PastEntry:
    """What a list of a person's answers needs of an entry; `withdrawal` is the seq of what took it back."""

    seq: int
    kind: str
    row: int
    label: str | None
    labels: tuple[str, ...]
    token: str
    before: tuple[str, ...]
    note: str | None
    flagged: bool
    withdrawal: int | None


def history(session: Session, project_id: int, person_id: int, limit: int) -> list[PastEntry]:
    """This person's latest entries about rows but for withdrawals, newest first."""
    rows = session.execute(_history(), {"project": project_id, "person": person_id, "limit": limit})
    return [
        PastEntry(
            seq, kind, row, label or None, tuple(labels), token, tuple(before), note, flagged, withdrawal
        )
        for seq, kind, row, label, labels, token, before, note, flagged, withdrawal in rows
    ]


@functools.cache  # it runs after every answer, and to build it takes as long as to run it
def _history() -> Select[Any]:
    withdrawal = aliased(EntryRow)
    taken_back = select(withdrawal.seq).where(
        withdrawal.project_id == bindparam("project"),
        withdrawal.target_seq == EntryRow.seq,
        withdrawal.kind == "withdraw",
    )
    return (
        select(
            EntryRow.seq,
            EntryRow.kind,
            EntryRow.row,
            EntryRow.label,
            EntryRow.labels,
            EntryRow.token,
            EntryRow.before,
            EntryRow.note,
            EntryRow.flagged,
            taken_back.scalar_subquery(),
        )
        .where(
            EntryRow.project_id == bindparam("project"),
            EntryRow.person_id == bindparam("person"),
            EntryRow.row != NO_ROW,
            EntryRow.kind != "withdraw",
        )
        .order_by(EntryRow.seq.desc())
        .limit(bindparam("limit"))
    )


def changed_since(session: Session, project_id: int, row: int, moment: datetime) -> bool:
    """Whether an entry after this moment gave the row other candidates."""
    before = (
        select(EntryRow.seq)
        .where(EntryRow.project_id == project_id, EntryRow.at <= moment)
        .order_by(EntryRow.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    changes = session.execute(
        select(EntryRow.before, EntryRow.after).where(
            EntryRow.project_id == project_id, EntryRow.row == row, EntryRow.seq > func.coalesce(before, 0)
        )
    )
    return any(old != new for old, new in changes)


def last(session: Session, project_id: int) -> Entry | None:
    """The project's latest entry of any kind."""
    query = every_column().where(EntryRow.project_id == project_id).order_by(EntryRow.seq.desc()).limit(1)
    row = session.execute(query).one_or_none()
    return None if row is None else as_entry(row)


def answered_rows(session: Session, project_id: int) -> int:
    """How many rows an answer that was not withdrawn has decided: one candidate left, or none, as a bad item."""
    return session.execute(
        select(func.count(func.distinct(EntryRow.row))).where(
            EntryRow.project_id == project_id,
            EntryRow.kind.in_(("is", "among", "not", "none", "bad")),
            func.json_array_length(EntryRow.after) < 2,
            ~_withdrawn(),
        )
    ).scalar_one()


def answered_cells(session: Session, project_id: int) -> int:
    """How many labels the answers about label vectors name that were not withdrawn; one answered twice counts twice."""
    count = func.coalesce(func.sum(func.json_array_length(EntryRow.labels)), 0)
    found = session.execute(
        select(count).where(
            EntryRow.project_id == project_id, EntryRow.kind.in_(("yes", "no")), ~_withdrawn()
        )
    ).scalar_one()
    return int(found)


def about_classes(session: Session, project_id: int) -> list[Entry]:
    """The changes of classes and their withdrawals, in order; found by index, whatever the length of the log."""
    query = every_column().where(EntryRow.project_id == project_id, EntryRow.row == NO_ROW)
    return [as_entry(row) for row in session.execute(query.order_by(EntryRow.seq))]


def _withdrawn() -> ColumnElement[bool]:
    """True of an entry that a later one takes back."""
    withdrawal = aliased(EntryRow)
    return (
        select(withdrawal.seq)
        .where(
            withdrawal.project_id == EntryRow.project_id,
            withdrawal.target_seq == EntryRow.seq,
            withdrawal.kind == "withdraw",
        )
        .exists()
    )


def last_seq(session: Session, project_id: int) -> int:
    """The seq of the project's latest entry, 0 before the first."""
    found = session.execute(
        select(func.max(EntryRow.seq)).where(EntryRow.project_id == project_id)
    ).scalar_one()
    return found or 0


def time_of(session: Session, project_id: int, seq: int) -> datetime | None:
    """When this entry was made; None where there is none."""
    return session.execute(
        select(EntryRow.at).where(EntryRow.project_id == project_id, EntryRow.seq == seq)
    ).scalar_one_or_none()


def seconds_of_latest(
    session: Session, project_id: int, limit: int, without_note: str | None = None
) -> list[float]:
    """Seconds spent on each of the project's latest answers, newest first; skips do not count.

    without_note : answers with this note do not count either
    """
    spent = select(EntryRow.seconds).where(EntryRow.project_id == project_id, EntryRow.seconds.is_not(None))
    if without_note is not None:
        spent = spent.where(EntryRow.note.is_distinct_from(without_note))
    answers = (
        spent.where(EntryRow.kind.not_in(("skip", "withdraw"))).order_by(EntryRow.seq.desc()).limit(limit)
    )
    return [seconds for seconds in session.execute(answers).scalars() if seconds is not None]


def every_column() -> Select[Any]:
    """A query of whole entries, which `as_entry` reads."""
    return select(*EntryRow.__table__.columns)


def as_entry(row: Row[Any]) -> Entry:
    """The entry of a row of `every_column`."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row._mapping.items()
    }
    return Entry(**(values | {"label": values["label"] or None}))


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
