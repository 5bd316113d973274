"""Approximate search of sparse rows, such as texts: an inverted index, read from a query's rarest feature on.

A query adds up products over its rarest features until it has read a certain number of postings. The rows with the
largest sums so far are then measured in full, as in the exact search. How many postings are read is not a setting: the
least power of two that finds `AIM` of the true neighbours of a seeded sample; the recall reported is measured on
another. Reading the lists by what a posting contributes is the order of Anh and Moffat (SIGIR 2006, "Pruned query
evaluation using pre-computed impacts").
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from plcore.arrays.types import AnyArray, FloatArray, IntArray, Matrix
from plcore.kernels.postings import BLOCK_ROWS, count_postings, list_postings, search_postings
from plcore.neighbors.search.blocks import BlockSearch
from plcore.neighbors.search.rows import ready

AIM = 0.965  # recall aimed at on the first sample, so that 0.95 holds beyond it
SAMPLE = 256  # rows in each of the two samples
FEWEST_POSTINGS, MOST_POSTINGS = 2**13, 2**17  # read for a query, whatever the recall
PROPOSED = 64  # rows that are measured for a query,
PER_NEIGHBOR = 4  # or so many for each neighbour that is wanted
BATCH = 8192  # queries treated at once


class PostingSearch:
    """Most of the neighbours among the rows `searched` of X, float64 CSR (n, d) with sorted indices.

    seed : of the samples. The same data and seed give the same neighbours, in any batch.
    `recall` : share of the true neighbours found, on a seeded sample of rows; ties count as found.
    `exact` : the exact search among the same rows.      `n_postings` : read for a query at most
    """

    kind = "approximate"

    def __init__(self, X: sparse.csr_matrix, searched: IntArray, n_neighbors: int, seed: int = 0) -> None:
        self.exact = BlockSearch(X, searched)
        self._X = X
        self._scale = self.exact.frame(X).unit ** 0.5
        self._squares = np.zeros(X.shape[0])
        counts = np.zeros(X.shape[1], dtype=np.int64)
        for first in range(0, X.shape[0], BATCH):
            some = X[first : first + BATCH]
            with np.errstate(over="ignore"):
                self._squares[first : first + BATCH] = np.asarray(some.multiply(some).sum(axis=1)).ravel()
            counts += np.bincount(some.indices, minlength=X.shape[1])
        self._heights = np.full(X.shape[0], np.inf, dtype=np.float32)
        with np.errstate(over="ignore"):
            self._heights[searched] = self._squares[searched] * self._scale**2
        self._list(counts, MOST_POSTINGS)
        self.n_postings, self.recall = MOST_POSTINGS, 1.0
        if X.shape[0] < 4:
            return
        sample = np.random.default_rng(seed).permutation(X.shape[0])[: 2 * SAMPLE]
        n_nearest = max(1, min(n_neighbors, len(searched)) - 1)
        limits = self.exact.nearest(X[sample], n_nearest, sample)[1][:, -1:]
        chosen, other = (slice(first, None, 2) for first in (0, 1))
        self.n_postings = FEWEST_POSTINGS
        while (
            self.n_postings < MOST_POSTINGS and self._share(sample[chosen], limits[chosen], n_nearest) < AIM
        ):
            self.n_postings *= 2
        self._list(counts, self.n_postings)  # longer lists are never read
        self.recall = self._share(sample[other], limits[other], n_nearest)

    def _list(self, counts: IntArray, longest: int) -> None:
        """List the searched rows of each feature, the rarest first; none of features with more rows than this.

        counts : (d,) rows that have each feature
        """
        X, n_blocks = self._X, -(-self._X.shape[0] // BLOCK_ROWS)
        order = np.argsort(counts, kind="stable")
        order = order[counts[order] <= longest]
        self._places: AnyArray = np.full(X.shape[1], -1, dtype=np.int32)
        self._places[order] = np.arange(len(order), dtype=np.int32)
        lengths = np.zeros(len(order) * n_blocks, dtype=np.int64)
        count_postings(X.indices, X.indptr, self.exact.searched, self._places, n_blocks, lengths)
        self._ends = np.append(0, np.cumsum(lengths))
        self._rows: AnyArray = np.empty(self._ends[-1], dtype=np.int32)
        self._listed: AnyArray = np.empty(self._ends[-1], dtype=np.float32)
        list_postings(
            X.data,
            X.indices,
            X.indptr,
            self.exact.searched,
            self._scale,
            self._places,
            self._ends[:-1:n_blocks].copy(),
            self._rows,
            self._listed,
        )

    def _share(self, rows: IntArray, limits: FloatArray, n_nearest: int) -> float:
        """Return the share of neighbours found of these rows, whose last true ones are at `limits` (r, 1)."""
        return float((self.nearest(self._X[rows], n_nearest, rows)[1] <= limits).mean())

    def nearest(
        self, queries: Matrix, n_nearest: int, own: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """(rows, distances) (q, n_nearest), as `NeighborSearch`."""
        asked: sparse.csr_matrix = ready(sparse.csr_matrix(queries))
        mine = np.full(asked.shape[0], -1) if own is None else own
        rows = np.empty((asked.shape[0], n_nearest), dtype=np.int64)
        distances = np.empty(rows.shape)
        for first in range(0, len(rows), BATCH):
            some = slice(first, first + BATCH)
            rows[some], distances[some] = self._nearest(asked[some], n_nearest, mine[some])
        return rows, distances

    def own_nearest(self, n_nearest: int) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """(numbers of some rows, their neighbours, distances), as `NeighborSearch`."""
        X = self._X
        for first in range(0, X.shape[0], BATCH):
            own = np.arange(first, min(first + BATCH, X.shape[0]))
            yield own, *self._nearest(X[first : first + BATCH], n_nearest, own)

    def _nearest(
        self, queries: sparse.csr_matrix, n_nearest: int, own: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """`nearest` of a batch."""
        X, n = self._X, self._X.shape[0]
        squared = np.full((queries.shape[0], n_nearest), np.inf)
        rows = np.full(squared.shape, n)
        places = self._places[queries.indices]
        listed = sparse.csr_matrix(
            (
                (queries.data[places >= 0] * self._scale).astype(np.float32),
                places[places >= 0],
                np.append(0, np.cumsum(places >= 0))[queries.indptr].astype(np.int32),
            ),
            shape=(queries.shape[0], max(1, len(self._places))),
        )
        listed.sort_indices()
        n_proposed = min(n, max(PROPOSED, PER_NEIGHBOR * n_nearest))
        search_postings(
            queries.data,
            queries.indices,
            queries.indptr,
            listed.data,
            listed.indices,
            listed.indptr,
            X.data,
            X.indices,
            X.indptr,
            self._squares,
            self._heights,
            self._ends,
            self._rows,
            self._listed,
            own,
            X.shape[1],
            self.n_postings,
            n_proposed,
            squared,
            rows,
        )
        short = np.flatnonzero(rows[:, -1] == n)
        distances = np.sqrt(squared)
        if len(short):  # numbers so large that sums of them say nothing
            rows[short], distances[short] = self.exact.nearest(queries[short], n_nearest, own[short])
        return rows, distances
