"""Asking the helper: it is started with the first job, or before, and again if it has ended."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from joblib import cpu_count

from plcore import Problem, TableError
from plcore.arrays import counted, either
from plcore.tables import MediaError
from workflow.files.limited.bounds import MB, Bounds

# A line for jobs that cost much: this many run at once, the others follow in the order in which they were requested.

AT_ONCE = min(2, cpu_count())
"""Files that are read or checked at the same time by one process: each may take a core, and 500 MB and more."""
LONGEST = 900.0
"""Seconds that anyone waits: more than two small files in front that take all the time they may."""
EVERY = 1.0
"""Seconds until a waiting caller gets its place again, and may stop waiting."""

OnWait = Callable[[int], None]
"""Called with the number of jobs ahead, including running ones; 0 once its turn has come. Called at first and about
every second. It raises to stop waiting."""


class LongLine(Exception):  # noqa: N818 - nothing is wrong but the moment
    """The job's turn did not come; nothing was done."""


class Line:
    """The queue of one process. at_once : jobs at a time      clock : seconds of any clock that continues"""

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._at_once = at_once
        self._clock = clock
        self._changed = threading.Condition()
        self._line: list[object] = []
        """Running and waiting jobs, in order of arrival."""

    @contextmanager
    def turn(self, on_wait: OnWait | None = None) -> Iterator[None]:
        """One's turn, once it comes. The place in line is always given up at the end, even if `on_wait` raises.

        Raises LongLine if it has not come in LONGEST seconds.
        """
        own = object()
        with self._changed:
            self._line.append(own)
        try:
            self._wait(own, on_wait)
            yield
        finally:
            with self._changed:
                self._line.remove(own)
                self._changed.notify_all()

    def _wait(self, own: object, on_wait: OnWait | None) -> None:
        until = self._clock() + LONGEST
        while (before := self._before(own)) >= self._at_once:
            if on_wait is not None:
                on_wait(before)
            left = until - self._clock()
            if left <= 0:
                raise LongLine(_too_long(before))
            with self._changed:
                if self._line.index(own) == before:  # else a notice has already arrived
                    self._changed.wait(min(EVERY, left))
        if on_wait is not None:
            on_wait(0)

    def _before(self, own: object) -> int:
        with self._changed:
            return self._line.index(own)


def _too_long(before: int) -> str:
    files = f"{counted(before, 'other file')} {either(before, 'is', 'are')}"
    return f"Nothing was done: {files} still before this one after {LONGEST / 60:.0f} minutes. Fix: try again later."


IMPORTS = Line(AT_ONCE)
"""The queue for reading, checking and growing tables. Files that are viewed do not use this line and never wait
here."""

logger = logging.getLogger("winnow")
TABLE = "table.parquet"
"""The name of the table that a job has made in its folder."""
NUMBERS = "numbers.bin"
"""Name of its numbers in that folder, if stored in a form that can be mapped."""
COST = "A job, %s, has taken %.1f s of computing and %.0f MB."

_PIECE = 2**20
"""Bytes of a job's reply that are read at a time."""

_ROOMS = str(Path(__file__).parents[3])
_PROGRAM = f"import sys; sys.path[0] = {_ROOMS!r}; from workflow.files.limited.helper import main; main()"
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # others keep what they once had, or reserve far more than they use
    "MALLOC_ARENA_MAX": "1",
}
"""The helper's environment: one thread, because it forks, and memory that is taken as needed."""

_ENDED_BY = {
    signal.SIGXCPU: "cpu",
    signal.SIGALRM: "wall",
    signal.SIGABRT: "memory",  # how libraries end that get none
    signal.SIGKILL: "lost",
}


@dataclass(frozen=True)
class Finished:
    """The result of a job.

    result : what it gave back      cpu : seconds that it took      peak : bytes of memory that it had at most, those
        that it shares with the helper among them
    """

    result: Any
    cpu: float
    peak: int


class ChildEnded(TypedDict):
    """How a child ended."""

    code: int | None
    cpu: float
    peak: int


class HelperSaid(TypedDict, total=False):
    """Messages between a child and the helper, one or several lines."""

    result: Any
    problems: list[dict[str, Any]]
    unreadable: list[str]
    memory: bool
    system: tuple[int | None, str, str | None]
    failed: str
    step: float
    ended: ChildEnded


class _Helper:
    """The process, and this end of its socket."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def begin(self) -> None:
        """Start the process if there is none; it loads its readers meanwhile."""
        with self._lock:
            self._begin()

    def _begin(self) -> socket.socket:
        if self._control is not None and self._process is not None and self._process.poll() is None:
            return self._control
        if self._control is not None:
            self._control.close()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program, no input of users
                [sys.executable, "-c", _PROGRAM], stdin=theirs.fileno(), env={**os.environ, **_ALONE}
            )
        return self._control

    def end(self) -> None:
        """End the process and its current job."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.wait()
        self._control = self._process = None

    def job(self) -> socket.socket:
        """A socket whose other end a new child has."""
        mine, theirs = socket.socketpair()
        with contextlib.ExitStack() as on_failure, theirs, self._lock:
            on_failure.callback(mine.close)
            try:
                socket.send_fds(self._begin(), [b"j"], [theirs.fileno()])
            except OSError:
                self._end()  # its end is closed: it is ending, though the system may not count it as ended yet
                socket.send_fds(self._begin(), [b"j"], [theirs.fileno()])
            on_failure.pop_all()
        return mine


