"""Work done by the workers of a running Dask cluster; see docs/scale.md."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING

from plcore.blocks.parts import code_and_versions
from plcore.blocks.processes import Inline, ProcessPool
from plcore.blocks.runner import LOOK, BlockError, J, Meanwhile, R, Runner, RunnerError, alone, said

if TYPE_CHECKING:
    from distributed import Future

INSTALL = "pip install 'plcore[cluster]'"
PATIENCE, LEAST_PATIENCE = 30, 5
"""Seconds until a silent scheduler counts as unavailable: if someone waits for it, and if the work is retried later and
waits for no workers either."""
WORKER_PATIENCE = 60.0
"""Seconds that a cluster may be without any worker."""
GATHERED = 30.0
"""Seconds in which a job's result arrives here from its worker, unless that worker has gone."""
AHEAD = 2
"""Jobs submitted per thread of the cluster, one running and one queued: few are lost with a worker."""


def sees(path: str) -> bool:
    """Whether the process that runs this sees the file."""
    return Path(path).exists()


class DaskCluster:
    """A `Runner` that is the cluster whose scheduler is at `address`, such as ``tcp://10.0.0.1:8786``.

    Only paths and counts are sent. Dask gives the jobs of a dead worker to another; the error names a job that has
    killed four workers. Raises RunnerError if Dask is not installed, no scheduler answers, a worker does not see the
    folder, has other versions or runs several jobs at a time in one process, or there is no worker, from the start or
    since the last one has gone.

    folder : the folder that all jobs read and write; every worker must see it under the same path
    patience : seconds to wait for a worker      setting : the user's name for `patience`, for the message; '' if the
        user cannot set it
    """

    def __init__(
        self, address: str, folder: Path, patience: float = WORKER_PATIENCE, setting: str = "patience"
    ) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise RunnerError(
                f"{address} is the scheduler of a Dask cluster, and Dask is not installed here. Fix: {INSTALL}."
            ) from None
        self._dask, self._address = distributed, address
        self._patience, self._setting = patience, setting
        self._cancelled = False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)  # refused below
                wait = PATIENCE if patience else LEAST_PATIENCE
                self._client = distributed.Client(address, timeout=wait, set_as_default=False)
        except (OSError, ValueError) as error:
            raise RunnerError(
                f"No Dask scheduler answers at {address} ({said(error)}). Fix: start one (dask scheduler), or correct "
                "the address."
            ) from None
        try:
            self._check(folder)
        except BaseException:
            self.close()
            raise

    def _check(self, folder: Path) -> None:
        begun = monotonic()
        while not self._client.nthreads():
            if monotonic() - begun >= self._patience:
                raise self._without_workers()
            sleep(LOOK)
        for worker, threads in self._client.nthreads().items():
            if threads > 1:
                raise RunnerError(
                    f"The worker {worker} does {threads} jobs at a time in one process, where warnings of one "
                    "mix with those of another, and sums depend on which jobs run together. Fix: start it with "
                    "--nthreads 1, and as many of them (--nworkers) as there are cores."
                )
        try:
            self._client.get_versions(check=True)
        except ValueError as error:
            raise RunnerError(
                f"The cluster at {self._address} has other versions than this process. {error} Fix: install the same."
            ) from None
        mine = code_and_versions()
        theirs: dict[str, dict[str, str]] = self._client.run(code_and_versions)
        if not theirs:  # the last one has just ended
            raise self._without_workers()
        for worker, found in theirs.items():
            other = [f"{name} {found[name]}, here {mine[name]}" for name in mine if found[name] != mine[name]]
            if other:
                raise RunnerError(
                    f"The worker {worker} has other versions: {'; '.join(other)}. Fix: install the same; "
                    "start it again."
                )
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / f".seen-{secrets.token_hex(4)}"
        mark.touch()
        try:
            blind = [worker for worker, seen in self._client.run(sees, str(mark)).items() if not seen]
        finally:
            mark.unlink()
        if blind:
            raise RunnerError(
                f"The worker {blind[0]} does not see the folder {folder}. Fix: share it under the same path, as by NFS."
            )

    def _without_workers(self) -> RunnerError:
        longer = f", or wait longer ({self._setting}, in seconds)" if self._setting else ""
        return RunnerError(
            f"No worker is at the cluster {self._address}; Winnow waited for one, {self._patience:g} seconds. "
            f"Fix: start some (dask worker {self._address} --nthreads 1){longer}."
        )

    def map(
        self, function: Callable[[J], R], jobs: Iterable[J], meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[J, R]]:
        self._cancelled = False
        waiting: Iterator[J] = iter(jobs)
        running: dict[Future[R], J] = {}
        done: SimpleQueue[Future[R]] = SimpleQueue()

        def hand_over() -> None:
            width = AHEAD * max(1, self._threads())  # asked again: a starting cluster has one worker at first
            while len(running) < width:
                job = next(waiting, None)
                if job is None:
                    return
                future = self._client.submit(alone, function, job, pure=False)
                running[future] = job
                future.add_done_callback(done.put)

        try:
            hand_over()
            while running:
                future = self._next(done, meanwhile)
                job = running.pop(future)
                try:
                    result = future.result(timeout=GATHERED)
                except TimeoutError as error:
                    if future.status == "error":
                        raise BlockError(job, said(error)) from error
                    self._client.cancel([future])  # its worker died with the result; reading it again can wait forever
                    waiting = chain([job], waiting)
                    if not self._cancelled:
                        hand_over()
                    continue
                except self._dask.KilledWorker as error:
                    raise BlockError(job, f"the workers that had it died, {1 + self._allowed()} in turn.") from error
                except self._dask.CancelledError as error:
                    raise RunnerError(
                        "The scheduler of the cluster is gone. Fix: start it and its workers, then the same command: "
                        "written blocks stay."
                    ) from error
                except Exception as error:
                    raise BlockError(job, said(error)) from error
                if not self._cancelled:
                    hand_over()
                yield job, result
        finally:
            self._client.cancel(list(running))

    def _next(self, done: SimpleQueue[Future[R]], meanwhile: Meanwhile | None) -> Future[R]:
        """Return the next finished job. Without workers, jobs would wait forever: Dask does not treat that as an
        error."""
        empty_since: float | None = None
        while True:
            with suppress(Empty):
                return done.get(timeout=LOOK)
            if meanwhile is not None:
                meanwhile()
            if self._threads():
                empty_since = None
            elif empty_since is None:
                empty_since = monotonic()
            elif monotonic() - empty_since >= self._patience:
                raise self._without_workers()

    def _threads(self) -> int:
        """Number of jobs that the workers run at a time; 1 if the scheduler has gone, which Dask then reports for every
        job."""
        try:
            return sum(self._client.nthreads().values())
        except OSError:
            return 1

    def _allowed(self) -> int:
        from dask import config

        return int(config.get("distributed.scheduler.allowed-failures"))

    def cancel(self) -> None:
        self._cancelled = True

    def close(self) -> None:
        with suppress(OSError, TimeoutError):
            self._client.close()


def make_runner(where: str, folder: Path, patience: float = WORKER_PATIENCE, setting: str = "patience") -> Runner:
    """Return the runner that `where` names: '' this process; ``processes`` or ``processes:4`` some of this machine;
    else the address of a Dask scheduler. folder : of the parts      patience, setting : as in `DaskCluster`

    Raises RunnerError as `DaskCluster` does."""
    kind, _, number = where.partition(":")
    if not kind:
        return Inline()
    if kind == "processes":
        return ProcessPool(int(number) if number else None)
    return DaskCluster(where, folder, patience, setting)
