"""Passwords for return visits: set by the person, cleared by an owner, visible to no one.

Hashed by argon2id with the library's parameters (RFC 9106, low memory). A refusal takes the same time and has the same
words, whether the name is unknown, has no password, or the password is wrong.
"""

from __future__ import annotations

import threading
import unicodedata
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from db import people
from workflow.access import Right
from workflow.people import audit
from workflow.people.attempts import MINUTES, folded
from workflow.people.audit import EventKind
from workflow.people.browsers import NOWHERE, Visit, open_browser
from workflow.people.team import named
from workflow.people.tokens import end_tokens_of, new_secret
from workflow.saving import NotSaved, saving
from workflow.seat import Seat
from workflow.server.home import Home

# Refused sign-ins, as the audit stores them: a limited number per hour.


def note_refused(home: Home, why: str, visit: Visit, about_id: int | None = None) -> None:
    """Record a refused sign-in. why : in a few fixed words, never what was typed      about_id : the person with the
    name used

    Strangers cause these lines, so there are at most 20 an hour from one address and 500 in total. If the line cannot
    be written, the sign-in is refused all the same.
    """
    if not home.attempts.may_note(visit.address):
        return
    with suppress(NotSaved), saving(home) as session:
        audit.note(
            session,
            EventKind.SIGN_IN_REFUSED,
            person_id=None,
            about_id=about_id,
            address=visit.address,
            why=why,
            browser=visit.browser,
        )


LEAST, MOST = 12, 256
"""Characters of a password."""
WRONG = "Name or password is wrong. Without a password, or if you have forgotten it, ask the owner for a link."
LIMITED = (
    f"Too many attempts with this name or from this machine. Wait {MINUTES} minutes and try again, or ask the owner "
    "for a link."
)

_HASHER = PasswordHasher()
_ONE_AT_A_TIME = threading.Lock()
"""A verification takes 64 MB: many at once would exhaust the machine's memory."""


class PasswordError(ValueError):
    """A password cannot be set: it is too short, too long or the person's name, or the current one is wrong."""


class WrongPassword(PermissionError):  # noqa: N818 - what a page says, not a fault
    """The name or the password is wrong."""


class TooManyAttempts(PermissionError):  # noqa: N818 - what a page says, not a fault
    """Too many recent attempts with this name or from this address. wait : seconds until the next attempt"""

    def __init__(self, words: str, wait: int = 0) -> None:
        super().__init__(words)
        self.wait = wait


def sign_in_by_password(home: Home, name: str, password: str, visit: Visit = NOWHERE) -> str:
    """Return the sign-in's secret, for a cookie.

    Raises
    WrongPassword : The name is unknown, has no password, the password is wrong, or their access has ended.
    TooManyAttempts : Five attempts with this name, or thirty from this address, within five minutes.
    NotSaved
    """
    if not home.attempts.may_try(name, visit.address):
        note_refused(home, "too many attempts", visit)
        raise TooManyAttempts(LIMITED, home.attempts.must_wait(name, visit.address))
    with home.database.read() as session:
        person = named(session, " ".join(name.split()))
        stored = None if person is None else people.find_account(session, person.id).password_hash
    fits = _fits(stored or _nobodys(), password)
    if person is None or stored is None or not fits or person.disabled_at is not None:
        note_refused(home, "wrong name or password", visit, about_id=person.id if person else None)
        raise WrongPassword(WRONG)
    renewed = _hash(password) if _HASHER.check_needs_rehash(stored) else stored
    with saving(home) as session:
        now = people.find(session, person.id)
        if now is None or now.disabled_at is not None or people.find_account(session, now.id).password_hash != stored:
            raise WrongPassword(WRONG)  # ended, or changed, just now
        if renewed != stored:
            people.change(session, now.id, password_hash=renewed)
        secret = open_browser(session, now.id, "password", visit)
    home.attempts.succeeded(name)
    return secret


def has_password(seat: Seat) -> bool:
    """Whether this person has a password."""
    with seat.reading() as reading:
        return people.find_account(reading.session, reading.person.id).password_hash is not None


def set_password(seat: Seat, password: str, present: str = "", this: int = 0) -> None:
    """Set or change this person's password; a change signs out their other browsers and ends their tokens.

    present : their current password, if any      this : the sign-in that stays

    Raises
    PasswordError : It has fewer than 12 characters or more than 256, is their name, or the current one is wrong.
    TooManyAttempts : The current one was wrong too often.
    """
    with seat.reading() as reading:
        person = reading.person
        stored = people.find_account(reading.session, person.id).password_hash
    _check(password, person.name)
    if stored is not None:
        if not seat.home.attempts.may_try(person.name, f"own {person.id}"):
            raise TooManyAttempts(LIMITED)
        if not _fits(stored, present):
            raise PasswordError("The present password is wrong. Without it, ask an owner to clear the password.")
        seat.home.attempts.succeeded(person.name)
    fresh = _hash(password)
    with seat.everywhere.writing(Right.SEE) as mine:
        if people.find_account(mine.session, person.id).password_hash != stored:
            raise PasswordError("The password was changed a moment ago, elsewhere. Load the page again.")
        people.change(mine.session, person.id, password_hash=fresh)
        if stored is not None:
            people.end_for(mine.session, person.id, datetime.now(UTC), but=this)
            end_tokens_of(mine.session, person.id, person.id)
        audit.note(mine.session, EventKind.PASSWORD_SET, person_id=person.id, about_id=person.id)


def clear_password(seat: Seat, person_id: int) -> None:
    """Remove the password of a person; harmless if they have none. Their browsers stay signed in.

    Raises NotSaved; NotAllowed unless the person of the seat is an owner.
    """
    with seat.everywhere.owning() as owning:
        if people.find_account(owning.session, person_id).password_hash is not None:
            people.change(owning.session, person_id, password_hash=None)
            audit.note(owning.session, EventKind.PASSWORD_CLEARED, person_id=seat.person_id, about_id=person_id)


def _check(password: str, name: str) -> None:
    if not LEAST <= len(password) <= MOST:
        raise PasswordError(
            f"A password must have {LEAST} to {MOST} characters. Got {len(password)}. "
            "Fix: several words in a row are long and easy to remember."
        )
    if folded(password) in (folded(name), folded(name) * 2):
        raise PasswordError("A password must not be your name. Fix: choose a few words in a row.")


def _alike(password: str) -> str:
    """Normalize the characters, however a keyboard composes them."""
    return unicodedata.normalize("NFKC", password)


def _hash(password: str) -> str:
    with _ONE_AT_A_TIME:
        return _HASHER.hash(_alike(password))


def _fits(stored: str, password: str) -> bool:
    with _ONE_AT_A_TIME:
        try:
            return _HASHER.verify(stored, _alike(password[: MOST + 1]))
        except VerifyMismatchError:
            return False


@cache
def _nobodys() -> str:
    """Return a hash that no password matches, so that an unknown name takes as long as a known one."""
    return _hash(new_secret())
