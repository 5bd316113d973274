"""Published model versions, and which worker is training, or comparing, the models of which project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Update, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.entries import lock
from db.models import ModelRow, TrainingRow

FIT = "fit"
"""The task of a lease: to train the project's model. Other tasks are words of the callers'."""


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
    adding = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    version_row = adding(ModelRow).values(
        project_id=project_id,
        key=key,
        version=version,
        figures=dict(figures),
        seconds=seconds,
        made_at=made_at,
    )
    session.execute(version_row.on_conflict_do_nothing())  # without a lock that presses would wait for


def versions(session: Session, project_id: int, key: str, after: int = -1) -> list[ModelVersion]:
    """The versions trained with these settings, in order; only those later than `after`."""
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


@dataclass(frozen=True)
class Training:
    """Who trains a project's model, or did last; or who does another task of it.

    key : of the settings it trains with      lease_until : once it has ended, when it did
    ended : whether the worker gave its lease back; one that died did not
    deaths : workers that have died in a row with the lease for this key
    fault : why the last training failed, None where it did not
    """

    worker: str
    key: str
    lease_until: datetime
    ended: bool
    deaths: int
    fault: str | None


def training(session: Session, project_id: int, task: str = FIT) -> Training | None:
    """The project's latest training; None where there never was one."""
    row = session.execute(
        select(
            TrainingRow.worker,
            TrainingRow.key,
            TrainingRow.lease_until,
            TrainingRow.ended,
            TrainingRow.deaths,
            TrainingRow.fault,
        ).where(*_of(project_id, task))
    ).one_or_none()
    return None if row is None else Training(**row._mapping)


def take_lease(
    session: Session,
    project_id: int,
    worker: str,
    key: str,
    now: datetime,
    until: datetime,
    task: str = FIT,
) -> Training | None:
    """The training that this worker may do until then; None where another worker holds an unexpired lease.

    A lease of another worker that has run out without an end was that of a worker that died: it is counted.
    """
    lock(session, project_id)
    before = training(session, project_id, task)
    if before is None:
        taken = Training(worker, key, until, ended=False, deaths=0, fault=None)
        session.execute(insert(TrainingRow).values(project_id=project_id, task=task, **asdict(taken)))
        return taken
    silent = not before.ended and before.worker != worker
    if silent and before.lease_until > now:
        return None
    deaths = before.deaths + silent if before.key == key else 0
    taken = replace(before, worker=worker, key=key, lease_until=until, ended=False, deaths=deaths)
    session.execute(update(TrainingRow).where(*_of(project_id, task)).values(**asdict(taken)))
    return taken


def keep_lease(session: Session, project_id: int, worker: str, until: datetime, task: str = FIT) -> None:
    """Let a lease last longer; one that another worker has taken meanwhile stays theirs."""
    session.execute(_held(project_id, worker, task).values(lease_until=until))


def end_lease(
    session: Session,
    project_id: int,
    worker: str,
    now: datetime,
    fault: str | None,
    deaths: int = 0,
    task: str = FIT,
) -> None:
    """Let others train the project; fault: why the training failed, None where it did not."""
    session.execute(
        _held(project_id, worker, task).values(lease_until=now, ended=True, fault=fault, deaths=deaths)
    )


def forget_fault(session: Session, project_id: int) -> None:
    """Forget why the last training failed and what it cost: the settings have changed since."""
    session.execute(
        update(TrainingRow).where(TrainingRow.project_id == project_id).values(fault=None, deaths=0)
    )


def _of(project_id: int, task: str) -> tuple[ColumnElement[bool], ...]:
    return TrainingRow.project_id == project_id, TrainingRow.task == task


def _held(project_id: int, worker: str, task: str) -> Update:
    return update(TrainingRow).where(*_of(project_id, task), TrainingRow.worker == worker, ~TrainingRow.ended)
