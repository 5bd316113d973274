"""The people of this Winnow: one-time sign-in links, and ending someone's access.

A secret is 32 random bytes, shown once. Only its SHA-256 is stored, and looked up through a unique index: neither the
database nor the response time reveals the secret.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from db import people
from db.people import ApiToken, Person, SignIn
from workflow import access
from workflow.access import Right
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.people.browsers import NOWHERE, Visit, open_browser
from workflow.people.tokens import end_tokens_of, new_secret, secret_hash
from workflow.saving import saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.seat import Seat
    from workflow.server.home import Home
    from workflow.server.settings import Settings

START_LINK_LIFE = timedelta(hours=1)
INVITATION_LIFE = timedelta(days=7)
NAME_LENGTH = 80
MOST_OPEN = 20
"""Limit of one person's unused links."""


class LinkError(ValueError):
    """A sign-in link cannot be used or made; the message says why and what to do."""


class PersonNameError(ValueError):
    """A person's name is empty, too long or has characters that cannot be shown."""


def ensure_owner(home: Home) -> Person:
    """Return the first owner, who is created with the name 'owner' if this Winnow has none yet."""
    with saving(home) as session:
        owner = people.first_owner(session)
        if owner is None:
            person_id = people.add(session, "owner", "owner", datetime.now(UTC))
            owner = people.find(session, person_id)
    if owner is None:
        raise RuntimeError("The owner was written but cannot be read back; the database is damaged.")
    return owner


def make_start_link(home: Home) -> str:
    """Return the secret of a link for the owner, printed when the server starts; valid for an hour.

    It also restores a disabled owner: the operator who starts the server has the data anyway, and no one else could
    restore them.
    """
    owner = ensure_owner(home)
    with saving(home) as session:
        people.enable(session, owner.id)
        return _add_link(session, owner, None, START_LINK_LIFE)


def make_link(seat: Seat, name: str) -> str:
    """Return the secret of a link for the person of this name, who is added as an annotator if new; valid for a week.

    A disabled person gets access again. Their earlier links stay valid until one of them is used.

    Raises
    NotAllowed : The person is not an owner.
    PersonNameError : The name is empty, longer than 80 characters or not printable, or an owner's.
    LinkError : They already have 20 unused links.
    """
    name = checked_name(name)
    with seat.everywhere.owning() as owning:
        session = owning.session
        person = named(session, name)
        if person is None:
            person = add_annotator(session, name, seat.person_id)
        return _invite(session, person, seat.person_id)


def make_link_for(seat: Seat, person_id: int) -> str:
    """Return a link like ``make_link``, for a known person, without typing the name. NotFound if there is no such
    person."""
    with seat.everywhere.owning() as owning:
        return _invite(owning.session, _known(owning.session, person_id), seat.person_id)


def end_links(seat: Seat, person_id: int) -> None:
    """End the unused links of a person. Raises NotAllowed unless an owner asks; NotSaved."""
    now = datetime.now(UTC)
    with seat.everywhere.owning() as owning:
        count = people.open_counts(owning.session, now).get(person_id, 0)
        if count:
            people.expire_for(owning.session, person_id, now)
            audit.note(owning.session, EventKind.LINKS_ENDED, person_id=seat.person_id, about_id=person_id, count=count)


def read_link_name(home: Home, secret: str) -> str | None:
    """Return the name of the person that a valid link is for; None for the link printed at the start. Does not use it
    up.

    Raises LinkError as `redeem_link` would.
    """
    with home.database.read() as session:
        link = people.find_link(session, secret_hash(secret))
        if link is None or link.used_at is not None or link.expires_at <= datetime.now(UTC):
            raise LinkError(_why_not(link))
        person = people.find(session, link.person_id)
    return None if link.created_by is None or person is None else person.name


