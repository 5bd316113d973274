"""Consents to encoders: who asked for one, when, and to which licence that is consent: events of the audit."""

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
    """person : the number of who asked      name : theirs      licence : in words, as `licence_words`"""

    person: int
    name: str
    at: datetime
    licence: str

    def words(self, name: str | None = None) -> str:
        """As a sentence without its end. name : in place of the person's"""
        return f"asked for by {self.name if name is None else name} on {self.at:%Y-%m-%d} ({self.licence})"


def licence_words(entry: EncoderEntry | None) -> str:
    """The licence that someone consents to who asks for an encoder. entry : None for one of the owner's own"""
    if entry is None:
        return "your own encoder"
    return entry.licence if entry.commercial else f"{entry.licence}, for no commercial purpose"


def note(
    session: Session, person_id: int, key: str, entry: EncoderEntry | None, project_id: int | None = None
) -> None:
    """Note that someone has asked for an encoder, in the transaction of the request. key : its name here"""
    audit.note(
        session,
        EventKind.ENCODER_ASKED,
        person_id=person_id,
        project_id=project_id,
        encoder=key,
        licence=licence_words(entry),
    )


def consents(session: Session, project_id: int | None = None) -> dict[str, Consent]:
    """The latest consent to each encoder by its name; at a project, or anywhere."""
    found = events.listed(session, EventFilter(what=EventKind.ENCODER_ASKED.value, project_id=project_id))
    names = {one.id: one.name for one in people.listed(session)} if found else {}
    return {
        str(one.details["encoder"]): Consent(
            one.person_id or 0, names.get(one.person_id or 0, ""), one.at, str(one.details["licence"])
        )
        for one in reversed(found)
    }
