"""Published model versions, and which worker is training which project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from db.entries import lock
from db.models import ModelRow, TrainingRow


@dataclass(frozen=True)
class ModelVersion:
    """`key` names the settings it was trained with, `version` the log's seq it has learnt, `seconds` the fit took."""

    project_id: int
    key: str
    version: int
    figures: dict[str, Any]
    seconds: float
    made_at: datetime


def publish(
    session: Session,
    *,
    project_id: int,
    key: str,
    version: int,
    figures: Mapping[str, Any],
    seconds: float,
    made_at: datetime,
) -> None:
    """Add a version; one that is there already is left as it is."""
    lock(session, project_id)
    here = ModelRow.project_id == project_id, ModelRow.key == key, ModelRow.version == version
    if session.execute(select(func.count()).select_from(ModelRow).where(*here)).scalar_one():
        return
    session.execute(
        insert(ModelRow).values(
            project_id=project_id,
            key=key,
            version=version,
            figures=dict(figures),
            seconds=seconds,
            made_at=made_at,
        )
    )


def versions(session: Session, project_id: int, key: str, after: int = -1) -> list[ModelVersion]:
    """The versions trained with these settings beyond one, in order."""
    rows = session.execute(
        select(*ModelRow.__table__.columns)
        .where(ModelRow.project_id == project_id, ModelRow.key == key, ModelRow.version > after)
        .order_by(ModelRow.version)
    )
    return [ModelVersion(**row._mapping) for row in rows]


def latest(session: Session, project_id: int, key: str) -> ModelVersion | None:
    """The newest version trained with these settings."""
    row = session.execute(
        select(*ModelRow.__table__.columns)
        .where(ModelRow.project_id == project_id, ModelRow.key == key)
        .order_by(ModelRow.version.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else ModelVersion(**row._mapping)


def take_lease(session: Session, project_id: int, worker: str, now: datetime, until: datetime) -> bool:
    """Whether this worker may train the project until then: nobody else holds an unexpired lease."""
    lock(session, project_id)
    row = session.execute(
        select(TrainingRow.worker, TrainingRow.lease_until).where(TrainingRow.project_id == project_id)
    ).one_or_none()
    if row is None:
        session.execute(
            insert(TrainingRow).values(project_id=project_id, worker=worker, lease_until=until, fault=None)
        )
        return True
    if row.worker != worker and row.lease_until > now:
        return False
    session.execute(
        update(TrainingRow)
        .where(TrainingRow.project_id == project_id)
        .values(worker=worker, lease_until=until)
    )
    return True


def end_lease(session: Session, project_id: int, worker: str, now: datetime, fault: str | None) -> None:
    """Let others train the project; fault: why the training failed, None where it did not."""
    session.execute(
        update(TrainingRow)
        .where(TrainingRow.project_id == project_id, TrainingRow.worker == worker)
        .values(lease_until=now, fault=fault)
    )


def forget_fault(session: Session, project_id: int) -> None:
    """What the last training failed of is of no interest any more: the settings are others now."""
    session.execute(update(TrainingRow).where(TrainingRow.project_id == project_id).values(fault=None))


def training(session: Session, project_id: int, now: datetime) -> tuple[bool, str | None]:
    """(whether a worker is training the project now, why the last training failed or None)."""
    row = session.execute(
        select(TrainingRow.lease_until, TrainingRow.fault).where(TrainingRow.project_id == project_id)
    ).one_or_none()
    return (False, None) if row is None else (row.lease_until > now, row.fault)
