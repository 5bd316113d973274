"""Events of the audit log: who did what, when. Append-only: nothing here changes or removes an event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, Text, bindparam, cast, insert, or_, select
from sqlalchemy.orm import Session

from db.base import Base, columns_of
from db.entries import NO_ROW, READ_AT_ONCE
from db.models import EventRow

_TABLE = Base.metadata.tables["events"]


@dataclass(frozen=True)
class Event:
    """person_id : who did it, None if no one was signed in      about_id : the person it was done to
    details : further facts by name, never a secret      address : IP address of the person, '' if unknown"""

    id: int
    at: datetime
    what: str
    person_id: int | None
    about_id: int | None
    project_id: int | None
    details: dict[str, object]
    address: str


@dataclass(frozen=True)
class EventFilter:
    """The events to return; None does not filter. person_id : who did it, or to whom it was done
    since, until : times, the second excluded"""

    person_id: int | None = None
    what: str | None = None
    project_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def add(
    session: Session,
    *,
    at: datetime,
    what: str,
    person_id: int | None = None,
    about_id: int | None = None,
    project_id: int | None = None,
    details: dict[str, object] | None = None,
    address: str = "",
) -> None:
    """Store an event. Fields as in `Event`."""
    session.execute(
        insert(EventRow).values(
            at=at,
            what=what,
            person_id=person_id,
            about_id=about_id,
            project_id=project_id,
            details=details or {},
            address=address,
        )
    )


def listed(session: Session, asked: EventFilter, limit: int | None = None) -> list[Event]:
    """The events asked for, the latest first. limit : how many at most"""
    query = select(*columns_of("events", Event)).order_by(_TABLE.c.id.desc())
    if asked.person_id is not None:
        query = query.where(or_(_TABLE.c.person_id == asked.person_id, _TABLE.c.about_id == asked.person_id))
    if asked.what is not None:
        query = query.where(_TABLE.c.what == asked.what)
    if asked.project_id is not None:
        query = query.where(_TABLE.c.project_id == asked.project_id)
    if asked.since is not None:
        query = query.where(_TABLE.c.at >= asked.since)
    if asked.until is not None:
        query = query.where(_TABLE.c.at < asked.until)
    return [Event(*row) for row in session.execute(query.limit(limit))]


# The log as learners need it: reading only these columns takes a fraction of the time of whole entries.

_TOLD_TABLE = Base.metadata.tables["entries"]
_TOLD: Select[int, str, int, int, str, int | None] = (
    select(
        *(_TOLD_TABLE.c[name] for name in ("seq", "kind", "row", "person_id")),
        cast(_TOLD_TABLE.c.labels, Text),  # a long log repeats the same few values: read as text, each parsed once
        _TOLD_TABLE.c.target_seq,
    )
    .where(_TOLD_TABLE.c.project_id == bindparam("project"), _TOLD_TABLE.c.seq > bindparam("seq"))
    .order_by(_TOLD_TABLE.c.seq)
)


_ASKED_TEXT = cast(_TOLD_TABLE.c.asked, Text)
_PUT: Select[int, str, int, str, str, str] = (
    select(
        *(_TOLD_TABLE.c[name] for name in ("seq", "kind", "row", "token")),
        cast(_TOLD_TABLE.c.labels, Text),
        _ASKED_TEXT,
    )
    .where(
        _TOLD_TABLE.c.project_id == bindparam("project"),
        _TOLD_TABLE.c.seq > bindparam("seq"),
        _TOLD_TABLE.c.seq <= bindparam("last"),
        _TOLD_TABLE.c.target_seq.is_(None),
        _ASKED_TEXT.like(bindparam("like")),
    )
    .order_by(_TOLD_TABLE.c.seq)
)
_PREDICTED: Select[int, int, str] = (
    select(_TOLD_TABLE.c.seq, _TOLD_TABLE.c.row, _TOLD_TABLE.c.predicted)
    .where(
        _TOLD_TABLE.c.project_id == bindparam("project"),
        _TOLD_TABLE.c.seq > bindparam("seq"),
        _TOLD_TABLE.c.seq <= bindparam("last"),
        _TOLD_TABLE.c.row > NO_ROW,
        _TOLD_TABLE.c.predicted.is_not(None),
    )
    .order_by(_TOLD_TABLE.c.seq)
)


class ToldEntry(NamedTuple):
    """The parts of an entry that learners need; see `NewEntry`."""

    seq: int
    kind: str
    row: int
    person_id: int
    labels: tuple[str, ...]
    target_seq: int | None


class PutEntry(NamedTuple):
    """The parts of an entry that say how its question was put; see `NewEntry`."""

    seq: int
    kind: str
    row: int
    token: str
    labels: tuple[str, ...]
    asked: dict[str, object]


def each(session: Session, project_id: int, seq: int) -> Iterator[ToldEntry]:
    """The entries with a greater seq, in order, streamed: never all of them in memory."""
    here = {"project": project_id, "seq": seq}
    labels: dict[str, tuple[str, ...]] = {}
    # Closed even if the reader stops early: else a server-side cursor would stay open.
    with session.execute(_TOLD, here, execution_options={"yield_per": READ_AT_ONCE}) as found:
        for number, kind, row, person_id, text, target_seq in found:
            if text not in labels:
                labels[text] = tuple(json.loads(text))
            yield ToldEntry(number, kind, row, person_id, labels[text], target_seq)


def each_put(session: Session, project_id: int, seq: int, last: int, name: str) -> Iterator[PutEntry]:
    """The entries after `seq` up to `last`, in order, that are not withdrawals and have the key `name` in `asked`."""
    here = {"project": project_id, "seq": seq, "last": last, "like": f"%{json.dumps(name)}%"}
    with session.execute(_PUT, here, execution_options={"yield_per": READ_AT_ONCE}) as found:
        for number, kind, row, token, labels, text in found:
            asked = json.loads(text)
            if name in asked:  # the SQL filter also finds it inside a label
                yield PutEntry(number, kind, row, token, tuple(json.loads(labels)), asked)


def each_predicted(session: Session, project_id: int, seq: int, last: int) -> Iterator[tuple[int, int, str]]:
    """(seq, row, prediction) of the entries about rows after `seq` up to `last` that have a prediction, in order."""
    here = {"project": project_id, "seq": seq, "last": last}
    with session.execute(_PREDICTED, here, execution_options={"yield_per": READ_AT_ONCE}) as found:
        yield from map(tuple, found)
