"""Compile the kernels before anyone waits for them; progress is reported only if the compiler has to run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock, Thread, current_thread, main_thread

from joblib import cpu_count

from plcore import compile_kernels
from plcore.arrays import one_thread_for_good
from plcore.kernels import code_is_kept, code_is_there, wait_for_code
from workflow.server.home import close_home
from workflow.server.running import terminal

Draw = Callable[[float, float | None], object]
"""Called with the share that is done, in [0, 1], and about how many seconds are left; None as long as this is unknown.
The last call is with 1.0."""

_ROOMS = Path(__file__).parents[2]
_COMMAND = [sys.executable, "-m", "workflow.server.warming"]
"""Compiles the kernels: our own module, without input of users."""
_BESIDE = "--beside"
"""Its argument as the second process."""
BELOW_PAGES = 10
"""Niceness of compiling next to a server that has started."""
LOOK_EVERY = 0.05
"""Seconds between two looks for machine code that another process makes."""
SECONDS = {
    False: {
        "label sets": 2.0,
        "effect scores": 5.9,
        "ranking": 3.2,
        "many classes": 2.5,
        "scaled votes": 0.4,
        "exact possible labels": 11.9,
        "wide weights": 4.6,
    },
    True: {
        "neighbour search": 12.0,
        "online learners": 7.0,
        "margin learners": 6.7,
        "margins": 2.3,
        "soft labels": 0.2,
        "label vectors": 0.8,
        "annotators": 2.5,
    },
}
"""Seconds of each step on a machine with two cores, in order, to weight the steps: for this process, and for those that
a second one can compile meanwhile."""


class _Progress:
    """Common progress of two processes. It begins with the first step that really compiles."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.parallel = False
        self.begun = 0.0
        self.first: float | None = None
        self.left = {apart: sum(costs.values()) for apart, costs in SECONDS.items()}
        self.all = dict(self.left)

    def _together(self, costs: dict[bool, float]) -> float:
        return max(costs.values()) if self.parallel else sum(costs.values())

    def at(self, apart: bool, name: str) -> None:
        """Note that a process begins to compile in this step. apart : whether it is the second process"""
        costs = SECONDS[apart]
        self.left[apart] = sum(list(costs.values())[list(costs).index(name) :])
        if self.first is None:
            self.first, self.begun = self._together(self.left), time.perf_counter()
        left = self._together(self.left)
        passed, gone = time.perf_counter() - self.begun, self.first - left
        self.draw(1.0 - left / self._together(self.all), passed * left / gone if gone > 0 else None)

    def end(self) -> None:
        if self.first is not None:
            self.draw(1.0, 0.0)


def warm_up(draw: Draw) -> float:
    """Load the numeric kernels, or compile them, in two processes if there are cores for them; returns the seconds
    it took.

    draw : called before each step that compiles, and at the end; never if nothing has to be compiled. With a second
        process it is called from another thread, too

    From now on the process does its matrix products in one thread: fits next to the answering would disturb each other,
    and sums in another order would give other last bits than a rebuilt model has.
    """
    begun = time.perf_counter()
    one_thread_for_good()
    second: list[tuple[subprocess.Popen[str], Thread]] = []
    progress = _Progress(draw)

    def here(_done: int, _of: int, name: str) -> None:
        if second or cpu_count() == 1:
            progress.at(False, name)
            return
        process = _start()
        progress.parallel = True
        progress.at(False, name)
        # From here on: output of the second process before this one's first step must not count as that step.
        reader = Thread(target=_follow, args=(process, progress), daemon=True)
        second.append((process, reader))
        reader.start()

    def end() -> None:
        for process, _ in second:
            process.kill()

    with obeying(end):
        compile_kernels(compiling=here, apart=False)
        progress.left[False] = 0.0
        for process, reader in second:
            reader.join()
            process.wait()
        # Whatever the second process did not finish is compiled here.
        compile_kernels(compiling=lambda _done, _of, name: progress.at(True, name), apart=True)
    progress.end()
    return time.perf_counter() - begun


@contextmanager
def obeying(end_others: Callable[[], object]) -> Iterator[None]:
    """Have Ctrl-C and a service manager end this process at once, after `end_others`. The server by itself only notes
    that it is to end, and looks once it has started, half a minute later."""

    def end(number: int, _frame: object) -> None:
        end_others()
        close_home()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    if current_thread() is not main_thread():  # it gets no signals
        yield
        return
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Beside:
    """A process that compiles the kernels next to a server, at most once: in the server, compiling would hold the
    interpreter, and no request would be answered. A thread that needs a kernel waits until its machine code is on
    disk."""

    def __init__(self) -> None:
        self._lock = RLock()  # a signal ends the process in the middle of its start
        self._process: subprocess.Popen[bytes] | None = None

    def begin_if_needed(self) -> None:
        """Start the process if machine code is missing; where none can be kept, compile here. The server does its
        matrix products in one thread from now on, as after `warm_up`."""
        if not code_is_kept():
            warm_up(terminal.compiling)
            return
        one_thread_for_good()
        wait_for_code(self._wait)
        if not code_is_there():
            self._begin()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def step_back(self) -> None:
        """Lower its priority: from now on, people wait for pages."""
        if self._process is not None and self.is_running:
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PGRP, self._process.pid, BELOW_PAGES)

    def end(self) -> None:
        """End the process, and the one that it starts; the next start compiles what is missing."""
        wait_for_code(None)
        with self._lock:
            if self._process is not None and self.is_running:
                os.killpg(self._process.pid, signal.SIGKILL)  # the compiler would hear of others seconds later
                self._process.wait()

    def _begin(self) -> None:
        with self._lock:
            if self._process is None:
                out = sys.stderr if terminal.as_json else None
                # In a group of its own, with the process that it starts.
                self._process = subprocess.Popen(  # noqa: S603
                    _COMMAND, cwd=_ROOMS, stdin=subprocess.DEVNULL, stdout=out, process_group=0
                )

    def _wait(self) -> bool:
        self._begin()  # machine code may be missing that was not looked for at the start
        if not self.is_running:
            return False
        time.sleep(LOOK_EVERY)
        return True


def _follow(process: subprocess.Popen[str], progress: _Progress) -> None:
    """Follow the steps of the second process by the names it prints."""
    assert process.stdout is not None  # noqa: S101 - started with a pipe
    with process.stdout:
        for line in process.stdout:
            progress.at(True, line.rstrip())


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen([*_COMMAND, _BESIDE], cwd=_ROOMS, stdout=subprocess.PIPE, text=True)  # noqa: S603


if __name__ == "__main__":
    if _BESIDE in sys.argv[1:]:
        compile_kernels(compiling=lambda _done, _of, name: print(name, flush=True), apart=True)  # noqa: T201
    else:
        warm_up(terminal.compiling)
