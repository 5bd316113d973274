"""How people sign in beside links: a password's hash, and who they are to an OpenID provider or a proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.people_models import AccountRow


@dataclass(frozen=True)
class Account:
    """password_hash : argon2id, None without a password
    known_as : e-mail or user name elsewhere, in lower case      subject : OpenID Connect's issuer and name for them
    """

    person_id: int
    password_hash: str | None = None
    known_as: str | None = None
    subject: str | None = None


_COLUMNS = (AccountRow.person_id, AccountRow.password_hash, AccountRow.known_as, AccountRow.subject)


def find(session: Session, person_id: int) -> Account:
    """The person's account; one with nothing in it where they have none."""
    found = session.execute(select(*_COLUMNS).where(AccountRow.person_id == person_id)).one_or_none()
    return Account(person_id) if found is None else Account(*found)


def listed(session: Session) -> dict[int, Account]:
    """{person's id: account} of all who have one."""
    return {row[0]: Account(*row) for row in session.execute(select(*_COLUMNS))}


def by_known_as(session: Session, name: str) -> int | None:
    """The id of the person of this e-mail or user name, in lower case; None where nobody has it."""
    return session.execute(
        select(AccountRow.person_id).where(AccountRow.known_as == name)
    ).scalar_one_or_none()


def by_subject(session: Session, subject: str) -> int | None:
    """The id of the person whom the provider calls so; None where nobody is."""
    return session.execute(
        select(AccountRow.person_id).where(AccountRow.subject == subject)
    ).scalar_one_or_none()


def change(session: Session, person_id: int, **values: str | None) -> None:
    """Set fields of `Account`. IntegrityError when `known_as` or `subject` is another person's."""
    row = session.get(AccountRow, person_id)
    if row is None:
        fresh: dict[str, Any] = {"person_id": person_id, **values}
        session.add(AccountRow(**fresh))
    else:
        for name, value in values.items():
            setattr(row, name, value)
    session.flush()
