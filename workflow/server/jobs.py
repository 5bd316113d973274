"""Jobs that belong to a person and continue while no page of theirs is there: each in a thread, until no one asks.

A page ends whenever its websocket does: at a reload, for want of a network, and every few minutes behind a proxy that
signs people in. A job that ended with it would begin again, and at the end of the line.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from plcore.blocks import Blocks
    from workflow.server.settings import Settings

UNATTENDED = 120.0
"""Seconds that a job continues, and its result is kept, while no page asks after it: a reload takes some, a network
that
drops and a browser that tries again a minute or more. Any longer, people who are gone would keep others waiting."""
_LEAVING = 5.0
"""Seconds for which `close` waits for jobs to end; they look every second whether they shall."""
_ENDED = (
    "The reading of this file was ended: it was taken away, another page of yours reads it in another way, or no "
    "page has asked after it for a while. Fix: try again here, or go on there."
)

Result = TypeVar("Result")


class JobEnded(Exception):  # noqa: N818 - nothing is wrong: nobody wants it any more
    """The job was ended before it was done."""


class Job(Generic[Result]):
    """A person's job. Pages ask after it; what does it calls `on_wait` and `on_step`, which raise JobEnded
    once it shall end.

    before : how many come before it, those at work among them; 0 from its turn on      share : done, None if not known
    """

    def __init__(self, asked: object, clock: Callable[[], float]) -> None:
        self.asked = asked
        self.before = 0
        self.share: float | None = None
        self._clock = clock
        self._asked_at = clock()
        self._ended = False
        self._done = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._came_from: TracebackType | None = None
        self._thread: threading.Thread | None = None

    def wait(self, seconds: float) -> bool:
        """Whether it is done, or ended; for so long at most. A page asks after it by this."""
        self._asked_at = self._clock()
        return self._done.wait(seconds)

    def result(self) -> Result:
        """The result, once it is done. Raises what it has raised; JobEnded."""
        if not self._done.is_set():
            raise RuntimeError("The job is not done. Fix: call `wait` until it is.")
        if self._error is not None:
            # Every page that raises it adds to what an exception says of where it came from: each begins with the job.
            raise self._error.with_traceback(self._came_from)
        return cast("Result", self._result)

    def on_wait(self, before: int) -> None:
        """So many come before it. Raises JobEnded."""
        self.before = before
        self._go_on()

    def on_step(self, share: float) -> None:
        """So much of it is done, in [0, 1]. Raises JobEnded."""
        self.share = share
        self._go_on()

    @property
    def failed(self) -> bool:
        return self._error is not None

    @property
    def unattended(self) -> bool:
        return self._clock() - self._asked_at >= UNATTENDED

    def end(self) -> None:
        """No one wants it any more."""
        self._ended = True

    def leave(self, seconds: float) -> None:
        """Wait until its thread has ended, for so long at most."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _go_on(self) -> None:
        if self._ended or self.unattended:
            raise JobEnded(_ENDED)

    def _begin(self, do: Callable[[Job[Result]], Result]) -> None:
        self._thread = threading.Thread(target=self._run, args=(do,), name="kept-job", daemon=True)
        self._thread.start()

    def _run(self, do: Callable[[Job[Result]], Result]) -> None:
        try:
            self._go_on()
            self._result = do(self)
        except BaseException as error:  # it is raised again for the caller
            # Once it is ended its file may be gone under it, which is no fault of its own.
            self._error = JobEnded(_ENDED) if self._ended and isinstance(error, Exception) else error
            self._came_from = self._error.__traceback__
        finally:
            self._done.set()


