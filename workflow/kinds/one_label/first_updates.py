"""Between two versions of a worker: what its last one makes of the answers since, in a thread beside the answering.

The next question waits for none of it. What comes out follows from the version and the candidates as they stand, so
that a restart, or a version taken in late, ends in the same.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import NamedTuple

from plcore import ActiveLearner, LabelTable
from plcore.common import AnyArray, BoolArray, FloatArray
from plcore.loop.one_label import FirstUpdate, Footing
from plcore.query import Need
from workflow.common.fair_lock import FairLock
from workflow.common.version_files import read_footing

Learner = ActiveLearner[LabelTable]

logger = logging.getLogger("winnow")

STOPS_WITHIN = 5.0
"""Seconds that a process which ends waits for an update."""


class _From(NamedTuple):
    """A version: its number, its scores, and their file, beside which lies what updates start from."""

    number: int
    scores: AnyArray
    path: Path


class FirstUpdates:
    """Runs the first updates of one learner, one at a time. `lock` is the one under which the learner is used."""

    def __init__(self, learner: Learner, lock: FairLock) -> None:
        self._learner, self._lock = learner, lock
        self._from: _From | None = None
        self._seen = -1  # the seq up to which the learner's shares are what the version makes of it
        self._footing: tuple[_From, str, Footing] | None = None  # as it was read last; of the thread alone
        self._thread: threading.Thread | None = None
        self._stopped = False

    def begin(self, number: int, scores: AnyArray, path: Path) -> None:
        """Start from this version from now on. Call it with the lock held, as `look`."""
        self._from, self._seen = _From(number, scores, path), number

    @property
    def busy(self) -> bool:
        """Whether answers are taken in now."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def look(self) -> None:
        """Begin to take in the answers since the version, where there are any and nothing is under way."""
        if self._is_due() and self._thread is None:
            self._thread = threading.Thread(target=self._work, name="first-update", daemon=True)
            self._thread.start()

    def settle(self) -> None:
        """Wait until all answers are taken in. Call it without the lock."""
        while True:
            with self._lock:
                self.look()
                thread = self._thread
            if thread is None:
                return
            thread.join()

    def abandon(self) -> bool:
        """Take in nothing any more; what is under way ends by itself, for nothing. Whether there is anything."""
        self._stopped = True
        return self.busy

    def stop(self) -> None:
        """As `abandon`; waits a little for what is under way."""
        self.abandon()
        thread = self._thread
        if thread is not None:
            thread.join(STOPS_WITHIN)

    def _is_due(self) -> bool:
        return not self._stopped and self._from is not None and self._learner.pool.seq > self._seen

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._is_due() or self._from is None:
                    self._thread = None
                    return
                origin, pool = self._from, self._learner.pool
                seq, candidates = pool.seq, pool.candidates[pool.train]
                weights = pool.weights_of(pool.train, candidates)
            update = self._update(origin, candidates, weights)
            with self._lock:
                if self._stopped or self._from is not origin:
                    continue  # a new version has come meanwhile
                if update is None:
                    self._from = None  # until the next version
                    continue
                self._seen = seq
                self._learner.follow(update)

    def _update(self, origin: _From, candidates: BoolArray, weights: FloatArray | None) -> FirstUpdate | None:
        """What the version makes of these candidates; None where nothing is kept to start from."""
        try:
            if self._footing is None or self._footing[0] is not origin:
                read = read_footing(origin.path, None if self._footing is None else self._footing[1:])
                if read is None:
                    return None
                self._footing = (origin, *read)
            with_effects = self._learner.settings.strategy_entry.needs is Need.EFFECTS
            return self._footing[2].update(
                candidates,
                origin.scores,
                self._learner.pool.train,
                with_effects=with_effects,
                weights=weights,
            )
        except FileNotFoundError:
            return None  # cleaned away beside a newer version, which is about to be taken in
        except Exception:  # the answers are kept, and the next version will have learnt them
            logger.exception("Version %s takes in no answers at once.", origin.number)
            return None
