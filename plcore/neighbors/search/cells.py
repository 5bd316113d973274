"""Approximate search: rows in cells around centres; a query looks only into the cells nearest to it.

This is the inverted file of Sivic and Zisserman (ICCV 2003) and Jegou et al. (PAMI 2011) without compression. What
is scanned, is scanned as in the exact search: cell by cell, all queries that look into a cell in one product. How
many cells a query looks into is not a setting: it is the least number that finds `AIM` of the true neighbours of a
seeded sample; the recall told to the user is measured on another. See docs/decisions/0005-neighbour-search.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from plcore.common.types import FloatArray, IntArray
from plcore.neighbors.search.blocks import QUERIES, Block, BlockSearch, Found, Marks, SinglePrecision
from plcore.neighbors.search.rows import ready

AIM = 0.995  # recall aimed at on the first sample, so that 0.99 holds beyond it
SAMPLE = 256  # rows in each of the two samples
MOST_ROWS = 20_000  # rows a query compares itself with at most, about, whatever the recall
CELL_ROWS = (
    0.4  # cells: sqrt(n / CELL_ROWS), so that finding the cells costs about as much as looking into them
)
TRAINING_ROWS = 64  # rows per cell that place the centres
BATCH = 2**17  # queries treated at once


class CellSearch:
    """Most of the neighbours among the rows `searched` of X, float64 (n, d) C-contiguous or CSR with sorted indices.

    seed : of the centres and of the samples. The same data and seed give the same neighbours, in any batch.
    `recall` : share of the true neighbours found, on a seeded sample of rows; ties count as found.
    `exact` : the exact search among the same rows.
    """

    kind = "approximate"

    def __init__(self, X: Any, searched: IntArray, n_neighbors: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.exact = BlockSearch(X, searched)
        centres = _centres(X, searched, rng)
        self.n_cells: int = centres.shape[0]
        self._centres = BlockSearch(centres, np.arange(self.n_cells))
        home = self._centres.nearest(X if len(searched) == X.shape[0] else X[searched], 1)[0][:, 0]
        self._order = searched[np.argsort(home, kind="stable")]  # rows by cell
        self._start = np.searchsorted(np.sort(home), np.arange(self.n_cells + 1))

        self.n_probed, self.recall = 1, 1.0
        if X.shape[0] < 4:
            return
        sample = rng.permutation(X.shape[0])[: 2 * SAMPLE]
        n_nearest = max(1, min(n_neighbors, len(searched)) - 1)
        rows, distances = self.exact.nearest(X[sample], n_nearest, sample)
        self.n_probed = self._choose(X[sample[::2]], home[np.searchsorted(searched, rows[::2])])
        found = self.nearest(X[sample[1::2]], n_nearest, sample[1::2])[1]
        self.recall = float((found <= distances[1::2, -1:]).mean())

    def _choose(self, queries: Any, cells: IntArray) -> int:
        """The least number of cells that finds `AIM` of the neighbours, which lie in `cells` (q, k)."""
        nearest = self._centres.nearest(queries, self.n_cells)[0]
        rank = np.take_along_axis(np.argsort(nearest, axis=1), cells, axis=1)
        needed = int(np.quantile(rank, AIM, method="inverted_cdf")) + 1
        most = -(-MOST_ROWS * self.n_cells // len(self._order))
        return min(needed, max(2, most), self.n_cells)

    def nearest(
        self, queries: Any, n_nearest: int, own: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """(rows, distances) (q, n_nearest), as `NeighborSearch`."""
        queries = ready(queries)
        n_queries = queries.shape[0]
        found = self.exact.found(queries, n_nearest, own)
        for first in range(0, n_queries, BATCH):
            batch = np.arange(first, min(first + BATCH, n_queries))
            single = found.open(batch)
            probed = self._centres.nearest(queries[batch], self.n_probed)[0]
            # The nearest cell first: it gives a good limit, beyond which the others have little to offer.
            for ranks in (probed[:, :1], probed[:, 1:]):
                look(found, single, batch, ranks, partial(self._block, found.frame))
        short = np.flatnonzero(found.rows[:, -1] == self.exact.X.shape[0])
        rows, distances = found.rows, found.distances()
        if len(short):  # the cells held fewer rows than wanted
            mine = None if own is None else own[short]
            rows[short], distances[short] = self.exact.nearest(queries[short], n_nearest, mine)
        return rows, distances

    def _block(self, frame: SinglePrecision | Marks, cell: int) -> Block | None:
        rows = self._order[self._start[cell] : self._start[cell + 1]]
        return self.exact.block(frame, rows) if len(rows) else None


def look(
    found: Found, single: Any, batch: IntArray, cells: IntArray, block_of: Callable[[int], Block | None]
) -> None:
    """Offer the rows of their cells (q, c) to the queries of a batch, cell by cell. block_of : a cell; None: empty."""
    flat = cells.ravel()
    if not flat.size:
        return
    if flat.max() < 2**16:
        flat = flat.astype(np.uint16)  # these numpy sorts by counting
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


def _centres(X: Any, searched: IntArray, rng: np.random.Generator) -> Any:
    """Centres of the cells (c, d): k-means of a sample; for sparse X rows drawn at random, which stay sparse."""
    n_cells = max(1, round((len(searched) / CELL_ROWS) ** 0.5))
    if sparse.issparse(X):
        return X[np.sort(rng.choice(searched, size=min(n_cells, len(searched)), replace=False))]
    n_cells = min(n_cells, -(-len(searched) // 2))
    size = min(len(searched), TRAINING_ROWS * n_cells)
    sample = X[rng.choice(searched, size=size, replace=False)]
    return place_centres(sample, n_cells, int(rng.integers(2**31)))


def place_centres(sample: FloatArray, n_cells: int, seed: int) -> FloatArray:
    """Centres (n_cells, d) by k-means of a sample (s, d)."""
    from sklearn.cluster import MiniBatchKMeans  # 7 MB in every process that loads it

    scale = np.abs(sample).max() or 1.0  # float32 holds [-1, 1] well
    kmeans = MiniBatchKMeans(
        n_cells,
        init="random",
        n_init=1,
        max_iter=4,
        batch_size=2048,
        reassignment_ratio=0.0,
        random_state=seed,
    )
    kmeans.fit((sample / scale).astype(np.float32))
    centres: FloatArray = ready(kmeans.cluster_centers_ * scale)
    return centres