_helper = _Helper()
atexit.register(_helper.end)


def start() -> None:
    """Have the helper load its readers before the first file comes."""
    _helper.begin()


def ask(
    job: str,
    given: Mapping[str, object],
    folder: Path,
    bounds: Bounds,
    on_step: Callable[[float], None] | None = None,
    on_wait: OnWait | None = None,
) -> Finished:
    """Have a child do this.

    job : a function of `workflow.files.limited.jobs`, or of another module, which is named before it and loaded by
        the child
    given : its input, as JSON
    folder : for its large results
    on_step : called now and then with the share done
    on_wait : called about every second with 0; where it raises, the child is ended

    Raises
    TableError : What the job found wrong with the file; or the limit that it passed, in words.
    MediaError : It is a picture or a recording that cannot be decoded.
    OSError : What the system refused the job: a file that cannot be read, a disk that is full.
    RuntimeError : The job failed in an unforeseen way.
    """
    request = {"job": job, "given": dict(given), "folder": str(folder), "bounds": bounds.to_json()}
    said = _asked(request, on_step, on_wait)
    said = said or _asked(request, on_step, on_wait)  # nothing said: the helper ended before it began
    ended = said.get("ended") or ChildEnded({"code": None, "cpu": 0.0, "peak": 0})
    logger.debug(COST, job, ended["cpu"], ended["peak"] / 1e6)
    if "result" in said:
        return Finished(said["result"], ended["cpu"], ended["peak"])
    if "problems" in said:
        raise TableError(*(Problem(**problem) for problem in said["problems"]))
    if "unreadable" in said:
        raise MediaError(*said["unreadable"])
    if "system" in said and said["system"][0] != errno.EFBIG:
        raise OSError(*said["system"])
    if "failed" in said:
        raise RuntimeError(f"Reading a file failed in its own process:\n{said['failed']}")
    raise TableError(_passed(_limit(said, ended["code"]), bounds))


def run_in_turn(
    job: str,
    given: Mapping[str, object],
    folder: Path,
    bounds: Bounds,
    on_step: Callable[[float], None] | None = None,
    on_wait: OnWait | None = None,
) -> Finished:
    """`ask`, once those who import files have had their turn who came before. on_wait : as `line.Line.turn` calls it

    Raises as ``ask``; LongLine.
    """
    with IMPORTS.turn(on_wait):
        return ask(job, given, folder, bounds, on_step, on_wait)


def _asked(
    request: Mapping[str, object], on_step: Callable[[float], None] | None, on_wait: OnWait | None
) -> HelperSaid:
    """Messages about a request between a child and the helper; nothing if none has begun with it."""
    said: HelperSaid = {}
    with _helper.job() as mine:
        with contextlib.suppress(OSError):  # the helper is gone: the empty reply shows it
            mine.sendall(json.dumps(request).encode() + b"\n")
        # A reset: the child was ended before it had read the request.
        with contextlib.suppress(ConnectionResetError):
            for text in _lines(mine, on_wait):
                if text.strip():
                    said |= _read(text)
                if on_step is not None and "step" in said:
                    on_step(said.pop("step"))
    return said


def _lines(mine: socket.socket, on_wait: OnWait | None) -> Iterator[bytes]:
    """The lines that come, until no one can send any more; the last may be cut off."""
    mine.settimeout(None if on_wait is None else EVERY)
    rest = bytearray()
    while True:
        try:
            data = mine.recv(_PIECE)
        except TimeoutError:
            if on_wait is not None:
                on_wait(0)
            continue
        rest += data
        if not data:
            yield bytes(rest)
            return
        if b"\n" in data:
            *whole, rest = rest.split(b"\n")
            yield from map(bytes, whole)


def _read(text: bytes) -> HelperSaid:
    """The content of a line; empty if the child was ended in the middle of it."""
    try:
        found: HelperSaid = json.loads(text)
    except ValueError:
        return {}
    return found


def _limit(said: HelperSaid, code: int | None) -> str:
    if "memory" in said:
        return "memory"
    if "system" in said:
        return "disk"
    return "lost" if code is None or code >= 0 else _ENDED_BY.get(signal.Signals(-code), "broken")


def _passed(limit: str, bounds: Bounds) -> Problem:
    """The problem of a file that could not be read within its bounds."""
    small = (
        "A small file that unpacks to a huge one, or is damaged, does so; save it again with the program "
        "it is from. If "
        "it is as it should be, import it in parts, or with fewer columns."
    )
    most = "the limit for a file of its size"
    words = {
        "memory": f"Reading it takes more than {bounds.memory_mb:,} MB of memory, {most}.",
        "cpu": f"Reading it takes more than {bounds.cpu:,} seconds of computing, {most}.",
        "wall": f"It was not read within {bounds.wall:,} seconds, {most}.",
        "disk": "Unpacked, the file takes more of the disk than is allowed.",
        "broken": "The file breaks the program that reads it.",
        "lost": "The process that read the file was ended from outside, perhaps because memory ran out.",
    }
    allowed = bounds.file_bytes()
    if limit == "disk" and allowed < bounds.file_mb * MB:  # no fault of the file
        message = f"Winnow was started with a limit of {allowed:,} bytes for a file, and this one, unpacked, has more."
        return Problem(None, None, None, message, "Ask the operator to raise it (ulimit -f); then try again.")
    return Problem(None, None, None, words[limit], "Try again." if limit == "lost" else small)
