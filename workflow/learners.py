"""The learners in memory: one per project, always rebuilt from table + log, never stored.

Start, refresh, second tab, second annotator and restart are one code path here: ``catch_up`` applies the
log entries the learner has not seen. Memory follows the log, never leads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from db import entries
from plcore import ActiveLearner, LabelTable, LearnerSettings
from workflow import access
from workflow.graphs import build_learner
from workflow.learner_entries import learner_entry
from workflow.training import adopt

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.home import Home


@dataclass
class _Place:
    """One project's learner and the lock that lets one thread at a time answer, undo or catch up."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    learner: ActiveLearner[LabelTable] | None = None


class LearnerShelf:
    """Holds the learners of one process; every read or write of a learner happens inside ``open``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[int, _Place] = {}

    @contextmanager
    def open(self, home: Home, person_id: int, project_id: int) -> Iterator[ActiveLearner[LabelTable]]:
        """Give the project's learner, caught up with the log, to one thread at a time.

        Raises NotAllowed where the person is unknown or disabled, NotFound where there is no such project.
        """
        with home.database.read() as session:
            access.require_person(session, person_id)
            access.require_project(session, project_id)
        with self._lock:
            place = self._places.setdefault(project_id, _Place())
        with place.lock:
            with home.database.read() as session:  # as they stand now that it is this thread's turn
                project = access.require_project(session, project_id)
            settings = LearnerSettings(**project.settings)
            if place.learner is None or place.learner.settings != settings:
                place.learner = build_learner(home, project.table_hash, settings)
            catch_up(home, project_id, place.learner)
            adopt(home, project_id, place.learner)
            yield place.learner

    def put(self, project_id: int, learner: ActiveLearner[LabelTable]) -> None:
        """Keep the learner of a project made a moment ago, so that its first question waits for nothing."""
        with self._lock:
            self._places.setdefault(project_id, _Place(learner=learner))


def catch_up(home: Home, project_id: int, learner: ActiveLearner[LabelTable]) -> None:
    """Apply the log entries with a ``seq`` greater than the learner's own."""
    with home.database.read() as session:
        follow(session, project_id, learner)


def follow(session: Session, project_id: int, learner: ActiveLearner[LabelTable]) -> None:
    """As ``catch_up``, inside a transaction; only for one that has written no entry itself yet."""
    for entry in entries.after(session, project_id, learner.seq):
        learner.apply(learner_entry(entry))