class KeptJobs:
    """The jobs of one process, by person, file and work. clock : seconds of any clock that continues"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._jobs: dict[tuple[int, str, str], Job[Any]] = {}
        self._closed = False

    def ask(
        self, person_id: int, file: str, what: str, asked: object, do: Callable[[Job[Result]], Result]
    ) -> Job[Result]:
        """The job of this person that does this: the one that is there, or one that begins now.

        file, what : name it      asked : in which way; one that does it in another way is ended
        do : does it, in a thread of the job's own. One that has failed begins again.
        """
        self.sweep()
        with self._lock:
            job = self._jobs.get((person_id, file, what))
            if job is not None and job.asked == asked and not job.failed:
                job.wait(0)
                return job
            if job is not None:
                job.end()
            job = self._jobs[person_id, file, what] = Job(asked, self._clock)
            if self._closed:
                job.end()
            job._begin(do)
            return job

    def end(self, person_id: int, file: str) -> None:
        """End what is done for this person with this file, and forget what came of it."""
        with self._lock:
            for key in [key for key in self._jobs if key[:2] == (person_id, file)]:
                self._jobs.pop(key).end()

    def sweep(self) -> None:
        """End and forget what no one has asked after for UNATTENDED seconds."""
        with self._lock:
            for key in [key for key, job in self._jobs.items() if job.unattended]:
                self._jobs.pop(key).end()

    def close(self) -> None:
        """End all of them, and every one that is asked for later."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.end()
        until = time.monotonic() + _LEAVING
        for job in jobs:
            job.leave(max(0.0, until - time.monotonic()))


# Runner of long work in blocks: this process, processes of this machine, or the cluster that the settings name.


def blocks_folder(settings: Settings) -> Path:
    """Where the parts lie; made when the first of them is."""
    return settings.home / "blocks"


@contextmanager
def open_blocks(
    settings: Settings, folder: Path | None = None, patience: float | None = None
) -> Iterator[Blocks]:
    """The one that the settings name, at work in a folder, by default `blocks_folder`, while the block lasts.

    patience : seconds for which workers are waited for, if not those of the settings
    Raises RunnerError where no one is there to do it.
    """
    from plcore.blocks import Blocks, make_runner  # processes and clusters, if there is long work

    folder = blocks_folder(settings) if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    waited = (settings.cluster_wait, "WINNOW_CLUSTER_WAIT") if patience is None else (patience, "")
    runner = make_runner(settings.cluster, folder, *waited)
    try:
        yield Blocks(runner, folder)
    finally:
        runner.close()


@contextmanager
def cluster_blocks(
    settings: Settings | None, folder: Path | None = None, patience: float | None = None
) -> Iterator[Blocks | None]:
    """As `open_blocks` where the settings name someone; None if this process does the work, without files."""
    if settings is None or not settings.cluster:
        yield None
        return
    with open_blocks(settings, folder, patience) as blocks:
        yield blocks


# A lock that threads get in the order in which they asked for it.


class FairLock:
    """Like `threading.RLock`, which anyone who runs may take before those that have waited: where thirty people
    answer in
    one project, some wait many times as long as the others. Here no one is passed by."""

    def __init__(self) -> None:
        self._inside = Lock()
        self._waiting: deque[tuple[int, Lock]] = deque()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, once more where this thread has it; False if another has it, and `blocking` is False."""
        me = get_ident()
        with self._inside:
            if self._owner is None:
                self._owner = me
            if self._owner == me:
                self._depth += 1
                return True
            if not blocking:
                return False
            turn = Lock()
            turn.acquire()
            self._waiting.append((me, turn))
        try:
            turn.acquire()
        except BaseException:  # Ctrl-C while it waits
            self._give_up(me, turn)
            raise
        return True

    def release(self) -> None:
        """Give it back; after as many times as it was taken the thread has it that has waited longest.

        Raises RuntimeError where this thread has it not.
        """
        with self._inside:
            if self._owner != get_ident():
                raise RuntimeError("A lock is released by the thread that has it; this one has it not.")
            self._depth -= 1
            if self._depth == 0:
                self._hand_on()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _hand_on(self) -> None:
        if not self._waiting:
            self._owner = None
            return
        self._owner, turn = self._waiting.popleft()
        self._depth = 1
        turn.release()

    def _give_up(self, me: int, turn: Lock) -> None:
        """Wait no longer; if it was given to this thread just now, hand it on."""
        with self._inside:
            if (me, turn) in self._waiting:
                self._waiting.remove((me, turn))
            else:
                self._hand_on()
