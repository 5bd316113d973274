"""Approximate search: rows in cells around centres; a query looks only into the cells nearest to it.

This is the inverted file of Sivic and Zisserman (ICCV 2003) and Jegou et al. (PAMI 2011) without compression. Cells are
scanned as in the exact search: cell by cell, with all queries that look into a cell in one product. The number of cells
per query is not a setting: it is the smallest number that finds `AIM` of the true neighbours of a seeded sample. The
reported recall is measured on another sample. See docs/decisions/0005-neighbour-search.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from plcore.arrays.array_files import large_array, let_go
from plcore.arrays.types import AnyArray, FeatureMatrix, FloatArray, IntArray, Matrix, ShareProgress, untold
from plcore.neighbors.search.blocks import QUERIES, Block, BlockSearch, Found, Marks, SinglePrecision, make_block
from plcore.neighbors.search.rows import ready

AIM = 0.995  # target recall on the first sample, so that 0.99 holds beyond it
SAMPLE = 256  # rows in each of the two samples
MOST_ROWS = 20_000  # approximate maximum number of rows that a query is compared with, whatever the recall
MANY_CELLS = 24  # cells allowed in any case: rows on a curved surface of ten dimensions need this many
CELL_ROWS = 0.4  # cells: sqrt(n / CELL_ROWS), so that finding the cells costs about as much as scanning them
TRAINING_ROWS = 64  # rows per cell used to place the centres
BATCH = 2**16  # queries processed at once


class CellSearch:
    """Approximate neighbours among the rows `searched` of X, float64 (n, d) C-contiguous.

    seed : seed of the centres and of the samples. The same data and seed give the same neighbours, in any batch.
    `recall` : share of the true neighbours found, on a seeded sample of rows; ties count as found.
    `exact` : the exact search among the same rows.
    """

    kind = "approximate"

    def __init__(self, X: FloatArray, searched: IntArray, n_neighbors: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.exact = BlockSearch(X, searched)
        centres = _centres(X, searched, rng)
        self.n_cells: int = centres.shape[0]
        self._centres = BlockSearch(centres, np.arange(self.n_cells))
        home = self._homes()
        # All rows by cell, searched rows first, then by number, with the limits of each cell.
        late = np.ones(X.shape[0], dtype=bool)
        late[searched] = False
        self._order = np.argsort(2 * home + late, kind="stable").astype(np.int32)
        self._start = np.append(0, np.cumsum(np.bincount(home, minlength=self.n_cells)))
        self._end = self._start[:-1] + np.bincount(home[searched], minlength=self.n_cells)
        self._listed = _in_order(X, self._order)

        self.n_probed, self.recall = 1, 1.0
        if X.shape[0] < 4:
            return
        sample = rng.permutation(X.shape[0])[: 2 * SAMPLE]
        n_nearest = max(1, min(n_neighbors, len(searched)) - 1)
        rows, distances = self.exact.nearest(X[sample], n_nearest, sample)
        self.n_probed = self._choose(X[sample[::2]], home[rows[::2]])
        found = self.nearest(X[sample[1::2]], n_nearest, sample[1::2])[1]
        self.recall = float((found <= distances[1::2, -1:]).mean())

    def _choose(self, queries: Matrix, cells: IntArray) -> int:
        """Return the smallest number of cells that finds `AIM` of the neighbours, which are in `cells` (q, k)."""
        nearest = self._centres.nearest(queries, self.n_cells)[0]
        rank = np.take_along_axis(np.argsort(nearest, axis=1), cells, axis=1)
        needed = int(np.quantile(rank, AIM, method="inverted_cdf")) + 1
        most = -(-MOST_ROWS * self.n_cells // len(self.exact.searched))
        return min(needed, max(MANY_CELLS, most), self.n_cells)

    def nearest(self, queries: Matrix, n_nearest: int, own: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return (rows, distances), (q, n_nearest), as `NeighborSearch`."""
        queries = ready(queries)
        frame, shape = self.exact.frame(queries), (queries.shape[0], n_nearest)
        rows, distances = np.empty(shape, dtype=np.int64), np.empty(shape)
        for first in range(0, len(rows), BATCH):
            some = slice(first, first + BATCH)
            mine = None if own is None else own[some]
            rows[some], distances[some] = self._nearest(queries[some], n_nearest, mine, frame)
        return rows, distances

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (numbers of some rows, their neighbours, distances), as `NeighborSearch`, cell by cell, so that a batch
        looks into the same few cells."""
        frame = self.exact.frame(self.exact.X)
        for first in range(0, len(self._order), BATCH):
            tell(first / len(self._order))
            own = self._order[first : first + BATCH].astype(np.int64)
            queries = self._listed[first : first + BATCH]
            yield own, *self._nearest(queries, n_nearest, own, frame)

    def _nearest(
        self, queries: Matrix, n_nearest: int, own: IntArray | None, frame: SinglePrecision | Marks
    ) -> tuple[IntArray, FloatArray]:
        """Return `nearest` for a batch."""
        found = Found(queries, n_nearest, own, frame, self.exact.X.shape[0])
        batch = np.arange(queries.shape[0])
        single = found.open(batch)
        probed = self._centres.nearest(queries, self.n_probed)[0]
        # Scan the nearest cell first: it gives a good limit, so that the others add little.
        for ranks in (probed[:, :1], probed[:, 1:]):
            look(found, single, batch, ranks, partial(self._block, frame))
        rows, distances = found.rows, found.distances()
        short = np.flatnonzero(rows[:, -1] == self.exact.X.shape[0])
        if len(short):  # the cells held too few rows
            mine = None if own is None else own[short]
            rows[short], distances[short] = self.exact.nearest(queries[short], n_nearest, mine)
        let_go()
        return rows, distances

    def _homes(self) -> AnyArray:
        """Return (n,) the cell of each row, in a type that numpy sorts by counting if there are few cells."""
        X = self.exact.X
        homes = np.empty(X.shape[0], dtype=np.uint16 if 2 * self.n_cells < 2**16 else np.int32)
        for first in range(0, len(homes), BATCH):
            homes[first : first + BATCH] = self._centres.nearest(X[first : first + BATCH], 1)[0][:, 0]
        return homes

    def _block(self, frame: SinglePrecision | Marks, cell: int) -> Block | None:
        first, end = int(self._start[cell]), int(self._end[cell])
        if first == end:
            return None
        rows, values = self._order[first:end].astype(np.int64), self._listed[first:end]
        return make_block(frame, values, rows, np.arange(end - first), values)


def _in_order(X: FloatArray, order: AnyArray) -> FloatArray:
    """Return the rows of X in this order, n of them."""
    listed = large_array(X.shape, X.dtype)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    for first in range(0, len(X), BATCH):  # read rows in the order of memory, and write each to its place
        places = place[first : first + BATCH]
        by_place = np.argsort(places)
        listed[places[by_place]] = X[first : first + BATCH][by_place]
        let_go()
    return listed


def look(
    found: Found, single: FeatureMatrix, batch: IntArray, cells: IntArray, block_of: Callable[[int], Block | None]
) -> None:
    """Compare the rows of their cells (q, c) with the queries of a batch, cell by cell. block_of : returns a cell;
    None: empty"""
    flat = cells.ravel()
    if not flat.size:
        return
    if flat.max() < 2**16:
        flat = flat.astype(np.uint16)  # numpy sorts this type by counting
    places = np.argsort(flat, kind="stable")
    ordered = flat[places]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    for first, end in pairwise([*starts.tolist(), len(places)]):
        block = block_of(int(ordered[first]))
        if block is None:
            continue
        for begin in range(first, end, QUERIES):
            asking = places[begin : min(begin + QUERIES, end)] // cells.shape[1]
            found.scan(found.take(single, asking), batch[asking], block)


def _centres(X: FloatArray, searched: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return the centres of the cells (c, d), by k-means of a sample."""
    n_cells = max(1, round((len(searched) / CELL_ROWS) ** 0.5))
    n_cells = min(n_cells, -(-len(searched) // 2))
    size = min(len(searched), TRAINING_ROWS * n_cells)
    sample = rng.choice(searched, size=size, replace=False)
    return place_centres(X[sample], n_cells, int(rng.integers(2**31)))


def place_centres(sample: FloatArray, n_cells: int, seed: int) -> FloatArray:
    """Return centres (n_cells, d) by k-means of a sample (s, d)."""
    from sklearn.cluster import MiniBatchKMeans  # costs 7 MB in every process that loads it

    scale = max(sample.max(), -sample.min()) or 1.0  # float32 represents [-1, 1] well
    single = np.empty(sample.shape, dtype=np.float32)
    np.divide(sample, scale, out=single, casting="same_kind")
    del sample
    kmeans = MiniBatchKMeans(
        n_cells, init="random", n_init=1, max_iter=4, batch_size=2048, reassignment_ratio=0.0, random_state=seed
    )
    kmeans.fit(single)
    centres: FloatArray = ready(kmeans.cluster_centers_ * scale)
    return centres
