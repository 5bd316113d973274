"""Compiling before anybody waits: said while it happens, silent when the machine code is there already."""

from __future__ import annotations

import time
from collections.abc import Callable

from plcore import compile_kernels
from plcore.common import one_thread_for_good

WORTH_SAYING = 1.0
"""Seconds after which the next step is announced."""


def warm_up(say: Callable[[str], None]) -> float:
    """Compile the numeric kernels; returns the seconds. ``say`` is told about it if it takes over a second.

    From now on the process does its matrix products in one thread: fits beside the answering would disturb each other,
    and sums in another order would give other last bits than a rebuilt model has.
    """
    one_thread_for_good()
    begun = time.monotonic()

    def progress(done: int, of: int, name: str) -> None:
        if name and time.monotonic() - begun > WORTH_SAYING:
            say(f"Compiling the numeric kernels (once, step {done + 1} of {of}: {name}) ...")

    return compile_kernels(progress)


if __name__ == "__main__":
    warm_up(lambda text: print(text, flush=True))  # noqa: T201 - for the person at the terminal
