"""Events of the audit: who did what, when. Append-only; nothing here changes or removes one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import insert, or_, select
from sqlalchemy.orm import Session

from db.base import Base
from db.people_models import EventRow

_TABLE = Base.metadata.tables["events"]


@dataclass(frozen=True)
class Event:
    """person_id : who did it, None where nobody was signed in      about_id : the person it was done to
    details : what else is known, by name; never a secret      address : of their machine, '' where it is not known
    """

    id: int
    at: datetime
    what: str
    person_id: int | None
    about_id: int | None
    project_id: int | None
    details: dict[str, Any]
    address: str


@dataclass(frozen=True)
class EventFilter:
    """Which events are asked for; None asks for all. person_id : who did it, or whom it was done to
    since, until : times, the second excluded
    """

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
    details: dict[str, Any] | None = None,
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
    query = select(*(_TABLE.c[one.name] for one in fields(Event))).order_by(_TABLE.c.id.desc())
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
