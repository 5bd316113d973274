"""Browser sessions: opened when someone signs in, listed, and ended by their person or by an owner."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from db import people
from db.people import SignedIn as SignedIn
from db.people import SignIn as SignIn
from workflow.access import Right
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.people.tokens import end_tokens_of, new_secret, secret_hash
from workflow.saving import NotSaved, saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.people import Person
    from workflow.seat import Seat
    from workflow.server.home import Home

SIGN_IN_LIFE = timedelta(days=14)

_FAMILIES = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("HeadlessChrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Windows", "Windows"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
"""Browsers also name other browsers for compatibility: the first match counts."""


@dataclass(frozen=True)
class Visit:
    """The client that someone signs in from. address : of their machine      browser : in a few words"""

    address: str = ""
    browser: str = ""


NOWHERE = Visit()


def browser_words(user_agent: str) -> str:
    """Description of a browser, in a few words: *Firefox on Linux*."""
    family = next((name for sign, name in _FAMILIES if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    return " on ".join(part for part in (family or "Another program", system) if part)


def open_browser(session: Session, person_id: int, how: str, visit: Visit) -> str:
    """Sign a person in, in the caller's transaction; returns the secret for the cookie. how : link, password, openid,
    proxy"""
    secret, now = new_secret(), datetime.now(UTC)
    people.add_sign_in(
        session,
        secret_hash=secret_hash(secret),
        person_id=person_id,
        created_at=now,
        expires_at=now + SIGN_IN_LIFE,
        how=how,
        address=visit.address,
        browser=visit.browser,
    )
    audit.note(session, EventKind.SIGN_IN, person_id=person_id, address=visit.address, how=how, browser=visit.browser)
    return secret


def signed_in(home: Home, sign_in_secret: str) -> SignedIn | None:
    """Return the sign-in with this secret; None if it is unknown or over, or the person is disabled."""
    return home.known_browsers.find(home.database, secret_hash(sign_in_secret), datetime.now(UTC))


def person_of(home: Home, sign_in_secret: str) -> Person | None:
    """Return the person of ``signed_in``."""
    found = signed_in(home, sign_in_secret)
    return None if found is None else found.person


def see(home: Home, sign_in_id: int) -> None:
    """Record that the browser was active. Skipped if nothing can be written: no one waits for this."""
    with suppress(NotSaved), saving(home) as session:
        people.see(session, sign_in_id, datetime.now(UTC))


def sign_out(home: Home, sign_in_secret: str, visit: Visit = NOWHERE) -> None:
    """End one sign-in; harmless if it is unknown or has ended. Raises NotSaved."""
    now = datetime.now(UTC)
    with saving(home) as session:
        found = people.find_sign_in(session, secret_hash(sign_in_secret), now)
        if found is not None and people.end(session, found.id, found.person.id, now):
            audit.note(session, EventKind.SIGN_OUT, person_id=found.person.id, address=visit.address)


def my_browsers(seat: Seat) -> list[SignIn]:
    """List the browsers signed in as this person, the most recently active first. Raises NotAllowed."""
    with seat.reading() as reading:
        return people.list_sign_ins(reading.session, datetime.now(UTC), reading.person.id)


def end_my_browser(seat: Seat, sign_in_id: int) -> None:
    """End a sign-in of this person; harmless if it is another's or has ended. Raises NotAllowed, NotSaved."""
    with seat.everywhere.writing(Right.SEE) as mine:
        _end(mine.session, seat.person_id, seat.person_id, sign_in_id)


def end_my_other_browsers(seat: Seat, this: int) -> None:
    """End every sign-in of this person except the one with this id, and their tokens. Raises NotAllowed, NotSaved."""
    now = datetime.now(UTC)
    with seat.everywhere.writing(Right.SEE) as mine:
        end_tokens_of(mine.session, seat.person_id, seat.person_id)
        others = [one for one in people.list_sign_ins(mine.session, now, seat.person_id) if one.id != this]
        if others:
            people.end_for(mine.session, seat.person_id, now, but=this)
            audit.note(
                mine.session,
                EventKind.BROWSERS_ENDED,
                person_id=seat.person_id,
                about_id=seat.person_id,
                count=len(others),
            )


def end_browser(seat: Seat, person_id: int, sign_in_id: int) -> None:
    """End a sign-in of any person; harmless if they have none with this id. Raises NotSaved; NotAllowed unless the
    person of the seat is an owner."""
    with seat.everywhere.owning() as owning:
        _end(owning.session, seat.person_id, person_id, sign_in_id)


def _end(session: Session, by: int, person_id: int, sign_in_id: int) -> None:
    if people.end(session, sign_in_id, person_id, datetime.now(UTC)):
        audit.note(session, EventKind.BROWSERS_ENDED, person_id=by, about_id=person_id, count=1)
