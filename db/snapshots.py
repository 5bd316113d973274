"""Snapshots: states of a project that somebody has given a name, each with what it was made of and its hashes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from db.base import Base
from db.entries import lock
from db.models import SnapshotRow


class NameTakenError(ValueError):
    """The project has a snapshot of this name; nothing was written."""


@dataclass(frozen=True)
class StoredSnapshot:
    """seq : of the log's last entry in it      made_by : a person
    settings : of the project then      model_version : that was in place, None where there was none
    sha256, log_sha256 : of the labels, and of the log up to `seq`, 64 hex digits, as the callers make them
    """

    name: str
    seq: int
    made_at: datetime
    made_by: int
    settings: dict[str, Any]
    model_version: int | None
    sha256: str
    log_sha256: str


_TABLE = Base.metadata.tables["snapshots"]
_COLUMNS = select(*(_TABLE.c[one.name] for one in fields(StoredSnapshot)))


def add(session: Session, project_id: int, new: StoredSnapshot) -> None:
    """Store it. Raises NameTakenError."""
    lock(session, project_id)  # so that nobody stores one of the same name between the two
    if get(session, project_id, new.name) is not None:
        raise NameTakenError(f"There is a snapshot {new.name!r} already.")
    session.execute(insert(SnapshotRow).values(project_id=project_id, **asdict(new)))


def get(session: Session, project_id: int, name: str) -> StoredSnapshot | None:
    """The snapshot of this name; None where there is none."""
    here = _TABLE.c.project_id == project_id, _TABLE.c.name == name
    found = session.execute(_COLUMNS.where(*here)).one_or_none()
    return None if found is None else StoredSnapshot(*found)


def listed(session: Session, project_id: int) -> list[StoredSnapshot]:
    """All of a project, in the order they were made."""
    found = _COLUMNS.where(_TABLE.c.project_id == project_id).order_by(_TABLE.c.made_at, _TABLE.c.name)
    return [StoredSnapshot(*row) for row in session.execute(found)]
