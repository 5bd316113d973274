"""Members of projects: who may do what in which. Owners of this Winnow are none: every project is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import delete, exists, insert, or_, select, update
from sqlalchemy.orm import Session

from db.base import Base
from db.models import EntryRow
from db.people import Person
from db.people_models import MemberRow, PersonRow


@dataclass(frozen=True)
class Member:
    """`role` is 'owner', 'reviewer', 'annotator' or 'viewer'; `added_by` a person, None where nobody added them."""

    project_id: int
    person_id: int
    role: str
    added_at: datetime
    added_by: int | None


_PEOPLE, _TABLE = Base.metadata.tables["people"], Base.metadata.tables["members"]
_PERSON = [_PEOPLE.c[one.name] for one in fields(Person)]


def roles_of(session: Session, person_id: int) -> dict[int, str]:
    """{project: role} of a person, also of projects that are not in use."""
    found = select(MemberRow.project_id, MemberRow.role).where(MemberRow.person_id == person_id)
    return {one.project_id: one.role for one in session.execute(found)}


def listed(session: Session, project_id: int) -> list[tuple[Person, Member]]:
    """The members of a project, disabled people too, in the order of their names."""
    found = (
        select(*_PERSON, *(_TABLE.c[one.name] for one in fields(Member)))
        .join(_TABLE, _TABLE.c.person_id == _PEOPLE.c.id)
        .where(_TABLE.c.project_id == project_id)
        .order_by(_PEOPLE.c.name, _PEOPLE.c.id)
    )
    cut = len(_PERSON)
    return [(Person(*row[:cut]), Member(*row[cut:])) for row in session.execute(found)]


def concerned(session: Session, project_id: int, kinds: Sequence[str]) -> list[Person]:
    """Who can be met in a project: its members, the owners of this Winnow, and whoever has ever made an entry of one of
    these kinds in it; in the order in which they came.
    """
    member = exists().where(MemberRow.project_id == project_id, MemberRow.person_id == PersonRow.id)
    entry = exists().where(
        EntryRow.project_id == project_id, EntryRow.person_id == PersonRow.id, EntryRow.kind.in_(kinds)
    )
    found = select(*_PERSON).where(or_(PersonRow.role == "owner", member, entry)).order_by(_PEOPLE.c.id)
    return [Person(*row) for row in session.execute(found)]


def put(
    session: Session, project_id: int, person_id: int, role: str, *, at: datetime, by: int | None
) -> None:
    """Make a person a member, or give a member another role; who added them, and when, stays then."""
    key = MemberRow.project_id == project_id, MemberRow.person_id == person_id
    if session.execute(update(MemberRow).where(*key).values(role=role).returning(MemberRow.role)).first():
        return
    values = {"project_id": project_id, "person_id": person_id, "role": role, "added_at": at, "added_by": by}
    session.execute(insert(MemberRow).values(values))


def remove(session: Session, project_id: int, person_id: int) -> None:
    """End a membership; harmless where there is none."""
    key = MemberRow.project_id == project_id, MemberRow.person_id == person_id
    session.execute(delete(MemberRow).where(*key))


def owners(session: Session, project_id: int) -> list[int]:
    """The people, by id, who own a project and may sign in: its own owners, and those of this Winnow."""
    own = exists().where(
        MemberRow.project_id == project_id, MemberRow.person_id == PersonRow.id, MemberRow.role == "owner"
    )
    found = select(PersonRow.id).where(PersonRow.disabled_at.is_(None), or_(PersonRow.role == "owner", own))
    return list(session.execute(found.order_by(PersonRow.id)).scalars())
