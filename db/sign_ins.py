"""Browsers that are signed in, found by the SHA-256 of their cookie's secret through its unique index."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from db.models import PersonRow, SignInRow
from db.people import Person


def add(
    session: Session, *, secret_hash: str, person_id: int, created_at: datetime, expires_at: datetime
) -> None:
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
    found = session.execute(
        select(PersonRow.id, PersonRow.name, PersonRow.role, PersonRow.created_at, PersonRow.disabled_at)
        .join(SignInRow, SignInRow.person_id == PersonRow.id)
        .where(
            SignInRow.secret_hash == secret_hash,
            SignInRow.ended_at.is_(None),
            SignInRow.expires_at > at,
            PersonRow.disabled_at.is_(None),
        )
    ).one_or_none()
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
