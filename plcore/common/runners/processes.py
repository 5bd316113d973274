"""Work done by processes of this machine. One that is killed loses nobody's block."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Generic

from plcore.common.runners.runner import DEATHS, BlockError, J, R, alone, said


@dataclass
class _Attempt(Generic[J]):
    """A job, and how many processes have died while they, or others beside them, had it."""

    job: J
    deaths: int = 0


class ProcessPool:
    """A `Runner` of `n_processes`, by default as many as there are cores.

    When a process dies, all have to go: the standard library cannot say which it was. What was under way is done anew,
    and a job that was there too often is done by itself, so that no other is blamed for it.
    """

    def __init__(self, n_processes: int | None = None) -> None:
        self.n_processes = n_processes or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._cancelled = False

    def map(self, function: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R]]:
        self._cancelled = False
        waiting = deque(_Attempt(job) for job in jobs)
        suspects: deque[_Attempt[J]] = deque()
        running: dict[Future[R], _Attempt[J]] = {}
        try:
            while running or ((waiting or suspects) and not self._cancelled):
                while waiting and len(running) < self.n_processes and not self._cancelled:
                    self._begin(function, waiting.popleft(), running, waiting)
                if not running and suspects and not self._cancelled:
                    self._begin(function, suspects.popleft(), running, suspects)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    attempt = running.pop(future)
                    try:
                        result = future.result()
                    except BrokenProcessPool:
                        self._died(attempt, waiting, suspects)
                        continue
                    except Exception as error:
                        raise BlockError(attempt.job, said(error)) from error
                    yield attempt.job, result
        finally:
            for future in running:
                future.cancel()

    def _begin(
        self,
        function: Callable[[J], R],
        attempt: _Attempt[J],
        running: dict[Future[R], _Attempt[J]],
        source: deque[_Attempt[J]],
    ) -> None:
        if self._pool is None:
            # A child that is forked would have the locks of threads that are not there.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.n_processes, mp_context=context)
        try:
            running[self._pool.submit(alone, function, attempt.job)] = attempt
        except BrokenProcessPool:  # before any of its jobs has noticed
            source.appendleft(attempt)
            self._drop()

    def _died(self, attempt: _Attempt[J], waiting: deque[Any], suspects: deque[Any]) -> None:
        self._drop()
        attempt.deaths += 1
        if attempt.deaths > DEATHS:  # the last time it was the only one
            raise BlockError(attempt.job, f"its process was killed {attempt.deaths} times.")
        (waiting if attempt.deaths < DEATHS else suspects).appendleft(attempt)

    def _drop(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def cancel(self) -> None:
        self._cancelled = True

    def close(self) -> None:
        self._drop()
