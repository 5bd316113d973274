"""One BLAS thread for the solvers.

Their matrix products are a megabyte at a time, thousands in a row. Handing each to a pool of threads costs more than
it saves, and on a busy machine, where the threads wait for one another, made fits 20 times slower.
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
    """The limit is that of the process: the first thread to come in sets it, the last to go lifts it.

    OpenBLAS does not take more threads again from any thread but the main one: where another is the last to go, one
    thread remains, which is slower and never wrong. A program that fits in several threads uses `one_thread_for_good`.
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
"""BLAS uses one thread inside of this context, in the whole process, however many threads are in it at a time."""


def one_thread_for_good() -> None:
    """BLAS uses one thread in this process from now on: the same sums in the same order, no matter who fits next to
    whom."""
    _controller().limit(limits=1, user_api="blas")
