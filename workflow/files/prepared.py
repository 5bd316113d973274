"""Files that people remove: each is written by a thread of this process, in pieces, and kept for a while.

They are under `WINNOW_HOME/exports`, by names that no one can guess. Only the process that wrote them knows and removes
them; files of a killed server are removed when they are too old to be needed.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import field as of_class
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from workflow.files.stored import whole_file

if TYPE_CHECKING:
    from plcore.tables import Tell

logger = logging.getLogger("winnow")

AT_ONCE = 2
"""Files written at the same time; others wait."""
KEPT = 24 * 3600.0
"""Seconds for which a file is kept that no one has downloaded."""
KEPT_FETCHED = 3600.0
"""Seconds that it is kept once it was fetched: a download may break off, and be tried again."""
PAUSE = 0.25
"""Pause after each piece, as a share of the time that it took: people who answer questions come first."""

WAITING, WRITING, READY, FAILED = "waiting", "writing", "ready", "failed"


@dataclass(frozen=True)
class Taken:
    """The content of a file, ready to be written.

    total : rows, or lines      seq : of the latest entry in it      write : writes it, and tells the rows so far; gives
        that entry again, where only writing tells which it is
    of_then : it holds an earlier state, and no later entry is missing in it
    counts_rows : whether the total is of rows, or lines; else of some parts, which say the progress and nothing else
    """

    total: int
    seq: int
    write: Callable[[BinaryIO, Tell], int | None]
    of_then: bool = False
    counts_rows: bool = True


class Cancelled(Exception):  # noqa: N818 - not an error
    """The file is no longer needed."""


@dataclass(frozen=True)
class Whose:
    """The person and the project of a file."""

    person_id: int
    project_id: int


@dataclass(frozen=True)
class PreparedFile:
    """The state of a prepared file.

    key : names it      state : WAITING, WRITING, READY or FAILED      done, total : rows, so far and in all
    seq : of the latest entry that it holds      size : bytes, 0 before it is ready      fault : why there is none
    of_then : whether it holds an earlier state, and should not hold more      counts_rows : as in `Taken`
    """

    key: str
    file_name: str
    state: str
    done: int
    total: int
    seq: int
    size: int = 0
    fault: str = ""
    of_then: bool = False
    counts_rows: bool = True

    @property
    def unfinished(self) -> bool:
        return self.state in (WAITING, WRITING)


@dataclass(eq=False)
class _Job:
    whose: Whose
    key: str
    path: Path
    file_name: str
    total: int
    seq: int
    of_then: bool
    counts_rows: bool
    state: str = WAITING
    done: int = 0
    size: int = 0
    fault: str = ""
    ended_at: float | None = None
    fetched_at: float | None = None
    cancelled: threading.Event = of_class(default_factory=threading.Event)
    ended: threading.Event = of_class(default_factory=threading.Event)

    def seen(self) -> PreparedFile:
        return PreparedFile(
            self.key,
            self.file_name,
            self.state,
            self.done,
            self.total,
            self.seq,
            self.size,
            self.fault,
            self.of_then,
            self.counts_rows,
        )

    def use_by(self) -> float:
        """The moment after which no one needs it."""
        if self.ended_at is None:
            return float("inf")
        return self.ended_at + KEPT if self.fetched_at is None else self.fetched_at + KEPT_FETCHED


class PreparedFiles:
    """The prepared files of one process. clock : seconds of any clock that continues"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, folder: Path, whose: Whose, file_name: str, taken: Taken) -> str:
        """Have a file written; its key. One of the same name that was for the same person gives way to it.

        folder : made if it is missing. Raises OSError where it cannot be.
        """
        folder.mkdir(mode=0o700, exist_ok=True)
        self.sweep()
        key = secrets.token_urlsafe(24)
        path, counts_rows = folder / key, taken.counts_rows
        job = _Job(whose, key, path, file_name, taken.total, taken.seq, taken.of_then, counts_rows)
        with self._lock:
            before = [one for one in self._jobs.values() if (one.whose, one.file_name) == (whose, file_name)]
            self._jobs[key] = job
            if self._threads is None:
                self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="winnow-export")
            self._threads.submit(self._run, job, taken)
        self._drop(before)
        return key

    def of(self, whose: Whose) -> tuple[PreparedFile, ...]:
        """Return the files of one person at one project, latest first."""
        self.sweep()
        with self._lock:
            found = [one for one in self._jobs.values() if one.whose == whose]
        return tuple(one.seen() for one in reversed(found))

    def wait(self, key: str, seconds: float | None = None) -> None:
        """Until the file has been written or has failed; no longer than this many seconds."""
        with self._lock:
            job = self._jobs.get(key)
        if job is not None:
            job.ended.wait(seconds)

    def remove(self, whose: Whose, key: str) -> None:
        """The file is not wanted any more: end its writing, or remove it. Nothing happens if there is none."""
        job = self._find(whose, key)
        self._drop([] if job is None else [job])

    def fetch(self, whose: Whose, key: str) -> tuple[Path, str] | None:
        """The path and the download name of the file; None if it does not exist or is not ready. From
        now on it is kept for KEPT_FETCHED."""
        self.sweep()
        job = self._find(whose, key)
        if job is None or job.state != READY or not job.path.is_file():
            return None
        job.fetched_at = self._clock()
        return job.path, job.file_name

    def sweep(self) -> None:
        """Remove what no one needs any more."""
        now = self._clock()
        with self._lock:
            old = [one for one in self._jobs.values() if one.use_by() <= now]
        self._drop(old)

    def close(self) -> None:
        """End what is being written, and remove all files."""
        with self._lock:
            jobs, threads = list(self._jobs.values()), self._threads
            self._threads = None
        self._drop(jobs)
        if threads is not None:
            threads.shutdown()

    def _find(self, whose: Whose, key: str) -> _Job | None:
        with self._lock:
            job = self._jobs.get(key)
        return job if job is not None and job.whose == whose else None

    def _drop(self, jobs: list[_Job]) -> None:
        for job in jobs:
            job.cancelled.set()
            with self._lock:
                self._jobs.pop(job.key, None)
                job.path.unlink(missing_ok=True)

    def _run(self, job: _Job, taken: Taken) -> None:
        begun = time.monotonic()

        def tell(done: int) -> None:
            nonlocal begun
            job.done = done
            if job.cancelled.wait(PAUSE * (time.monotonic() - begun)):
                raise Cancelled
            begun = time.monotonic()

        try:
            if job.cancelled.is_set():
                return
            job.state = WRITING
            with whole_file(job.path) as file:
                seq = taken.write(file, tell)
            job.seq = job.seq if seq is None else seq
            with self._lock:
                if job.cancelled.is_set():
                    job.path.unlink(missing_ok=True)
                job.size = 0 if job.cancelled.is_set() else job.path.stat().st_size
            job.state = READY
        except Cancelled:
            pass
        except OSError as error:
            logger.exception("An export could not be written.")
            job.state, job.fault = FAILED, why_not_written(error)
        except Exception as error:  # no other code sees an error of the thread
            logger.exception("An export failed.")
            job.state, job.fault = FAILED, str(error) or type(error).__name__
        finally:
            job.ended_at = self._clock()
            job.ended.set()


def why_not_written(error: OSError) -> str:
    """Why a file could not be written, as a message for its person."""
    return f"The file could not be written ({error.strerror or error}). Fix: make room on the disk, then try again."


def clear(folder: Path) -> None:
    """Remove files that a killed server left: those older than files are ever kept. Younger ones may belong to another
    server on the same home."""
    if folder.is_dir():
        for path in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # the other server was quicker
                if path.lstat().st_mtime >= time.time() - KEPT - KEPT_FETCHED:
                    continue
                if path.is_dir():  # folder in which a data set was being packed
                    shutil.rmtree(path)
                else:
                    path.unlink()
