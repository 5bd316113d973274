"""Training in the background: what is due, by one worker at a time per project, ending in a published version.

The log stays the truth: a version names the last entry it includes, and can be rebuilt from table and log. Its scores
are in a file of plain numbers; a missing file is rebuilt.
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
from workflow.models.language.requests import LanguageModelError
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
"""Seconds between two checks for writes to the database."""
LOOK = 10.0
"""Seconds after which a worker checks what is due even without writes: a file may be lost, or a lease have expired."""
RETRY = 60.0
"""Seconds until a training is retried that failed for lack of disk, memory or database."""
AGAIN = 5.0
"""Seconds until a failed worker checks again."""
RESTS_AFTER = 120.0
"""Seconds without writes after which a worker ends; the server starts it again when needed, which takes 3 CPU seconds.
Otherwise it would use half a server's memory, and most of its idle CPU time."""
KEPT_TRAINERS = 2
"""Trainers in memory, each with its table, most recently used: data that a model needs once is not rebuilt whenever
people alternate between two projects."""
KEPT_FOLDERS = 3
"""Models and sets of classes of a project whose files are stored, so that switching back is fast."""


_SOON = "soon"
"""Result of `_due` for a project whose training waits for more answers, or for its time."""


@dataclass(frozen=True)
class Due:
    """A project whose model is due for training.

    key : that of its versions (`workflow.kinds.version_key`)      seq : of the latest entry of its log
    """

    project: Project
    settings: WorkerSettings
    key: str
    seq: int

    @property
    def project_id(self) -> int:
        return self.project.id


def has_models_to_train(home: Home, *, quiet: bool = False) -> bool:
    """Whether any project has a model that is trained in the background. quiet : only if it is due, now or soon,
    without new answers"""
    if quiet:
        found = news(home)
        return bool(found.due) or found.soon
    with home.database.read() as session:
        return any(kinds.worker_settings(project) is not None for project in projects.listed(session))


@dataclass(frozen=True)
class News:
    """Work of a worker. due : what should be trained now      soon : whether something else becomes due later without
    another answer"""

    due: list[Due]
    soon: bool


def due(home: Home) -> list[Due]:
    """Return the projects with enough news for their model, or whose newest version has lost its file."""
    return news(home).due


def news(home: Home) -> News:
    """Return the work that is due, and whether more will be soon."""
    now = datetime.now(UTC)
    with home.database.read() as session:
        found = [_due(home, session, project, now) for project in projects.listed(session)]
    return News([one for one in found if isinstance(one, Due)], _SOON in found)


