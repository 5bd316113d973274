"""The audit: use cases record who did what, in their own transaction. Answers are in the log instead. Reading it:
`workflow.people.audited`."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from db import events

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.opened import Reading


class EventKind(StrEnum):
    """Events in the audit. The table holds these values, so they never change."""

    SIGN_IN = "sign-in"
    SIGN_IN_REFUSED = "sign-in-refused"
    SIGN_OUT = "sign-out"
    LINK_MADE = "link-made"
    LINKS_ENDED = "links-ended"
    PERSON_ADDED = "person-added"
    PERSON_ENDED = "person-ended"
    PERSON_LET_IN = "person-let-in"
    PASSWORD_SET = "password-set"  # noqa: S105 - a word, no password
    PASSWORD_CLEARED = "password-cleared"  # noqa: S105
    KNOWN_AS_SET = "known-as-set"
    BROWSERS_ENDED = "browsers-ended"
    TOKEN_MADE = "token-made"  # noqa: S105
    TOKEN_ENDED = "token-ended"  # noqa: S105
    PROJECT_MADE = "project-made"
    PROJECT_RENAMED = "project-renamed"
    PROJECT_ARCHIVED = "project-archived"
    PROJECT_BINNED = "project-binned"
    PROJECT_RESTORED = "project-restored"
    SETTINGS_CHANGED = "settings-changed"
    EXPORT_TAKEN = "export-taken"
    SNAPSHOT_MADE = "snapshot-made"
    BACKUP_TAKEN = "backup-taken"
    RESTORE_STAGED = "restore-staged"
    BACKUP_RESTORED = "backup-restored"
    PROJECT_TAKEN = "project-taken-along"
    PROJECT_BROUGHT_IN = "project-brought-in"
    MEMBERS_CHANGED = "members-changed"
    ANSWERS_SET_ASIDE = "answers-set-aside"
    ANSWERS_COUNT_AGAIN = "answers-count-again"
    TOUR_ENDED = "tour-ended"
    ENCODER_ASKED = "encoder-asked"
    ENCODER_REMOVED = "encoder-removed"


DETAIL_LENGTH = 200
"""Limit of the characters stored of a detail."""


def note(
    session: Session,
    what: EventKind,
    *,
    person_id: int | None,
    about_id: int | None = None,
    project_id: int | None = None,
    address: str = "",
    **details: str | int,
) -> None:
    """Add an event to the audit, in the caller's transaction, so that only completed actions are recorded.

    person_id : who did it, None if no one was signed in      about_id : the person it was done to
    address : of their machine, if known
    details : further facts for an owner, by name. Never a password, a secret or text typed at sign-in: people type
        passwords into the name field.
    """
    kept: dict[str, object] = {
        name: value[:DETAIL_LENGTH] if isinstance(value, str) else value for name, value in details.items()
    }
    events.add(
        session,
        at=datetime.now(UTC),
        what=what.value,
        person_id=person_id,
        about_id=about_id,
        project_id=project_id,
        details=kept,
        address=address,
    )


def note_at(there: Reading, what: EventKind, **details: str | int) -> None:
    """Add an event as ``note`` does, for the person and the project of a seat."""
    project_id = None if there.at is None else there.at.id
    note(there.session, what, person_id=there.person.id, project_id=project_id, **details)  # type: ignore[arg-type]
