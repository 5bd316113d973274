"""The people of this Winnow: one-time sign-in links, signed-in browsers, and ending them.

A secret is 32 random bytes, shown once. Only its SHA-256 is stored, and a secret is looked up by that
hash through a unique index: neither the database nor the time an answer takes gives it away.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from db import links, people, sign_ins
from db.people import Person
from workflow import access
from workflow.access import Right
from workflow.saving import saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.home import Home
    from workflow.seat import Seat

START_LINK_LIFE = timedelta(hours=1)
INVITATION_LIFE = timedelta(days=7)
SIGN_IN_LIFE = timedelta(days=14)
NAME_LENGTH = 80


class LinkError(ValueError):
    """A sign-in link cannot be used; the message says why and what to do."""


class PersonNameError(ValueError):
    """A person's name is empty, too long or has characters that cannot be shown."""


def ensure_owner(home: Home) -> Person:
    """The first owner; made, with the name 'owner', where this Winnow has none yet."""
    with saving(home) as session:
        owner = people.first_owner(session)
        if owner is None:
            person_id = people.add(session, "owner", "owner", datetime.now(UTC))
            owner = people.find(session, person_id)
    if owner is None:
        raise RuntimeError("The owner was written but cannot be read back; the database is damaged.")
    return owner


def make_start_link(home: Home) -> str:
    """The secret of a link for the owner, to be printed when the server starts; lives an hour.

    Earlier links of the owner that were not used end. An owner who was disabled comes back with it: whoever
    starts the server holds the data anyway, and nobody else could let them in again.
    """
    owner = ensure_owner(home)
    now = datetime.now(UTC)
    with saving(home) as session:
        people.enable(session, owner.id)
        links.expire_for(session, owner.id, now)
        return _add_link(session, owner.id, None, now, START_LINK_LIFE)


def make_link(seat: Seat, name: str) -> str:
    """The secret of a link for the person of this name, who is added as an annotator if new; lives a week.

    Earlier links of that person that were not used end; a disabled person is let in again.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    PersonNameError
        The name is empty, longer than 80 characters or not printable.
    NotSaved
    """
    name = _checked_name(name)
    now = datetime.now(UTC)
    with seat.owning() as owning:
        session = owning.session
        known = [one for one in people.listed(session) if one.name.casefold() == name.casefold()]
        person = known[0] if known else None
        if person is not None and person.is_owner:
            raise PersonNameError(
                f"{person.name!r} is an owner, and this makes a link for annotators. Choose another name; a link "
                "for the owner is printed when Winnow starts."
            )
        person_id = people.add(session, name, "annotator", now) if person is None else person.id
        people.enable(session, person_id)
        links.expire_for(session, person_id, now)
        return _add_link(session, person_id, seat.person_id, now, INVITATION_LIFE)


def look_at_link(home: Home, secret: str) -> str | None:
    """The name of the person a usable invitation is for; None for the link printed at the start. Uses nothing up.

    Raises LinkError as `redeem_link` would.
    """
    with home.database.read() as session:
        link = links.find(session, _hash(secret))
        if link is None or link.used_at is not None or link.expires_at <= datetime.now(UTC):
            raise LinkError(_why_not(link))
        person = people.find(session, link.person_id)
    return None if link.created_by is None or person is None else person.name


def redeem_link(home: Home, secret: str) -> str:
    """Use a link up and sign its person in; returns the sign-in's secret, for a cookie.

    Raises
    ------
    LinkError
        The link is unknown, was used, has expired, or its person is disabled.
    NotSaved
        The database could not be written; the link can still be used.
    """
    now = datetime.now(UTC)
    with saving(home) as session:
        link = links.take(session, _hash(secret), now)
        if link is None:
            raise LinkError(_why_not(links.find(session, _hash(secret))))
        person = people.find(session, link.person_id)
        if person is None or person.disabled_at is not None:
            raise LinkError("Your access has ended. Ask the owner for a new link.")
        sign_in = _new_secret()
        sign_ins.add(
            session,
            secret_hash=_hash(sign_in),
            person_id=person.id,
            created_at=now,
            expires_at=now + SIGN_IN_LIFE,
        )
        return sign_in


def get_person(seat: Seat) -> Person:
    """The person of the seat, asked anew by every page. Raises NotAllowed when unknown or disabled."""
    with seat.reading() as reading:
        return reading.person


def person_of(home: Home, sign_in_secret: str) -> Person | None:
    """The person signed in with this secret; None when it is unknown or over, or the person disabled."""
    with home.database.read() as session:
        return sign_ins.person_of(session, _hash(sign_in_secret), datetime.now(UTC))


def sign_out(home: Home, sign_in_secret: str) -> None:
    """End one sign-in; harmless when it is unknown or has ended. Raises NotSaved."""
    with saving(home) as session:
        sign_ins.end(session, _hash(sign_in_secret), datetime.now(UTC))


def list_people(seat: Seat) -> list[Person]:
    """Everybody, disabled people too. Raises NotAllowed unless the person is an owner."""
    with seat.reading(Right.OWN) as reading:
        return people.listed(reading.session)


def disable_person(seat: Seat, person_id: int) -> None:
    """End a person's access: their browsers are signed out and their links end. Their answers stay.

    Raises NotSaved; NotAllowed unless the person of the seat is an owner, and for one who would disable themselves.
    """
    now = datetime.now(UTC)
    with seat.owning() as owning:
        session = owning.session
        if owning.person.id == person_id:
            raise access.NotAllowed("You cannot end your own access: nobody could let you in again.")
        people.disable(session, person_id, now)
        links.expire_for(session, person_id, now)
        sign_ins.end_for(session, person_id, now)


def _add_link(
    session: Session, person_id: int, created_by: int | None, now: datetime, life: timedelta
) -> str:
    secret = _new_secret()
    links.add(
        session,
        secret_hash=_hash(secret),
        person_id=person_id,
        created_by=created_by,
        created_at=now,
        expires_at=now + life,
    )
    return secret


def _why_not(link: links.Link | None) -> str:
    if link is None:
        return "This sign-in link is not known here. Check that it was copied whole, or ask for a new one."
    if link.used_at is not None:
        return "This sign-in link was used already; each works once. Ask for a new one."
    return "This sign-in link has expired. Ask for a new one."


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise PersonNameError(
            f"A person's name must have 1 to {NAME_LENGTH} printable characters. "
            f"Got {name[: NAME_LENGTH + 1]!r}."
        )
    return name


def _new_secret() -> str:
    return secrets.token_urlsafe(32)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
