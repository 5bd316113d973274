"""Approximate neighbours by cells on disk: rows are listed by cell, and each query looks into the cells nearest to it.

Like `plcore.neighbors.search.cells`, except that no process holds all rows. Queries are processed in the order of the
lists, so that a block looks into the same few cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plcore.arrays.types import IntArray
from plcore.blocks.parts import BlockJob, BlockProgress, ReadRows, WrittenPart, run_parts, write_names
from plcore.blocks.runner import Runner
from plcore.neighbors.search.blocks import Block, BlockSearch, Found, RowRoom, make_block
from plcore.neighbors.search.cells import CELL_ROWS, TRAINING_ROWS, look, place_centres
from plcore.neighbors.search.parts.exact import RowParts, Sample, draw, frame_of, numbered, pack_neighbors, take_rows
from plcore.neighbors.search.rows import first_of_equals


@dataclass(frozen=True)
class Centres(BlockJob):
    """Centres of cells, float64 (n_cells, d), from a sample."""

    sample: str
    n_cells: int
    seed: int

    def __str__(self) -> str:
        return f"Placing {self.n_cells:,} centres"


@dataclass(frozen=True)
class Homes(BlockJob):
    """The cells of a part's rows, ascending, and the row of each entry, int32 (2, b)."""

    rows: str
    first: int
    centres: str

    def __str__(self) -> str:
        return f"Finding the cell of each row from {self.first:,}"


@dataclass(frozen=True)
class CellStarts(BlockJob):
    """First place of each cell among all rows in the order of cells, int64 (n_cells + 1,)."""

    homes: str
    n_cells: int

    def __str__(self) -> str:
        return f"Counting the rows of {self.n_cells:,} cells"


@dataclass(frozen=True)
class CellList(BlockJob):
    """The rows of cells first..end - 1, cell by cell in ascending order, listed.

    copies : of more than this many equal rows, the later ones are neighbours of no other rows
    """

    homes: str
    parts: str
    block: int
    first: int
    end: int
    copies: int

    def __str__(self) -> str:
        return f"Listing the rows of the cells {self.first:,} to {self.end - 1:,}"


@dataclass(frozen=True)
class CellLists(BlockJob):
    """Inputs of a search in the cells: the parts with centres, starts and the names of lists, and the first cell of
    each list, then the number of cells."""

    centres: str
    starts: str
    lists: str
    firsts: tuple[int, ...]
    n_rows: int


@dataclass(frozen=True)
class Probe(BlockJob):
    """The `n_nearest` best rows for listed queries among the `n_probed` cells nearest to each."""

    queries: str
    number: int
    lists: CellLists
    n_nearest: int
    n_probed: int

    def __str__(self) -> str:
        return f"Searching for the rows of list {self.number:,}"


def find_centres(job: Centres) -> WrittenPart:
    sample = job.read(job.sample)["x"].astype(np.float64)
    return job.write(place_centres(sample, job.n_cells, job.seed))


def find_homes(job: Homes) -> WrittenPart:
    centres = np.array(job.read(job.centres))
    search = BlockSearch(centres, np.arange(len(centres)))
    home = search.nearest(job.read(job.rows).astype(np.float64), 1)[0][:, 0]
    order = np.argsort(home, kind="stable")
    return job.write(np.stack([home[order], order]).astype(np.int32))


def count_cells(job: CellStarts) -> WrittenPart:
    counts = np.zeros(job.n_cells, dtype=np.int64)
    for homes in job.read_each(job.homes):
        counts += np.bincount(homes[0], minlength=job.n_cells)
    return job.write(np.append(0, np.cumsum(counts)))


def list_cells(job: CellList) -> WrittenPart:
    pieces, cells = [], []
    ends = np.array([job.first, job.end], dtype=np.int32)  # the type of the search; another type would be copied
    parts = zip(job.read_each(job.homes), job.read_each(job.parts), strict=True)
    for number, (homes, part) in enumerate(parts):
        first, end = np.searchsorted(homes[0], ends)
        mine = homes[1, first:end].astype(np.int64)
        order = np.argsort(mine)
        pieces.append(take_rows(part, number * job.block, mine[order] + number * job.block))
        cells.append(homes[0, first:end][order])
    cell = np.concatenate(cells)
    order = np.argsort(cell, kind="stable")
    rows = np.concatenate(pieces)[order]
    bounds = np.searchsorted(cell[order], np.arange(job.first, job.end + 1))
    for first, end in pairwise(bounds.tolist()):
        if end - first > job.copies:  # equal rows are in one cell
            kept = first_of_equals(rows["x"][first:end].astype(np.float64), job.copies)
            rows["searched"][first:end] = np.isin(np.arange(end - first), kept)
    return job.write(rows)


