"""The learners in memory: one per project, always rebuilt from table + log, never stored.

Start, refresh, second tab, second annotator and restart are one code path here: ``catch_up`` applies the
log entries the learner has not seen. Memory follows the log, never leads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.multilabel import MultiLabelLearner, MultiLabelSettings
from workflow import access
from workflow.graphs import build_learner
from workflow.learner_entries import follow, read_class_changes, read_settings
from workflow.refreshing import Refresher
from workflow.training import adopt

if TYPE_CHECKING:
    from db.projects import Project
    from plcore.classes import ClassChange
    from workflow.home import Home

Learner = ActiveLearner[LabelTable] | MultiLabelLearner[LabelTable]


class WrongKind(ValueError):  # noqa: N818 - what a page says, not a fault
    """The project is of the other kind: one label among candidates, or label vectors."""


@dataclass
class _Place:
    """One project's learner and the lock that lets one thread at a time answer, undo or catch up."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    learner: Learner | None = None
    refresher: Refresher | None = None
    # of earlier settings, perhaps with a fit under way
    abandoned: list[Refresher] = field(default_factory=list)

    def renew(self, learner: Learner) -> None:
        """Put a learner in the place of the one before, whose fits are of no use any more."""
        self.learner = learner
        if self.refresher is not None:
            self.refresher.abandon()
            self.abandoned.append(self.refresher)
            self.refresher = None


class LearnerShelf:
    """Holds the learners of one process; every read or write of a learner happens inside ``open``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[int, _Place] = {}

    @contextmanager
    def open(self, home: Home, person_id: int, project_id: int) -> Iterator[ActiveLearner[LabelTable]]:
        """Give the project's learner, caught up with the log, to one thread at a time.

        Raises NotAllowed where the person is unknown or disabled, NotFound where there is no such project, WrongKind
        where it is one of label vectors.
        """
        with self.open_any(home, person_id, project_id) as learner:
            if not isinstance(learner, ActiveLearner):
                raise WrongKind("This project is about label vectors; this is for projects with candidates.")
            yield learner

    @contextmanager
    def open_vectors(
        self, home: Home, person_id: int, project_id: int
    ) -> Iterator[MultiLabelLearner[LabelTable]]:
        """As ``open``, for a project of label vectors; WrongKind for the others."""
        with self.open_any(home, person_id, project_id) as learner:
            if not isinstance(learner, MultiLabelLearner):
                raise WrongKind("This project is about candidates; this is for projects with label vectors.")
            yield learner

    @contextmanager
    def open_any(self, home: Home, person_id: int, project_id: int) -> Iterator[Learner]:
        """As ``open``, for a project of either kind."""
        place = self._place(project_id)
        with place.lock:
            while True:
                with home.database.read() as session:  # as things stand now that it is this thread's turn
                    access.require_person(session, person_id)
                    project = access.require_project(session, project_id)
                    settings = read_settings(project.settings)
                    learner = place.learner
                    if (
                        learner is not None
                        and learner.settings == settings
                        and follow(session, project_id, learner.pool, learner.apply)
                    ):
                        break
                    changes = read_class_changes(session, project_id)
                place.renew(_build(home, project, settings, changes))
            if isinstance(learner, MultiLabelLearner):
                place.refresher = place.refresher or Refresher(home, project_id, learner, place.lock)
                place.refresher.look()  # a fit that is due begins in a thread of its own
            else:
                adopt(home, project_id, learner)
            yield learner

    def put(self, project_id: int, learner: Learner) -> None:
        """Keep the learner of a project made a moment ago, so that its first question waits for nothing."""
        with self._lock:
            self._places.setdefault(project_id, _Place(learner=learner))

    def settle(self, project_id: int) -> None:
        """Wait until no fit of the project's model is under way in this process."""
        refresher = self._place(project_id).refresher
        if refresher is not None:
            refresher.settle()

    def fault(self, project_id: int) -> str | None:
        """Why the latest fit of the project's model failed; None where it did not."""
        refresher = self._place(project_id).refresher
        return None if refresher is None else refresher.fault

    def close(self) -> None:
        """End the fits under way in this process."""
        with self._lock:
            places = list(self._places.values())
        for place in places:
            for refresher in (*place.abandoned, *([place.refresher] if place.refresher else [])):
                refresher.stop()

    def _place(self, project_id: int) -> _Place:
        with self._lock:
            return self._places.setdefault(project_id, _Place())


def _build(
    home: Home,
    project: Project,
    settings: LearnerSettings | MultiLabelSettings,
    changes: Sequence[ClassChange],
) -> Learner:
    """The learner of the stored table, before any entry but under these changes of its classes."""
    if isinstance(settings, MultiLabelSettings):
        return MultiLabelLearner(LabelTable.read(home.table_path(project.table_hash)), settings)
    return build_learner(home, project.table_hash, settings, changes)


def catch_up(home: Home, project_id: int, learner: Learner) -> bool:
    """Apply the log entries with a ``seq`` greater than the learner's own. False as ``learner_entries.follow``."""
    with home.database.read() as session:
        return follow(session, project_id, learner.pool, learner.apply)
