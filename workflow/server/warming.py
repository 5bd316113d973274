"""Compiling the kernels before anyone waits for them; it is spoken of only where the compiler has to run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from joblib import cpu_count

from plcore import compile_kernels
from plcore.arrays import one_thread_for_good

_BESIDE = "--beside"
"""Said to this module if it is run as the second process."""


def warm_up(say: Callable[[str], None]) -> float:
    """Load the numeric kernels, or compile them, in two processes if there are cores for them; returns the seconds
    it took.

    say : called with a sentence before each step that compiles; of what the second process does at the latest before
        it is waited for

    From now on the process does its matrix products in one thread: fits next to the answering would disturb each other,
    and sums in another order would give other last bits than a rebuilt model has.
    """
    begun = time.perf_counter()
    one_thread_for_good()
    beside: list[subprocess.Popen[str]] = []

    def compiling(done: int, of: int, name: str) -> None:
        if not beside and cpu_count() > 1:
            beside.append(_start())
        say(_words(done, of, name))

    compile_kernels(compiling=compiling, apart=False)
    for second in beside:
        with second:
            for line in second.stdout or ():
                say(line.rstrip())
    # Whatever became of a second process: what it has not done is done here.
    compile_kernels(compiling=lambda *step: say(_words(*step)), apart=True)
    return time.perf_counter() - begun


def _words(done: int, of: int, name: str) -> str:
    return f"Compiling the numeric kernels (once, step {done + 1} of {of}: {name}) ..."


def _start() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", __spec__.name, _BESIDE]  # our own module, no input of users
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)  # noqa: S603


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - for the person at the terminal


if __name__ == "__main__":
    if _BESIDE in sys.argv[1:]:
        compile_kernels(compiling=lambda *step: _print(_words(*step)), apart=True)
    else:
        warm_up(_print)
