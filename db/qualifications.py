"""Attempts of people to answer known rows before they start. None of it is in the log, and nothing learns from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from db.models import EntryRow
from db.people_models import QualificationRow


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt. attempt : its number, from 1      rows : what is asked, in order
    given : what was said of the first of them      n_right : how many of these were right
    passed_at : when the person was let in; None while they are not      let_in_by : who did so without an attempt
    """

    person_id: int
    attempt: int
    rows: list[int]
    given: list[str]
    n_right: int
    began_at: datetime
    passed_at: datetime | None = None
    let_in_by: int | None = None

    @property
    def over(self) -> bool:
        """Whether every row has been answered."""
        return len(self.given) == len(self.rows)


def put(session: Session, project_id: int, attempt: Attempt) -> None:
    """Store an attempt as it stands now."""
    row = QualificationRow
    session.execute(
        delete(row).where(
            row.project_id == project_id,
            row.person_id == attempt.person_id,
            row.attempt == attempt.attempt,
        )
    )
    session.execute(insert(row).values(project_id=project_id, **asdict(attempt)))


def of_person(session: Session, project_id: int, person_id: int) -> list[Attempt]:
    """The attempts of one person, in order."""
    return [one for one in of_project(session, project_id) if one.person_id == person_id]


def of_project(session: Session, project_id: int) -> list[Attempt]:
    """The attempts of everybody, each person's in order."""
    row = QualificationRow
    found = session.scalars(
        select(row).where(row.project_id == project_id).order_by(row.person_id, row.attempt)
    )
    return [
        Attempt(
            person_id=one.person_id,
            attempt=one.attempt,
            rows=list(one.rows),
            given=list(one.given),
            n_right=one.n_right,
            began_at=one.began_at,
            passed_at=one.passed_at,
            let_in_by=one.let_in_by,
        )
        for one in found
    ]


def has_entries(session: Session, project_id: int, person_id: int) -> bool:
    """Whether this person has an entry in the project's log."""
    query = select(EntryRow.seq).where(EntryRow.project_id == project_id, EntryRow.person_id == person_id)
    return session.execute(query.limit(1)).first() is not None
