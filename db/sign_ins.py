"""Browsers that are signed in, found by the SHA-256 of their cookie's secret through its unique index."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from db.base import Base
from db.people import Person
from db.people_models import SignInRow

_PEOPLE, _SIGN_INS = Base.metadata.tables["people"], Base.metadata.tables["sign_ins"]
# Built once: it runs for every message that a browser sends.
_SIGNED_IN = (
    select(
        *(_PEOPLE.c[one.name] for one in fields(Person)),
        _SIGN_INS.c.id,
        _SIGN_INS.c.how,
        _SIGN_INS.c.expires_at,
    )
    .join(_SIGN_INS, _SIGN_INS.c.person_id == _PEOPLE.c.id)
    .where(
        _SIGN_INS.c.secret_hash == bindparam("secret"),
        _SIGN_INS.c.ended_at.is_(None),
        _SIGN_INS.c.expires_at > bindparam("now"),
        _PEOPLE.c.disabled_at.is_(None),
    )
)


ELSEWHERE = ("openid", "proxy")
"""How people sign in by the word of another program."""


@dataclass(frozen=True)
class SignedIn:
    """Who a browser is signed in as, by which sign-in, how (link, password, openid, proxy), and until when at most."""

    person: Person
    id: int
    how: str
    expires_at: datetime


@dataclass(frozen=True)
class SignIn:
    """A browser that is signed in. last_seen_at : to a few minutes      browser : its kind in a few words"""

    id: int
    person_id: int
    created_at: datetime
    last_seen_at: datetime | None
    how: str
    address: str
    browser: str


def add(
    session: Session,
    *,
    secret_hash: str,
    person_id: int,
    created_at: datetime,
    expires_at: datetime,
    how: str = "",
    address: str = "",
    browser: str = "",
) -> None:
    """Store a sign-in of a browser. secret_hash : SHA-256 of its cookie's secret, 64 hex digits; else as `SignIn`"""
    session.execute(
        insert(SignInRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            created_at=created_at,
            expires_at=expires_at,
            ended_at=None,
            last_seen_at=created_at,
            how=how,
            address=address,
            browser=browser,
        )
    )


def find(session: Session, secret_hash: str, at: datetime) -> SignedIn | None:
    """A sign-in that has neither ended nor expired; None too when its person is disabled."""
    found = session.execute(_SIGNED_IN, {"secret": secret_hash, "now": at}).one_or_none()
    return None if found is None else SignedIn(Person(*found[:-3]), *found[-3:])


def listed(session: Session, at: datetime, person_id: int | None = None) -> list[SignIn]:
    """The sign-ins that neither ended nor expired, of one person or of all, the one seen last first."""
    query = select(*(_SIGN_INS.c[one.name] for one in fields(SignIn))).where(
        _SIGN_INS.c.ended_at.is_(None), _SIGN_INS.c.expires_at > at
    )
    if person_id is not None:
        query = query.where(_SIGN_INS.c.person_id == person_id)
    return [
        SignIn(*row)
        for row in session.execute(query.order_by(_SIGN_INS.c.last_seen_at.desc(), _SIGN_INS.c.id))
    ]


def see(session: Session, sign_in_id: int, at: datetime) -> None:
    """Note when the browser was seen last."""
    session.execute(update(SignInRow).where(SignInRow.id == sign_in_id).values(last_seen_at=at))


def end(session: Session, sign_in_id: int, person_id: int, at: datetime) -> bool:
    """End a sign-in of this person; False where they have none of this number, or it has ended."""
    ended = session.execute(
        update(SignInRow)
        .where(SignInRow.id == sign_in_id, SignInRow.person_id == person_id, SignInRow.ended_at.is_(None))
        .values(ended_at=at)
        .returning(SignInRow.id)
    )
    return ended.one_or_none() is not None


def end_elsewhere(session: Session, person_id: int, at: datetime) -> None:
    """Sign a person out wherever a provider or a proxy had signed them in."""
    which = (SignInRow.person_id == person_id, SignInRow.ended_at.is_(None), SignInRow.how.in_(ELSEWHERE))
    session.execute(update(SignInRow).where(*which).values(ended_at=at))


def end_for(session: Session, person_id: int, at: datetime, but: int | None = None) -> None:
    """Sign a person out of every browser. but : the number of a sign-in that stays"""
    which = [SignInRow.person_id == person_id, SignInRow.ended_at.is_(None)]
    if but is not None:
        which.append(SignInRow.id != but)
    session.execute(update(SignInRow).where(*which).values(ended_at=at))
