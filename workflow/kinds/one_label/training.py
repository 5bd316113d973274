"""Models that a worker trains: the key of stored versions, how one is trained, and how a learner loads it."""

from __future__ import annotations

import logging
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from db import entries, trained
from db.projects import Project
from plcore import ActiveLearner, ControlCounts, CurvePoint, LabelTable, LearnerSettings
from plcore.arrays import AnyArray, BoolArray, FloatArray, one_thread
from plcore.loop import ClassChange
from plcore.loop.one_label import (
    Comparer,
    FirstUpdate,
    Footing,
    OneLabelPool,
    RandomOrderRuns,
    StrategyReplays,
    Trainer,
)
from plcore.query import Need, Order
from workflow.exporting.snapshot import Past
from workflow.kinds.kind import Comparing, Replays, WorkerTraining
from workflow.kinds.one_label.settings import AUTOMATIC, MODELS, NAMES
from workflow.log.reading import read_class_changes, take_in
from workflow.models.versions import is_kept, read_footing, read_orders
from workflow.server.home import Home
from workflow.server.jobs import FairLock

# Between two versions by a worker, a thread applies the answers since the last version while people answer.
#
# The next question does not wait for it. The result depends only on the version and the current candidates, so a
# restart, or a version applied late, ends in the same state.

STOPS_WITHIN = 5.0
"""Seconds that an ending process waits for an update."""


class _From(NamedTuple):
    """A version: its number, its scores, and their file. What updates start from is stored next to that file."""

    number: int
    scores: AnyArray
    path: Path


class FirstUpdates:
    """A thread that runs the first updates of one learner, one at a time. `lock` guards the learner."""

    def __init__(self, learner: Learner, lock: FairLock) -> None:
        self._learner, self._lock = learner, lock
        self._from: _From | None = None
        self._seen = -1  # the seq up to which the learner's shares come from the version
        self._footing: tuple[_From, str, Footing] | None = None  # as last read; used only by the thread
        self._thread: threading.Thread | None = None
        self._stopped = False

    def begin(self, number: int, scores: AnyArray, path: Path) -> None:
        """Start from this version from now on. Like `look`, call it with the lock held."""
        self._from, self._seen = _From(number, scores, path), number

    @property
    def busy(self) -> bool:
        """Whether answers are being applied."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def look(self) -> None:
        """Begin to apply the answers since the version, if there are any and none are being applied."""
        if self._is_due() and self._thread is None:
            self._thread = threading.Thread(target=self._work, name="first-update", daemon=True)
            self._thread.start()

    def settle(self) -> None:
        """Wait until all answers are applied. Call it without the lock."""
        while True:
            with self._lock:
                self.look()
                thread = self._thread
            if thread is None:
                return
            thread.join()

    def abandon(self) -> bool:
        """Apply nothing more; a running update ends by itself and is discarded. Returns whether one is running."""
        self._stopped = True
        return self.busy

    def stop(self) -> None:
        """Like `abandon`; waits briefly for a running update."""
        self.abandon()
        thread = self._thread
        if thread is not None:
            thread.join(STOPS_WITHIN)

    def _is_due(self) -> bool:
        return not self._stopped and self._from is not None and self._learner.pool.seq > self._seen

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._is_due() or self._from is None:
                    self._thread = None
                    return
                origin, pool = self._from, self._learner.pool
                seq, candidates = pool.seq, pool.candidates[pool.train]
                weights = pool.weights_of(pool.train, candidates)
            update = self._update(origin, candidates, weights)
            with self._lock:
                if self._stopped or self._from is not origin:
                    continue  # a new version arrived meanwhile
                if update is None:
                    self._from = None  # until the next version
                    continue
                self._seen = seq
                self._learner.follow(update)

    def _update(self, origin: _From, candidates: BoolArray, weights: FloatArray | None) -> FirstUpdate | None:
        """Return the model output for these candidates; None if no state to start from is stored."""
        try:
            if self._footing is None or self._footing[0] is not origin:
                read = read_footing(origin.path, None if self._footing is None else self._footing[1:])
                if read is None:
                    return None
                self._footing = (origin, *read)
            with_effects = self._learner.settings.strategy_entry.needs is Need.EFFECTS
            return self._footing[2].update(
                candidates, origin.scores, self._learner.pool.train, with_effects=with_effects, weights=weights
            )
        except FileNotFoundError:
            return None  # removed in favour of a newer version, which is about to be applied
        except Exception:  # the answers are stored, and the next version will include them
            logger.exception("Version %s cannot learn answers at once.", origin.number)
            return None


Learner = ActiveLearner[LabelTable]

logger = logging.getLogger("winnow")


def worker_settings(settings: LearnerSettings) -> LearnerSettings | None:
    """Return the settings of a project whose model a worker trains; None for all others."""
    return settings if settings.is_trained else None


def version_key(settings: LearnerSettings, classes_seq: int) -> str:
    """Return the key of a version's inputs, in addition to table and answers: the settings, and the classes it was
    trained under.

    classes_seq : of the latest change of the classes, 0 before the first
    """
    return f"{settings.model_key}-c{classes_seq}"


def make_trainer(home: Home, table_hash: str, settings: LearnerSettings, changes: Sequence[ClassChange]) -> Trainer:
    """Return the trainer of the model, whose pool has not applied any entry yet."""
    table = home.read_table(table_hash)
    return Trainer(OneLabelPool(table, settings, changes))


def newest_version(session: Session, project: Project) -> int:
    """Return the newest version trained with the project's current settings; -1 if there is none."""
    settings = worker_settings(LearnerSettings.from_json(project.settings))
    if settings is None:
        return -1
    changes = read_class_changes(session, project.id)
    newest = trained.latest(session, project.id, version_key(settings, changes[-1].seq if changes else 0))
    return -1 if newest is None else newest.version


