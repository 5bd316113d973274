"""The question now open before each person; it also reserves its row for them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete as sql_delete
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import QuestionRow


@dataclass(frozen=True, kw_only=True)
class OpenQuestion:
    """`token` names this showing: person, row, label or none, revision.

    `shown_at`: first shown, seconds spent count from it; `reserved_at`: the row's reservation counts from it.
    """

    project_id: int
    person_id: int
    row: int
    token: str
    revision: int
    strategy: str
    score: float
    model_version: int
    decides: int
    undecided: int
    shown_at: datetime
    reserved_at: datetime
    label: str | None = None
    predicted: str | None = None


def put(session: Session, question: OpenQuestion) -> None:
    """Open a question before a person, in place of the one that was open."""
    session.merge(QuestionRow(**(asdict(question) | {"label": question.label or ""})))
    session.flush()


def get(session: Session, project_id: int, person_id: int) -> OpenQuestion | None:
    found = session.execute(
        select(*QuestionRow.__table__.columns).where(
            QuestionRow.project_id == project_id, QuestionRow.person_id == person_id
        )
    ).one_or_none()
    if found is None:
        return None
    values = dict(found._mapping)
    return OpenQuestion(**(values | {"label": values["label"] or None}))


def delete(session: Session, project_id: int, person_id: int) -> None:
    """Close the person's question; harmless when none is open."""
    session.execute(
        sql_delete(QuestionRow).where(
            QuestionRow.project_id == project_id, QuestionRow.person_id == person_id
        )
    )


def close_all(session: Session, project_id: int) -> None:
    """Close every question open in the project: what was shown is no longer what would be asked."""
    session.execute(sql_delete(QuestionRow).where(QuestionRow.project_id == project_id))


def reserved_places(
    session: Session, project_id: int, except_person: int, since: datetime
) -> set[tuple[int, str | None]]:
    """Rows, each with the one label asked about or None, reserved for somebody else at `since` or later."""
    places = session.execute(
        select(QuestionRow.row, QuestionRow.label).where(
            QuestionRow.project_id == project_id,
            QuestionRow.person_id != except_person,
            QuestionRow.reserved_at >= since,
        )
    )
    return {(row, label or None) for row, label in places}


def reserved_rows(session: Session, project_id: int, except_person: int, since: datetime) -> set[int]:
    """Rows reserved for somebody else at `since` or later."""
    rows = session.execute(
        select(QuestionRow.row).where(
            QuestionRow.project_id == project_id,
            QuestionRow.person_id != except_person,
            QuestionRow.reserved_at >= since,
        )
    )
    return set(rows.scalars())
