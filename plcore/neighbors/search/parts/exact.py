"""Exact neighbours by blocks: the best of each block of rows for each block of queries, then the best of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plcore.common.runners.parts import BlockJob, BlockProgress, WrittenPart, run_parts, write_names
from plcore.common.runners.runner import Runner
from plcore.common.types import AnyArray, FloatArray, IntArray
from plcore.neighbors.search.blocks import BATCH, ROWS, Found, SinglePrecision, make_block
from plcore.neighbors.search.parts.rows import RowParts, numbered


def found_type(n_nearest: int) -> Any:
    """Of rows with what was found for them: their numbers, and others by (squared distance, number)."""
    return np.dtype([("row", "<i4"), ("neighbors", "<i4", (n_nearest,)), ("squared", "<f8", (n_nearest,))])


def frame_of(n_features: int) -> SinglePrecision:
    """How rows in [0, 1] are multiplied, whichever of them are there."""
    return SinglePrecision(np.vstack([np.zeros(n_features), np.ones(n_features)]))


def as_found(rows: IntArray, neighbors: AnyArray, squared: FloatArray) -> AnyArray:
    found = np.empty(len(rows), dtype=found_type(neighbors.shape[1]))
    found["row"], found["neighbors"], found["squared"] = rows, neighbors, squared
    return found


@dataclass(frozen=True)
class Best(BlockJob):
    """The `n_nearest` best rows of one part for each row of another, as far as there are so many.

    queries, rows : parts, and the numbers of their first rows (of listed rows, nobody asks)
    n_rows : in all; stands for no row
    """

    queries: str
    first_query: int
    rows: str
    first_row: int
    n_rows: int
    n_nearest: int

    def __str__(self) -> str:
        return f"Searching the rows from {self.first_row:,} for those from {self.first_query:,}"


@dataclass(frozen=True)
class BestOfAll(BlockJob):
    """The best of what blocks of rows have for one part of queries. bests : the part with their names."""

    bests: str
    first_query: int

    def __str__(self) -> str:
        return f"Merging the neighbours of the rows from {self.first_query:,}"


def find_best(job: Best) -> WrittenPart:
    own, queries = numbered(job.read(job.queries), job.first_query)
    numbers, rows = numbered(job.read(job.rows), job.first_row)
    frame = frame_of(rows.shape[1])
    found = Found(queries, job.n_nearest, own, frame, job.n_rows)
    for first in range(0, len(queries), BATCH):
        batch = np.arange(first, min(first + BATCH, len(queries)))
        single = found.open(batch)
        for start in range(0, len(rows), ROWS):
            places = np.arange(start, min(start + ROWS, len(rows)))
            found.scan(single, batch, make_block(frame, rows, numbers[places], places, rows[places]))
    return job.write(as_found(own, found.rows, found.squared))


def merge_best(job: BestOfAll) -> WrittenPart:
    parts = list(job.read_each(job.bests))
    neighbors = np.concatenate([one["neighbors"] for one in parts], axis=1)
    squared = np.concatenate([one["squared"] for one in parts], axis=1)
    width = parts[0]["neighbors"].shape[1]
    order = np.lexsort((neighbors, squared), axis=1)[:, :width]
    kept = (np.take_along_axis(one, order, axis=1) for one in (neighbors, squared))
    return job.write(as_found(parts[0]["row"], *kept))


def exact_parts(
    runner: Runner,
    folder: Path,
    queries: Sequence[tuple[str, int]],
    rows: RowParts,
    n_nearest: int,
    what: str = "exact neighbours",
    progress: BlockProgress | None = None,
) -> tuple[str, ...]:
    """The parts with the exact neighbours of queries, which are parts and the numbers of their first rows."""
    jobs = [
        Best(folder, query, first_query, part, first, rows.n_rows, n_nearest)
        for query, first_query in queries
        for part, first in zip(rows.names, rows.starts(), strict=True)
    ]
    found = run_parts(runner, find_best, jobs, what, progress)
    width = len(rows.names)
    merges = [
        BestOfAll(folder, write_names(folder, found[number * width : (number + 1) * width]), first)
        for number, (_, first) in enumerate(queries)
    ]
    return tuple(run_parts(runner, merge_best, merges, f"{what}, merged", progress))