def give_model(home: Home, learner: Learner, past: Past) -> None:
    """Train the version that was in place, and apply the answers since, as a live learner does.

    The files of earlier versions are not stored; table, settings and log reproduce them.
    """
    if past.version is None:
        return
    trainer = make_trainer(home, past.table_hash, learner.settings, past.changes)
    key = version_key(learner.settings, learner.pool.class_map.seq)
    with home.database.read() as session:
        take_in(trainer.pool, entries.each(session, past.project_id, past.version), trainer.pool.apply)
        earlier = trained.versions(session, past.project_id, key)
    with one_thread():  # as a worker does
        version = trainer.train()
    points = [_point(one.figures) for one in earlier if one.version < past.version]
    footing = version.footing
    effects = None if footing is None else footing.effects
    learner.publish(version.scores, [*points, version.point], effects, version.order)
    if footing is not None and is_kept(footing) and learner.seq > past.version:
        pool = learner.pool
        candidates = pool.candidates[pool.train]
        learner.follow(
            footing.update(
                candidates,
                version.scores,
                pool.train,
                with_effects=learner.settings.strategy_entry.needs is Need.EFFECTS,
                weights=pool.weights_of(pool.train, candidates),
            )
        )


class FromWorker:
    """A source of the versions that a worker has published, with first updates in between; it does nothing if the model
    follows each answer itself."""

    fault: str | None = None

    def __init__(self, home: Home, project_id: int, learner: Learner, lock: FairLock) -> None:
        self._home, self._project_id, self._learner = home, project_id, learner
        self._first = FirstUpdates(learner, lock)

    @property
    def busy(self) -> bool:
        """Whether a first update is running."""
        return self._first.busy

    def look(self) -> None:
        """Give the learner the versions published since the last call, and begin to apply the answers since."""
        if self._learner.settings.is_trained:
            self._take_versions()
            self._first.look()

    def _take_versions(self) -> None:
        learner = self._learner
        known = learner.version_published
        key = version_key(learner.settings, learner.pool.class_map.seq)
        earlier = learner.pool.class_map.before_rows if known is None else ()  # their points of the curve stay
        with self._home.database.read() as session:
            newer = trained.versions(session, self._project_id, key, -1 if known is None else known)
            before = [
                version
                for seq in reversed(earlier)
                for version in trained.versions(session, self._project_id, version_key(learner.settings, seq))
            ]
        while newer:
            path = self._home.model_path(self._project_id, key, newer[-1].version)
            try:
                scores = np.load(path, mmap_mode="r", allow_pickle=False)
                points = [_point(one.figures) for one in (*before, *newer)]
                learner.publish(scores, points, *self._orders(path))
                self._first.begin(newer[-1].version, scores, path)
            except FileNotFoundError:
                newer.pop()  # the worker makes it again; an older version may serve meanwhile
            except (ValueError, EOFError):
                logger.warning("The model file %s is damaged; it is rebuilt.", path.name)
                path.unlink(missing_ok=True)
                newer.pop()
            except OSError:
                logger.exception("The model file %s cannot be read now.", path.name)
                newer.pop()
            else:
                return

    def _orders(self, path: Path) -> tuple[FloatArray | None, Order | None]:
        """Return the version's effect scores, and the order by a plug-in; without them, questions use the uncertainty
        of the rows themselves."""
        try:
            return read_orders(path)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            logger.exception("The state next to the model file %s cannot be read.", path.name)
            return None, None

    def settle(self) -> None:
        """Wait until no first update is running."""
        self._first.settle()

    def abandon(self) -> bool:
        """Begin no more first updates, because the learner was replaced. Returns whether one is running."""
        return self._first.abandon()

    def stop(self) -> None:
        """Like `abandon`; waits briefly for a running one."""
        self._first.stop()


