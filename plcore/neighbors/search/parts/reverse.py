"""Reverse lists: for each row those whose neighbour it is, by ranges of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plcore.common.runners.parts import BlockJob, BlockProgress, WrittenPart, run_parts, write_names
from plcore.common.runners.runner import Runner
from plcore.common.types import AnyArray


@dataclass(frozen=True)
class Pairs(BlockJob):
    """(neighbour, row) of one part of neighbours, int32 (2, p), by neighbour, then row."""

    found: str
    number: int

    def __str__(self) -> str:
        return f"Turning the neighbours of part {self.number:,} round"


@dataclass(frozen=True)
class Reverse(BlockJob):
    """(row, whose neighbour it is) of the rows first..end - 1, int32 (2, p), by row, then the other."""

    pairs: str
    first: int
    end: int

    def __str__(self) -> str:
        return f"Listing whose neighbours the rows {self.first:,} to {self.end - 1:,} are"


def pair_up(job: Pairs) -> WrittenPart:
    found = job.read(job.found)
    rows = np.repeat(found["row"], found["neighbors"].shape[1])
    return job.write(_ordered(found["neighbors"].ravel(), rows))


def list_reverse(job: Reverse) -> WrittenPart:
    pieces = [within(pairs, job.first, job.end) for pairs in job.read_each(job.pairs)]
    return job.write(_ordered(*np.concatenate(pieces, axis=1)))


def within(keyed: AnyArray, first: int, end: int) -> AnyArray:
    """The columns of (2, p) whose first number, ascending, is in first..end - 1; little more of it is read."""
    bounds = np.array([first, end], dtype=keyed.dtype)  # of another type, all would be read to be converted
    begin, stop = np.searchsorted(keyed[0], bounds)
    return keyed[:, begin:stop]


def _ordered(keys: AnyArray, others: AnyArray) -> AnyArray:
    order = np.lexsort((others, keys))
    return np.stack([keys[order], others[order]])


def reverse_parts(
    runner: Runner,
    folder: Path,
    found: Sequence[str],
    n_rows: int,
    block: int,
    progress: BlockProgress | None = None,
) -> tuple[str, ...]:
    """The parts of the reverse lists, of `block` rows each. found : the parts with the neighbours of all rows"""
    turning = [Pairs(folder, name, number) for number, name in enumerate(found)]
    pairs = write_names(folder, run_parts(runner, pair_up, turning, "pairs of neighbours", progress))
    jobs = [Reverse(folder, pairs, first, min(first + block, n_rows)) for first in range(0, n_rows, block)]
    return tuple(run_parts(runner, list_reverse, jobs, "reverse lists", progress))
