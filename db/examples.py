"""Rows that an owner marked: to show what a class looks like, or to be asked before somebody starts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from db.base import Base
from db.people_models import ExampleRow


@dataclass(frozen=True)
class Marked:
    """A marked row. label : the class's name when it was marked      purpose : a word of the callers'"""

    row: int
    label: str
    purpose: str
    note: str
    marked_by: int
    marked_at: datetime


_TABLE = Base.metadata.tables["examples"]
_COLUMNS = select(
    _TABLE.c.row, _TABLE.c.label, _TABLE.c.purpose, _TABLE.c.note, _TABLE.c.marked_by, _TABLE.c.marked_at
)


def put(session: Session, project_id: int, marked: Marked) -> None:
    """Mark a row, in place of an earlier mark."""
    remove(session, project_id, marked.row)
    session.execute(insert(ExampleRow).values(project_id=project_id, **asdict(marked)))


def remove(session: Session, project_id: int, row: int) -> None:
    """Take the mark away; harmless where there is none."""
    session.execute(delete(ExampleRow).where(ExampleRow.project_id == project_id, ExampleRow.row == row))


def listed(session: Session, project_id: int, purpose: str) -> list[Marked]:
    """The rows marked for this, by row number."""
    query = _COLUMNS.where(_TABLE.c.project_id == project_id, _TABLE.c.purpose == purpose)
    return [Marked(*row) for row in session.execute(query.order_by(_TABLE.c.row))]


def of_row(session: Session, project_id: int, row: int) -> Marked | None:
    """The mark of a row; None where it has none."""
    query = _COLUMNS.where(_TABLE.c.project_id == project_id, _TABLE.c.row == row)
    found = session.execute(query).one_or_none()
    return None if found is None else Marked(*found)
