"""Background encoding of projects' rows with the owner's own encoders: at most one worker per project at a time.

Requests wait in the database. If a worker dies, the next one continues after its last batch. One entry of `add_rows`
stores the vectors, exactly once, no matter which worker makes them. Rows that arrive later are encoded without a
request, by the same encoders; after a failure they are retried an hour later, or as soon as the folder of encoders has
changed. Requests of owners are not retried automatically.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import projects, trained
from workflow.importing import encoding
from workflow.importing.more_rows import NEW_ROWS, AlreadyThere
from workflow.models import leases, random_order, training
from workflow.models.encoders import installed
from workflow.models.random_order import RandomOrderWorker
from workflow.models.training import WorkCancelled, attempt
from workflow.seat import Seat

if TYPE_CHECKING:
    from db.trained import Encoding
    from plcore.arrays import StepProgress
    from workflow.server.home import Home

logger = logging.getLogger("winnow")

TASK = "encode"
"""The task name of encodings' leases. Trainings and comparisons continue meanwhile."""
STUCK_AFTER = 600.0
"""Seconds without progress after which the worker ends itself: neither ONNX Runtime nor a tokenizer can be interrupted,
and other projects wait for this worker."""
STUCK = 3
"""Exit status of such a worker."""
KILLED = (
    "The encoding has ended its process twice: memory ran out, perhaps, or a batch took longer than "
    f"{STUCK_AFTER / 60:.0f} minutes. Fix: give the machine more memory, or cancel it and take a smaller encoder. It "
    "is next tried in an hour."
)
TOLD_EVERY = 1.0
"""Seconds between two reports of an encoding's progress."""


def has_due_work(home: Home, *, quiet: bool = False) -> bool:
    """Whether a worker is needed: to train a model, to compare some, to replay a project, or to encode rows.
    quiet : as in `training.has_models_to_train`"""
    return random_order.has_due_work(home, quiet=quiet) or bool(_find(home))


def count_waiting(home: Home) -> int:
    """Return the number of encodings that are due or under way."""
    return len(_find(home))


def _find(home: Home) -> list[Encoding]:
    """Return the encodings that are unfinished or due for a retry, of projects in use."""
    with home.database.read() as session:
        again = [one for one in trained.failed_for_new_rows(session) if _is_due(home, one)]
        found = [*trained.ENCODINGS.unfinished(session), *again]
        in_use = {project.id for project in projects.listed(session)} if found else set()
    return [one for one in found if one.project_id in in_use]


def _is_due(home: Home, failed: Encoding) -> bool:
    """Whether rows that arrived later and could not be encoded are retried now."""
    ended = failed.ended_at or failed.asked_at
    try:
        changed = datetime.fromtimestamp(home.encoders_dir.stat().st_mtime, UTC)
    except OSError:  # no such folder
        changed = ended
    return changed > ended or ended + leases.REST <= datetime.now(UTC)


@contextmanager
def _ending_stuck(tell: StepProgress) -> Iterator[StepProgress]:
    """Yield `tell`, and end this process if it is not called for STUCK_AFTER seconds; those within it do not count."""
    since, over = [time.monotonic()], threading.Event()

    def told(done: int, total: int, kind: str) -> None:
        since[0] = math.inf
        try:
            tell(done, total, kind)
        finally:
            since[0] = time.monotonic()

    def watch() -> None:
        while not over.wait(min(STUCK_AFTER, since[0] + STUCK_AFTER - time.monotonic())):
            if time.monotonic() - since[0] >= STUCK_AFTER:
                logger.error("An encoding has not moved for %.0f seconds; its process ends.", STUCK_AFTER)
                os._exit(STUCK)

    watching = threading.Thread(target=watch, name="stuck", daemon=True)
    watching.start()
    try:
        yield told
    finally:
        over.set()
        watching.join()


