"""Models that a worker trains: under which key versions are stored, how one is trained, how a learner takes it in."""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from db import entries, trained
from plcore import ActiveLearner, ControlCounts, CurvePoint, LabelTable, LearnerSettings
from plcore.common import FloatArray, one_thread
from plcore.loop.one_label import OneLabelPool, Trainer
from plcore.query import Need
from workflow.common.log import read_class_changes, take_in
from workflow.common.version_files import is_kept, read_effects
from workflow.kinds.one_label.first_updates import FirstUpdates

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from plcore.loop import ClassChange
    from workflow.common.fair_lock import FairLock
    from workflow.common.snapshot import Past
    from workflow.home import Home

Learner = ActiveLearner[LabelTable]

logger = logging.getLogger("winnow")


def worker_settings(settings: LearnerSettings) -> LearnerSettings | None:
    """The settings of a project whose model a worker trains; None for all others."""
    return settings if settings.is_trained else None


def version_key(settings: LearnerSettings, classes_seq: int) -> str:
    """What a version depends on besides table and answers: the settings, and the classes it was trained under.

    classes_seq : of the latest change of the classes, 0 before the first
    """
    return f"{settings.model_key}-c{classes_seq}"


def make_trainer(
    home: Home, table_hash: str, settings: LearnerSettings, changes: Sequence[ClassChange]
) -> Trainer:
    """The trainer of the model, whose pool has not taken in any entry yet."""
    table = home.read_table(table_hash)
    return Trainer(OneLabelPool(table, settings, changes))


def newest_version(session: Session, project: Project) -> int:
    """The newest version trained with the project's settings as they are; -1 where there is none."""
    settings = worker_settings(LearnerSettings.from_json(project.settings))
    if settings is None:
        return -1
    changes = read_class_changes(session, project.id)
    newest = trained.latest(session, project.id, version_key(settings, changes[-1].seq if changes else 0))
    return -1 if newest is None else newest.version


def give_model(home: Home, learner: Learner, past: Past) -> None:
    """Train the version that was in place, and let it take in the answers since, as a live learner's does.

    The files of earlier versions are not kept; table, settings and log give the same again.
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
    learner.publish(version.scores, [*points, version.point], None if footing is None else footing.effects)
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


def background_training(home: Home, project_id: int, learner: Learner, lock: FairLock) -> FromWorker:
    """How this learner gets its models: from the files of a worker."""
    return FromWorker(home, project_id, learner, lock)


class FromWorker:
    """Takes in the versions that a worker has published, and between two of them first updates; nothing where the model
    follows each answer itself.
    """

    fault: str | None = None

    def __init__(self, home: Home, project_id: int, learner: Learner, lock: FairLock) -> None:
        self._home, self._project_id, self._learner = home, project_id, learner
        self._first = FirstUpdates(learner, lock)

    @property
    def busy(self) -> bool:
        """Whether a first update is under way."""
        return self._first.busy

    def look(self) -> None:
        """Give the learner the versions published since it looked last, and begin to take in the answers since."""
        if self._learner.settings.is_trained:
            self._take_versions()
            self._first.look()

    def _take_versions(self) -> None:
        learner = self._learner
        known = learner.version_published
        key = version_key(learner.settings, learner.pool.class_map.seq)
        earlier = (
            learner.pool.class_map.before_rows if known is None else ()
        )  # their points of the curve stay
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
                learner.publish(scores, points, self._effects(path))
                self._first.begin(newer[-1].version, scores, path)
            except FileNotFoundError:
                newer.pop()  # the worker makes it anew, and an older version may serve meanwhile
            except (ValueError, EOFError):
                logger.warning("The model file %s is damaged; it is made anew.", path.name)
                path.unlink(missing_ok=True)
                newer.pop()
            except OSError:
                logger.exception("The model file %s cannot be read now.", path.name)
                newer.pop()
            else:
                return

    def _effects(self, path: Path) -> FloatArray | None:
        """The version's effect scores; without them questions go by how unsure the rows are themselves."""
        try:
            return read_effects(path)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            logger.exception("The state beside the model file %s cannot be read.", path.name)
            return None

    def settle(self) -> None:
        """Wait until no first update is under way."""
        self._first.settle()

    def abandon(self) -> bool:
        """Begin no first update any more: the learner was replaced. Whether one is under way."""
        return self._first.abandon()

    def stop(self) -> None:
        """As `abandon`; waits a little for one under way."""
        self._first.stop()


def _point(figures: Mapping[str, Any]) -> CurvePoint:
    return CurvePoint(**{**figures, "control": ControlCounts(**figures["control"])})