def redeem_link(home: Home, secret: str, visit: Visit = NOWHERE) -> str:
    """Use up a link and sign its person in; returns the sign-in's secret, for a cookie. Their other links end.

    Raises
    LinkError : The link is unknown, was used, has expired, or its person is disabled.
    NotSaved : The database could not be written; the link can still be used.
    """
    now = datetime.now(UTC)
    with saving(home) as session:
        link = people.take(session, secret_hash(secret), now)
        if link is None:
            raise LinkError(_why_not(people.find_link(session, secret_hash(secret))))
        person = people.find(session, link.person_id)
        if person is None or person.disabled_at is not None:
            raise LinkError("Your access has ended. Ask the owner for a new link.")
        people.expire_for(session, person.id, now)
        return open_browser(session, person.id, "link", visit)


def person_of_link(home: Home, secret: str) -> int | None:
    """Return the id of the person a link was made for, even if it was used or has expired; for the audit of
    refusals."""
    with home.database.read() as session:
        link = people.find_link(session, secret_hash(secret))
    return None if link is None else link.person_id


def get_person(seat: Seat) -> Person:
    """Return the person of the seat, checked again by every page. Raises NotAllowed if they are unknown or disabled."""
    with seat.reading() as reading:
        return reading.person


def list_people(seat: Seat) -> list[Person]:
    """List everyone, including disabled people. Raises NotAllowed unless the person is an owner."""
    with seat.everywhere.reading(Right.OWN) as reading:
        return people.listed(reading.session)


def disable_person(seat: Seat, person_id: int) -> None:
    """End a person's access: their browsers are signed out; their links, tokens and password end. Their answers stay.

    Raises NotSaved; NotAllowed unless the person of the seat is an owner, and if they would disable themselves.
    """
    now = datetime.now(UTC)
    with seat.everywhere.owning() as owning:
        session = owning.session
        if owning.person.id == person_id:
            raise access.NotAllowed("You cannot end your own access: no other owner could restore it.")
        person = people.find(session, person_id)
        people.disable(session, person_id, now)
        people.expire_for(session, person_id, now)
        people.end_for(session, person_id, now)
        end_tokens_of(session, seat.person_id, person_id)
        if people.find_account(session, person_id).password_hash is not None:
            people.change(session, person_id, password_hash=None)
        if person is not None and person.disabled_at is None:
            audit.note(session, EventKind.PERSON_ENDED, person_id=seat.person_id, about_id=person_id)


