"""Training in the background: what is due, one worker at a time for each project, a version published at the end.

The log stays the truth: a version names the entry it has learnt last, and can be made again from table and log.
Its scores are in a file of plain numbers; a file that is missing is rebuilt.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from db import entries, projects, trained
from db.engine import DatabaseUnavailableError
from plcore.arrays import one_thread_for_good
from plcore.loop import TooFewRowsError
from plcore.tables import EncoderError
from workflow import kinds
from workflow.log.reading import follow, read_class_changes
from workflow.models import leases, versions
from workflow.saving import FaultLog

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from plcore.loop.one_label import Trainer, Version
    from workflow.kinds.kind import WorkerSettings
    from workflow.seat import Seat
    from workflow.server.home import Home

logger = logging.getLogger("winnow")

POLL = 0.2
"""Seconds between two looks whether anyone has written to the database."""
LOOK = 10.0
"""Seconds after which a worker looks what is due without any news: a file may be lost, a lease have run out."""
RETRY = 60.0
"""Seconds after which a training is tried again that failed for want of disk, memory or database."""
AGAIN = 5.0
"""Seconds after which a worker that failed looks again."""
RESTS_AFTER = 600.0
"""Seconds without news after which a worker ends that a server starts again when there are some: half a server's
memory, and most of what it does while no one is there, would be the worker's."""
KEPT_TRAINERS = 2
"""Trainers in memory, each with its table, those used last: what a model needs but once is not rebuilt each time that
people answer in two projects by turns."""
KEPT_FOLDERS = 3
"""Models and sets of classes of a project whose files are kept: the way back to one of them is short."""


_SOON = "soon"
"""Output of `_due` for a project whose training waits for more answers, or for its time."""


@dataclass(frozen=True)
class Due:
    """A project whose model should be trained now.

    key : that of its versions (`workflow.kinds.version_key`)      seq : of the latest entry of its log
    """

    project: Project
    settings: WorkerSettings
    key: str
    seq: int

    @property
    def project_id(self) -> int:
        return self.project.id


def anything_to_train(home: Home, *, quiet: bool = False) -> bool:
    """Whether any project has a model that is trained in the background. quiet : and that is due, now or soon, though
    no one writes"""
    if quiet:
        found = news(home)
        return bool(found.due) or found.soon
    with home.database.read() as session:
        return any(kinds.worker_settings(project) is not None for project in projects.listed(session))


@dataclass(frozen=True)
class News:
    """due : what should be trained now      soon : something else will be due after a while, with no further answer"""

    due: list[Due]
    soon: bool


def due(home: Home) -> list[Due]:
    """The projects with enough that is new to their model, or whose newest version has lost its file."""
    return news(home).due


def news(home: Home) -> News:
    """Work that is due, and whether more will be soon."""
    now = datetime.now(UTC)
    with home.database.read() as session:
        found = [_due(home, session, project, now) for project in projects.listed(session)]
    return News([one for one in found if isinstance(one, Due)], _SOON in found)


def _due(home: Home, session: Session, project: Project, now: datetime) -> Due | str | None:
    """The training that is due; _SOON if there are answers to learn, but too few or too new; None if there is
    nothing to learn, or no worker trains the project."""
    settings = kinds.worker_settings(project)
    if settings is None:
        return None
    seq = entries.last_seq(session, project.id)
    changes = read_class_changes(session, project.id)
    key = kinds.version_key(project, changes[-1].seq if changes else 0)
    newest = trained.latest(session, project.id, key)
    if newest is not None and home.model_path(project.id, key, newest.version).exists():
        if newest.version >= seq:
            return None
        waiting_since = entries.time_of(session, project.id, newest.version + 1)
        waited = waiting_since is not None and (now - waiting_since).total_seconds() >= settings.train_seconds
        if seq - newest.version < settings.train_every and not waited:
            return _SOON
    return Due(project, settings, key, seq)


