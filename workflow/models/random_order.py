"""Estimate random order in the background: when it is due, one worker at a time a project.

It costs fits, so it is done once there are enough answers, again when they have grown by a fifth, and when an owner
asks for it.
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
from workflow.models.waiting import ask_for_due, find_waiting

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from db.trained import RandomOrderEstimate
    from workflow.server.home import Home

LEAST_ANSWERS = 20
"""Answers before which there is nothing to compare."""
LEAST_NEW = 10
GROWTH = 0.2
"""By so much answers have grown, and by LEAST_NEW at least, when it is due again."""
BUDGET = 60.0
"""CPU seconds after which no further run in random order begins."""
KILLED = (
    "The estimate was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory. It "
    "is next tried in an hour."
)
TOLD_EVERY = 1.0
"""Seconds between two notes of how far an estimate is."""


@dataclass(frozen=True)
class LogCounts:
    """Content of a project's log. answers : not withdrawn"""

    seq: int
    answers: int


def is_due(last: LogCounts | None, now: LogCounts) -> bool:
    """Whether it should be estimated by itself. last : what the estimate before saw; None: there was none"""
    if last is None:
        return now.answers >= LEAST_ANSWERS
    return now.answers - last.answers >= max(LEAST_NEW, GROWTH * last.answers)


def count(session: Session, project: Project) -> LogCounts:
    """The content of a project's log now."""
    given = answers.count(session, project.id, kinds.answers(project))
    return LogCounts(entries.last_seq(session, project.id), given)


def ask(session: Session, project: Project, asked_by: int | None) -> int:
    """Ask for an estimate; the id of it, or of the one that is unfinished."""
    told = dataclasses.asdict(count(session, project))
    return trained.RANDOM_ORDERS.ask(
        session, project.id, asked_by=asked_by, asked_at=datetime.now(UTC), **told
    )


def anything_to_do(home: Home, *, quiet: bool = False) -> bool:
    """Whether a worker is needed: to train a model, to compare some, or to replay a project. quiet : as of
    `training.anything_to_train`"""
    return comparing.anything_to_do(home, quiet=quiet) or any(_find(home))


def _find(home: Home) -> tuple[list[Project], list[RandomOrderEstimate]]:
    return find_waiting(home, kinds.replays_random_order, trained.RANDOM_ORDERS.latest, _has_news)


def _has_news(session: Session, project: Project, last: RandomOrderEstimate | None) -> bool:
    """Whether it `is_due`; not counted after every answer."""
    least, seq = (LEAST_ANSWERS, 0) if last is None else (LEAST_NEW, last.seq)
    if entries.last_seq(session, project.id) - seq < least:
        return False
    return is_due(None if last is None else LogCounts(last.seq, last.answers), count(session, project))


class RandomOrderWorker(ComparingWorker):
    """Trains what is due, compares what is to be compared and, when that is done, replays what is to be."""

    def compare_due(self) -> None:
        """As `ComparingWorker.compare_due`; then the estimates, for which no one waits to continue answering."""
        super().compare_due()
        for one in ask_for_due(self.home, _find(self.home), ask, trained.RANDOM_ORDERS.get):
            self.go_on()
            self.estimate(one)

    def estimate(self, asked: RandomOrderEstimate) -> None:
        """Make one estimate. Nothing is done where another worker has it."""
        with leases.hold(
            self.home, asked.project_id, self.name, str(asked.id), trained.TASK, KILLED
        ) as lease:
            if lease is None:
                return

            def fail(fault: str) -> None:
                with self.home.database.write() as session:
                    trained.RANDOM_ORDERS.end(
                        session, asked.id, trained.FAILED, datetime.now(UTC), fault=fault
                    )

            words = f"What random order would have reached in project {asked.project_id} cannot be estimated."
            with attempt(fail, words):
                report = self._measure_order(asked)
                with self.home.database.write() as session:
                    trained.RANDOM_ORDERS.end(
                        session, asked.id, trained.DONE, datetime.now(UTC), report=report
                    )

    def _measure_order(self, asked: RandomOrderEstimate) -> dict[str, object]:
        """Stored estimate: `found`, a `RandomOrderFound`, or what is `missing` for it."""
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
