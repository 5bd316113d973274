"""Notes beside rows that people disagree on: added, never changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from db.people_models import DisputeNoteRow


@dataclass(frozen=True)
class DisputeNote:
    """What a person said beside a row."""

    row: int
    person_id: int
    at: datetime
    text: str


def add(session: Session, project_id: int, note: DisputeNote) -> None:
    """Store it after those there are."""
    session.execute(insert(DisputeNoteRow).values(project_id=project_id, **asdict(note)))


def of_row(session: Session, project_id: int, row: int) -> list[DisputeNote]:
    """The notes beside this row, in the order in which they were written."""
    query = (
        select(DisputeNoteRow.row, DisputeNoteRow.person_id, DisputeNoteRow.at, DisputeNoteRow.text)
        .where(DisputeNoteRow.project_id == project_id, DisputeNoteRow.row == row)
        .order_by(DisputeNoteRow.id)
    )
    return [DisputeNote(*one) for one in session.execute(query)]
