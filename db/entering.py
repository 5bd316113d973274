"""Who comes to a project, what they are in it, the project itself and how long its log is: the one statement with which
every transaction at a project begins."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Integer, Table, and_, bindparam, func, select

from db import goals, questions
from db.base import Base
from db.goals import StoredGoal
from db.people import Person
from db.projects import LARGEST, Project
from db.questions import OpenQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

_PEOPLE, _MEMBERS, _PROJECTS, _ENTRIES, _QUESTIONS, _GOALS = (
    Base.metadata.tables[name] for name in ("people", "members", "projects", "entries", "questions", "goals")
)
_HERE = bindparam("project_id", type_=Integer)
_LAST_SEQ = select(func.max(_ENTRIES.c.seq)).where(_ENTRIES.c.project_id == _HERE).scalar_subquery()
_WHO = (
    *(_PEOPLE.c[one.name] for one in fields(Person)),
    _MEMBERS.c.role,
    _LAST_SEQ,
    *(_PROJECTS.c[one.name] for one in fields(Project)),
)


def _theirs(table: Table) -> ColumnElement[bool]:
    """What is in the table of this person at this project."""
    return and_(table.c.person_id == _PEOPLE.c.id, table.c.project_id == _HERE)


_FROM = _PEOPLE.outerjoin(_MEMBERS, _theirs(_MEMBERS)).outerjoin(_PROJECTS, _PROJECTS.c.id == _HERE)
_IS_HERE = _PEOPLE.c.id == bindparam("person_id")
_COMING = select(*_WHO).select_from(_FROM).where(_IS_HERE)
_TO_ANSWER = (
    select(*_WHO, *questions.COLUMNS, _GOALS.c.person_id, *goals.COLUMNS)
    .select_from(_FROM.outerjoin(_QUESTIONS, _theirs(_QUESTIONS)).outerjoin(_GOALS, _theirs(_GOALS)))
    .where(_IS_HERE)
)
_CUT = len(fields(Person))
_END, _GOAL = len(_WHO), len(_WHO) + len(questions.COLUMNS)


@dataclass(frozen=True)
class Before:
    """What is before who comes to answer: their open question, and what they have set for themselves; None: nothing."""

    question: OpenQuestion | None
    goal: StoredGoal | None


@dataclass(frozen=True)
class Entering:
    """Who comes, disabled or not, and where to.

    role : theirs in the project, None where they are no member of it      project : None where there is none
    height : seq of the project's latest entry, 0 before the first      before : None where it was not asked for
    """

    person: Person
    role: str | None
    project: Project | None
    height: int
    before: Before | None = None


def find(session: Session, person_id: int, project_id: int, *, to_answer: bool = False) -> Entering | None:
    """The person with this id at this project; None where there is no such person.

    to_answer : with what is before them
    """
    # Other numbers, from an address or a shell, the database may refuse to look for.
    wanted = {"person_id": person_id, "project_id": project_id if 0 < project_id <= LARGEST else 0}
    found = session.execute(_TO_ANSWER if to_answer else _COMING, wanted).one_or_none()
    if found is None:
        return None
    role, height, *project = found[_CUT:_END]
    return Entering(
        Person(*found[:_CUT]),
        role,
        None if project[0] is None else Project(*project),
        height or 0,
        _before(found) if to_answer else None,
    )


def _before(found: Sequence[Any]) -> Before:
    question, (whose, *goal) = found[_END:_GOAL], found[_GOAL:]
    return Before(
        None if question[0] is None else questions.as_question(question),
        None if whose is None else StoredGoal(*goal),
    )
