"""Full fits of a model of label vectors, in a thread next to the answering: numpy lets the interpreter go meanwhile.

The model in place applies each answer at once; a fit that is done is put in place between two answers.
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
"""Seconds that a process which ends waits for a fit; what is not stored by then is fitted again from the log."""


class ThreadTraining:
    """Runs the fits of one learner, one at a time. `lock` is the one under which the learner is used."""

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
        """Whether a fit is under way."""
        return self._thread is not None and self._thread.is_alive()

    def look(self) -> None:
        """Begin the fit that is due, if one is and none is under way. Call it with the lock held."""
        job = self._learner.job()
        if self._stopped or job is None or job.seq == self._failed or self.busy:
            return
        self._thread = threading.Thread(
            target=self._fit, args=(job,), name=f"refresh-{self._project_id}", daemon=True
        )
        self._thread.start()

    def settle(self) -> None:
        """Wait until the fit under way is in place, and those that became due meanwhile."""
        while self._thread is not None:
            thread = self._thread
            thread.join()
            with self._lock:
                self.look()
                if self._thread is thread:
                    return

    def abandon(self) -> bool:
        """Begin no fit and store none any more: the learner was replaced. One under way ends by itself, for nothing;
        whether there is one."""
        self._stopped = True
        return self.busy

    def stop(self) -> None:
        """As `abandon`, before the database is closed: waits a little for a fit under way."""
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
        except Exception as error:  # said on the page; the model in place keeps answering
            logger.exception("The model of project %s cannot be fitted.", self._project_id)
            self._failed, self.fault = job.seq, str(error) or type(error).__name__
            return
        try:
            self._publish(refreshed, time.monotonic() - begun)
        except Exception:  # whatever a database that is closed meanwhile says
            # The model is in place all the same; its point of the curve is lost at the next start.
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
    """Fit the model as it was due then; the answers since, the learner applies as a live one does. The figures of
    earlier fits are those that were stored."""
    job = learner.job()
    if job is not None:
        with one_thread():
            learner.adopt(job.run())
    with home.database.read() as session:
        stored = trained.versions(session, past.project_id, learner.settings.model_key)
    until_then = [one for one in stored if one.version <= past.seq]
    learner.restore_curve(LabelVectorPoint.from_json(one.figures) for one in until_then)


background_training = ThreadTraining
