"""Tokens by which programs act as a person, found by the SHA-256 of their secret through its unique index."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import bindparam, insert, or_, select, update
from sqlalchemy.orm import Session

from db.base import Base
from db.people import Person
from db.people_models import TokenRow

_PEOPLE, _TOKENS = Base.metadata.tables["people"], Base.metadata.tables["tokens"]
_LASTS = (
    _TOKENS.c.ended_at.is_(None),
    or_(_TOKENS.c.expires_at.is_(None), _TOKENS.c.expires_at > bindparam("now")),
)
# Built once: it runs for every call of a program.
_USED = (
    select(*(_PEOPLE.c[one.name] for one in fields(Person)), _TOKENS.c.id)
    .join(_TOKENS, _TOKENS.c.person_id == _PEOPLE.c.id)
    .where(_TOKENS.c.secret_hash == bindparam("secret"), *_LASTS, _PEOPLE.c.disabled_at.is_(None))
)


@dataclass(frozen=True)
class TokenUse:
    """Whose token a program has sent, and its number."""

    person: Person
    id: int


@dataclass(frozen=True)
class ApiToken:
    """A token that can be used.

    expires_at : None where it lasts until it is ended      last_used_at : to a few minutes, None where it never was
    """

    id: int
    person_id: int
    purpose: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


def add(
    session: Session,
    *,
    secret_hash: str,
    person_id: int,
    purpose: str,
    created_at: datetime,
    expires_at: datetime | None,
) -> None:
    """Store a token. secret_hash : SHA-256 of its secret, 64 hex digits; else as `ApiToken`"""
    session.execute(
        insert(TokenRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            purpose=purpose,
            created_at=created_at,
            expires_at=expires_at,
            ended_at=None,
            last_used_at=None,
        )
    )


def find(session: Session, secret_hash: str, at: datetime) -> TokenUse | None:
    """A token that has neither ended nor expired; None too when its person is disabled."""
    found = session.execute(_USED, {"secret": secret_hash, "now": at}).one_or_none()
    return None if found is None else TokenUse(Person(*found[:-1]), found[-1])


def listed(session: Session, at: datetime, person_id: int | None = None) -> list[ApiToken]:
    """The tokens that neither ended nor expired, of one person or of all, the oldest first."""
    query = select(*(_TOKENS.c[one.name] for one in fields(ApiToken))).where(*_LASTS)
    if person_id is not None:
        query = query.where(_TOKENS.c.person_id == person_id)
    return [ApiToken(*row) for row in session.execute(query.order_by(_TOKENS.c.id), {"now": at})]


def see(session: Session, token_id: int, at: datetime) -> None:
    """Note when the token was used last."""
    session.execute(update(TokenRow).where(TokenRow.id == token_id).values(last_used_at=at))


def end(session: Session, token_id: int, person_id: int, at: datetime) -> bool:
    """End a token of this person; False where they have none of this number, or it has ended."""
    ended = session.execute(
        update(TokenRow)
        .where(TokenRow.id == token_id, TokenRow.person_id == person_id, TokenRow.ended_at.is_(None))
        .values(ended_at=at)
        .returning(TokenRow.id)
    )
    return ended.one_or_none() is not None


def end_for(session: Session, person_id: int, at: datetime) -> int:
    """End all tokens of a person; how many of them could still be used."""
    usable = len(listed(session, at, person_id))
    session.execute(
        update(TokenRow)
        .where(TokenRow.person_id == person_id, TokenRow.ended_at.is_(None))
        .values(ended_at=at)
    )
    return usable
