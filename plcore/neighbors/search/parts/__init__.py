"""Neighbours of more rows than a process can hold, in parts: exact by blocks, or approximate by cells with a measured
recall."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plcore.arrays.types import AnyArray
from plcore.blocks.parts import BlockJob, BlockProgress, map_part, run_parts, write_names
from plcore.blocks.runner import Runner
from plcore.neighbors.search.blocks import EXACT_WORK, BlockSearch
from plcore.neighbors.search.parts.cells import CellLists, Homes, Probe, list_rows, probe
from plcore.neighbors.search.parts.exact import RowParts, Sample, draw, exact_parts, reverse_parts, scale_rows

RECALL = 0.98
"""Required share of the true neighbours, on the sample."""
SAMPLE = 500
"""Number of rows that choose the number of cells; as many others measure the recall."""
MOST_ROWS = 200_000
"""Approximate maximum number of rows that a query is compared with. Rows that need more do not form cells, and the
search would take days."""


class RecallError(ValueError):
    """The cells find a smaller share of the true neighbours than requested."""


@dataclass(frozen=True)
class NeighborParts:
    """The `n_nearest` nearest other rows of all rows, in parts of `found_type`, each row in one part.

    kind : "exact" or "approximate"      recall : share of the true neighbours found, on rows not used to choose the
        cells
    n_probed, n_cells : number of cells per query, and in total; 0 for the exact search
    """

    folder: Path
    names: tuple[str, ...]
    n_rows: int
    block: int
    n_nearest: int
    kind: str
    recall: float
    n_probed: int = 0
    n_cells: int = 0

    def listed(self) -> str:
        """Return the part with the names of these parts."""
        return write_names(self.folder, self.names)


def find_parts(
    runner: Runner,
    rows: RowParts,
    n_nearest: int,
    *,
    search: str = "auto",
    recall: float = RECALL,
    seed: int = 0,
    progress: BlockProgress | None = None,
) -> NeighborParts:
    """Return the `n_nearest` other rows of each row, in the order of `plcore.neighbors.search.NeighborSearch`.

    rows : scaled to [0, 1]      search : "exact", "approximate" or "auto": exact if that is quick
    recall : minimum share of the true neighbours for a search by cells, measured on a sample before the long search

    Raises ValueError for fewer rows than neighbours, RecallError, BlockError, RunnerError.
    """
    if not 1 <= n_nearest < rows.n_rows:
        raise ValueError(f"n_nearest must be in 1..{rows.n_rows - 1}, the other rows. Got {n_nearest}.")
    if search == "auto":
        search = "exact" if float(rows.n_rows) ** 2 * rows.n_features <= EXACT_WORK else "approximate"
    if search == "exact":
        queries = list(zip(rows.names, rows.starts(), strict=True))
        bests = exact_parts(runner, rows.folder, queries, rows, n_nearest, progress=progress)
        return NeighborParts(rows.folder, bests, rows.n_rows, rows.block, n_nearest, "exact", 1.0)
    lists = list_rows(runner, rows, n_nearest + 2, seed, progress)
    found = _choose(runner, rows, lists, n_nearest, recall, seed, progress)
    names = [name.decode() for name in map_part(rows.folder / lists.lists).tolist()]
    jobs = [Probe(rows.folder, name, number, lists, n_nearest, found.n_probed) for number, name in enumerate(names)]
    parts = run_parts(runner, probe, jobs, "neighbours by cells", progress)
    return replace(found, names=tuple(parts))


def _choose(
    runner: Runner,
    rows: RowParts,
    lists: CellLists,
    n_nearest: int,
    least: float,
    seed: int,
    progress: BlockProgress | None,
) -> NeighborParts:
    """Choose the number of cells per query and measure its recall; no neighbours yet. Raises RecallError."""
    folder, size = rows.folder, min(2 * SAMPLE, rows.n_rows)
    drawing = Sample(folder, rows.listed(), rows.block, rows.n_rows, size, seed + 1)
    sample = run_parts(runner, draw, [drawing], "sample", progress)[0]
    truth = exact_parts(runner, folder, [(sample, 0)], rows, n_nearest, "true neighbours of a sample", progress)
    true = map_part(folder / truth[0])
    order = np.random.default_rng(seed).permutation(size)
    choosing, judging = np.sort(order[: size // 2]), np.sort(order[size // 2 :])

    centres = np.array(map_part(folder / lists.centres))
    homes = _homes(rows, lists.centres, true["neighbors"][choosing])
    asked = map_part(folder / sample)
    n_probed = _needed(centres, asked["x"][choosing].astype(np.float64), homes, 1 - (1 - least) / 2)
    most = -(-MOST_ROWS * len(centres) // rows.n_rows)
    n_probed = min(n_probed, max(2, most), len(centres))

    others = Listed(folder, sample, tuple(judging.tolist()))
    if not others.path.exists():
        others.write(asked[judging])
    job = Probe(folder, others.part, 0, lists, n_nearest, n_probed)
    part = run_parts(runner, probe, [job], "recall", progress)[0]
    squared = map_part(folder / part)["squared"]
    share = float((squared <= true["squared"][judging][:, -1:]).mean())
    if share < least:
        raise RecallError(
            f"{n_probed} of {len(centres):,} cells hold {share:.3f} of the true neighbours of {len(judging)} sampled "
            f"rows; at least {least:g} was asked for. Fix: ask for less, or search exactly."
        )
    kind = "approximate"
    return NeighborParts(folder, (), rows.n_rows, rows.block, n_nearest, kind, share, n_probed, len(centres))


@dataclass(frozen=True)
class Listed(BlockJob):
    """Some places of a sample."""

    sample: str
    places: tuple[int, ...]


def _homes(rows: RowParts, centres: str, wanted: AnyArray) -> AnyArray:
    """Return the cells of these rows, in the same shape."""
    cells = np.empty(wanted.shape, dtype=np.int64)
    for name, first in zip(rows.names, rows.starts(), strict=True):
        cell, row = map_part(Homes(rows.folder, name, first, centres).path)
        of_row = np.empty(len(row), dtype=np.int64)
        of_row[row] = cell
        mine = (wanted >= first) & (wanted < first + len(row))
        cells[mine] = of_row[wanted[mine] - first]
    return cells


def _needed(centres: AnyArray, queries: AnyArray, homes: AnyArray, aim: float) -> int:
    """Return the smallest number of cells, nearest first, that contains this share of the neighbours' `homes` (q,
    k)."""
    nearest = BlockSearch(centres, np.arange(len(centres))).nearest(queries, len(centres))[0]
    rank = np.take_along_axis(np.argsort(nearest, axis=1), homes, axis=1)
    return int(np.quantile(rank, aim, method="inverted_cdf")) + 1
