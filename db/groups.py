"""Groups: people under a name, to be invited to a project at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from db.people_models import GroupMemberRow, GroupRow


@dataclass(frozen=True)
class Group:
    """people : ids, in order"""

    id: int
    name: str
    people: tuple[int, ...]


def listed(session: Session) -> list[Group]:
    """All groups in the order of their names."""
    within: dict[int, list[int]] = {}
    for group_id, person_id in session.execute(
        select(GroupMemberRow.group_id, GroupMemberRow.person_id).order_by(GroupMemberRow.person_id)
    ):
        within.setdefault(group_id, []).append(person_id)
    found = session.execute(select(GroupRow.id, GroupRow.name).order_by(GroupRow.name))
    return [Group(number, name, tuple(within.get(number, ()))) for number, name in found]


def find(session: Session, group_id: int) -> Group | None:
    """The group with this id; None where there is none."""
    return next((one for one in listed(session) if one.id == group_id), None)


def add(session: Session, name: str, people: Collection[int], at: datetime) -> int:
    """Make a group and return its id; IntegrityError where the name is taken."""
    made = insert(GroupRow).values({"name": name, "created_at": at}).returning(GroupRow.id)
    group_id = session.execute(made).scalar_one()
    _fill(session, group_id, people)
    return group_id


def change(session: Session, group_id: int, name: str, people: Collection[int]) -> None:
    """Give a group another name and other people."""
    session.execute(update(GroupRow).where(GroupRow.id == group_id).values(name=name))
    session.execute(delete(GroupMemberRow).where(GroupMemberRow.group_id == group_id))
    _fill(session, group_id, people)


def remove(session: Session, group_id: int) -> None:
    """Take a group away, not its people; harmless where there is none."""
    session.execute(delete(GroupMemberRow).where(GroupMemberRow.group_id == group_id))
    session.execute(delete(GroupRow).where(GroupRow.id == group_id))


def _fill(session: Session, group_id: int, people: Collection[int]) -> None:
    rows = [{"group_id": group_id, "person_id": one} for one in sorted(set(people))]
    if rows:
        session.execute(insert(GroupMemberRow), rows)