class EncodingWorker(RandomOrderWorker):
    """A worker that trains what is due, encodes what was requested, and then compares and replays."""

    def meanwhile(self) -> None:
        """Do the work of `Worker.meanwhile`, then the encodings: someone waits for them, unlike most comparisons."""
        super().meanwhile()
        self.encode_asked()

    def compare_due(self) -> None:
        """Do the work of `RandomOrderWorker.compare_due`, after the encodings, because someone waits for those."""
        self.encode_asked()
        super().compare_due()

    def encode_asked(self) -> None:
        """Run every requested encoding."""
        for one in _find(self.home):
            self.go_on()
            self.encode(one)

    def encode(self, asked: Encoding) -> None:
        """Run one encoding in the name of the person who asked for it: it stores only what they may still store. Does
        nothing if another worker has it.
        """
        with leases.hold(self.home, asked.project_id, self.name, str(asked.id), TASK, KILLED) as lease:
            if lease is None:
                return

            def fail(fault: str) -> None:
                with self.home.database.write() as session:
                    trained.ENCODINGS.end(session, asked.id, trained.FAILED, datetime.now(UTC), fault=fault)

            with attempt(fail, f"The rows of project {asked.project_id} cannot be encoded."):
                n_rows, notes, faults = self._store(asked)
                with self.home.database.write() as session:
                    now = datetime.now(UTC)
                    trained.end_done(session, asked.id, now, (*notes, *faults))
                    # Some rows arrived at the last moment, or wait for the encoder of another column.
                    if projects.get(session, asked.project_id).n_rows != n_rows or faults:
                        trained.ENCODINGS.ask(
                            session, asked.project_id, asked_by=asked.asked_by, asked_at=now, encoder=NEW_ROWS
                        )

    def _store(self, asked: Encoding) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
        """Encode the rows and store their vectors; returns the final number of rows, notes about rows left out, and why
        rows of other columns still wait."""
        with self.home.database.write() as session:
            if asked.state == trained.FAILED:
                trained.try_again(session, asked.id)
            if not trained.ENCODINGS.begin(session, asked.id):
                raise WorkCancelled
        told = -TOLD_EVERY

        def tell(done: int, total: int, _kind: str) -> None:
            nonlocal told
            self.go_on()
            if done < total and time.monotonic() - told < TOLD_EVERY:
                return
            told = time.monotonic() if total else told
            with self.home.database.write() as session:
                if not trained.ENCODINGS.note(session, asked.id, done, total):
                    raise WorkCancelled
            training.Worker.look(self)  # learn from the answers given meanwhile

        with _ending_stuck(tell) as told_in_time:
            return self._encode(asked, told_in_time)

    def _encode(self, asked: Encoding, tell: StepProgress) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
        seat = Seat(self.home, asked.asked_by, asked.project_id)
        notes: list[str] = []
        if asked.encoder != NEW_ROWS:
            self._get(asked.encoder, tell)
            encoder = encoding.Encoder(encoding.folder_of(self.home, asked.encoder))
            try:
                notes += encoding.encode_project(seat, encoder, tell)
            except AlreadyThere as error:  # stored by hand, or by a worker that died before reporting it
                notes += error.notes
        n_rows, others, faults = encoding.encode_new_rows(seat, tell)
        if faults and asked.encoder == NEW_ROWS:
            raise encoding.EncoderError(" ".join(faults))
        return n_rows, (*notes, *others), faults

    def _get(self, name: str, tell: StepProgress) -> None:
        """Download a missing encoder of the catalogue. Its licence was accepted when it was requested."""
        if name in encoding.names(self.home) or name not in installed.catalogue(self.home):
            return
        try:
            installed.get(self.home, name, non_commercial=True, tell=lambda done, total: tell(done, total, "bytes"))
        except (encoding.EncoderError, OSError):
            if name not in encoding.names(self.home):  # else another worker downloaded it meanwhile
                raise
        tell(0, 0, "bytes")
