"""Who comes to a project, what they are in it, the project itself and how long its log is: the one statement with which
every transaction at a project begins."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from sqlalchemy import Integer, and_, bindparam, func, select

from db.base import Base
from db.people import Person
from db.projects import LARGEST, Project

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_PEOPLE, _MEMBERS, _PROJECTS, _ENTRIES = (
    Base.metadata.tables[name] for name in ("people", "members", "projects", "entries")
)
_HERE = bindparam("project_id", type_=Integer)
_LAST_SEQ = select(func.max(_ENTRIES.c.seq)).where(_ENTRIES.c.project_id == _HERE).scalar_subquery()
_COMING = (
    select(
        *(_PEOPLE.c[one.name] for one in fields(Person)),
        _MEMBERS.c.role,
        _LAST_SEQ,
        *(_PROJECTS.c[one.name] for one in fields(Project)),
    )
    .select_from(
        _PEOPLE.outerjoin(
            _MEMBERS, and_(_MEMBERS.c.person_id == _PEOPLE.c.id, _MEMBERS.c.project_id == _HERE)
        ).outerjoin(_PROJECTS, _PROJECTS.c.id == _HERE)
    )
    .where(_PEOPLE.c.id == bindparam("person_id"))
)
_CUT = len(fields(Person))


@dataclass(frozen=True)
class Entering:
    """Who comes, disabled or not, and where to.

    role : theirs in the project, None where they are no member of it      project : None where there is none
    height : seq of the project's latest entry, 0 before the first
    """

    person: Person
    role: str | None
    project: Project | None
    height: int


def find(session: Session, person_id: int, project_id: int) -> Entering | None:
    """The person with this id at this project; None where there is no such person."""
    # Other numbers, from an address or a shell, the database may refuse to look for.
    wanted = {"person_id": person_id, "project_id": project_id if 0 < project_id <= LARGEST else 0}
    found = session.execute(_COMING, wanted).one_or_none()
    if found is None:
        return None
    role, height, *project = found[_CUT:]
    return Entering(
        Person(*found[:_CUT]), role, None if project[0] is None else Project(*project), height or 0
    )
