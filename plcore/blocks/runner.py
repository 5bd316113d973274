"""The one seam through which long work on blocks goes: what a runner is, and what it says of a block it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

J = TypeVar("J")
R = TypeVar("R")

Meanwhile = Callable[[], object]
LOOK = 1.0
"""Seconds between two calls of it."""

DEATHS = 3
"""Processes that a block may take with it, by whatever cause, before the block itself is to blame."""


class BlockError(RuntimeError):
    """A block cannot be done. The message names it; `job` is what was handed over."""

    def __init__(self, job: object, why: str) -> None:
        self.job = job
        super().__init__(
            f"{job} cannot be done: {why} What other blocks have written stays; the same command goes on from there."
        )


class RunnerError(RuntimeError):
    """The processes that were to do the work are not there, or not such that they could."""


class Runner(Protocol):
    """Does function(job) for every job, somewhere.

    function : of a module, so that its name is all that travels      jobs : plain values: paths, ranges, seeds
    A job may be done twice, where a process that had it was lost; so it has to write the same file each time.
    """

    def map(
        self, function: Callable[[J], R], jobs: Iterable[J], meanwhile: Meanwhile | None = None
    ) -> Iterator[tuple[J, R]]:
        """(job, result) of each as it is done, in any order. What is raised here, or the end of the iterator before its
        time, withdraws what has not begun. Raises BlockError, RunnerError.

        jobs : taken when there is room for them      meanwhile : called about once a second where others do the work
            and nothing of it is done yet; what it raises ends it
        """
        ...

    def cancel(self) -> None:
        """Withdraw what has not begun, from whatever thread; `map` then ends after what is under way."""
        ...

    def close(self) -> None:
        """Let the processes go."""
        ...


class Blocks(NamedTuple):
    """Runner of long work, and the folder of its part files."""

    runner: Runner
    folder: Path


def alone(function: Callable[[J], R], job: J) -> R:
    """function(job), in which no library starts threads of its own: two blocks next to each other would wait for one
    another, and sums would depend on how many cores there are."""
    with threadpool_limits(limits=1):
        return function(job)


def said(error: BaseException) -> str:
    """The error, as one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else f"{type(error).__name__}."
