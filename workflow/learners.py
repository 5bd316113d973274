"""The learners in memory: one per project, always rebuilt from table + log, never stored.

Start, refresh, second tab, second annotator and restart are one code path here: ``catch_up`` applies
the log entries the learner has not seen. Memory follows the log, never leads.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from db import entries
from plcore import ActiveLearner, LabelTable
from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.settings import LabelVectorSettings
from workflow import access
from workflow.graphs import build_learner
from workflow.learner_entries import follow, read_class_changes, read_settings
from workflow.refreshing import Refresher
from workflow.saving import saving
from workflow.training import adopt

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from plcore import Entry
    from plcore.loop.classes import ClassChange
    from workflow.home import Home

Learner = ActiveLearner[LabelTable] | LabelVectorLearner[LabelTable]


CANDIDATES_ONLY = "This project is about label vectors; this is for projects with candidates."
VECTORS_ONLY = "This project is about candidates; this is for projects with label vectors."

FEW = 20
"""Entries that a learner takes in while everybody else waits for their turn to write; more of them it reads before."""


NEWS_AGE = 3.0
"""Seconds. A person who waits for the next question does not wait for a new model too: the page takes it in once the
question is drawn (`labeling.get_ready`), and only where nobody has done so for that long it comes before the question.
"""


class WrongKind(ValueError):  # noqa: N818 - what a page says, not a fault
    """The project is of the other kind: one label among candidates, or label vectors."""


@dataclass
class _Place:
    """One project's learner and the lock that lets one thread at a time answer, undo or catch up."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    learner: Learner | None = None
    refresher: Refresher | None = None
    news_at: float = -math.inf
    # of earlier settings, perhaps with a fit under way
    abandoned: list[Refresher] = field(default_factory=list)

    def catch_up(
        self, session: Session, person_id: int, project_id: int, most: int | None = None
    ) -> tuple[Learner | None, Project]:
        """The learner after every entry of the log, and its project; None where it must be built anew: there is none,
        or the settings or the classes are others now. None, too, where it has missed more than `most` entries.
        """
        access.require_person(session, person_id)
        project = access.require_project(session, project_id)
        learner = self.learner
        if learner is None or learner.settings != read_settings(project.settings):
            return None, project
        followed = follow(session, project_id, learner.pool, learner.apply, most)
        return (learner if followed else None), project

    def take_news(self, home: Home, project_id: int, older: float = 0.0) -> None:
        """Take in models that others have trained; where this process fits the model, begin the fit that is due.

        older : nothing, where news was taken in the last so many seconds
        """
        now = time.monotonic()
        if now - self.news_at < older:
            return
        self.news_at = now
        if isinstance(self.learner, LabelVectorLearner):
            self.refresher = self.refresher or Refresher(home, project_id, self.learner, self.lock)
            self.refresher.look()
        elif self.learner is not None:
            adopt(home, project_id, self.learner)

    def renew(self, learner: Learner) -> None:
        """Put a learner in the place of the one before, whose fits are of no use any more."""
        self.learner, self.news_at = learner, -math.inf
        if self.refresher is not None:
            self.refresher.abandon()
            self.abandoned.append(self.refresher)
            self.refresher = None


@dataclass(frozen=True)
class Opened:
    """A transaction at a project whose learner knows every entry there is.

    written : the entries written in it, in order, which the learner reads after the commit; none in one that reads
    """

    session: Session
    learner: Learner
    project: Project
    written: list[Entry] = field(default_factory=list)


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
                raise WrongKind(CANDIDATES_ONLY)
            yield learner

    @contextmanager
    def open_vectors(
        self, home: Home, person_id: int, project_id: int
    ) -> Iterator[LabelVectorLearner[LabelTable]]:
        """As ``open``, for a project of label vectors; WrongKind for the others."""
        with self.open_any(home, person_id, project_id) as learner:
            if not isinstance(learner, LabelVectorLearner):
                raise WrongKind(VECTORS_ONLY)
            yield learner

    @contextmanager
    def open_any(self, home: Home, person_id: int, project_id: int) -> Iterator[Learner]:
        """As ``open``, for a project of either kind."""
        with self.open_to_read(home, person_id, project_id) as opened:
            yield opened.learner

    @contextmanager
    def open_to_read(self, home: Home, person_id: int, project_id: int) -> Iterator[Opened]:
        """As ``open_any``, with the read transaction that it was caught up in: both know the same log."""
        place = self._place(project_id)
        with place.lock:
            while True:
                place.take_news(home, project_id)
                with home.database.read() as session:  # as things stand now that it is this thread's turn
                    learner, project = place.catch_up(session, person_id, project_id)
                    if learner is not None:
                        yield Opened(session, learner, project)
                        return
                    changes = read_class_changes(session, project_id)
                place.renew(_build(home, project, changes))

    @contextmanager
    def open_to_write(self, home: Home, person_id: int, project_id: int) -> Iterator[Opened]:
        """As ``open_any``, caught up inside a write transaction, which ends with the block; then the learner follows
        what was written in it.

        Raises NotSaved too, where the database cannot be written.
        """
        place = self._place(project_id)
        with place.lock:
            while True:
                place.take_news(home, project_id, older=NEWS_AGE)
                with saving(home) as session:
                    entries.lock(session, project_id)
                    learner, project = place.catch_up(session, person_id, project_id, FEW)
                    if learner is not None:
                        opened = Opened(session, learner, project)
                        yield opened
                if learner is not None:
                    for entry in opened.written:
                        learner.apply(entry)
                    return
                with self.open_any(home, person_id, project_id):
                    pass  # to build it, or to catch up, takes too long for others to wait for their turn to write

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


def _build(home: Home, project: Project, changes: Sequence[ClassChange]) -> Learner:
    """The learner of the stored table under these changes of its classes, after the entries of its log: a fit that is
    begun with it must not be one of an empty log."""
    settings = read_settings(project.settings)
    learner: Learner
    if isinstance(settings, LabelVectorSettings):
        learner = LabelVectorLearner(LabelTable.read(home.table_path(project.table_hash)), settings)
    else:
        learner = build_learner(home, project.table_hash, settings, changes)
    with home.database.read() as session:
        follow(session, project.id, learner.pool, learner.apply)
    return learner
