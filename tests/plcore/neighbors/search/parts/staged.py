"""Helpers that split rows into parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plcore.blocks.parts import BlockJob, map_part
from plcore.neighbors.search.parts.exact import RowParts


@dataclass(frozen=True)
class Given(BlockJob):
    """One part of rows, or of candidates, of a test."""

    name: str
    first: int


def stage(folder: Path, X: np.ndarray, block: int) -> RowParts:
    names = []
    for first in range(0, len(X), block):
        job = Given(folder, "rows", first)
        job.write(X[first : first + block].astype(np.float32))
        names.append(job.part)
    return RowParts(folder, tuple(names), block, len(X), X.shape[1])


def stage_candidates(folder: Path, sets: np.ndarray) -> str:
    job = Given(folder, "candidates", 0)
    job.write(np.packbits(sets, axis=1, bitorder="little"))
    return job.part


def together(folder: Path, names: Sequence[str]) -> np.ndarray:
    return np.concatenate([map_part(folder / name) for name in names])


def by_row(folder: Path, names: Sequence[str]) -> np.ndarray:
    """Results in the order of the rows."""
    found = together(folder, names)
    return found[np.argsort(found["row"])]


def surface(n: int, d: int = 12, seed: int = 0) -> np.ndarray:
    """A curved surface of four dimensions, with equal rows and a constant column."""
    rng = np.random.default_rng(seed)
    X = np.tanh(rng.normal(size=(n, 4)) @ rng.normal(size=(4, d))).astype(np.float32)
    X[n // 3 : n // 3 + 30] = X[5]
    X[:, 3] = 2.0
    return X
