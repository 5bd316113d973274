"""Training in the background: what is due, one worker at a time for each project, a version published at the end.

The log stays the truth: a version names the entry it has learnt last, and can be made again from table and log.
Its scores lie in a file of plain numbers; a file that is missing is made anew.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from db import entries, projects, trained
from plcore import ActiveLearner, ControlCounts, CurvePoint, LabelTable, LearnerSettings
from plcore.pool import Pool
from plcore.training import Trainer, Version
from workflow.learner_entries import follow, read_class_changes, read_settings

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.home import Home

logger = logging.getLogger("winnow")

LEASE = timedelta(seconds=30)
"""How long a worker that has gone silent keeps a project to itself."""
POLL = 0.2
KEPT_VERSIONS = 2
"""Files kept for each project: the newest, and the one that a reader may just be opening."""


@dataclass(frozen=True)
class Due:
    """A project whose model should be trained now."""

    project_id: int
    table_hash: str
    settings: LearnerSettings
    key: str
    seq: int


def anything_to_train(home: Home) -> bool:
    """Whether any project has a model that is trained in the background."""
    with home.database.read() as session:
        return any(_settings(project) is not None for project in projects.listed(session))


def due(home: Home) -> list[Due]:
    """The projects with enough that is new to their model, or whose newest version has lost its file."""
    now = datetime.now(UTC)
    with home.database.read() as session:
        found = (_due(home, session, project, now) for project in projects.listed(session))
        return [one for one in found if one is not None]


def _due(home: Home, session: Session, project: Project, now: datetime) -> Due | None:
    settings = _settings(project)
    if settings is None:
        return None
    seq = entries.last_seq(session, project.id)
    changes = read_class_changes(session, project.id)
    key = _key(settings, changes[-1].seq if changes else 0)
    newest = trained.latest(session, project.id, key)
    if newest is not None and _path(home, project.id, key, newest.version).exists():
        if newest.version >= seq:
            return None
        waiting_since = entries.time_of(session, project.id, newest.version + 1)
        waited = waiting_since is not None and (now - waiting_since).total_seconds() >= settings.train_seconds
        if seq - newest.version < settings.train_every and not waited:
            return None
    return Due(project.id, project.table_hash, settings, key, seq)


class Worker:
    """Trains what is due, again and again. One object per process; `name` tells the processes apart."""

    def __init__(self, home: Home, name: str) -> None:
        self.home, self.name = home, name
        self._trainers: dict[int, tuple[tuple[Any, ...], Trainer]] = {}
        self._failed: set[tuple[int, str, int]] = set()

    def work(self, stop: threading.Event) -> None:
        """Until told to stop: look for what is due, train it, publish it. A failure is logged and waits for news."""
        while not stop.wait(POLL):
            try:
                for one in due(self.home):
                    if stop.is_set():
                        return
                    self.train(one)
            except Exception:  # the database may be away for a while; the worker outlives it
                logger.exception("Training was interrupted; it is tried again.")
                stop.wait(5.0)

    def train(self, what: Due) -> Version | None:
        """Train one version and publish it. None where another worker has it, or it failed before."""
        known = (what.project_id, what.key, what.seq)
        if known in self._failed:
            return None
        with self._lease(what.project_id) as lease:
            if lease is None:
                return None
            begun = time.monotonic()
            try:
                trainer = self._trainer(what)
                version = trainer.train()
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                logger.exception("The model of project %s cannot be trained.", what.project_id)
                self._failed.add(known)
                lease.fault = str(error)
                return None
            key = _key(what.settings, trainer.pool.class_map.seq)
            self._publish(what.project_id, key, version, time.monotonic() - begun)
        return version

    def _trainer(self, what: Due) -> Trainer:
        """The project's trainer, its pool caught up with the log."""
        with self.home.database.read() as session:
            changes = read_class_changes(session, what.project_id)
        key = (what.table_hash, what.settings, changes)
        kept = self._trainers.get(what.project_id)
        if kept is None or kept[0] != key:
            table = LabelTable.read(self.home.table_path(what.table_hash))
            kept = key, Trainer(Pool(table, what.settings, changes))
            self._trainers = {what.project_id: kept}  # one table in memory is enough
        with self.home.database.read() as session:
            follow(session, what.project_id, kept[1].pool, kept[1].pool.apply)
        return kept[1]

    @contextmanager
    def _lease(self, project_id: int) -> Iterator[_Lease | None]:
        """Hold the project for as long as the block runs; None where another worker holds it."""
        if not self._renew(project_id):
            yield None
            return
        lease, over = _Lease(), threading.Event()

        def keep() -> None:
            while not over.wait(LEASE.total_seconds() / 3):
                self._renew(project_id)

        beat = threading.Thread(target=keep, name=f"lease-{project_id}", daemon=True)
        beat.start()
        try:
            yield lease
        finally:
            over.set()
            beat.join()
            with self.home.database.write() as session:
                trained.end_lease(session, project_id, self.name, datetime.now(UTC), lease.fault)

    def _renew(self, project_id: int) -> bool:
        now = datetime.now(UTC)
        with self.home.database.write() as session:
            return trained.take_lease(session, project_id, self.name, now, now + LEASE)

    def _publish(self, project_id: int, key: str, version: Version, seconds: float) -> None:
        """The file first: a version that is named is there to be read."""
        path = _path(self.home, project_id, key, version.number)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as aside:
            np.save(aside, version.scores, allow_pickle=False)
        Path(aside.name).replace(path)
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
        for old in sorted(path.parent.glob("*.npy"), key=lambda one: int(one.stem))[:-KEPT_VERSIONS]:
            old.unlink(missing_ok=True)


