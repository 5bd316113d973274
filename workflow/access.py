"""The rights of each role, checked by every use case inside its own transaction.

A person who is not a member of a project gets the same message as for a project that does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from db import members, people, projects, questions
from db.people import Person as Person

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import NamedProject, Project
    from db.questions import Entering


class NotAllowed(PermissionError):  # noqa: N818 - what a page says, not a fault
    """This person may not do this."""


class NotFound(LookupError):  # noqa: N818 - what a page says, not a fault
    """The request does not exist for this person, or not any more."""


class Right(StrEnum):
    """Rights that a use case needs."""

    SEE = "see"
    """The project is there: its rows, progress, map and guidelines."""
    ANSWER = "answer"
    """Answer its questions; withdraw and correct one's own answers."""
    REVIEW = "review"
    """Everyone's answers with their annotators; corrections; the accuracy of the file's scores."""
    OWN = "own"
    """Settings, classes, models, more rows, export, and who may see it."""


class Role(StrEnum):
    """Roles in a project. Owners of this Winnow are owners of every project."""

    OWNER = "owner"
    REVIEWER = "reviewer"
    ANNOTATOR = "annotator"
    VIEWER = "viewer"


RIGHTS: Mapping[Role, frozenset[Right]] = MappingProxyType(
    {
        Role.OWNER: frozenset(Right),
        Role.REVIEWER: frozenset({Right.SEE, Right.ANSWER, Right.REVIEW}),
        Role.ANNOTATOR: frozenset({Right.SEE, Right.ANSWER}),
        Role.VIEWER: frozenset({Right.SEE}),
    }
)
"""The only table of rights in a project."""

_REFUSALS = {
    Right.SEE: "Only members may see this",
    Right.ANSWER: "Only annotators, reviewers and the owner may do this",
    Right.REVIEW: "Only reviewers and the owner may do this",
    Right.OWN: "Only the owner may do this",
}


class Action(StrEnum):
    """Actions of a token, each with those before it."""

    READ = "read"
    """Whatever its person sees, exports included; nothing changes."""
    ANSWER = "answer"
    """Also its person's questions: ask for them, and answer."""
    OWN = "own"
    """All that its person may."""


_DOES = {Action.READ: "only read", Action.ANSWER: "only read and answer", Action.OWN: "do all that its person may"}
_NEEDS = {Action.ANSWER: "may answer", Action.OWN: "may do all that its person may"}


@dataclass(frozen=True)
class TokenScope:
    """The part of its person's rights that a token has.

    projects : the only ones at which it works; None: every project, and this Winnow as a whole
    """

    may: Action = Action.OWN
    projects: frozenset[int] | None = None

    def require_place(self, project_id: int | None, right: Right, *, changes: bool) -> None:
        """Raise NotAllowed if the token is not for this project; at none, it may only list its own."""
        if self.projects is None or project_id in self.projects:
            return
        its = f"This token is for {numbered(self.projects)} alone"
        if project_id is not None:
            raise NotAllowed(
                f"{its}, not for project {project_id}. Fix: make one with this project on the page My account, or with "
                f"winnow token PURPOSE --project {project_id}."
            )
        if changes or right is not Right.SEE:
            raise NotAllowed(
                f"{its}: new projects, and everything outside projects, need a token for all projects. Fix: "
                "make one on the page My account, or with winnow token PURPOSE."
            )

    def require_action(self, project_id: int | None, right: Right, *, changes: bool) -> None:
        """Raise NotAllowed if the token may not do this."""
        needed = Action.READ
        if changes:
            is_answer = project_id is not None and right in (Right.SEE, Right.ANSWER)
            needed = Action.ANSWER if is_answer else Action.OWN
        order = list(Action)
        if order.index(self.may) < order.index(needed):
            raise NotAllowed(
                f"This token may {_DOES[self.may]}; this needs one that {_NEEDS[needed]}. Fix: make such a one on the "
                f"page My account, or with winnow token PURPOSE --may {needed}."
            )


EVERYTHING = TokenScope()
"""Of people, and of tokens that are not narrowed."""


def numbered(project_ids: Collection[int]) -> str:
    """Projects by their numbers, such as `projects 3 and 5`."""
    *before, last = (f"{one}" for one in sorted(project_ids))
    return f"projects {', '.join(before)} and {last}" if before else f"project {last}"


