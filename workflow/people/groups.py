"""Groups of people, to be invited to a project at once: made and changed by the owners of this Winnow.

Being in a group gives no rights: whoever is invited with it becomes a member of the project, each for themselves.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import groups, people
from db.groups import Group
from workflow.access import Right

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.seat import Seat

__all__ = ["NAME_LENGTH", "Group", "GroupError", "change_group", "list_groups", "make_group", "remove_group"]

NAME_LENGTH = 80


class GroupError(ValueError):
    """The name of a group is empty, too long or taken, or who is to be in it is unknown."""


def list_groups(seat: Seat) -> list[Group]:
    """All groups, by name. Raises NotAllowed unless the person owns this Winnow."""
    with seat.everywhere.reading(Right.OWN) as reading:
        return groups.listed(reading.session)


def make_group(seat: Seat, name: str, person_ids: Collection[int]) -> int:
    """Make a group of these people; its number.

    Raises
    ------
    GroupError
    NotAllowed
        The person does not own this Winnow.
    NotSaved
    """
    with seat.everywhere.owning() as owning:
        session = owning.session
        name = _checked(session, name, person_ids)
        return groups.add(session, name, person_ids, datetime.now(UTC))


def change_group(seat: Seat, group_id: int, name: str, person_ids: Collection[int]) -> None:
    """Give a group another name and other people. Who was invited with it before stays a member. Raises as
    ``make_group``.
    """
    with seat.everywhere.owning() as owning:
        session = owning.session
        if groups.find(session, group_id) is None:
            raise GroupError("There is no such group any more. Fix: load the page again.")
        groups.change(session, group_id, _checked(session, name, person_ids, group_id), person_ids)


def remove_group(seat: Seat, group_id: int) -> None:
    """Take a group away; its people stay, and members of projects. Twice is harmless. Raises NotAllowed, NotSaved."""
    with seat.everywhere.owning() as owning:
        groups.remove(owning.session, group_id)


def _checked(session: Session, name: str, person_ids: Collection[int], except_for: int | None = None) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise GroupError(
            f"A group's name must have 1 to {NAME_LENGTH} printable characters. Got {name[: NAME_LENGTH + 1]!r}."
        )
    for one in groups.listed(session):
        if one.id != except_for and one.name.casefold() == name.casefold():
            raise GroupError(f"A group named '{one.name}' exists already. Fix: choose another name.")
    if unknown := set(person_ids) - {one.id for one in people.listed(session)}:
        raise GroupError(f"There is no person {min(unknown)}. Fix: load the page again and choose anew.")
    return name
