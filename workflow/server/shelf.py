"""The learners in memory: one per project, always rebuilt from table and log, or from a checkpoint and the log since.

If they use too much memory, idle ones are unloaded, least recently used first, and loaded again when needed.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workflow.answering.history import KeptLog
from workflow.server.jobs import FairLock

if TYPE_CHECKING:
    from plcore.loop import Learner

# Memory of the machine, and of this process.

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Files with the memory limit of a Linux container: control groups version 2, and version 1."""


def machine_memory(limits: tuple[Path, ...] = LIMITS) -> int | None:
    """Return the bytes of memory of this machine or container; None if the system does not report it."""
    try:
        known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, ValueError, OSError):  # of systems that are not POSIX
        return None
    for path in limits:
        try:
            text = path.read_text()
        except OSError:
            continue
        if text.strip().isdecimal():  # "max" if there is no limit
            known.append(int(text))
    return min(known)


def own_memory(path: Path = Path("/proc/self/statm")) -> int | None:
    """Return the bytes of memory of this process alone, without pages of files; None if the system does not report it.

    path : Linux's file with numbers of pages: total, resident, shared
    """
    try:
        _, resident, shared, *_ = map(int, path.read_text().split())
    except OSError:
        return None
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Return unused memory to the system, garbage included. glibc keeps it otherwise."""
    gc.collect()
    trim()


def trim() -> None:
    """Return memory to the system that has been freed."""
    found = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if found is not None:
        found(0)


_log = logging.getLogger(__name__)


class BackgroundTraining(Protocol):
    """Loads models that are fitted while people answer. Hold the slot's lock when you call it.

    fault : why the latest fit in this process failed; None if it did not, or if a worker fits the models
    """

    fault: str | None

    @property
    def busy(self) -> bool:
        """Return whether a fit is running in this process."""

    def look(self) -> None:
        """Load models fitted elsewhere, or start the fit that is due; does not wait."""

    def settle(self) -> None:
        """Wait until no fit is running in this process. Call it without the lock."""

    def abandon(self) -> bool:
        """Start no more fits and store none: the learner was replaced. Return whether a fit is still running; its
        result is dropped."""

    def stop(self) -> None:
        """Abandon the training before the database is closed, and wait briefly for a running fit."""


@dataclass
class PastLearner:
    """A learner of an earlier state, stored while someone looks at that state, with a lock that lets one thread at a
    time use it. state : which state it is, in its maker's terms"""

    lock: threading.RLock = field(default_factory=threading.RLock)
    state: object = None
    learner: Learner | None = None

    def let_go(self) -> None:
        """Drop the learner: no one looks at it any more."""
        self.state = self.learner = None


@dataclass
class Slot:
    """One project's learner and the lock that lets one thread at a time answer, undo or catch up."""

    lock: FairLock = field(default_factory=FairLock)
    learner: Learner | None = None
    kept: KeptLog = field(default_factory=KeptLog)
    read_from: int = 0
    """Number of the database file from which the learner's log was read (`Database.times_replaced`)."""
    training: BackgroundTraining | None = None
    past: PastLearner = field(default_factory=PastLearner)
    checkpoint: int = 0
    """Seq of the learner's latest checkpoint on disk (`workflow.kinds.opening`), 0 for none."""
    looked_at: float = -math.inf
    out_of_use: list[BackgroundTraining] = field(default_factory=list)
    """Trainings of learners that were replaced; a fit of theirs may still be under way."""

    def take_news(self, training: Callable[[Learner], BackgroundTraining], older: float = 0.0) -> None:
        """Let the learner's training look for new models.

        training : creates it from the learner, if there is none yet
        older : minimum seconds since its last look
        """
        now = time.monotonic()
        if now - self.looked_at < older:
            return
        self.looked_at = now
        if self.learner is not None:
            self.training = self.training or training(self.learner)
            self.training.look()

    def renew(self, learner: Learner, checkpoint: int = 0) -> None:
        """Replace the learner. Fits for the previous one are no longer needed; when they have ended, it is freed."""
        self.learner, self.checkpoint = learner, checkpoint
        self._leave_training()

    def _leave_training(self) -> None:
        before = [*self.out_of_use, *([self.training] if self.training else [])]
        self.out_of_use = [one for one in before if one.abandon()]
        self.training, self.looked_at = None, -math.inf

    def put_away(self) -> bool:
        """Unload the learners, unless someone is using them; return whether any was unloaded.

        A learner whose model is being fitted stays: the fit would keep it in memory anyway, and be restarted next to
        it.
        """
        gone = False
        if self.past.learner is not None and self.past.lock.acquire(blocking=False):
            try:
                self.past.let_go()
                gone = True
            finally:
                self.past.lock.release()
        held = len(self.out_of_use) + (self.learner is not None)
        training = self.training  # anyone who is at it may leave it at any time
        fits = training is not None and training.busy
        if held and not fits and self.lock.acquire(blocking=False):
            try:
                self._leave_training()
                self.learner, self.kept = None, KeptLog()
                gone = gone or len(self.out_of_use) < held
            finally:
                self.lock.release()
        return gone


class Shelf:
    """Holds the learners of one process. Every read or write of a learner happens inside `workflow.seat.Seat`.

    most : bytes of this process above which learners are unloaded; None: never
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._slots: dict[int, Slot] = {}  # least recently used first

    def slot(self, project_id: int) -> Slot:
        """Return the slot of the project, created if there is none yet."""
        with self._lock:
            slot = self._slots.pop(project_id) if project_id in self._slots else Slot()
            self._slots[project_id] = slot
            return slot

    def opened(self) -> dict[int, Slot]:
        """Return the slots of projects whose learners are in memory, by project. This does not count as use."""
        with self._lock:
            return {project: slot for project, slot in self._slots.items() if slot.learner is not None}

    def has(self, project_id: int) -> bool:
        """Return whether the project has a slot."""
        with self._lock:
            return project_id in self._slots

    def peek(self, project_id: int) -> Slot | None:
        """Return the slot of the project, or None. This does not count as use."""
        with self._lock:
            return self._slots.get(project_id)

    def n_open(self) -> int:
        """Return the number of projects whose learners are in memory."""
        with self._lock:
            return sum(slot.learner is not None for slot in self._slots.values())

    def put(self, project_id: int, learner: Learner) -> None:
        """Store the learner of a project that was just created, so that its first question need not wait."""
        with self._lock:
            self._slots.setdefault(project_id, Slot(learner=learner))
        self.make_room(project_id)

    def make_room(self, project_id: int, wanted: int = 0) -> None:
        """Unload learners, least recently used first, until this many more bytes fit, or none is left.

        project_id : project whose learner stays      wanted : bytes needed to load it
        """
        with self._lock:
            others = [(one, slot) for one, slot in self._slots.items() if one != project_id]
        for other, slot in others:
            taken = own_memory()
            if self.most is None or taken is None or taken + wanted <= self.most:
                return
            if slot.put_away():
                give_back()
                _log.info("Project %d is unloaded until it is needed: memory is short.", other)

    def settle(self, project_id: int) -> None:
        """Wait until no fit of the project's model is running in this process."""
        training = self.slot(project_id).training
        if training is not None:
            training.settle()

    def fault(self, project_id: int) -> str | None:
        """Return why the latest fit of the project's model in this process failed; None if it did not."""
        training = self.slot(project_id).training
        return None if training is None else training.fault

    def close(self) -> None:
        """End the running fits of this process."""
        with self._lock:
            slots = list(self._slots.values())
        for slot in slots:
            for training in (*slot.out_of_use, *([slot.training] if slot.training else [])):
                training.stop()
