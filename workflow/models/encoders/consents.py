"""Consents to encoders: who requested one, when, and under which licence. They are events of the audit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from db import events, people
from db.events import EventFilter
from workflow.people import audit
from workflow.people.audit import EventKind

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.tables.encoders import EncoderEntry


@dataclass(frozen=True)
class Consent:
    """A consent to an encoder's licence. person : id of the requester      name : theirs      licence : in words, as
    `licence_words`"""

    person: int
    name: str
    at: datetime
    licence: str

    def words(self, name: str | None = None) -> str:
        """Return the consent as the start of a sentence. name : in place of the person's name"""
        return f"asked for by {self.name if name is None else name} on {self.at:%Y-%m-%d} ({self.licence})"


def licence_words(entry: EncoderEntry | None) -> str:
    """Return the licence that a person accepts by requesting an encoder. entry : None for the owner's own encoder"""
    if entry is None:
        return "your own encoder"
    return entry.licence if entry.commercial else f"{entry.licence}, for no commercial purpose"


def note(session: Session, person_id: int, key: str, entry: EncoderEntry | None, project_id: int | None = None) -> None:
    """Record that someone has requested an encoder, in the transaction of the request. key : its name here"""
    audit.note(
        session,
        EventKind.ENCODER_ASKED,
        person_id=person_id,
        project_id=project_id,
        encoder=key,
        licence=licence_words(entry),
    )


def consents(session: Session, project_id: int | None = None) -> dict[str, Consent]:
    """Return the latest consent to each encoder by its name; for one project, or for all."""
    found = events.listed(session, EventFilter(what=EventKind.ENCODER_ASKED.value, project_id=project_id))
    names = {one.id: one.name for one in people.listed(session)} if found else {}
    return {
        str(one.details["encoder"]): Consent(
            one.person_id or 0, names.get(one.person_id or 0, ""), one.at, str(one.details["licence"])
        )
        for one in reversed(found)
    }
