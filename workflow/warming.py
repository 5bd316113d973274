"""Compiling the kernels before anybody waits for them; it is spoken of only where the compiler has to run."""

from __future__ import annotations

from collections.abc import Callable

from plcore import compile_kernels
from plcore.common import one_thread_for_good


def warm_up(say: Callable[[str], None]) -> float:
    """Load the numeric kernels, or compile them; returns the seconds it took.

    say : called with a sentence before each step that compiles

    From now on the process does its matrix products in one thread: fits beside the answering would disturb each other,
    and sums in another order would give other last bits than a rebuilt model has.
    """
    one_thread_for_good()

    def compiling(done: int, of: int, name: str) -> None:
        say(f"Compiling the numeric kernels (once, step {done + 1} of {of}: {name}) ...")

    return compile_kernels(compiling=compiling)


if __name__ == "__main__":
    warm_up(lambda text: print(text, flush=True))  # noqa: T201 - for the person at the terminal
