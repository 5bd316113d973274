"""Rows in parts, of which no process ever holds all: features as float32, scaled, and seeded samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from plcore.common.runners.parts import BlockJob, BlockProgress, WrittenPart, run_parts, write_names
from plcore.common.runners.runner import Runner
from plcore.common.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class RowParts:
    """Rows (n, d) float32 in parts of `block` rows each, the last of what is left.

    names : of the parts, in the order of the rows
    """

    folder: Path
    names: tuple[str, ...]
    block: int
    n_rows: int
    n_features: int

    def starts(self) -> Sequence[int]:
        """The number of the first row of each part."""
        return range(0, self.n_rows, self.block)

    def listed(self) -> str:
        """The part with the names of these."""
        return write_names(self.folder, self.names)


def listed_type(n_features: int) -> Any:
    """Of rows that stand in another order than the table's: their numbers, whether they can be neighbours, features."""
    return np.dtype([("row", "<i8"), ("searched", "?"), ("x", "<f4", (n_features,))])


def numbered(part: AnyArray, first: int) -> tuple[IntArray, FloatArray]:
    """(numbers (q,), float64 features (q, d)) of the rows of a part: listed ones, or those from number `first` on."""
    if part.dtype.names is None:
        return np.arange(first, first + len(part)), part.astype(np.float64)
    return part["row"].astype(np.int64), part["x"].astype(np.float64)


@dataclass(frozen=True)
class Extremes(BlockJob):
    """The least and the largest value of each feature in one part."""

    rows: str
    first: int

    def __str__(self) -> str:
        return f"Looking for the extremes of the rows from {self.first:,}"


@dataclass(frozen=True)
class ScaledRows(BlockJob):
    """One part scaled to [0, 1] by the extremes of all; the house's scaling, rounded to float32."""

    rows: str
    first: int
    extremes: str

    def __str__(self) -> str:
        return f"ScaledRows the rows from {self.first:,}"


@dataclass(frozen=True)
class Sample(BlockJob):
    """`size` rows drawn by a seed, in ascending order, listed."""

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
    """These rows of a part whose first row is number `first`, listed."""
    taken = np.empty(len(rows), dtype=listed_type(part.shape[1]))
    taken["row"], taken["searched"], taken["x"] = rows, True, part[rows - first]
    return taken


@dataclass(frozen=True)
class _Merged(BlockJob):
    extremes: tuple[str, ...]


def scale_rows(runner: Runner, rows: RowParts, progress: BlockProgress | None = None) -> RowParts:
    """The rows scaled to [0, 1], in as many parts."""
    jobs = [Extremes(rows.folder, *one) for one in zip(rows.names, rows.starts(), strict=True)]
    found = run_parts(runner, find_extremes, jobs, "extremes", progress)
    merged = _Merged(rows.folder, tuple(found))
    if not merged.path.exists():
        ends = [merged.read(name) for name in found]
        merged.write(
            np.stack([np.min([one[0] for one in ends], axis=0), np.max([one[1] for one in ends], axis=0)])
        )
    scalings = [
        ScaledRows(rows.folder, *one, merged.part) for one in zip(rows.names, rows.starts(), strict=True)
    ]
    names = tuple(run_parts(runner, scale, scalings, "scaled rows", progress))
    return RowParts(rows.folder, names, rows.block, rows.n_rows, rows.n_features)