@dataclass(frozen=True)
class Rights:
    """A person whose rights were checked. role : in the project; without a project, OWNER for an owner of this Winnow,
    None for everyone else
    only : the projects to which their token is narrowed; None: all
    """

    person: Person
    role: Role | None
    only: frozenset[int] | None = field(default=None, kw_only=True)

    def may(self, right: Right) -> bool:
        return right in RIGHTS[self.role] if self.role is not None else right is Right.SEE

    @property
    def whose(self) -> int | None:
        """The only person whose answers these rights show; None if they show everyone's."""
        return None if self.may(Right.REVIEW) else self.person.id


def require_person(session: Session, person_id: int) -> Person:
    """The person, if they are known and not disabled. Raises NotAllowed."""
    return _not_disabled(people.find(session, person_id))


def role_here(session: Session, person_id: int) -> Rights:
    """The person, at no project. Raises NotAllowed if they are unknown or disabled."""
    person = require_person(session, person_id)
    return Rights(person, Role.OWNER if person.is_owner else None)


def at_project(
    session: Session, person_id: int, project_id: int, *, anywhere: bool = False, to_answer: bool = False
) -> tuple[Rights, Project, Entering]:
    """Return the person with their role in this project, the project, and the other results. It is one statement,
    since every answer waits for it.

    anywhere : also if the project is archived or in the bin      to_answer : also find the person's open question

    Raises
    NotAllowed : The person is unknown or disabled.
    NotFound : They are not members of it, whether there is such a project or not; or it is archived, or in the bin.
    """
    found = questions.find(session, person_id, project_id, to_answer=to_answer)
    person = _not_disabled(None if found is None else found.person)
    role = Role.OWNER if person.is_owner else found.role if found else None
    if found is None or role is None or found.project is None:
        raise no_project(project_id)
    return Rights(person, Role(role)), _in_use(found.project, anywhere=anywhere), found


def require_right(rights: Rights, right: Right) -> None:
    """Raise NotAllowed if the person does not have this right."""
    if not rights.may(right):
        where = " of this project" if rights.role is not None else ""
        raise NotAllowed(f"{_REFUSALS[right]}; {rights.person.name} is {_a(rights.role or rights.person.role)}{where}.")


def project_for(session: Session, project_id: int) -> Project:
    """The project, for a member. Raises NotFound."""
    try:
        project = projects.get(session, project_id)
    except projects.NoSuchProjectError as error:
        raise no_project(project_id) from error
    return _in_use(project)


def _in_use(project: Project, *, anywhere: bool = False) -> Project:
    """Return the project. Raises NotFound if it is archived or in the bin, unless `anywhere`."""
    if not anywhere and not project.in_use:
        where = "archived" if project.deleted_at is None else "in the bin"
        raise NotFound(f"{project.name} is {where}; the owner can restore it on the Home page.")
    return project


def visible_projects(
    session: Session, rights: Rights, project_ids: Collection[int] | None = None
) -> list[tuple[Project, Role]]:
    """Every project, in use or not, that this person may see, with their role in it; in the order they were made.

    project_ids : only these
    """
    return _seen(session, rights, projects.everything(session, project_ids))


def visible_names(session: Session, rights: Rights, *, in_use: bool = True) -> list[tuple[NamedProject, Role]]:
    """The same for the projects in use, or those not in use, with only their names, so many are read quickly."""
    return _seen(session, rights, projects.named(session, in_use=in_use))


AnyProject = TypeVar("AnyProject", "Project", "NamedProject")


def _seen(session: Session, rights: Rights, known: Sequence[AnyProject]) -> list[tuple[AnyProject, Role]]:
    if rights.only is not None:
        known = [one for one in known if one.id in rights.only]
    if rights.person.is_owner:
        return [(one, Role.OWNER) for one in known]
    roles = members.roles_of(session, rights.person.id)
    return [(one, Role(roles[one.id])) for one in known if one.id in roles]


def no_project(project_id: int | str) -> NotFound:
    """The message about a project that does not exist, or of which the person is not a member."""
    return NotFound(
        f"There is no project {project_id} here, or no one has shared it with you. Fix: choose one on the Home page."
    )


def _not_disabled(person: Person | None) -> Person:
    if person is None or person.disabled_at is not None:
        raise NotAllowed("Your access has ended. Ask the owner of this Winnow for a new sign-in link.")
    return person


def _a(role: str) -> str:
    return f"{'an' if role[0] in 'ao' else 'a'} {role}"
