"""What people have set for themselves at a project: a goal for each day, and breaks; and how far a day is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime

from sqlalchemy import bindparam, delete, func, insert, select
from sqlalchemy.orm import Session

from db.base import Base
from db.models import EntryRow
from db.people_models import GoalRow


@dataclass(frozen=True)
class StoredGoal:
    """answers, minutes : the goal of a day      break_after : minutes until a break is offered; None: never
    rested_at : when the person came back from their latest pause
    reached_on : the day on which they were told that the goal is reached
    """

    answers: int | None
    minutes: int | None
    break_after: int | None
    rested_at: datetime | None = None
    reached_on: str | None = None


_TABLE = Base.metadata.tables["goals"]
# Built once: it runs for every answer, and to build it takes as long as to run it.
COLUMNS = tuple(_TABLE.c[one.name] for one in fields(StoredGoal))
_THEIRS = select(*COLUMNS).where(
    _TABLE.c.project_id == bindparam("project"), _TABLE.c.person_id == bindparam("person")
)


@dataclass(frozen=True)
class TimedEntry:
    """An entry of a person about a row: its token, seconds, moment, and whether it was taken back."""

    seq: int
    kind: str
    token: str
    seconds: float | None
    at: datetime
    withdrawn: bool


def get(session: Session, project_id: int, person_id: int) -> StoredGoal | None:
    """What this person has set; None where they have set nothing."""
    found = session.execute(_THEIRS, {"project": project_id, "person": person_id}).one_or_none()
    return None if found is None else StoredGoal(*found)


def put(session: Session, project_id: int, person_id: int, goal: StoredGoal) -> None:
    """Store it in place of what was there."""
    here = (GoalRow.project_id == project_id, GoalRow.person_id == person_id)
    session.execute(delete(GoalRow).where(*here))
    session.execute(insert(GoalRow).values(project_id=project_id, person_id=person_id, **asdict(goal)))


def note_rest(
    session: Session, project_id: int, person_id: int, at: datetime, break_after: int | None
) -> None:
    """The person came back from a pause. break_after : where they have set nothing yet"""
    goal = get(session, project_id, person_id) or StoredGoal(None, None, break_after)
    put(session, project_id, person_id, replace(goal, rested_at=at))


def entries_since(
    session: Session,
    project_id: int,
    person_id: int,
    since: datetime,
    kinds: Collection[str],
    without_note: str | None = None,
) -> list[TimedEntry]:
    """This person's entries of these kinds from that moment on, in order. without_note : those with this do not count

    Moments grow with the log, so that only its end is read.
    """
    before = (
        select(EntryRow.seq)
        .where(EntryRow.project_id == project_id, EntryRow.at < since)
        .order_by(EntryRow.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    later = (EntryRow.project_id == project_id, EntryRow.seq > func.coalesce(before, 0))
    withdrawn = set(session.scalars(select(EntryRow.target_seq).where(*later, EntryRow.target_seq > 0)))
    query = select(EntryRow.seq, EntryRow.kind, EntryRow.token, EntryRow.seconds, EntryRow.at).where(
        *later, EntryRow.person_id == person_id, EntryRow.kind.in_(kinds)
    )
    if without_note is not None:
        query = query.where(EntryRow.note.is_distinct_from(without_note))
    return [
        TimedEntry(seq, kind, token, seconds, at, seq in withdrawn)
        for seq, kind, token, seconds, at in session.execute(query.order_by(EntryRow.seq))
    ]
