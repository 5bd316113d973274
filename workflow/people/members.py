"""The members of a project and their roles: listed and changed by its owners."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy.orm import Session

from db import members, people, questions
from db.members import Group as Group
from db.people import Person
from workflow import access
from workflow.access import RIGHTS, Right
from workflow.access import Role as Role
from workflow.opened import Reading
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.seat import Seat


class MemberError(ValueError):
    """A person, a group or a role is invalid, or a project would be left without an owner."""


@dataclass(frozen=True)
class MemberLine:
    """A person with access to the project. ended : whether they cannot sign in now

    everywhere : whether they own this Winnow, so that their role cannot be changed here
    """

    person_id: int
    name: str
    role: Role
    ended: bool
    everywhere: bool
    added_at: datetime | None


@dataclass(frozen=True)
class Members:
    """The people with access to a project.

    others : (id, name) of everyone who can sign in and is not a member      groups : (id, name, how many are not
        members)
    """

    members: tuple[MemberLine, ...]
    others: tuple[tuple[int, str], ...]
    groups: tuple[tuple[int, str, int], ...]


def list_members(seat: Seat) -> Members:
    """Return the people with access to the project, owners of this Winnow first, and those who could be added.

    Raises NotAllowed unless the person owns it, NotFound.
    """
    with seat.reading(Right.OWN) as reading:
        session, project_id = reading.session, reading.project.id
        everybody = [one for one in people.listed(session) if one.disabled_at is None]
        found = [
            MemberLine(one.id, one.name, Role.OWNER, ended=False, everywhere=True, added_at=None)
            for one in everybody
            if one.is_owner
        ] + [
            MemberLine(one.id, one.name, Role(member.role), one.disabled_at is not None, one.is_owner, member.added_at)
            for one, member in members.listed(session, project_id)
            if not one.is_owner
        ]
        within = {one.person_id for one in found}
        others = tuple((one.id, one.name) for one in everybody if one.id not in within)
        free = {number for number, _ in others}
        grouped = tuple((one.id, one.name, len(free.intersection(one.people))) for one in members.list_groups(session))
        return Members(tuple(found), others, grouped)


@dataclass(frozen=True)
class TeamMember:
    """A person with access to the project, as its reviewers see them.

    link : state of the latest sign-in link that an owner made for them      link_at : when it expires, or was used
    waits : whether they are expected to answer
    """

    person_id: int
    name: str
    role: Role
    link: Literal["open", "used", "expired", "none"]
    link_at: datetime | None
    waits: bool


def list_team(seat: Seat) -> tuple[TeamMember, ...]:
    """List everyone with access to the project, owners of this Winnow first. Raises NotAllowed unless the person
    reviews, NotFound."""
    now = datetime.now(UTC)
    with seat.reading(Right.REVIEW) as reading:
        session = reading.session
        links = people.latest_invitations(session)
        owners = [one for one in people.listed(session) if one.is_owner and one.disabled_at is None]
        found = [TeamMember(one.id, one.name, Role.OWNER, "none", None, waits=False) for one in owners]
        for one, member in members.listed(session, reading.project.id):
            if not one.is_owner:
                role, link = Role(member.role), links.get(one.id)
                waits = one.disabled_at is None and Right.ANSWER in RIGHTS[role]
                found.append(TeamMember(one.id, one.name, role, *_link_state(link, now), waits))
        return tuple(found)


def _link_state(
    link: people.Link | None, now: datetime
) -> tuple[Literal["open", "used", "expired", "none"], datetime | None]:
    if link is None:
        return "none", None
    if link.used_at is not None:
        return "used", link.used_at
    return ("open" if link.expires_at > now else "expired"), link.expires_at


def give_role(seat: Seat, person_ids: Collection[int], role: str) -> None:
    """Make these people members of the project, or change their role: all of them, or no one.

    Raises
    MemberError : The role or a person does not exist, a person owns this Winnow, or the project would have no owner who
        can sign in.
    NotAllowed : The person of the seat does not own the project.
    """
    role = _checked(role)
    with seat.owning() as owning:
        for person_id in person_ids:
            person = _member_to_be(people.find(owning.session, person_id))
            _put(owning, owning.project.id, person, role)
            if Right.ANSWER not in RIGHTS[role]:
                _let_go(owning, person_id)
        _check_owned(owning)


def remove_member(seat: Seat, person_id: int) -> None:
    """End a membership: pages that this person has open at the project stop working at the next click. Their answers
    stay. Harmless if they are not a member.

    Raises as ``give_role``.
    """
    with seat.owning() as owning:
        _member_to_be(people.find(owning.session, person_id))
        members.remove(owning.session, owning.project.id, person_id)
        _note(owning, owning.project.id, person_id, "none")
        _let_go(owning, person_id)
        _check_owned(owning)


def invite_group(seat: Seat, group_id: int, role: str) -> int:
    """Make everyone in a group a member; returns how many were new. Existing members keep their role.

    Raises as ``give_role``.
    """
    role = _checked(role)
    with seat.owning() as owning:
        session, project_id = owning.session, owning.project.id
        group = members.find(session, group_id)
        if group is None:
            raise MemberError("The group no longer exists. Fix: load the page again and choose another.")
        within = {one.id for one, _ in members.listed(session, project_id)}
        known = {one.id: one for one in people.listed(session) if not one.is_owner and one.disabled_at is None}
        new = [known[one] for one in group.people if one in known and one not in within]
        for person in new:
            _put(owning, project_id, person, role)
        return len(new)


def share(seat: Seat, name: str, project_ids: Collection[int], role: str) -> None:
    """Give the person of this name a role in several projects at once: in all, or in none. For owners of this Winnow,
    with a seat at no project. It changes no existing role: it is refused if the person already has another one.

    Raises as ``give_role``; NotFound if there is no such project.
    """
    with seat.everywhere.owning() as owning:
        share_in(owning, name, project_ids, role)


def share_in(owning: Reading, name: str, project_ids: Collection[int], role: str) -> None:
    """Give a role in several projects, like ``share``, in this transaction of an owner."""
    role, wanted = _checked(role), " ".join(name.split()).casefold()
    session = owning.session
    known = [one for one in people.listed(session) if one.name.casefold() == wanted]
    person = _member_to_be(known[0] if known else None, f"named {name!r}")
    roles = members.roles_of(session, person.id)
    for project_id in project_ids:
        project = access.project_for(session, project_id)
        had = roles.get(project.id)
        if had is not None and had != role:
            raise MemberError(
                f"{person.name} is {Role(had)} in {project.name} already. Fix: change the role in Project settings "
                "-> Sharing there."
            )
        if had is None:
            _put(owning, project.id, person, role)


def rights_of(seat: Seat, *, changes: bool = False) -> frozenset[Right]:
    """Return the rights of the person at the project of the seat; without a project, their rights in any project.
    changes : as in `Seat.reading`

    Raises NotAllowed if they are unknown or disabled, NotFound.
    """
    with seat.reading(changes=changes) as reading:
        if reading.role is not None:
            return RIGHTS[reading.role]
        roles = members.roles_of(reading.session, reading.person.id).values()
        return frozenset().union(*(RIGHTS[Role(one)] for one in roles))


def count_projects(seat: Seat) -> int:
    """Count the projects that `projects.list_projects` lists for the person. Raises NotAllowed if they are unknown or
    disabled."""
    with seat.reading() as reading:
        return len(access.visible_names(reading.session, reading))


def may_upload(seat: Seat) -> bool:
    """Whether the person may send files: owners of this Winnow create projects from them, owners of a project add rows.
    Raises NotAllowed if they are unknown or disabled."""
    return Right.OWN in rights_of(seat, changes=True)


def _checked(role: str) -> Role:
    try:
        return Role(role)
    except ValueError as error:
        raise MemberError(f"A role is one of {', '.join(Role)}. Got {role!r}.") from error


def _member_to_be(person: Person | None, who: str = "with that number") -> Person:
    if person is None:
        raise MemberError(
            f"There is no person {who}. Fix: an owner of this Winnow makes a sign-in link for them on the People page."
        )
    if person.is_owner:
        raise MemberError(f"{person.name} owns this Winnow, and so every project in it.")
    return person


def _put(owning: Reading, project_id: int, person: Person, role: Role) -> None:
    members.put(owning.session, project_id, person.id, role, at=datetime.now(UTC), by=owning.person.id)
    _note(owning, project_id, person.id, role.value)


def _note(owning: Reading, project_id: int, person_id: int, role: str) -> None:
    audit.note(
        owning.session,
        EventKind.MEMBERS_CHANGED,
        person_id=owning.person.id,
        about_id=person_id,
        project_id=project_id,
        role=role,
    )


def _let_go(owning: Reading, person_id: int) -> None:
    """Release the row on this person's screen, so that others may be asked about it."""
    questions.close(owning.session, owning.project.id, person_id)


