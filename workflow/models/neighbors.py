"""Neighbours of many rows, found in the worker's process while people answer already.

A learner that waits for them leaves a wish (`workflow.kinds.kind.Neighbors`). One worker at a time finds those of a
project; what kills its workers is left alone for an hour, and questions go on coming at random.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy.exc import SQLAlchemyError

from db import projects, trained
from db.engine import DatabaseUnavailableError
from workflow import kinds
from workflow.access import Right
from workflow.kinds import FindingNeighbors
from workflow.log.reading import read_class_changes
from workflow.models import leases, training
from workflow.models.map_worker import MapWorker
from workflow.models.training import Stopped

if TYPE_CHECKING:
    from db.projects import Project
    from workflow.seat import Seat
    from workflow.server.home import Home

Tell: TypeAlias = "Callable[[FindingNeighbors], object]"

logger = logging.getLogger("winnow")

TASK = "neighbors"
"""The task of the leases of searches: trainings go on meanwhile."""
KILLED = (
    "The search was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory. It is "
    "next tried in an hour."
)
LOOK_EVERY = 1.0
"""Seconds between two looks whether neighbours are waited for."""
TOLD_EVERY = 1.0
"""Seconds between two notes of how far a search is."""


def read_finding(seat: Seat) -> FindingNeighbors | None:
    """How far it is to find the neighbours that the project waits for; None if it waits for none. Raises NotAllowed,
    NotFound."""
    with seat.reading() as reading:
        project = reading.project
        found = kinds.finding(seat.home, project)
        last = trained.training(reading.session, project.id, TASK)
    failed = last is not None and last.key == project.table_hash and last.ended and last.fault
    return replace(found, fault=failed) if found is not None and failed else found


def anything_to_do(home: Home) -> bool:
    """Whether a worker is needed to find neighbours."""
    return bool(_waiting(home))


def find(seat: Seat, worker: str, tell: Tell | None = None) -> None:
    """As `find_for`, the project of a seat. Raises NotAllowed too: the person is not an owner."""
    with seat.reading(Right.OWN) as reading:
        project = reading.project
    find_for(seat.home, project, worker, tell)


def find_for(home: Home, project: Project, worker: str, tell: Tell | None) -> None:
    """Find the neighbours that a project waits for. Nothing is done if it waits for none, or others are at it.

    worker : the name of who finds them      tell : how far it is, at most once a second
    Raises what reading the table, or writing, raises, and what `tell` raises.
    """
    begun = told = -TOLD_EVERY

    def progress(share: float) -> None:
        nonlocal begun, told
        now = time.monotonic()
        begun = now if begun < 0 else begun
        if now - told >= TOLD_EVERY:
            told = now
            finding = FindingNeighbors(share, (now - begun) * (1 - share) / share if share else None)
            kinds.note_finding(home, project, finding)
            if tell is not None:
                tell(finding)

    with leases.hold(home, project.id, worker, project.table_hash, TASK, KILLED) as lease:
        if lease is None or kinds.finding(home, project) is None:
            return

        with home.database.read() as session:
            changes = read_class_changes(session, project.id)
        try:
            kinds.find_neighbors(home, project, changes, progress)
        except Stopped:
            raise
        except Exception as error:
            lease.fault = str(error) or type(error).__name__
            raise


def _waiting(home: Home) -> list[Project]:
    """The projects in use that wait for neighbours."""
    if not kinds.any_waits(home):  # a worker looks each second, and there may be a thousand projects
        return []
    with home.database.read() as session:
        listed = projects.listed(session)
    return [project for project in listed if kinds.finding(home, project) is not None]


class NeighborWorker(MapWorker):
    """Does what a `MapWorker` does, and before that finds the neighbours that projects wait for."""

    def __init__(self, home: Home, name: str) -> None:
        super().__init__(home, name)
        self._next_finding = 0.0
        self._retry: dict[object, float] = {}  # when it is tried again after it failed

    def look(self) -> bool:
        """As `MapWorker.look`; the neighbours before, for questions come at random until they are found."""
        self.find_neighbors()
        return super().look()

    def meanwhile(self) -> None:
        """As `MapWorker.meanwhile`; the neighbours before."""
        self.find_neighbors()
        super().meanwhile()

    def find_neighbors(self) -> None:
        """Find all that are waited for. What people answer meanwhile is learnt."""
        if time.monotonic() < self._next_finding:
            return
        for project in _waiting(self.home):
            self.go_on()
            known = project.id, project.table_hash, str(project.settings)
            if time.monotonic() < self._retry.get(known, 0.0):
                continue
            try:
                find_for(self.home, project, self.name, self._learn_while_finding)
            except (Stopped, SQLAlchemyError, DatabaseUnavailableError):
                raise
            except Exception as error:  # one project must not keep the others waiting
                logger.exception("The neighbours of project %s cannot be found.", project.id)
                passing = isinstance(error, OSError | MemoryError)
                self._retry[known] = time.monotonic() + training.RETRY if passing else math.inf
        self._next_finding = time.monotonic() + LOOK_EVERY

    def _learn_while_finding(self, _finding: FindingNeighbors) -> None:
        self.go_on()
        training.Worker.look(self)
