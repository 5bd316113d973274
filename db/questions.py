"""The question now open before each person; it also reserves its row for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy import delete as sql_delete
from sqlalchemy.orm import Session

from db.base import Base
from db.models import QuestionRow

LONGEST = 3600.0
"""Seconds after which nobody was at a question all the time."""


@dataclass(frozen=True, kw_only=True)
class OpenQuestion:
    """A question before a person, as it was shown.

    label : the one asked about, None where the whole row is the question
    token : names this showing: person, row, label or none, revision (entries of this person about it before)
    strategy, score, model_version, decides, undecided, predicted : why it is asked, and what the model says
    shown_at : when it was first shown; the seconds spent count from it. It and `paused_at` are of a clock that nobody
        sets (`workflow.common.clock`)
    reserved_at : when it was last shown      reserved_until : when its row is offered to others again
    paused_at : when the person went away from it: until they come back its row is free; None while they are there
    asked : how it was put, as the entry will have it
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
    reserved_until: datetime
    label: str | None = None
    predicted: str | None = None
    paused_at: datetime | None = None
    asked: dict[str, Any] | None = None

    def seconds(self, now: datetime) -> float | None:
        """Seconds spent on it so far, without the pause; None beyond LONGEST. now : of the clock that `shown_at` is of

        That clock may be another process's, which was set otherwise: 0 where the question is not shown yet by ours.
        """
        spent = ((self.paused_at or now) - self.shown_at).total_seconds()
        return None if spent > LONGEST else max(0.0, spent)

    def shown_by(self, now: datetime) -> datetime:
        """When it would have been shown first, had there been no pause that ends now."""
        return self.shown_at + (now - self.paused_at) if self.paused_at else self.shown_at


_TABLE = Base.metadata.tables["questions"]
COLUMNS = tuple(_TABLE.c[one.name] for one in fields(OpenQuestion))
"""What a query asks for that `as_question` reads."""
_NAMES = tuple(one.name for one in fields(OpenQuestion))
# Built once: they run for every answer, and to build one takes as long as to run it.
_THEIRS = (_TABLE.c.project_id == bindparam("project")) & (_TABLE.c.person_id == bindparam("person"))
_OPEN = select(*COLUMNS).where(_THEIRS)
_CLOSE = sql_delete(_TABLE).where(_THEIRS)
_PUT = insert(_TABLE)
_HAND_BACK = (
    update(_TABLE)
    .where(_THEIRS, _TABLE.c.reserved_until > bindparam("now"))
    .values(reserved_until=bindparam("now"))
)


def put(session: Session, question: OpenQuestion, *, alone: bool = False) -> None:
    """Open a question before a person, in place of the one that was open. alone : none is"""
    if not alone:
        delete(session, question.project_id, question.person_id)
    session.execute(_PUT, vars(question) | {"label": question.label or ""})


def get(session: Session, project_id: int, person_id: int) -> OpenQuestion | None:
    """The question open before this person; None where there is none."""
    found = session.execute(_OPEN, {"project": project_id, "person": person_id}).one_or_none()
    return None if found is None else as_question(found)


def as_question(found: Sequence[Any]) -> OpenQuestion:
    """The question of these values of COLUMNS."""
    values = dict(zip(_NAMES, found, strict=True))
    return OpenQuestion(**(values | {"label": values["label"] or None}))


def delete(session: Session, project_id: int, person_id: int) -> None:
    """Close the person's question; harmless when none is open."""
    session.execute(_CLOSE, {"project": project_id, "person": person_id})


def close_all(session: Session, project_id: int) -> None:
    """Close every open question of the project: what its screens show may not mean the same any more."""
    session.execute(sql_delete(QuestionRow).where(QuestionRow.project_id == project_id))


def hand_back(session: Session, project_id: int, person_id: int, now: datetime) -> None:
    """Offer the row of the person's question to others; it stays theirs until somebody else has it."""
    session.execute(_HAND_BACK, {"project": project_id, "person": person_id, "now": now})
