"""One BLAS thread for the solvers.

They do thousands of matrix products of about a megabyte each. A pool of threads costs more than it saves
there; on a busy machine, where the threads wait for one another, it made fits 20 times slower.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _Limit:
    """A process-wide limit: the first thread that enters sets it, the last one that leaves lifts it.

    In OpenBLAS only the main thread can raise the number of threads again. If another thread leaves last, the
    limit remains: slower, but never wrong. A program that fits in several threads should use
    `one_thread_for_good`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit = ExitStack()

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._limit.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.close()


one_thread = _Limit().held
"""Context in which BLAS uses one thread in the whole process. Several threads may be in it at a time."""


def one_thread_for_good() -> None:
    """Limit BLAS to one thread for the rest of this process, so that concurrent fits add in the same order
    and results are the same."""
    _controller().limit(limits=1, user_api="blas")
