"""Exact search in few dimensions: a kd-tree proposes neighbours, and more of them until none can be missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from plcore.arrays.types import FeatureMatrix, FloatArray, IntArray, ShareProgress, untold
from plcore.kernels.near import offer_proposed
from plcore.neighbors.search.blocks import BlockSearch
from plcore.neighbors.search.rows import ready

TREE_FEATURES = 8  # number of features up to which a kd-tree is faster than matrix products
LARGEST_VALUE = 1e150  # limit beyond which its squared distances overflow
SPARE = 4  # neighbours proposed in addition to K at first
BLOCK_CELLS = 2**20  # neighbours proposed at once: 8 MB
BATCH = 2**16  # rows whose neighbours are found at a time


class TreeSearch:
    """Exact neighbours among the rows `searched` of X (n, d), with finite values below `LARGEST_VALUE`."""

    kind = "kd-tree"
    recall = 1.0

    def __init__(self, X: FeatureMatrix, searched: IntArray) -> None:
        self.X = X
        self.searched = searched
        self._tree = cKDTree(X[searched])
        # The tree's sums of squares differ from ours by rounding only.
        self._kept = 1.0 - 8 * (X.shape[1] + 8) * np.finfo(float).eps

    def nearest(
        self, queries: FeatureMatrix, n_nearest: int, own: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return (rows, distances), (q, n_nearest), as `NeighborSearch`."""
        n_queries = queries.shape[0]
        Q = ready(queries)
        mine = np.full(n_queries, -1) if own is None else own
        squared = np.full((n_queries, n_nearest), np.inf)
        found = np.full((n_queries, n_nearest), self.X.shape[0])
        far = np.flatnonzero(np.abs(Q).max(axis=1) >= LARGEST_VALUE)
        todo = np.setdiff1d(np.arange(n_queries), far)
        n_proposed = n_nearest + (own is not None) + SPARE
        while len(todo):
            n_proposed = min(n_proposed, len(self.searched))
            length = max(1, BLOCK_CELLS // n_proposed)
            unsure = []
            for start in range(0, len(todo), length):
                block = todo[start : start + length]
                limit, places = self._tree.query(Q[block], k=np.arange(1, n_proposed + 1))
                nearest, who = np.full((len(block), n_nearest), np.inf), found[block]
                who[:] = self.X.shape[0]
                offer_proposed(Q[block], self.X, self.searched[places], mine[block], nearest, who)
                squared[block], found[block] = nearest, who
                if n_proposed < len(self.searched):
                    unsure.append(block[~(nearest[:, -1] < limit[:, -1] ** 2 * self._kept)])
            todo = np.concatenate(unsure) if unsure else todo[:0]
            n_proposed *= 4
        distances = np.sqrt(squared)
        if len(far):
            search = BlockSearch(self.X, self.searched)
            found[far], distances[far] = search.nearest(Q[far], n_nearest, mine[far])
        return found, distances

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (numbers of some rows, their neighbours, distances), as `NeighborSearch`."""
        for first in range(0, self.X.shape[0], BATCH):
            tell(first / self.X.shape[0])
            own = np.arange(first, min(first + BATCH, self.X.shape[0]))
            yield own, *self.nearest(self.X[first : first + BATCH], n_nearest, own)