class Worker:
    """Trains what is due, again and again. One object per process; `name` tells the processes apart."""

    def __init__(self, home: Home, name: str) -> None:
        self.home, self.name = home, name
        self._trainers: dict[int, tuple[tuple[object, ...], Trainer]] = {}
        self._failed: dict[tuple[int, str, int], float] = {}  # until when it is not tried again
        self._stop = threading.Event()
        self._seen: object = None  # the database when it was last looked what is due
        self._again = 0.0  # when it is looked again, whatever the database says
        self._quiet_since = time.monotonic()

    def work(self, stop: threading.Event, needed: Callable[[], bool] | None = None) -> None:
        """Until told to stop: look for what is due, train it, publish it. A failure is logged and waits for news.

        needed : asked once no one has written for RESTS_AFTER, and again after as long; it also ends where this says no
        """
        self._stop = stop
        one_thread_for_good()
        faults = FaultLog()
        while not stop.wait(POLL):
            try:
                self.look()
                faults.well()
                if needed is not None and time.monotonic() - self._quiet_since >= RESTS_AFTER:
                    if not needed():
                        return
                    self._quiet_since = time.monotonic()
            except Stopped:
                return
            except Exception as error:  # the database may be away for a while; the worker outlives it
                faults.say(error, "Training was interrupted; it is tried again.")
                stop.wait(AGAIN)

    def look(self) -> bool:
        """Train what is due; False if no one has written since it looked last, and nothing was to be due by now.

        Raises Stopped where the worker is to end.
        """
        stamp = self.home.database.stamp()
        if stamp == self._seen and time.monotonic() < self._again:
            return False
        if stamp != self._seen:
            self._quiet_since = time.monotonic()
        found = news(self.home)
        self._seen, self._again = stamp, time.monotonic() + (0.0 if found.soon else LOOK)
        for one in found.due:
            self.go_on()
            self.train(one)
        return True

    def meanwhile(self) -> None:
        """Do what is not to wait for the end of long work: train what is due. Raises Stopped."""
        Worker.look(self)

    def go_on(self, *_: object) -> None:
        """Raise Stopped where the worker is to end."""
        if self._stop.is_set():
            raise Stopped

    def train(self, what: Due) -> Version | None:
        """Train one version and publish it. None if another worker has it, or it failed before."""
        known = (what.project_id, what.key, what.seq)
        if self._failed.get(known, 0.0) > time.monotonic():
            return None
        with leases.hold(self.home, what.project_id, self.name, what.key) as lease:
            if lease is None or not self._still_due(what):
                return None
            try:
                return self.fit(what)
            except Stopped:
                raise
            except Exception as error:  # one project must not keep the others waiting
                logger.exception("The model of project %s cannot be trained.", what.project_id)
                # What the data bring about stays until there is news; a full disk or a lost file may be mended.
                passing = isinstance(
                    error, OSError | MemoryError | SQLAlchemyError | DatabaseUnavailableError
                )
                self._failed[known] = time.monotonic() + RETRY if passing else math.inf
                lease.fault = str(error) or type(error).__name__
                return None

    def fit(self, what: Due) -> Version:
        """Train one version and publish it, whether or not it is due. Call it with the project's lease in hand.

        Raises ValueError where the model cannot be trained, and what reading table and log, or writing, raises.
        """
        begun = time.monotonic()
        trainer = self._trainer(what)
        version = trainer.train(self.go_on)
        key = kinds.version_key(what.project, trainer.pool.class_map.seq)
        self._publish(what.project_id, key, version, time.monotonic() - begun)
        return version

    def _still_due(self, what: Due) -> bool:
        """Whether no one has trained it since it was found to be due."""
        with self.home.database.read() as session:
            now = _due(self.home, session, projects.get(session, what.project_id), datetime.now(UTC))
        return isinstance(now, Due) and now.key == what.key

    def _trainer(self, what: Due) -> Trainer:
        """The project's trainer, its pool caught up with the log."""
        with self.home.database.read() as session:  # rows may have come since it was found to be due
            table_hash = projects.get(session, what.project_id).table_hash
            changes = read_class_changes(session, what.project_id)
        key = (table_hash, what.settings, changes)
        kept = self._trainers.pop(what.project_id, None)
        if kept is None or kept[0] != key:
            project = dataclasses.replace(what.project, table_hash=table_hash)
            kept = key, kinds.make_trainer(self.home, project, changes)
        self._trainers[what.project_id] = kept
        while len(self._trainers) > KEPT_TRAINERS:
            del self._trainers[next(iter(self._trainers))]
        with self.home.database.read() as session:
            follow(session, what.project_id, kept[1].pool, kept[1].pool.apply)
        return kept[1]

    def _publish(self, project_id: int, key: str, version: Version, seconds: float) -> None:
        """The file first: a version that is named is there to be read."""
        path = self.home.model_path(project_id, key, version.number)
        versions.write_version(path, version)
        with self.home.database.write() as session:
            trained.publish(
                session,
                project_id=project_id,
                key=key,
                version=version.number,
                figures=dataclasses.asdict(version.point),
                seconds=seconds,
                made_at=datetime.now(UTC),
            )
        # The one just written is the newest, also where a clock was put back since the others were.
        others = [one for one in path.parent.parent.glob(f"{project_id}-*") if one != path.parent]
        for folder in sorted(others, key=lambda one: one.stat().st_mtime)[: 1 - KEPT_FOLDERS]:
            shutil.rmtree(folder, ignore_errors=True)
        versions.clean(path)


class Stopped(Exception):  # noqa: N818 - not an error: the worker is to end
    """The fit under way is given up."""


@dataclass(frozen=True)
class TrainingState:
    """Whether a worker is training the project's model now, and why the last training failed, if it did.

    rests : this many workers have died of it that it is left alone for an hour, whatever is answered
        (`workflow.models.leases`)
    """

    running: bool
    fault: str | None
    rests: bool = False


def training_state(seat: Seat) -> TrainingState:
    """How the training of the project's model goes. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        last = trained.training(reading.session, reading.project.id)
    if last is None:
        return TrainingState(running=False, fault=None)
    running = not last.ended and last.lease_until > datetime.now(UTC)
    return TrainingState(running, last.fault, rests=last.ended and last.deaths >= leases.MOST_DEATHS)


# Work that a worker does because someone asked for it: cancelled, restarted, or failed for itself alone.


class WorkCancelled(Exception):  # noqa: N818 - not an error
    """Someone has ended the work, or another worker has."""


@contextmanager
def attempt(fail: Callable[[str], object], words: str) -> Iterator[None]:
    """Work inside may be cancelled, which ends it; what else it raises is its own fault, for one project
    must not keep the others waiting. If the worker is to end, or the database is away, someone begins it again.

    fail : stores why it failed      words : for the log of the process
    """
    try:
        yield
    except WorkCancelled:
        return
    except (Stopped, SQLAlchemyError, DatabaseUnavailableError):
        raise
    except (TooFewRowsError, EncoderError) as error:  # a small table or no encoder: no fault of ours
        logger.info("%s %s", words, error)
        fail(str(error))
    except Exception as error:
        logger.exception(words)
        fail(str(error) or type(error).__name__)
