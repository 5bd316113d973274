"""Browsers that are signed in, found by the SHA-256 of their cookie's secret through its unique index."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from db.models import Base, SignInRow
from db.people import Person

_PEOPLE, _SIGN_INS = Base.metadata.tables["people"], Base.metadata.tables["sign_ins"]
# Built once: it runs for every message that a browser sends.
_SIGNED_IN = (
    select(*(_PEOPLE.c[one.name] for one in fields(Person)))
    .join(_SIGN_INS, _SIGN_INS.c.person_id == _PEOPLE.c.id)
    .where(
        _SIGN_INS.c.secret_hash == bindparam("secret"),
        _SIGN_INS.c.ended_at.is_(None),
        _SIGN_INS.c.expires_at > bindparam("now"),
        _PEOPLE.c.disabled_at.is_(None),
    )
)


def add(
    session: Session, *, secret_hash: str, person_id: int, created_at: datetime, expires_at: datetime
) -> None:
    """Store a sign-in of a browser. secret_hash : SHA-256 of its cookie's secret, 64 hex digits"""
    session.execute(
        insert(SignInRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            created_at=created_at,
            expires_at=expires_at,
            ended_at=None,
        )
    )


def person_of(session: Session, secret_hash: str, at: datetime) -> Person | None:
    """The person of a sign-in that has neither ended nor expired; None too when that person is disabled."""
    found = session.execute(_SIGNED_IN, {"secret": secret_hash, "now": at}).one_or_none()
    return None if found is None else Person(*found)


def end(session: Session, secret_hash: str, at: datetime) -> None:
    """Sign out; harmless when the sign-in is unknown or has ended."""
    session.execute(
        update(SignInRow)
        .where(SignInRow.secret_hash == secret_hash, SignInRow.ended_at.is_(None))
        .values(ended_at=at)
    )


def end_for(session: Session, person_id: int, at: datetime) -> None:
    """Sign a person out of every browser."""
    session.execute(
        update(SignInRow)
        .where(SignInRow.person_id == person_id, SignInRow.ended_at.is_(None))
        .values(ended_at=at)
    )
