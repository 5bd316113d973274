"""Leases: one worker at a time trains a project or compares its models, and work that kills its workers rests.

A worker that is killed, perhaps for lack of memory, cannot report it: its lease expires without having been ended. The
next worker that takes the lease counts that death. After two in a row with the same settings, whatever was answered
meanwhile, the training rests, and the page says why. It is tried again an hour later, or with other settings. Tasks
other than training have their own leases.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from db import entries, trained
from db.engine import DatabaseUnavailableError
from workflow.server.shelf import trim

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.trained import Training
    from workflow.server.home import Home

logger = logging.getLogger("winnow")

LEASE = timedelta(seconds=30)
"""How long a silent worker keeps a project to itself."""
MOST_DEATHS = 2
"""Consecutive workers that may die of a training before it rests."""
REST = timedelta(hours=1)
"""Time until it is tried once more: the machine may have more memory, or was switched off both times."""
KILLED = (
    "The training was ended from outside twice, perhaps because memory ran out. Fix: choose a model that needs less "
    "memory, or give the machine more. With these settings it is next tried in an hour."
)


@dataclass
class Lease:
    """The lease of a worker, from `hold`. fault : set by the worker if its training failed"""

    fault: str | None = None


def is_free(session: Session, project_id: int, worker: str, key: str, now: datetime, task: str = trained.FIT) -> bool:
    """Whether this worker may take the lease for a training with this key: no other worker holds it, and it does not
    rest."""
    last = trained.training(session, project_id, task)
    if last is None:
        return True
    if last.ended:
        rests = timedelta() <= now - last.lease_until < REST  # not until a time that the clock was wrongly at
        return last.key != key or last.deaths < MOST_DEATHS or not rests
    return last.worker == worker or not is_held(last, now)


def is_held(last: Training, now: datetime) -> bool:
    """Whether a worker holds this lease now."""
    return last.is_held(now, LEASE)


def resting(session: Session, project_id: int, key: str, task: str = trained.FIT) -> str | None:
    """Return why a training with this key rests, after killing workers; None if it does not."""
    last = trained.training(session, project_id, task)
    if last is None or last.key != key or not last.ended or last.deaths < MOST_DEATHS:
        return None
    return last.fault


@contextmanager
def hold(
    home: Home, project_id: int, worker: str, key: str, task: str = trained.FIT, killed: str = KILLED
) -> Iterator[Lease | None]:
    """Hold the project's lease while the block runs; yields None unless it `is_free`.

    killed : the fault reported when the task rests after killing workers
    """
    if not _take(home, project_id, worker, key, task, killed):
        yield None
        return
    lease, over = Lease(), threading.Event()

    def keep() -> None:
        while not over.wait(LEASE.total_seconds() / 3):
            try:
                with home.database.write() as session:
                    trained.keep_lease(session, project_id, worker, datetime.now(UTC) + LEASE, task)
            except (SQLAlchemyError, DatabaseUnavailableError):
                logger.exception("The lease of project %s could not be renewed; it is tried again.", project_id)

    beat = threading.Thread(target=keep, name=f"lease-{project_id}", daemon=True)
    beat.start()
    try:
        yield lease
    finally:
        over.set()
        beat.join()
        trim()  # a fit leaves holes of up to hundreds of megabytes
        with home.database.write() as session:
            trained.end_lease(session, project_id, worker, datetime.now(UTC), lease.fault, task=task)


def give_back(home: Home, worker: str) -> None:
    """End all leases of a worker that stops in the middle of its work; without a database, they expire."""
    with suppress(SQLAlchemyError, DatabaseUnavailableError), home.database.write() as session:
        trained.end_leases(session, worker, datetime.now(UTC))


def _take(home: Home, project_id: int, worker: str, key: str, task: str, killed: str) -> bool:
    now = datetime.now(UTC)
    with home.database.read() as session:  # usually there is nothing to end, and no need to wait for a write
        if not is_free(session, project_id, worker, key, now, task):
            return False
    with home.database.write() as session:
        entries.lock(session, project_id)  # no other worker takes it in between
        before = trained.training(session, project_id, task)
        taken = trained.take_lease(session, project_id, worker, key, now, now + LEASE, task)
        if taken is None:
            return False
        died = before is not None and not before.ended and before.deaths < taken.deaths
        if died and taken.deaths >= MOST_DEATHS:
            logger.error(
                "The task %r of project %s has ended %d workers; it is paused.", task, project_id, taken.deaths
            )
            trained.end_lease(session, project_id, worker, now, killed, taken.deaths, task)
            return False
        return True
