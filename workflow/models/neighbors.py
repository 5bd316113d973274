"""Neighbours of many rows, found in the worker's process while people already answer.

A learner that waits for them leaves a request (`workflow.kinds.kind.Neighbors`). One worker at a time finds those of a
project. A search that kills its workers rests for an hour, and questions keep coming in random order.
"""

from __future__ import annotations

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
from workflow.models.language.worker import SuggestionWorker
from workflow.models.training import Stopped

if TYPE_CHECKING:
    from db.projects import Project
    from workflow.seat import Seat
    from workflow.server.home import Home

Tell: TypeAlias = "Callable[[FindingNeighbors], object]"


TASK = "neighbors"
"""The task name of searches' leases. Trainings continue meanwhile."""
KILLED = (
    "The search was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory. It is "
    "next tried in an hour."
)
LOOK_EVERY = 1.0
"""Seconds between two checks for requests."""
TOLD_EVERY = 1.0
"""Seconds between two reports of a search's progress."""


def read_finding(seat: Seat) -> FindingNeighbors | None:
    """Return the progress of finding the neighbours that the project waits for; None if it waits for none. Raises
    NotAllowed, NotFound."""
    with seat.reading() as reading:
        project = reading.project
        found = kinds.finding(seat.home, project)
        last = trained.training(reading.session, project.id, TASK)
    failed = last is not None and last.key == project.table_hash and last.ended and last.fault
    return replace(found, fault=failed) if found is not None and failed else found


def has_due_work(home: Home) -> bool:
    """Whether a worker is needed to find neighbours."""
    return bool(_waiting(home))


def find(seat: Seat, worker: str, tell: Tell | None = None) -> None:
    """Find the neighbours of a seat's project, like `find_for`. Also raises NotAllowed if the person is not an
    owner."""
    with seat.reading(Right.OWN) as reading:
        project = reading.project
    find_for(seat.home, project, worker, tell)


def find_for(home: Home, project: Project, worker: str, tell: Tell | None) -> None:
    """Find the neighbours that a project waits for. Does nothing if it waits for none, or another worker is finding
    them.

    worker : name of the worker      tell : called with the progress, at most once a second
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


def count_waiting(home: Home) -> int:
    """Return the number of projects that wait for neighbours."""
    return len(_waiting(home))


def _waiting(home: Home) -> list[Project]:
    """Return the projects in use that wait for neighbours."""
    if not kinds.any_project_waits(home):  # a worker checks each second, and there may be a thousand projects
        return []
    with home.database.read() as session:
        listed = projects.listed(session)
    return [project for project in listed if kinds.finding(home, project) is not None]


class NeighborWorker(SuggestionWorker):
    """A worker that finds the neighbours that projects wait for, and then does the work of a `SuggestionWorker`."""

    def __init__(self, home: Home, name: str) -> None:
        super().__init__(home, name)
        self._next_finding = 0.0
        self._retry: dict[object, float] = {}  # time of the next attempt after a failure

    def look(self) -> bool:
        """Do the work of `SuggestionWorker.look`, after finding neighbours: until then the order is random."""
        self.find_neighbors()
        return super().look()

    def meanwhile(self) -> None:
        """Do the work of `SuggestionWorker.meanwhile`, after finding neighbours."""
        self.find_neighbors()
        super().meanwhile()

    def find_neighbors(self) -> None:
        """Find all requested neighbours. The worker still trains on answers given meanwhile."""
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
                training.note_failure(error, f"The neighbours of project {project.id} cannot be found.")
                passing = isinstance(error, OSError | MemoryError)
                self._retry[known] = time.monotonic() + training.RETRY if passing else math.inf
        self._next_finding = time.monotonic() + LOOK_EVERY

    def _learn_while_finding(self, _finding: FindingNeighbors) -> None:
        self.go_on()
        training.Worker.look(self)
