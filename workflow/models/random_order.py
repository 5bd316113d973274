"""Estimates of random order in the background: when one is due, by one worker at a time per project.

It costs fits, so it runs once there are enough answers, again when they have grown by a fifth, and when an owner asks
for it.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import answers, entries, projects, trained
from plcore.loop.one_label import CannotEstimateError
from workflow import kinds
from workflow.log.reading import follow, read_class_changes
from workflow.models import comparing, leases
from workflow.models.comparing import ComparingWorker
from workflow.models.training import WorkCancelled, attempt
from workflow.models.waiting import find_waiting, request_due_work

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from db.trained import RandomOrderEstimate
    from workflow.server.home import Home

LEAST_ANSWERS = 20
"""Fewest answers for a comparison with random order."""
LEAST_NEW = 10
GROWTH = 0.2
"""Share by which answers must grow, and by at least LEAST_NEW, until the next estimate."""
BUDGET = 60.0
"""CPU seconds after which no further run in random order begins."""
KILLED = (
    "The estimate was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory. It "
    "is next tried in an hour."
)
TOLD_EVERY = 1.0
"""Seconds between two reports of an estimate's progress."""


@dataclass(frozen=True)
class LogCounts:
    """Content of a project's log. answers : not withdrawn"""

    seq: int
    answers: int


def is_due(last: LogCounts | None, now: LogCounts) -> bool:
    """Whether an automatic estimate is due. last : what the previous estimate saw; None: there was none"""
    if last is None:
        return now.answers >= LEAST_ANSWERS
    return now.answers - last.answers >= max(LEAST_NEW, GROWTH * last.answers)


def count(session: Session, project: Project) -> LogCounts:
    """Count the current content of a project's log."""
    given = answers.count(session, project.id, kinds.answers(project))
    return LogCounts(entries.last_seq(session, project.id), given)


def ask(session: Session, project: Project, asked_by: int | None) -> int:
    """Request an estimate; returns its id, or that of the unfinished one."""
    told = dataclasses.asdict(count(session, project))
    return trained.RANDOM_ORDERS.ask(session, project.id, asked_by=asked_by, asked_at=datetime.now(UTC), **told)


def has_due_work(home: Home, *, quiet: bool = False) -> bool:
    """Whether a worker is needed: to train a model, to compare some, or to replay a project. quiet : as in
    `training.has_models_to_train`"""
    return comparing.has_due_work(home, quiet=quiet) or any(_find(home))


def count_waiting(home: Home) -> int:
    """Return the number of estimates that are due or under way."""
    due, under_way = _find(home)
    return len(due) + len(under_way)


def _find(home: Home) -> tuple[list[Project], list[RandomOrderEstimate]]:
    return find_waiting(home, kinds.replays_random_order, trained.RANDOM_ORDERS.latest, _has_news)


def _has_news(session: Session, project: Project, last: RandomOrderEstimate | None) -> bool:
    """Whether it `is_due`; not counted after every answer."""
    least, seq = (LEAST_ANSWERS, 0) if last is None else (LEAST_NEW, last.seq)
    if entries.last_seq(session, project.id) - seq < least:
        return False
    return is_due(None if last is None else LogCounts(last.seq, last.answers), count(session, project))


class RandomOrderWorker(ComparingWorker):
    """A worker that trains what is due, runs the comparisons, and then replays projects in random order."""

    def compare_due(self) -> None:
        """Do the work of `ComparingWorker.compare_due`, then the estimates, which no annotator waits for."""
        super().compare_due()
        for one in request_due_work(self.home, _find(self.home), ask, trained.RANDOM_ORDERS.get):
            self.go_on()
            self.estimate(one)

    def estimate(self, asked: RandomOrderEstimate) -> None:
        """Run one estimate. Does nothing if another worker has it."""
        with leases.hold(self.home, asked.project_id, self.name, str(asked.id), trained.TASK, KILLED) as lease:
            if lease is None:
                return

            def fail(fault: str) -> None:
                with self.home.database.write() as session:
                    trained.RANDOM_ORDERS.end(session, asked.id, trained.FAILED, datetime.now(UTC), fault=fault)

            words = f"Random order in project {asked.project_id} cannot be estimated."
            with attempt(fail, words):
                report = self._measure_order(asked)
                with self.home.database.write() as session:
                    trained.RANDOM_ORDERS.end(session, asked.id, trained.DONE, datetime.now(UTC), report=report)

    def _measure_order(self, asked: RandomOrderEstimate) -> dict[str, object]:
        """Return the estimate to store: `found`, a `RandomOrderFound`, or what is `missing` for it."""
        with self.home.database.read() as session:
            project = projects.get(session, asked.project_id)
            changes = read_class_changes(session, project.id)
        replays = kinds.make_random_order(self.home, project, changes)
        with self.home.database.read() as session:
            follow(session, project.id, replays.pool, replays.apply)
            now = count(session, project)
        with self.home.database.write() as session:
            if not trained.RANDOM_ORDERS.begin(session, asked.id, **dataclasses.asdict(now)):
                raise WorkCancelled
        told = -TOLD_EVERY

        def tell(done: int, total: int, _model: str) -> None:
            nonlocal told
            self.go_on()
            if time.monotonic() - told < TOLD_EVERY:
                return
            told = time.monotonic()
            with self.home.database.write() as session:
                if not trained.RANDOM_ORDERS.note(session, asked.id, done, total):
                    raise WorkCancelled
            self.meanwhile()

        try:
            return {"found": replays.measure(tell, BUDGET).to_json()}
        except CannotEstimateError as missing:
            return {"missing": str(missing)}
