"""What is before people now, as a question of its own or in a batch, and so is nobody else's to answer."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from sqlalchemy import Integer, Text, bindparam, cast, null, select, union_all
from sqlalchemy.orm import Session

from db import batches, questions
from db.base import Base

_QUESTIONS, _BATCHES = Base.metadata.tables["questions"], Base.metadata.tables["batches"]
# Built once, and one: it runs for every answer.
_OF_OTHERS = union_all(
    select(_QUESTIONS.c.row, _QUESTIONS.c.label, cast(null(), _BATCHES.c.rows.type).label("rows")).where(
        _QUESTIONS.c.project_id == bindparam("project"),
        _QUESTIONS.c.person_id != bindparam("person"),
        _QUESTIONS.c.reserved_until > bindparam("now"),
        _QUESTIONS.c.paused_at.is_(None),
    ),
    select(cast(null(), Integer), cast(null(), Text), _BATCHES.c.rows).where(
        _BATCHES.c.project_id == bindparam("project"),
        _BATCHES.c.person_id != bindparam("person"),
        _BATCHES.c.reserved_until > bindparam("now"),
    ),
)


def reserved_places(
    session: Session, project_id: int, except_person: int, now: datetime
) -> Counter[tuple[int, str | None]]:
    """Rows, each with the one label asked about or None, that others have before them now, and how many have it."""
    others = {"project": project_id, "person": except_person, "now": now}
    found: Counter[tuple[int, str | None]] = Counter()
    for row, label, together in session.execute(_OF_OTHERS, others):
        if row is not None:
            found[row, label or None] += 1
        else:
            found.update((one, None) for one, *_ in together)
    return found


def close_all(session: Session, project_id: int) -> None:
    """Close everything that is open in the project: what its screens show may not mean the same any more."""
    questions.close_all(session, project_id)
    batches.close(session, project_id)


def close(session: Session, project_id: int, person_id: int) -> None:
    """Close what is open before this person; harmless when nothing is."""
    questions.delete(session, project_id, person_id)
    batches.close(session, project_id, person_id)


def hand_back(session: Session, project_id: int, person_id: int, now: datetime) -> None:
    """Offer what is before the person to others; it stays theirs until somebody else has it."""
    questions.hand_back(session, project_id, person_id, now)
    batches.hand_back(session, project_id, person_id, now)
