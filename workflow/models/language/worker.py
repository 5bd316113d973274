"""Runs of language models in the worker's process: a thread each, since they mostly wait for their server."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import projects, trained
from workflow.importing import encoding_worker
from workflow.models import leases
from workflow.models.language import suggestions
from workflow.models.language.suggestions import ModelChoice
from workflow.models.map_worker import MapWorker
from workflow.models.training import Stopped, WorkCancelled, attempt
from workflow.seat import Seat

if TYPE_CHECKING:
    from db.trained import Suggestion
    from workflow.models.language.running import SuggestionRun
    from workflow.server.home import Home

logger = logging.getLogger("winnow")

TASK = "suggest"
"""The task of the leases of these runs: trainings continue meanwhile."""
KILLED = (
    "The run was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory. It is "
    "next tried in an hour."
)
LOOK = 10.0
"""Seconds after which requested runs are looked for even without writes: one may have failed for want of a disk."""
NOTED_EVERY = 1.0
"""Seconds between two notes of a run's progress."""


def has_due_work(home: Home, *, quiet: bool = False) -> bool:
    """Whether a worker is needed: for what `encoding_worker.has_due_work` says, or for a run. quiet : as there"""
    return encoding_worker.has_due_work(home, quiet=quiet) or bool(_find(home))


def _find(home: Home) -> list[Suggestion]:
    """Return the unfinished runs, of projects in use."""
    with home.database.read() as session:
        found = trained.SUGGESTIONS.unfinished(session)
        in_use = {project.id for project in projects.listed(session)} if found else set()
    return [one for one in found if one.project_id in in_use]


class SuggestionWorker(MapWorker):
    """A worker that does the work of a `MapWorker`, and runs language models."""

    def __init__(self, home: Home, name: str) -> None:
        super().__init__(home, name)
        self._looked: tuple[object, float] = (None, 0.0)  # state of the database, and the time of the next look
        self._runs: dict[int, threading.Thread] = {}

    def look(self) -> bool:
        """Do the work of `MapWorker.look`, after starting requested runs."""
        self._begin_asked()
        return super().look()

    def meanwhile(self) -> None:
        """Do the work of `MapWorker.meanwhile`, after starting requested runs: a comparison may take minutes."""
        self._begin_asked()
        super().meanwhile()

    def _begin_asked(self) -> None:
        stamp = self.home.database.stamp()
        if stamp != self._looked[0] or time.monotonic() >= self._looked[1]:
            self._looked = stamp, time.monotonic() + LOOK
            for asked in _find(self.home):
                if asked.id not in self._runs or not self._runs[asked.id].is_alive():
                    thread = threading.Thread(target=self._run, args=(asked,), name=f"suggest-{asked.id}", daemon=True)
                    self._runs[asked.id] = thread
                    thread.start()

    def suggest(self, asked: Suggestion) -> None:
        """Do one run in the name of the person who asked for it. Does nothing if another worker has it."""
        with leases.hold(self.home, asked.project_id, self.name, str(asked.id), TASK, KILLED) as lease:
            if lease is None:
                return

            def fail(fault: str) -> None:
                suggestions.forget_key(self.home, asked.project_id)
                with self.home.database.write() as session:
                    trained.SUGGESTIONS.end(session, asked.id, trained.FAILED, datetime.now(UTC), fault=fault)

            with attempt(fail, f"The rows of project {asked.project_id} were not listed."):
                with self.home.database.write() as session:
                    if not trained.SUGGESTIONS.begin(session, asked.id, report=None):
                        raise WorkCancelled
                seat = Seat(self.home, asked.asked_by, asked.project_id)
                report = suggestions.run(
                    seat,
                    ModelChoice(**asked.settings),  # type: ignore[arg-type]
                    lambda words: self._say(asked, words),
                    lambda run: self._watch(asked, run),
                )
                if report is None:
                    self.go_on()
                    raise WorkCancelled
                suggestions.forget_key(self.home, asked.project_id)
                n = sum(report["outcomes"].values())
                with self.home.database.write() as session:
                    now = datetime.now(UTC)
                    trained.SUGGESTIONS.end(session, asked.id, trained.DONE, now, report=report, done=n, total=n)

    def _watch(self, asked: Suggestion, run: SuggestionRun) -> Callable[[], None]:
        """Store the progress every second, and stop the run if it is cancelled or the worker ends; return what ends the
        watch."""
        over = threading.Event()

        def note() -> bool:
            with self.home.database.read() as session:
                now = trained.SUGGESTIONS.get(session, asked.id)
            if now is None or not now.unfinished or self._stop.is_set():
                return False
            if (now.done, now.total) == (run.done, run.total):
                return True
            with self.home.database.write() as session:
                return trained.SUGGESTIONS.note(session, asked.id, run.done, run.total, report=None)

        def watch() -> None:
            continues_walk = True
            while continues_walk and not over.wait(NOTED_EVERY):
                try:
                    continues_walk = note()
                except Exception:  # the database may be unavailable for a while
                    logger.exception("The progress of run %s was not stored; it is tried again.", asked.id)
            if not continues_walk:
                run.stop()

        thread = threading.Thread(target=watch, name=f"suggest-watch-{asked.id}", daemon=True)
        thread.start()

        def end() -> None:
            over.set()
            thread.join()

        return end

    def _say(self, asked: Suggestion, words: str) -> None:
        with self.home.database.write() as session:
            trained.SUGGESTIONS.change(session, asked.id, {"report": {"said": words}})

    def _run(self, asked: Suggestion) -> None:
        try:
            self.suggest(asked)
        except Stopped:
            return
        except Exception:  # the database or the disk may be unavailable for a while: it is tried again
            logger.exception("Run %s of a language model was interrupted; it is tried again.", asked.id)