def checked_name(name: str) -> str:
    """Return a person's name as it is stored, with single spaces. Raises PersonNameError."""
    name = " ".join(name.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise PersonNameError(
            f"A person's name must have 1 to {NAME_LENGTH} printable characters. Got {name[: NAME_LENGTH + 1]!r}."
        )
    return name


def named(session: Session, name: str) -> Person | None:
    """Return the person of this name, however it is spelled; None if there is none."""
    known = (one for one in people.listed(session) if one.name.casefold() == name.casefold())
    return next(known, None)


def add_annotator(session: Session, name: str, by: int | None) -> Person:
    """Add a new annotator. by : who adds them, None if they came by themselves"""
    now = datetime.now(UTC)
    person_id = people.add(session, name, "annotator", now)
    audit.note(session, EventKind.PERSON_ADDED, person_id=by, about_id=person_id)
    return Person(person_id, name, "annotator", now, None)


def _known(session: Session, person_id: int) -> Person:
    person = people.find(session, person_id)
    if person is None:
        raise access.NotFound(f"There is no person {person_id}. Fix: load the page again.")
    return person


def _invite(session: Session, person: Person, by: int) -> str:
    if person.is_owner:
        raise PersonNameError(
            f"{person.name!r} is an owner, and this makes a link for annotators. Choose another name; a link "
            "for the owner is printed when Winnow starts."
        )
    if people.open_counts(session, datetime.now(UTC)).get(person.id, 0) >= MOST_OPEN:
        raise LinkError(f"{MOST_OPEN} links of {person.name} are open already. Fix: end them, then make a new one.")
    if person.disabled_at is not None:
        people.enable(session, person.id)
        audit.note(session, EventKind.PERSON_LET_IN, person_id=by, about_id=person.id)
    return _add_link(session, person, by, INVITATION_LIFE)


def _add_link(session: Session, person: Person, created_by: int | None, life: timedelta) -> str:
    secret, now = new_secret(), datetime.now(UTC)
    people.add_link(
        session,
        secret_hash=secret_hash(secret),
        person_id=person.id,
        created_by=created_by,
        created_at=now,
        expires_at=now + life,
    )
    audit.note(session, EventKind.LINK_MADE, person_id=created_by, about_id=person.id)
    return secret


def _why_not(link: people.Link | None) -> str:
    if link is None:
        return "This sign-in link is not known here. Check that it was copied whole, or ask for a new one."
    if link.used_at is not None:
        return "This sign-in link was used already; each works once. Ask for a new one."
    return "This sign-in link has expired. Ask for a new one."


# Figures of everyone, for owners: how they can sign in, and where they are signed in.


@dataclass(frozen=True)
class PersonView:
    """A person as owners see them. open_links : number of unused links      known_as : their name at an OpenID provider
    or a proxy, '' for none
    browsers : signed-in browsers, the most recently active first      tokens : valid tokens, oldest first"""

    person: Person
    open_links: int
    has_password: bool
    known_as: str
    browsers: tuple[SignIn, ...]
    tokens: tuple[ApiToken, ...]


def overview(seat: Seat) -> list[PersonView]:
    """List everyone, including disabled people, in the order they were added. Raises NotAllowed unless the person is an
    owner."""
    now = datetime.now(UTC)
    with seat.everywhere.reading(Right.OWN) as reading:
        session = reading.session
        open_links, known = people.open_counts(session, now), people.list_accounts(session)
        browsers, usable = people.list_sign_ins(session, now), people.list_tokens(session, now)
        return [
            PersonView(
                person=one,
                open_links=open_links.get(one.id, 0),
                has_password=one.id in known and known[one.id].password_hash is not None,
                known_as=(known[one.id].known_as or "") if one.id in known else "",
                browsers=tuple(browser for browser in browsers if browser.person_id == one.id),
                tokens=tuple(token for token in usable if token.person_id == one.id),
            )
            for one in people.listed(session)
        ]


# Whether others can reach the address of a sign-in link, and what to do if they cannot.

_PROXY = "or put a reverse proxy with HTTPS in front of Winnow and name its host in WINNOW_ALLOWED_HOSTS"


def explain_local_host(settings: Settings, host: str) -> str | None:
    """Say why a link to this host (without port) cannot work on another machine; None if it can.

    It checks only the name, not whether the network lets people through.
    """
    if is_this_machine(host):
        others = [name for name in settings.allowed_hosts if not is_this_machine(name) and "*" not in name]
        if others and not is_this_machine(settings.host):
            return (
                f"{host} is this machine for everyone who opens it, so that others cannot use the link. "
                f"Fix: open Winnow as {' or '.join(others)} and make the link there."
            )
        return (
            f"Others cannot use this link: {host} is this machine for everyone who opens it, and Winnow listens on "
            f"{settings.host}. Fix: set WINNOW_HOST=0.0.0.0 and WINNOW_ALLOWED_HOSTS to the name people use for this "
            f"machine, {_PROXY}; start Winnow again and open it by that name."
        )
    if not allows(settings.allowed_hosts, host):
        return (
            f"Winnow refuses browsers that ask for {host}. Fix: add it to WINNOW_ALLOWED_HOSTS and start Winnow again."
        )
    return None


def is_this_machine(host: str) -> bool:
    """Whether a host name always means the machine itself."""
    bare = host.strip("[]").casefold()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def allows(allowed: tuple[str, ...], host: str) -> bool:
    """Whether a host name is among those allowed, by the server's rules: `*.example.org` is every host below."""
    wanted = host.casefold()
    return any(
        wanted.endswith(name[1:].casefold()) if name.startswith("*.") else wanted == name.casefold() for name in allowed
    )