@dataclass
class _Lease:
    fault: str | None = None


def adopt(home: Home, project_id: int, learner: ActiveLearner[LabelTable]) -> None:
    """Give the learner the versions published since it looked last; nothing where its model follows each answer."""
    if not learner.settings.is_trained:
        return
    known = learner.version_published
    key = _key(learner.settings, learner.pool.class_map.seq)
    with home.database.read() as session:
        newer = trained.versions(session, project_id, key, -1 if known is None else known)
    while newer:
        path = _path(home, project_id, key, newer[-1].version)
        try:
            scores = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            # The file is gone or damaged: the worker makes it anew, and an older version may serve meanwhile.
            path.unlink(missing_ok=True)
            newer.pop()
            continue
        learner.publish(scores, [_point(one.figures) for one in newer])
        return


def _point(figures: Mapping[str, Any]) -> CurvePoint:
    return CurvePoint(**{**figures, "control": ControlCounts(**figures["control"])})


@dataclass(frozen=True)
class TrainingState:
    """Whether a worker is training the project's model now, and why the last training failed, if it did."""

    running: bool
    fault: str | None


def training_state(home: Home, project_id: int) -> TrainingState:
    with home.database.read() as session:
        return TrainingState(*trained.training(session, project_id, datetime.now(UTC)))


def published_versions(home: Home, project_id: int) -> list[int]:
    """The versions trained with the project's settings as they are, in order; none where no worker trains it."""
    with home.database.read() as session:
        settings = _settings(projects.get(session, project_id))
        if settings is None:
            return []
        changes = read_class_changes(session, project_id)
        key = _key(settings, changes[-1].seq if changes else 0)
        return [one.version for one in trained.versions(session, project_id, key)]


def _key(settings: LearnerSettings, classes_seq: int) -> str:
    """What a version depends on besides table and answers: the settings, and the classes it was trained under."""
    return f"{settings.model_key}-c{classes_seq}"


def _path(home: Home, project_id: int, key: str, version: int) -> Path:
    return home.settings.home / "models" / f"{project_id}-{key}" / f"{version}.npy"


def _settings(project: Project) -> LearnerSettings | None:
    """The settings of a project whose model a worker trains; None for all others."""
    settings = read_settings(project.settings)
    return settings if isinstance(settings, LearnerSettings) and settings.is_trained else None
