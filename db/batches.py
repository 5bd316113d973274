"""The rows that are before each person together, to be confirmed with one press; they are reserved for them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from db.base import Base
from db.models import BatchRow


@dataclass(frozen=True)
class RowTogether:
    """One row of a batch. share, predicted : the model's share of the batch's label there, and what it says itself"""

    row: int
    share: float
    predicted: str | None


@dataclass(frozen=True, kw_only=True)
class StoredBatch:
    """A person's latest batch in a project.

    number : only grows, from a random one on: the name of each showing
    label : the one that a press gives to all rows      rows : empty once they are confirmed
    strategy, model_version : how they were found, and by which model
    shown_at : when it was put before the person, or shown anew after it was handed back: the seconds spent count from
        it, and its rows were then as they were shown
    reserved_until : when its rows are offered to others again
    taken_out : rows of earlier batches that the person wants to be asked about alone
    """

    project_id: int
    person_id: int
    number: int
    label: str
    rows: tuple[RowTogether, ...]
    strategy: str
    model_version: int
    shown_at: datetime
    reserved_until: datetime
    taken_out: tuple[int, ...] = ()


_TABLE = Base.metadata.tables["batches"]


def put(session: Session, batch: StoredBatch) -> None:
    """Store a person's batch in place of the one before."""
    here = (BatchRow.project_id == batch.project_id, BatchRow.person_id == batch.person_id)
    session.execute(delete(BatchRow).where(*here))
    values = asdict(batch) | {
        "rows": [list(asdict(one).values()) for one in batch.rows],
        "taken_out": list(batch.taken_out),
    }
    session.execute(insert(BatchRow).values(values))


def get(session: Session, project_id: int, person_id: int) -> StoredBatch | None:
    """The latest batch of this person; None where there was none."""
    here = (BatchRow.project_id == project_id, BatchRow.person_id == person_id)
    found = session.execute(select(*_TABLE.c).where(*here)).one_or_none()
    if found is None:
        return None
    values = dict(found._mapping)
    rows = tuple(RowTogether(*one) for one in values["rows"])
    return StoredBatch(**(values | {"rows": rows, "taken_out": tuple(values["taken_out"])}))


def close(session: Session, project_id: int, person_id: int | None = None) -> None:
    """Let go of the rows of a person's batch, or of everybody's; harmless where there are none."""
    query = update(BatchRow).where(BatchRow.project_id == project_id).values(rows=[])
    session.execute(query if person_id is None else query.where(BatchRow.person_id == person_id))


def hand_back(session: Session, project_id: int, person_id: int, now: datetime) -> None:
    """Offer the rows of the person's batch to others; they stay theirs until somebody else has them."""
    session.execute(
        update(BatchRow)
        .where(
            BatchRow.project_id == project_id, BatchRow.person_id == person_id, BatchRow.reserved_until > now
        )
        .values(reserved_until=now)
    )