def _check_owned(owning: Reading) -> None:
    """Raise MemberError, so that nothing is stored, if no one who can sign in owns the project any more."""
    if not members.owners(owning.session, owning.project.id):
        raise MemberError(
            "A project needs an owner who can sign in, and this is the only one. Fix: make someone else an owner first."
        )


# Groups of people, to be invited to a project at once: created and changed by the owners of this Winnow.
#
# A group gives no rights: each person invited through it becomes a separate member of the project.

NAME_LENGTH = 80


class GroupError(ValueError):
    """The name of a group is empty, too long or taken, or one of its people is unknown."""


def list_groups(seat: Seat) -> list[Group]:
    """All groups, by name. Raises NotAllowed unless the person owns this Winnow."""
    with seat.everywhere.reading(Right.OWN) as reading:
        return members.list_groups(reading.session)


def make_group(seat: Seat, name: str, person_ids: Collection[int]) -> int:
    """Create a group of these people; returns its id.

    Raises
    GroupError
    NotAllowed : The person does not own this Winnow.
    """
    with seat.everywhere.owning() as owning:
        session = owning.session
        name = _groups_checked(session, name, person_ids)
        return members.add(session, name, person_ids, datetime.now(UTC))


def change_group(seat: Seat, group_id: int, name: str, person_ids: Collection[int]) -> None:
    """Change a group's name and people. People invited through it before stay members. Raises as ``make_group``."""
    with seat.everywhere.owning() as owning:
        session = owning.session
        if members.find(session, group_id) is None:
            raise GroupError("The group no longer exists. Fix: load the page again.")
        members.change(session, group_id, _groups_checked(session, name, person_ids, group_id), person_ids)


def remove_group(seat: Seat, group_id: int) -> None:
    """Remove a group; its people and their memberships stay. Idempotent."""
    with seat.everywhere.owning() as owning:
        members.remove_group(owning.session, group_id)


def _groups_checked(session: Session, name: str, person_ids: Collection[int], except_for: int | None = None) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise GroupError(
            f"A group's name must have 1 to {NAME_LENGTH} printable characters. Got {name[: NAME_LENGTH + 1]!r}."
        )
    for one in members.list_groups(session):
        if one.id != except_for and one.name.casefold() == name.casefold():
            raise GroupError(f"A group named '{one.name}' exists already. Fix: choose another name.")
    if unknown := set(person_ids) - {one.id for one in people.listed(session)}:
        raise GroupError(f"There is no person {min(unknown)}. Fix: load the page again and choose again.")
    return name
