"""Who may do what. Every use case asks here, inside its own transaction, whatever the page has shown."""

from __future__ import annotations

from sqlalchemy.orm import Session

from db import people, projects
from db.people import Person
from db.projects import Project

__all__ = ["NotAllowed", "NotFound", "Person", "require_owner", "require_person", "require_project"]


class NotAllowed(PermissionError):  # noqa: N818 - what a page says, not a fault
    """This person may not do this."""


class NotFound(LookupError):  # noqa: N818 - what a page says, not a fault
    """What was asked for does not exist, or not any more."""


def require_person(session: Session, person_id: int) -> Person:
    """The person, if they are known and not disabled. Raises NotAllowed."""
    person = people.find(session, person_id)
    if person is None or person.disabled_at is not None:
        raise NotAllowed("Your access has ended. Ask the owner of this Winnow for a new sign-in link.")
    return person


def require_owner(session: Session, person_id: int) -> Person:
    """The person, if they are an owner and not disabled. Raises NotAllowed."""
    person = require_person(session, person_id)
    if not person.is_owner:
        raise NotAllowed(f"Only the owner may do this; {person.name} is an annotator.")
    return person


def require_project(session: Session, project_id: int) -> Project:
    """The project, if there is one with this id, neither archived nor in the bin. Raises NotFound."""
    try:
        project = projects.get(session, project_id)
    except projects.NoSuchProjectError:
        project = None
    if project is None:
        raise NotFound(f"There is no project {project_id} here. Fix: choose one on the Home page.")
    if project.archived_at is not None or project.deleted_at is not None:
        where = "archived" if project.deleted_at is None else "in the bin"
        raise NotFound(f"{project.name} is {where}; the owner can restore it on the Home page.")
    return project
