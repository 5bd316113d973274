"""What is before people now, as a question of its own or in a batch, and so is nobody else's to answer."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from sqlalchemy.orm import Session

from db import batches, questions


def reserved_places(
    session: Session, project_id: int, except_person: int, now: datetime
) -> Counter[tuple[int, str | None]]:
    """Rows, each with the one label asked about or None, that others have before them now, and how many have it."""
    alone = questions.reserved_places(session, project_id, except_person, now)
    together = batches.reserved_rows(session, project_id, except_person, now)
    return alone + Counter({(row, None): people for row, people in together.items()})


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