def _due(home: Home, session: Session, project: Project, now: datetime) -> Due | str | None:
    """Return the training that is due; _SOON if there are answers to learn from, but too few or too new; None if there
    is nothing to learn, or no worker trains the project."""
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
    """A worker that trains what is due, again and again. One object per process; `name` identifies the process."""

    def __init__(self, home: Home, name: str) -> None:
        self.home, self.name = home, name
        self._trainers: dict[int, tuple[tuple[object, ...], Trainer]] = {}
        self._failed: dict[tuple[int, str, int], float] = {}  # the time of the next attempt
        self._stop = threading.Event()
        self._seen: object = None  # state of the database at the last check
        self._again = 0.0  # time of the next check, whatever the database says
        self._quiet_since = time.monotonic()

    def work(self, stop: threading.Event, needed: Callable[[], bool] | None = None) -> None:
        """Train and publish what is due until `stop` is set. A failure is logged and waits for news.

        needed : called after each RESTS_AFTER without writes; the worker also ends if it returns False
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
            except Exception as error:  # the database may be unavailable for a while; the worker survives it
                faults.say(error, "Training was interrupted; it is tried again.")
                stop.wait(AGAIN)

    def look(self) -> bool:
        """Train what is due; returns False if there were no writes since the last check, and nothing is due by now.

        Raises Stopped if the worker should end.
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
        """Do what cannot wait for the end of long work: train what is due. Raises Stopped."""
        Worker.look(self)

    def go_on(self, *_: object) -> None:
        """Raise Stopped if the worker should end."""
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
                lease.fault = note_failure(error, f"The model of project {what.project_id} cannot be trained.")
                # Failures caused by the data stay until there is news; a full disk or a lost file may be fixed.
                passing = isinstance(error, OSError | MemoryError | SQLAlchemyError | DatabaseUnavailableError)
                self._failed[known] = time.monotonic() + RETRY if passing else math.inf
                return None

    def fit(self, what: Due) -> Version:
        """Train one version and publish it, whether or not it is due. Call it while holding the project's lease.

        Raises ValueError if the model cannot be trained, and what reading table and log, or writing, raises.
        """
        begun = time.monotonic()
        trainer = self._trainer(what)
        version = trainer.train(self.go_on)
        if version.order is not None and version.order.fault:
            logger.warning("No plug-in orders the rows of project %s: %s", what.project_id, version.order.fault)
        key = kinds.version_key(what.project, trainer.pool.class_map.seq)
        self._publish(what.project_id, key, version, time.monotonic() - begun)
        return version

    def _still_due(self, what: Due) -> bool:
        """Whether no other worker has trained it since it was found to be due."""
        with self.home.database.read() as session:
            now = _due(self.home, session, projects.get(session, what.project_id), datetime.now(UTC))
        return isinstance(now, Due) and now.key == what.key

    def _trainer(self, what: Due) -> Trainer:
        """Return the project's trainer, its pool caught up with the log."""
        with self.home.database.read() as session:  # rows may have arrived since it was found to be due
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
        """Publish a version, its file first, so that the file of a published version can always be read."""
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
        # The one just written is the newest, even if a clock was set back since the others were written.
        others = [one for one in path.parent.parent.glob(f"{project_id}-*") if one != path.parent]
        for folder in sorted(others, key=lambda one: one.stat().st_mtime)[: 1 - KEPT_FOLDERS]:
            shutil.rmtree(folder, ignore_errors=True)
        versions.clean(path)


class Stopped(Exception):  # noqa: N818 - not an error: the worker is to end
    """The fit under way is given up."""


@dataclass(frozen=True)
class TrainingState:
    """Whether a worker is training the project's model now, and why the last training failed, if it did.

    rests : whether it rests for an hour after killing workers, whatever is answered (`workflow.models.leases`)
    """

    running: bool
    fault: str | None
    rests: bool = False


def training_state(seat: Seat) -> TrainingState:
    """Return the state of the project's training. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        last = trained.training(reading.session, reading.project.id)
    if last is None:
        return TrainingState(running=False, fault=None)
    running = leases.is_held(last, datetime.now(UTC))
    return TrainingState(running, last.fault, rests=last.ended and last.deaths >= leases.MOST_DEATHS)


# Requested work of a worker: it can be cancelled, restarted, or fail on its own.


class WorkCancelled(Exception):  # noqa: N818 - not an error
    """A person cancelled the work, or another worker has it."""


@contextmanager
def attempt(fail: Callable[[str], object], words: str) -> Iterator[None]:
    """Run work that may be cancelled, which ends it. Other exceptions count as failures of this work only, because one
    project must not block the others. If the worker ends, or the database is unavailable, the work is restarted later.

    fail : stores the reason of a failure      words : for the log of the process
    """
    try:
        yield
    except WorkCancelled:
        return
    except (Stopped, SQLAlchemyError, DatabaseUnavailableError):
        raise
    except (TooFewRowsError, EncoderError, LanguageModelError) as error:  # expected, not a bug
        logger.info("%s %s", words, error)
        fail(str(error))
    except Exception as error:
        fail(note_failure(error, words))


def note_failure(error: Exception, words: str) -> str:
    """Log that work failed, with the traceback unless a file could not be read or written; return the reason in words
    for the owner of the project. Call it while the error is handled."""
    if isinstance(error, OSError) and error.strerror:  # a refused right has none
        why = (
            f"A file could not be read or written ({error.strerror}). Fix: make room on the disk of the data "
            "folder, let Winnow read and write there, or take a missing file from a backup."
        )
        logger.error("%s %s", words, why)
        return why
    logger.exception(words)
    return str(error) or type(error).__name__