def probe(job: Probe) -> WrittenPart:
    own, queries = numbered(job.read(job.queries), 0)
    cells = _Cells(job)
    found = Found(queries, job.n_nearest, own, frame_of(queries.shape[1]), job.lists.n_rows)
    everybody = np.arange(len(queries))
    single = found.open(everybody)
    n_probed, asking = job.n_probed, everybody
    done = 0
    while len(asking) and done < cells.n_cells:
        # Scan the nearest cell first: it gives a good limit, so that the others add little.
        near = cells.centres.nearest(queries[asking], n_probed)[0]
        for ranks in (near[:, done : done + 1], near[:, done + 1 :]):
            if ranks.shape[1]:
                look(found, single[asking], asking, ranks, lambda cell: cells.block(found, cell))
        # If the cells held too few rows, these queries look into more of them.
        asking = everybody[found.rows[:, -1] == job.lists.n_rows]
        done, n_probed = n_probed, min(2 * n_probed, cells.n_cells)
    return job.write(pack_neighbors(own, found.rows, found.squared))


class _Cells:
    """The cells on disk, read by one job."""

    def __init__(self, job: Probe) -> None:
        lists = job.lists
        centres = np.array(job.read(lists.centres))
        self.n_cells = len(centres)
        self.centres = BlockSearch(centres, np.arange(self.n_cells))
        self._starts = job.read(lists.starts)
        self._firsts = np.array(lists.firsts)
        self._lists = [ReadRows(job.folder / name.decode()) for name in job.read(lists.lists).tolist()]
        self._room = RowRoom(centres.shape[1])

    def block(self, found: Found, cell: int) -> Block | None:
        """Return the rows of a cell, valid until the next cell is requested."""
        number = int(np.searchsorted(self._firsts, cell, side="right")) - 1
        begin = self._starts[self._firsts[number]]
        rows = self._lists[number].read(int(self._starts[cell] - begin), int(self._starts[cell + 1] - begin))
        if not rows["searched"].all():
            rows = rows[rows["searched"]]
        if not len(rows):
            return None
        values = self._room.rows("values", len(rows), np.float64)
        values[...] = rows["x"]
        numbers, places = rows["row"].astype(np.int64), np.arange(len(rows))
        return make_block(found.frame, values, numbers, places, values, self._room)


def list_rows(
    runner: Runner, rows: RowParts, copies: int, seed: int, progress: BlockProgress | None = None
) -> CellLists:
    """List all rows by cell. copies : as for `CellList`"""
    folder = rows.folder
    n_cells = max(1, min(round((rows.n_rows / CELL_ROWS) ** 0.5), rows.n_rows // 2))
    size = min(rows.n_rows, TRAINING_ROWS * n_cells)
    drawn = [Sample(folder, rows.listed(), rows.block, rows.n_rows, size, seed)]
    sample = run_parts(runner, draw, drawn, "sample", progress)[0]
    centres = run_parts(runner, find_centres, [Centres(folder, sample, n_cells, seed)], "centres", progress)[0]
    homes = write_names(
        folder,
        run_parts(
            runner,
            find_homes,
            [Homes(folder, *one, centres) for one in zip(rows.names, rows.starts(), strict=True)],
            "cell of each row",
            progress,
        ),
    )
    counting = CellStarts(folder, homes, n_cells)
    run_parts(runner, count_cells, [counting], "size of each cell", progress)
    firsts = first_cells(counting.read(counting.part), rows.block)
    jobs = [CellList(folder, homes, rows.listed(), rows.block, first, end, copies) for first, end in pairwise(firsts)]
    lists = run_parts(runner, list_cells, jobs, "rows of each cell", progress)
    return CellLists(folder, centres, counting.part, write_names(folder, lists), tuple(firsts), rows.n_rows)


def first_cells(starts: IntArray, block: int) -> list[int]:
    """Return the first cell of each list, then the number of cells: lists of about `block` rows, of at least one
    cell."""
    firsts = [0]
    for cell in range(1, len(starts) - 1):
        if starts[cell + 1] - starts[firsts[-1]] > block:
            firsts.append(cell)
    return [*firsts, len(starts) - 1]
