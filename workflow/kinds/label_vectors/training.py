"""Full fits of a model of label vectors, in a thread while people answer: numpy releases the interpreter meanwhile.

The current model applies each answer at once; a finished fit replaces it between two answers.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime

from db import trained
from plcore import LabelTable
from plcore.arrays import one_thread
from plcore.loop.label_vectors import LabelVectorLearner, LabelVectorPoint, Refreshed, RefreshJob
from workflow.exporting.snapshot import Past
from workflow.server.home import Home
from workflow.server.jobs import FairLock

Learner = LabelVectorLearner[LabelTable]

logger = logging.getLogger("winnow")

STOPS_WITHIN = 5.0
"""Seconds that an ending process waits for a fit; a fit not stored by then is repeated from the log."""


class ThreadTraining:
    """A thread that runs the fits of one learner, one at a time. `lock` guards the learner."""

    def __init__(self, home: Home, project_id: int, learner: Learner, lock: FairLock) -> None:
        self._home, self._project_id = home, project_id
        self._learner, self._lock = learner, lock
        self._thread: threading.Thread | None = None
        self._failed: int | None = None
        self._stopped = False
        self.fault: str | None = None
        with home.database.read() as session:
            stored = trained.versions(session, project_id, learner.settings.model_key)
        learner.restore_curve(LabelVectorPoint.from_json(one.figures) for one in stored)

    @property
    def busy(self) -> bool:
        """Whether a fit is running."""
        return self._thread is not None and self._thread.is_alive()

    def look(self) -> None:
        """Begin the fit that is due, unless one is running. Call it with the lock held."""
        job = self._learner.job()
        if self._stopped or job is None or job.seq == self._failed or self.busy:
            return
        self._thread = threading.Thread(target=self._fit, args=(job,), name=f"refresh-{self._project_id}", daemon=True)
        self._thread.start()

    def settle(self) -> None:
        """Wait until the running fit is in place, and those that became due meanwhile."""
        while self._thread is not None:
            thread = self._thread
            thread.join()
            with self._lock:
                self.look()
                if self._thread is thread:
                    return

    def abandon(self) -> bool:
        """Begin no more fits and store none, because the learner was replaced. A running fit ends by itself and is
        discarded. Returns whether one is running."""
        self._stopped = True
        return self.busy

    def stop(self) -> None:
        """Like `abandon`, before the database is closed; waits briefly for a running fit."""
        self.abandon()
        if self._thread is not None:
            self._thread.join(STOPS_WITHIN)

    def _fit(self, job: RefreshJob) -> None:
        begun = time.monotonic()
        try:
            refreshed = job.run()
            with self._lock:
                if self._stopped or not self._learner.adopt(refreshed):
                    return
                self.fault = None
        except Exception as error:  # shown on the page; the current model keeps predicting
            logger.exception("The model of project %s cannot be fitted.", self._project_id)
            self._failed, self.fault = job.seq, str(error) or type(error).__name__
            return
        try:
            self._publish(refreshed, time.monotonic() - begun)
        except Exception:  # any error of a database that was closed meanwhile
            # The model is still in place; its point of the curve is lost at the next start.
            logger.exception("The figures of project %s could not be stored.", self._project_id)

    def _publish(self, refreshed: Refreshed, seconds: float) -> None:
        if self._stopped:
            return
        with self._home.database.write() as session:
            trained.publish(
                session,
                project_id=self._project_id,
                key=self._learner.settings.model_key,
                version=refreshed.seq,
                figures=refreshed.point.to_json(),
                seconds=seconds,
                made_at=datetime.now(UTC),
            )


def give_model(home: Home, learner: Learner, past: Past) -> None:
    """Fit the model as it was due then; the learner applies later answers as a live one does. The figures of earlier
    fits are the stored ones."""
    job = learner.job()
    if job is not None:
        with one_thread():
            learner.adopt(job.run())
    with home.database.read() as session:
        stored = trained.versions(session, past.project_id, learner.settings.model_key)
    until_then = [one for one in stored if one.version <= past.seq]
    learner.restore_curve(LabelVectorPoint.from_json(one.figures) for one in until_then)


background_training = ThreadTraining
