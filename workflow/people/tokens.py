"""API tokens, which act as a person: created by the person for one purpose, shown once, revocable at any time.

A token has the rights that its person has when it is used, or fewer (`workflow.access.TokenScope`). It ends with their
access, and whenever they must sign in again: after a password change, when they sign out other browsers, or when their
external account is given to another person.
"""

from __future__ import annotations

import hashlib
import secrets
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from db import people
from db.people import ApiToken as ApiToken
from db.people import TokenUse as TokenUse
from plcore.arrays import forbidden_in_name
from workflow.access import Action, Right, TokenScope, numbered, visible_names
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.saving import NotSaved, saving
from workflow.seat import Seat

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.orm import Session

    from workflow.opened import Reading
    from workflow.server.home import Home

# Secrets of links and cookies: 32 random bytes, shown once; only the SHA-256 is stored.


def new_secret() -> str:
    """Return 43 characters that no one can guess."""
    return secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """Return the stored hash of a secret, 64 hex digits. It needs no salt: there are too many possible secrets to
    try."""
    return hashlib.sha256(secret.encode()).hexdigest()


PREFIX = "winnow_"
"""Prefix of every token, so that people and secret scanners recognize a leaked one."""
PURPOSE_LENGTH = 80
MOST = 20
"""Limit of the valid tokens of one person."""
LONGEST_LIFE = 3_650
"""Longest life of a token that expires, in days."""


class TokenError(ValueError):
    """A token cannot be made; the message says why and what to do."""


def make_token(
    seat: Seat, purpose: str, days: int | None = None, may: str = Action.OWN, project_ids: Collection[int] = ()
) -> str:
    """Create a token of this person, which is shown only now.

    purpose : its purpose, in the person's words; unique among their valid tokens
    days : days until it expires; None: it lasts until it is revoked
    may : one of `workflow.access.Action`
    project_ids : the only projects at which it works; none: all, and this Winnow as a whole

    Raises TokenError if the purpose is empty, too long, taken or cannot be stored; the number of days, or what it may,
    is not allowed; the person does not see one of the projects; or they have the most tokens allowed.
    """
    purpose = _checked(purpose)
    if days is not None and not 1 <= days <= LONGEST_LIFE:
        raise TokenError(f"A token lasts 1 to {LONGEST_LIFE:,} days, or until it is revoked. Got {days}.")
    if may not in [*Action]:
        raise TokenError(f"A token may {', '.join(Action)}. Got {may!r:.50}. Fix: say one of these.")
    secret, now, only = PREFIX + new_secret(), datetime.now(UTC), sorted(set(project_ids))
    with seat.everywhere.writing(Right.SEE) as mine:
        if only:
            _check_seen(mine, only)
        known = people.list_tokens(mine.session, now, seat.person_id)
        if any(one.purpose == purpose for one in known):
            raise TokenError(f"You have a token for {purpose!r} already. Fix: end it, or name another purpose.")
        if len(known) >= MOST:
            raise TokenError(f"You have {MOST} tokens already. Fix: end one that is not used any more.")
        people.add_token(
            mine.session,
            secret_hash=secret_hash(secret),
            person_id=seat.person_id,
            purpose=purpose,
            created_at=now,
            expires_at=None if days is None else now + timedelta(days=days),
            may=may,
            projects=only or None,
        )
        facts = {"purpose": purpose, "may": may, "only": numbered(only) if only else ""}
        audit.note_at(mine, EventKind.TOKEN_MADE, **facts)
    return secret


def scope_of(one: ApiToken) -> str:
    """Describe what a token does, such as `reads and answers in project 3`."""
    does = {Action.READ: "reads", Action.ANSWER: "reads and answers", Action.OWN: "does all that its person may"}
    where = "" if one.projects is None else f" in {numbered(one.projects)}"
    return f"{does[Action(one.may)]}{where}"


def my_tokens(seat: Seat) -> list[ApiToken]:
    """List the valid tokens of this person, oldest first."""
    with seat.everywhere.reading() as reading:
        return people.list_tokens(reading.session, datetime.now(UTC), seat.person_id)


def end_my_token(seat: Seat, token_id: int) -> None:
    """End a token of this person; harmless if it is another's or has ended."""
    with seat.everywhere.writing(Right.SEE) as mine:
        _end(mine.session, seat.person_id, seat.person_id, token_id)


def end_token(seat: Seat, person_id: int, token_id: int) -> None:
    """End a token of any person; harmless if they have none with this id. Raises NotSaved; NotAllowed unless the person
    of the seat is an owner."""
    with seat.everywhere.owning() as owning:
        _end(owning.session, seat.person_id, person_id, token_id)


def end_tokens_of(session: Session, by: int, person_id: int) -> None:
    """End all tokens of a person, in the caller's transaction, and record how many there were. by : who does it"""
    count = people.end_tokens_of(session, person_id, datetime.now(UTC))
    if count:
        audit.note(session, EventKind.TOKEN_ENDED, person_id=by, about_id=person_id, count=count)


def user_of(home: Home, secret: str) -> TokenUse | None:
    """Return the person of a token; None if it is unknown or over, or the person is disabled."""
    with home.database.read(single=True) as session:
        return people.find_token(session, secret_hash(secret), datetime.now(UTC))


def seat_of(home: Home, used: TokenUse) -> Seat:
    """The seat of a program: its person's, with what its token may do."""
    only = None if used.projects is None else frozenset(used.projects)
    return Seat(home, used.person.id, narrowed=TokenScope(Action(used.may), only))


def note_use(home: Home, token_id: int) -> None:
    """Record that the token is used. Skipped if nothing can be written: no one waits for this."""
    with suppress(NotSaved), saving(home) as session:
        people.see_token(session, token_id, datetime.now(UTC))


def _end(session: Session, by: int, person_id: int, token_id: int) -> None:
    now = datetime.now(UTC)
    purposes = {one.id: one.purpose for one in people.list_tokens(session, now, person_id)}
    if people.end_token(session, token_id, person_id, now):
        purpose = purposes.get(token_id, "")
        audit.note(session, EventKind.TOKEN_ENDED, person_id=by, about_id=person_id, purpose=purpose)


def _check_seen(mine: Reading, project_ids: Collection[int]) -> None:
    """Raise TokenError at the first project that is not in use, or that the person does not see."""
    seen = {one.id for one, _ in visible_names(mine.session, mine)}
    if unseen := [one for one in project_ids if one not in seen]:
        raise TokenError(f"There is no project {unseen[0]} here. Fix: winnow projects lists their numbers.")


def _checked(purpose: str) -> str:
    purpose = " ".join(purpose.split())
    if not purpose or len(purpose) > PURPOSE_LENGTH:
        raise TokenError(
            f"The purpose of a token has 1 to {PURPOSE_LENGTH} characters. Got {len(purpose)}. Fix: say in a few words "
            "which program it is for."
        )
    if (found := forbidden_in_name(purpose)) is not None:
        raise TokenError(f"The purpose of a token cannot be stored with {found}. Fix: take it out.")
    return purpose
