"""People: the owner and the annotators, by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from db.base import Base
from db.people_models import PersonRow


@dataclass(frozen=True)
class Person:
    """`role` is 'owner' or 'annotator'; `disabled_at` is None while the person may sign in."""

    id: int
    name: str
    role: str
    created_at: datetime
    disabled_at: datetime | None

    @property
    def is_owner(self) -> bool:
        return self.role == "owner"


_TABLE = Base.metadata.tables["people"]
_COLUMNS = select(*(_TABLE.c[one.name] for one in fields(Person)))
# Built once: it runs several times for every answer, and to build it takes as long as to run it.
_BY_ID = _COLUMNS.where(_TABLE.c.id == bindparam("id"))


def add(session: Session, name: str, role: str, at: datetime) -> int:
    """Add a person and return their id; IntegrityError when the name is taken."""
    values = {"name": name, "role": role, "created_at": at, "disabled_at": None}
    return session.execute(insert(PersonRow).values(values).returning(PersonRow.id)).scalar_one()


def find(session: Session, person_id: int) -> Person | None:
    """The person with this id, disabled or not; None where there is none."""
    found = session.execute(_BY_ID, {"id": person_id}).one_or_none()
    return None if found is None else Person(*found)


def first_owner(session: Session) -> Person | None:
    """The owner who was added first; None where there is none yet."""
    found = session.execute(
        _COLUMNS.where(PersonRow.role == "owner").order_by(PersonRow.id).limit(1)
    ).one_or_none()
    return None if found is None else Person(*found)


def listed(session: Session) -> list[Person]:
    """All people, disabled ones too, in the order they came."""
    return [Person(*row) for row in session.execute(_COLUMNS.order_by(PersonRow.id))]


def disable(session: Session, person_id: int, at: datetime) -> None:
    """Mark a person as disabled; one who is disabled already keeps the earlier time."""
    session.execute(
        update(PersonRow)
        .where(PersonRow.id == person_id, PersonRow.disabled_at.is_(None))
        .values(disabled_at=at)
    )


def enable(session: Session, person_id: int) -> None:
    """Let a disabled person sign in again; harmless for others."""
    session.execute(update(PersonRow).where(PersonRow.id == person_id).values(disabled_at=None))
