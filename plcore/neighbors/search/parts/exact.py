"""Exact neighbours by blocks: the best rows of each block for each block of queries, then the best of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from plcore.arrays.types import AnyArray, FloatArray, IntArray
from plcore.blocks.parts import BlockJob, BlockProgress, WrittenPart, run_parts, write_names
from plcore.blocks.runner import Runner
from plcore.neighbors.search.blocks import BATCH, ROWS, Found, SinglePrecision, make_block

# Reverse lists: for each row, the rows whose neighbour it is, by ranges of rows.


@dataclass(frozen=True)
class Pairs(BlockJob):
    """(neighbour, row) pairs of one part of neighbours, int32 (2, p), by neighbour, then row."""

    found: str
    number: int

    def __str__(self) -> str:
        return f"Turning the neighbours of part {self.number:,} round"


@dataclass(frozen=True)
class Reverse(BlockJob):
    """(row, other row whose neighbour it is) pairs for the rows first..end - 1, int32 (2, p), by row, then the
    other."""

    pairs: str
    first: int
    end: int

    def __str__(self) -> str:
        return f"Listing the inverse neighbours of the rows {self.first:,} to {self.end - 1:,} are"


def pair_up(job: Pairs) -> WrittenPart:
    found = job.read(job.found)
    rows = np.repeat(found["row"], found["neighbors"].shape[1])
    return job.write(_ordered(found["neighbors"].ravel(), rows))


def list_reverse(job: Reverse) -> WrittenPart:
    pieces = [within(pairs, job.first, job.end) for pairs in job.read_each(job.pairs)]
    return job.write(_ordered(*np.concatenate(pieces, axis=1)))


def within(keyed: AnyArray, first: int, end: int) -> AnyArray:
    """Return the columns of (2, p) whose first number, ascending, is in first..end - 1; hardly any other columns are
    read."""
    bounds = np.array([first, end], dtype=keyed.dtype)  # another type would convert, and so read, all of it
    begin, stop = np.searchsorted(keyed[0], bounds)
    return keyed[:, begin:stop]


def _ordered(keys: AnyArray, others: AnyArray) -> AnyArray:
    order = np.lexsort((others, keys))
    return np.stack([keys[order], others[order]])


def reverse_parts(
    runner: Runner, folder: Path, found: Sequence[str], n_rows: int, block: int, progress: BlockProgress | None = None
) -> tuple[str, ...]:
    """Return the parts of the reverse lists, of `block` rows each. found : the parts with the neighbours of all rows"""
    turning = [Pairs(folder, name, number) for number, name in enumerate(found)]
    pairs = write_names(folder, run_parts(runner, pair_up, turning, "pairs of neighbours", progress))
    jobs = [Reverse(folder, pairs, first, min(first + block, n_rows)) for first in range(0, n_rows, block)]
    return tuple(run_parts(runner, list_reverse, jobs, "reverse lists", progress))


# Rows in parts, of which no process ever has all in memory: scaled float32 features, and seeded samples of them.


@dataclass(frozen=True)
class RowParts:
    """Rows (n, d) float32 in parts of `block` rows each, the last may be shorter. names : of the parts, in the order of
    the rows
    """

    folder: Path
    names: tuple[str, ...]
    block: int
    n_rows: int
    n_features: int

    def starts(self) -> Sequence[int]:
        """Return the number of the first row of each part."""
        return range(0, self.n_rows, self.block)

    def listed(self) -> str:
        """Return the part with the names of these parts."""
        return write_names(self.folder, self.names)


def listed_type(n_features: int) -> np.dtype[np.void]:
    """Return the data type of rows in another order than the table's: their numbers, whether they can be neighbours,
    features."""
    return np.dtype([("row", "<i8"), ("searched", "?"), ("x", "<f4", (n_features,))])


def numbered(part: AnyArray, first: int) -> tuple[IntArray, FloatArray]:
    """Return (numbers (q,), float64 features (q, d)) of the rows of a part: listed rows, or rows from number `first`
    on."""
    if part.dtype.names is None:
        return np.arange(first, first + len(part)), part.astype(np.float64)
    return part["row"].astype(np.int64), part["x"].astype(np.float64)


@dataclass(frozen=True)
class Extremes(BlockJob):
    """The smallest and the largest value of each feature in one part."""

    rows: str
    first: int

    def __str__(self) -> str:
        return f"Looking for the extremes of the rows from {self.first:,}"


@dataclass(frozen=True)
class ScaledRows(BlockJob):
    """One part scaled to [0, 1] by the extremes of all parts, as usual, rounded to float32."""

    rows: str
    first: int
    extremes: str

    def __str__(self) -> str:
        return f"ScaledRows the rows from {self.first:,}"


@dataclass(frozen=True)
class Sample(BlockJob):
    """`size` rows drawn with a seed, listed in ascending order."""

    parts: str
    block: int
    n_rows: int
    size: int
    seed: int

    def __str__(self) -> str:
        return f"Drawing {self.size:,} of {self.n_rows:,} rows"


def find_extremes(job: Extremes) -> WrittenPart:
    rows = job.read(job.rows)
    return job.write(np.stack([rows.min(axis=0), rows.max(axis=0)]).astype(np.float64))


def scale(job: ScaledRows) -> WrittenPart:
    scaler = MinMaxScaler().fit(job.read(job.extremes))
    return job.write(scaler.transform(job.read(job.rows).astype(np.float64)).astype(np.float32))


def draw(job: Sample) -> WrittenPart:
    chosen = np.sort(np.random.default_rng(job.seed).choice(job.n_rows, size=job.size, replace=False))
    firsts = range(0, job.n_rows, job.block)
    bounds = np.searchsorted(chosen, [*firsts, job.n_rows])
    parts = job.read_each(job.parts)
    taken = [
        take_rows(part, first, chosen[begin:end])
        for part, first, (begin, end) in zip(parts, firsts, pairwise(bounds), strict=True)
    ]
    return job.write(np.concatenate(taken))


def take_rows(part: AnyArray, first: int, rows: IntArray) -> AnyArray:
    """Return these rows of a part whose first row is number `first`, listed."""
    taken = np.empty(len(rows), dtype=listed_type(part.shape[1]))
    taken["row"], taken["searched"], taken["x"] = rows, True, part[rows - first]
    return taken


@dataclass(frozen=True)
class _Merged(BlockJob):
    extremes: tuple[str, ...]


def scale_rows(runner: Runner, rows: RowParts, progress: BlockProgress | None = None) -> RowParts:
    """Return the rows scaled to [0, 1], in the same number of parts."""
    jobs = [Extremes(rows.folder, *one) for one in zip(rows.names, rows.starts(), strict=True)]
    found = run_parts(runner, find_extremes, jobs, "extremes", progress)
    merged = _Merged(rows.folder, tuple(found))
    if not merged.path.exists():
        ends = [merged.read(name) for name in found]
        merged.write(np.stack([np.min([one[0] for one in ends], axis=0), np.max([one[1] for one in ends], axis=0)]))
    scalings = [ScaledRows(rows.folder, *one, merged.part) for one in zip(rows.names, rows.starts(), strict=True)]
    names = tuple(run_parts(runner, scale, scalings, "scaled rows", progress))
    return RowParts(rows.folder, names, rows.block, rows.n_rows, rows.n_features)


def found_type(n_nearest: int) -> np.dtype[np.void]:
    """Return the data type of rows with their results: their numbers, and others by (squared distance, number)."""
    return np.dtype([("row", "<i4"), ("neighbors", "<i4", (n_nearest,)), ("squared", "<f8", (n_nearest,))])


def frame_of(n_features: int) -> SinglePrecision:
    """Return the form in which rows in [0, 1] are multiplied; it does not depend on the rows."""
    return SinglePrecision(np.vstack([np.zeros(n_features), np.ones(n_features)]))


def pack_neighbors(rows: IntArray, neighbors: AnyArray, squared: FloatArray) -> AnyArray:
    found = np.empty(len(rows), dtype=found_type(neighbors.shape[1]))
    found["row"], found["neighbors"], found["squared"] = rows, neighbors, squared
    return found


@dataclass(frozen=True)
class Best(BlockJob):
    """The `n_nearest` best rows of one part for each row of another, if there are enough.

    queries, rows : parts, and the numbers of their first rows (unused for listed rows)
    n_rows : total number of rows; stands for no row
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
    """The best of the results of several blocks of rows for one part of queries. bests : the part with their names"""

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
    return job.write(pack_neighbors(own, found.rows, found.squared))


def merge_best(job: BestOfAll) -> WrittenPart:
    parts = list(job.read_each(job.bests))
    neighbors = np.concatenate([one["neighbors"] for one in parts], axis=1)
    squared = np.concatenate([one["squared"] for one in parts], axis=1)
    width = parts[0]["neighbors"].shape[1]
    order = np.lexsort((neighbors, squared), axis=1)[:, :width]
    kept = (np.take_along_axis(one, order, axis=1) for one in (neighbors, squared))
    return job.write(pack_neighbors(parts[0]["row"], *kept))


def exact_parts(
    runner: Runner,
    folder: Path,
    queries: Sequence[tuple[str, int]],
    rows: RowParts,
    n_nearest: int,
    what: str = "exact neighbours",
    progress: BlockProgress | None = None,
) -> tuple[str, ...]:
    """Return the parts with the exact neighbours of queries. queries, rows : parts, and the numbers of their first
    rows"""
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
