"""One-time sign-in links, found by the SHA-256 of their secret through its unique index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from db.people_models import LinkRow


@dataclass(frozen=True)
class Link:
    """`created_by` is the id of the person who made it, None for the one printed when the server starts."""

    id: int
    person_id: int
    created_by: int | None
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None


_COLUMNS = (
    LinkRow.id,
    LinkRow.person_id,
    LinkRow.created_by,
    LinkRow.created_at,
    LinkRow.expires_at,
    LinkRow.used_at,
)


def add(
    session: Session,
    *,
    secret_hash: str,
    person_id: int,
    created_by: int | None,
    created_at: datetime,
    expires_at: datetime,
) -> None:
    """Store a link that nobody has used. secret_hash : SHA-256, 64 hex digits      created_by : as in `Link`"""
    session.execute(
        insert(LinkRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            created_by=created_by,
            created_at=created_at,
            expires_at=expires_at,
            used_at=None,
        )
    )


def take(session: Session, secret_hash: str, at: datetime) -> Link | None:
    """Use the link up and return it; None when it is unknown, used or expired. Of two at once one gets it."""
    fresh = (LinkRow.secret_hash == secret_hash, LinkRow.used_at.is_(None), LinkRow.expires_at > at)
    taken = session.execute(
        update(LinkRow).where(*fresh).values(used_at=at).returning(*_COLUMNS)
    ).one_or_none()
    return None if taken is None else Link(*taken)


def find(session: Session, secret_hash: str) -> Link | None:
    """The link with this secret, used and expired ones too; None where there is none."""
    found = session.execute(select(*_COLUMNS).where(LinkRow.secret_hash == secret_hash)).one_or_none()
    return None if found is None else Link(*found)


def expire_for(session: Session, person_id: int, at: datetime) -> None:
    """End every link of the person that could still be used."""
    open_links = (LinkRow.person_id == person_id, LinkRow.used_at.is_(None), LinkRow.expires_at > at)
    session.execute(update(LinkRow).where(*open_links).values(expires_at=at))


def open_counts(session: Session, at: datetime) -> dict[int, int]:
    """{person's id: how many links of theirs can still be used}, those without one left out."""
    query = (
        select(LinkRow.person_id, func.count())
        .where(LinkRow.used_at.is_(None), LinkRow.expires_at > at)
        .group_by(LinkRow.person_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}