def _point(figures: Mapping[str, Any]) -> CurvePoint:
    return CurvePoint(**{**figures, "control": ControlCounts(**figures["control"])})


# The model of a project with one true label among candidates: which one is in force, the comparison of all models, and
# the replay in random order.


def choose_model(settings: LearnerSettings, model: str, C: float | None, automatic: bool) -> LearnerSettings:
    """Return the settings with this model in force. Raises ValueError."""
    return settings.adopting(model, C) if automatic else replace(settings, model=model, C=C)


def features_of(settings: LearnerSettings) -> tuple[str, bool]:
    """Return the features in force, and whether comparisons choose them."""
    return settings.features_in_force, settings.features == AUTOMATIC


def choose_features(settings: LearnerSettings, features: str) -> LearnerSettings:
    """Return the settings with these features in force, as long as comparisons choose them. Raises ValueError."""
    return replace(settings, adopted_features=features)


def make_comparer(table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()) -> Comparer:
    """Return the comparison of the models, whose pool has not applied any entry yet."""
    return Comparer(OneLabelPool(table, settings, changes))


def make_table_comparer(table: LabelTable) -> Comparer:
    """Return the comparison of the models on a table that belongs to no project, by its true labels if it has any."""
    return Comparer(OneLabelPool(table, LearnerSettings(test_share=0.0)), by_truth=True)


def make_table_replays(table: LabelTable) -> StrategyReplays:
    """Return the labelling runs to replay on a table that belongs to no project."""
    return StrategyReplays(OneLabelPool(table, LearnerSettings(test_share=0.0)))


def make_random_order(
    table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()
) -> RandomOrderRuns:
    """Return the runs of the project in random order, with its pool before the first entry."""
    return RandomOrderRuns(table, settings, changes)


WORKER = WorkerTraining(worker_settings, version_key, make_trainer)
COMPARING = Comparing(MODELS, choose_model, make_comparer, make_table_comparer, features_of, choose_features, NAMES)
REPLAYS = Replays(make_random_order, make_table_replays)
background_training = FromWorker
