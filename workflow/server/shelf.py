"""The learners in memory: one for each project, always rebuilt from table + log, or checkpoint + the log since.

Where they grow too many, those unused longest are put away, and opened again when someone comes.
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

# How much memory the machine has, and this process takes.

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a Linux container finds how much memory it may use: control groups of version 2, and of version 1."""


def machine_memory(limits: tuple[Path, ...] = LIMITS) -> int | None:
    """Bytes of memory that this machine, or the container it is, has; None if the system does not tell."""
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
    """Bytes in memory that this process alone has, pages of files not counted; None if the system does not tell.

    path : what Linux says of it, in pages: all of it, of that in memory, of that shared
    """
    try:
        _, resident, shared, *_ = map(int, path.read_text().split())
    except OSError:
        return None
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Let the system have the memory that nothing is in any more. glibc keeps it if it is not asked."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


_log = logging.getLogger(__name__)


class BackgroundTraining(Protocol):
    """How a learner gets the models that are fitted while people answer. Hold the slot's lock when you call it.

    fault : why the latest fit in this process failed; None if it did not, or where a worker does the fitting
    """

    fault: str | None

    @property
    def busy(self) -> bool:
        """Whether a fit is under way in this process."""

    def look(self) -> None:
        """Take in models that were fitted elsewhere, or begin the fit that is due; waits for nothing."""

    def settle(self) -> None:
        """Wait until no fit is under way in this process. Call it without the lock."""

    def abandon(self) -> bool:
        """Begin no fit and store none any more: the learner was replaced. One under way ends by itself, for nothing;
        whether there is one."""

    def stop(self) -> None:
        """As `abandon`, before the database is closed: waits a little for a fit under way."""


@dataclass
class PastLearner:
    """A learner of an earlier state, kept while someone looks at that state, and the lock that lets one thread at a
    time use it. state : which one it is, in its maker's terms"""

    lock: threading.RLock = field(default_factory=threading.RLock)
    state: object = None
    learner: Learner | None = None

    def let_go(self) -> None:
        """No one looks at it any more: it need not stay in memory."""
        self.state = self.learner = None


@dataclass
class Slot:
    """One project's learner and the lock that lets one thread at a time answer, undo or catch up."""

    lock: FairLock = field(default_factory=FairLock)
    learner: Learner | None = None
    kept: KeptLog = field(default_factory=KeptLog)
    read_from: int = 0
    """For which database file the learner's log was read (`Database.times_replaced`)."""
    training: BackgroundTraining | None = None
    past: PastLearner = field(default_factory=PastLearner)
    checkpoint: int = 0
    """Seq of the learner's latest checkpoint on disk (`workflow.kinds.opening`), 0 for none."""
    looked_at: float = -math.inf
    out_of_use: list[BackgroundTraining] = field(default_factory=list)
    """Trainings of learners that were replaced; a fit of theirs may still be under way."""

    def take_news(self, training: Callable[[Learner], BackgroundTraining], older: float = 0.0) -> None:
        """Let the learner's training look for new models.

        training : makes it from the learner, if there is none yet
        older : seconds; where it looked less long ago than that, it does not look again
        """
        now = time.monotonic()
        if now - self.looked_at < older:
            return
        self.looked_at = now
        if self.learner is not None:
            self.training = self.training or training(self.learner)
            self.training.look()

    def renew(self, learner: Learner, checkpoint: int = 0) -> None:
        """Replace the learner; fits for the one before are of no use any more, and once they have ended nothing holds
        it in memory."""
        self.learner, self.checkpoint = learner, checkpoint
        self._leave_training()

    def _leave_training(self) -> None:
        before = [*self.out_of_use, *([self.training] if self.training else [])]
        self.out_of_use = [one for one in before if one.abandon()]
        self.training, self.looked_at = None, -math.inf

    def put_away(self) -> bool:
        """Let go of the learners, unless someone is at them now; whether any was released of.

        One whose model is fitted now stays: the fit would hold it all the same, and be restarted next to it.
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

    most : bytes of this process above which learners are put away; None: never
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._slots: dict[int, Slot] = {}  # the one unused longest first

    def slot(self, project_id: int) -> Slot:
        """The slot of the project, made if there is none yet."""
        with self._lock:
            slot = self._slots.pop(project_id) if project_id in self._slots else Slot()
            self._slots[project_id] = slot
            return slot

    def opened(self) -> dict[int, Slot]:
        """The slots of projects whose learners are in memory, by project; no one counts as having used them."""
        with self._lock:
            return {project: slot for project, slot in self._slots.items() if slot.learner is not None}

    def has(self, project_id: int) -> bool:
        """Whether there is one."""
        with self._lock:
            return project_id in self._slots

    def peek(self, project_id: int) -> Slot | None:
        """The slot of the project, if there is one; looking at it is no use of it."""
        with self._lock:
            return self._slots.get(project_id)

    def n_open(self) -> int:
        """How many projects' learners are in memory."""
        with self._lock:
            return sum(slot.learner is not None for slot in self._slots.values())

    def put(self, project_id: int, learner: Learner) -> None:
        """Keep the learner of a project made a moment ago, so that its first question waits for nothing."""
        with self._lock:
            self._slots.setdefault(project_id, Slot(learner=learner))
        self.make_room(project_id)

    def make_room(self, project_id: int, wanted: int = 0) -> None:
        """Put learners away, those unused longest first, until this many bytes more fit in, or none is left.

        project_id : whose learner stays      wanted : bytes that opening it will take
        """
        with self._lock:
            others = [(one, slot) for one, slot in self._slots.items() if one != project_id]
        for other, slot in others:
            taken = own_memory()
            if self.most is None or taken is None or taken + wanted <= self.most:
                return
            if slot.put_away():
                give_back()
                _log.info("Project %d is put away until someone comes: memory is short.", other)

    def settle(self, project_id: int) -> None:
        """Wait until no fit of the project's model is under way in this process."""
        training = self.slot(project_id).training
        if training is not None:
            training.settle()

    def fault(self, project_id: int) -> str | None:
        """Why the latest fit of the project's model in this process failed; None if it did not."""
        training = self.slot(project_id).training
        return None if training is None else training.fault

    def close(self) -> None:
        """End the fits under way in this process."""
        with self._lock:
            slots = list(self._slots.values())
        for slot in slots:
            for training in (*slot.out_of_use, *([slot.training] if slot.training else [])):
                training.stop()
