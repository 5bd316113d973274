"""Jobs that belong to a person and continue without an open page: each in a thread, until no page asks for it any more.

A page ends with its websocket: at a reload, at a network failure, and every few minutes behind a sign-in proxy. A job
that ended with it would start again, at the end of the queue.
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
"""Seconds that a job continues and its result is stored while no page asks for it: a reload takes a few, and a dropped
network with a browser that retries takes a minute or more. With more time, the jobs of people who have left would delay
others."""
_LEAVING = 5.0
"""Seconds that `close` waits for jobs to end; they check every second whether they should."""
_ENDED = (
    "The reading of this file was ended: it was removed, another page of yours reads it differently, or no page has "
    "used it for a while. Fix: try again here, or continue there."
)

Result = TypeVar("Result")


class JobEnded(Exception):  # noqa: N818 - nothing is wrong: nobody wants it any more
    """The job was ended before it was done."""


class Job(Generic[Result]):
    """A person's job. Pages ask for its state. The work calls `on_wait` and `on_step`, which raise JobEnded once it
    should end.

    before : number of jobs before it, including running ones; 0 once it runs      share : done, None if unknown
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
        """Wait until it is done or ended, at most this long; return whether it is. Pages use this to ask for it."""
        self._asked_at = self._clock()
        return self._done.wait(seconds)

    def result(self) -> Result:
        """Return the result, once it is done. Raises the error of the work, or JobEnded."""
        if not self._done.is_set():
            raise RuntimeError("The job is not done. Fix: call `wait` until it is.")
        if self._error is not None:
            # Each page that raises the exception adds to its traceback: restore the traceback of the job first.
            raise self._error.with_traceback(self._came_from)
        return cast("Result", self._result)

    def on_wait(self, before: int) -> None:
        """Note the number of jobs before it. Raises JobEnded."""
        self.before = before
        self._go_on()

    def on_step(self, share: float) -> None:
        """Note the share done, in [0, 1]. Raises JobEnded."""
        self.share = share
        self._go_on()

    @property
    def failed(self) -> bool:
        return self._error is not None

    @property
    def unattended(self) -> bool:
        return self._clock() - self._asked_at >= UNATTENDED

    def end(self) -> None:
        """End the job: it is no longer wanted."""
        self._ended = True

    def leave(self, seconds: float) -> None:
        """Wait until its thread has ended, at most this long."""
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
            # Once it is ended its file may be removed while in use; that is not an error of the job.
            self._error = JobEnded(_ENDED) if self._ended and isinstance(error, Exception) else error
            self._came_from = self._error.__traceback__
        finally:
            self._done.set()


class KeptJobs:
    """The jobs of one process, by person, file and work. clock : returns seconds of a monotonic clock"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._jobs: dict[tuple[int, str, str], Job[Any]] = {}
        self._closed = False

    def ask(
        self, person_id: int, file: str, what: str, asked: object, do: Callable[[Job[Result]], Result]
    ) -> Job[Result]:
        """Return this person's job for this work: the existing one, or a new one.

        file, what : name the work      asked : its options; an existing job with other options is ended
        do : does the work, in the job's own thread. A failed job starts again
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
        """End this person's jobs with this file, and drop their results."""
        with self._lock:
            for key in [key for key in self._jobs if key[:2] == (person_id, file)]:
                self._jobs.pop(key).end()

    def sweep(self) -> None:
        """End and drop jobs that no page has asked for during UNATTENDED seconds."""
        with self._lock:
            for key in [key for key, job in self._jobs.items() if job.unattended]:
                self._jobs.pop(key).end()

    def close(self) -> None:
        """End all jobs, and every job requested later."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.end()
        until = time.monotonic() + _LEAVING
        for job in jobs:
            job.leave(max(0.0, until - time.monotonic()))


# Runner of long work in blocks: this process, processes of this machine, or the cluster in the settings.


def blocks_folder(settings: Settings) -> Path:
    """Return the folder of the parts; created on first use."""
    return settings.home / "blocks"


@contextmanager
def open_blocks(settings: Settings, folder: Path | None = None, patience: float | None = None) -> Iterator[Blocks]:
    """Open the runner of the settings with a folder, by default `blocks_folder`.

    patience : seconds to wait for workers, if not those of the settings
    Raises RunnerError if there are no workers.
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
    """Open the runner as `open_blocks` if the settings name one; None if this process does the work, without files."""
    if settings is None or not settings.cluster:
        yield None
        return
    with open_blocks(settings, folder, patience) as blocks:
        yield blocks


# A lock that threads get in the order of their requests.


class FairLock:
    """A fair replacement for `threading.RLock`, which running threads can take before those that have waited longer:
    with thirty annotators in a project, some wait many times as long as others. Here requests are served in order."""

    def __init__(self) -> None:
        self._inside = Lock()
        self._waiting: deque[tuple[int, Lock]] = deque()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock, again if this thread has it; return False if another thread has it and `blocking` is False."""
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
        """Release the lock. After as many releases as acquisitions, the thread that has waited longest gets it.

        Raises RuntimeError if this thread does not hold it.
        """
        with self._inside:
            if self._owner != get_ident():
                raise RuntimeError("A lock can only be released by its own thread.")
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
        """Stop waiting; if the lock was just given to this thread, pass it on."""
        with self._inside:
            if (me, turn) in self._waiting:
                self._waiting.remove((me, turn))
            else:
                self._hand_on()
