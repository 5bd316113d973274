"""Work done by processes of this machine. If one is killed, its block is not lost."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Thread
from typing import Generic

from plcore.blocks.runner import DEATHS, LOOK, BlockError, J, Meanwhile, R, alone, said


@dataclass
class _Attempt(Generic[J]):
    """A job, the number of processes that died while they, or others in the pool, ran it, and the pool that ran it
    last."""

    job: J
    deaths: int = 0
    pool: ProcessPoolExecutor | None = None


def _end_with(parent: Connection) -> None:
    """End this process as soon as the other end of the pipe closes, even if the process that holds it was killed."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            parent.recv()
        os._exit(1)

    Thread(target=watch, name="end-with-parent", daemon=True).start()


class ProcessPool:
    """A `Runner` of `n_processes`, by default as many as this process may use cores.

    They end when the pool is closed, even in the middle of a job, and when this process dies for any reason. When one
    of them dies, all are ended, because the standard library cannot say which one died. Interrupted jobs run again; a
    job that was interrupted too often runs alone, so that no other is blamed for it.
    """

    def __init__(self, n_processes: int | None = None) -> None:
        if not n_processes:
            from joblib import cpu_count  # the container's cores; only a pool without a number needs joblib

            n_processes = cpu_count()
        self.n_processes = n_processes
        self._pool: ProcessPoolExecutor | None = None
        self._hold: Connection | None = None
        self._cancelled = False

    def map(
        self, function: Callable[[J], R], jobs: Iterable[J], meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[J, R]]:
        self._cancelled = False
        to_come = (_Attempt(job) for job in jobs)
        waiting: deque[_Attempt[J]] = deque()
        suspects: deque[_Attempt[J]] = deque()
        running: dict[Future[R], _Attempt[J]] = {}
        blamed: BlockError | None = None
        try:
            while True:
                while len(running) < self.n_processes and not self._cancelled:
                    coming = waiting.popleft() if waiting else next(to_come, None)
                    if coming is None:
                        break
                    self._begin(function, coming, running, waiting)
                if not running and suspects and not self._cancelled:
                    self._begin(function, suspects.popleft(), running, suspects)
                if not running and (self._cancelled or not (waiting or suspects)):
                    if blamed is not None and not self._cancelled:
                        raise blamed
                    return
                done = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED).done
                if not done and meanwhile is not None:
                    meanwhile()
                for future in done:
                    attempt = running.pop(future)
                    try:
                        result = future.result()
                    except BrokenProcessPool:
                        blamed = self._died(attempt, waiting, suspects) or blamed
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
            # A forked child would inherit the locks of threads that it does not have.
            context = multiprocessing.get_context("spawn")
            theirs, self._hold = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.n_processes, context, _end_with, (theirs,))
        attempt.pool = self._pool
        try:
            running[self._pool.submit(alone, function, attempt.job)] = attempt
        except BrokenProcessPool:  # before any of its jobs has noticed
            source.appendleft(attempt)
            self._drop()

    def _died(
        self, attempt: _Attempt[J], waiting: deque[_Attempt[J]], suspects: deque[_Attempt[J]]
    ) -> BlockError | None:
        """Let a job run again whose process died; or blame it, to be raised once the others are done."""
        if attempt.pool is self._pool:  # its other jobs are notified after it has gone
            self._drop()
        attempt.deaths += 1
        if attempt.deaths > DEATHS:  # the last time it ran alone
            return BlockError(attempt.job, f"its process was killed {attempt.deaths} times.")
        (waiting if attempt.deaths < DEATHS else suspects).appendleft(attempt)
        return None

    def _drop(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None and self._hold is not None:
            self._hold.close()  # no one needs the running jobs
            pool.shutdown(cancel_futures=True)

    def cancel(self) -> None:
        self._cancelled = True

    def close(self) -> None:
        self._drop()


# Work done on demand in this process: the default, and the reference for the others.


class Inline:
    """A `Runner` that runs jobs in this process."""

    def __init__(self) -> None:
        self._cancelled = False

    def map(
        self,
        function: Callable[[J], R],
        jobs: Iterable[J],
        meanwhile: Meanwhile | None = None,  # noqa: ARG002 - nobody waits beside the work
    ) -> Iterator[tuple[J, R]]:
        self._cancelled = False
        for job in jobs:
            if self._cancelled:
                return
            try:
                result = alone(function, job)
            except Exception as error:
                raise BlockError(job, said(error)) from error
            yield job, result

    def cancel(self) -> None:
        self._cancelled = True

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
