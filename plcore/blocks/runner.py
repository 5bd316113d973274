"""The interface for long work on blocks: what a runner is, and how it reports a block that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

J = TypeVar("J")
R = TypeVar("R")

Meanwhile = Callable[[], object]
LOOK = 1.0
"""Seconds between two calls of `meanwhile`."""

DEATHS = 3
"""Processes that may die of a block, for any reason, before the block itself is blamed."""


class BlockError(RuntimeError):
    """A block failed. The message names it; `job` is what was submitted."""

    def __init__(self, job: object, why: str) -> None:
        self.job = job
        super().__init__(
            f"{job} cannot be done: {why} What other blocks have written is kept; the same command continues there."
        )


class RunnerError(RuntimeError):
    """The processes for the work are not there, or not fit for it."""


class Runner(Protocol):
    """An executor that runs function(job) for every job, somewhere.

    function : a function of a module, so that only its name is sent      jobs : plain values: paths, ranges, seeds
    A job may run twice, if its process was lost, so it must write the same file each time.
    """

    def map(
        self, function: Callable[[J], R], jobs: Iterable[J], meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[J, R]]:
        """Yield (job, result) as jobs finish, in any order. An exception here, or closing the iterator early, cancels
        the jobs that have not started. Raises BlockError, RunnerError.

        jobs : consumed when there is room for them      meanwhile : called about once a second while other processes
            work and no result is there yet; an exception in it ends the run
        """
        ...

    def cancel(self) -> None:
        """Cancel what has not begun, from any thread; `map` then ends after the running jobs."""
        ...

    def close(self) -> None:
        """Release the processes."""
        ...


class Blocks(NamedTuple):
    """A runner for long work, and the folder of its part files."""

    runner: Runner
    folder: Path


def alone(function: Callable[[J], R], job: J) -> R:
    """Run function(job) without threads of libraries: two blocks at a time would wait for each other, and sums would
    depend on the number of cores."""
    with threadpool_limits(limits=1):
        return function(job)


def said(error: BaseException) -> str:
    """Return the error as one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else f"{type(error).__name__}."
