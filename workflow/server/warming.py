"""Compile the kernels before anyone waits for them; progress is reported only if the compiler has to run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, current_thread, main_thread

from joblib import cpu_count

from plcore import compile_kernels
from plcore.arrays import one_thread_for_good
from workflow.server.home import close_home
from workflow.server.running import terminal

Draw = Callable[[float, float | None], object]
"""Called with the share that is done, in [0, 1], and about how many seconds are left; None as long as this is unknown.
The last call is with 1.0."""

_BESIDE = "--beside"
"""Argument of this module when it is run as the second process."""
SECONDS = {
    False: {
        "label sets": 1.1,
        "effect scores": 6.6,
        "exact possible labels": 10.3,
        "ranking": 2.9,
        "many classes": 3.1,
        "scaled votes": 0.8,
    },
    True: {
        "neighbour search": 17.9,
        "online learners": 10.2,
        "margin learners": 9.4,
        "margins": 3.9,
        "soft labels": 0.2,
        "label vectors": 2.1,
        "annotators": 4.5,
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

    with _obeying(second):
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
def _obeying(second: list[tuple[subprocess.Popen[str], Thread]]) -> Iterator[None]:
    """Have Ctrl-C and a service manager end this process at once, and the second one. The server by itself only notes
    that it is to end, and looks once it has started, a minute later."""

    def end(number: int, _frame: object) -> None:
        for process, _ in second:
            process.kill()
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


def _follow(process: subprocess.Popen[str], progress: _Progress) -> None:
    """Follow the steps of the second process by the names it prints."""
    assert process.stdout is not None  # noqa: S101 - started with a pipe
    with process.stdout:
        for line in process.stdout:
            progress.at(True, line.rstrip())


def _start() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", __spec__.name, _BESIDE]  # our own module, no input of users
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)  # noqa: S603


if __name__ == "__main__":
    if _BESIDE in sys.argv[1:]:
        compile_kernels(compiling=lambda _done, _of, name: print(name, flush=True), apart=True)  # noqa: T201
    else:
        warm_up(terminal.compiling)
