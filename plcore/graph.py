"""Nearest neighbours and their weights, exact to the last tie.

scikit-learn's search proposes neighbours; its distances come from matrix products and may differ in the last
bits with the batch or the number of threads. So the distances of the proposed rows are computed again as
plain differences, and neighbours are ordered by (distance, row number). When a row that was not proposed
could still belong among the K nearest, more are proposed. The same data therefore gives the same neighbours,
in any batch and on any machine with the same arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from plcore._types import BoolArray, FloatArray, IntArray
from plcore.votes import WEIGHT_UNIT, fixed_weights

WEIGHTS = ("linear", "uniform")
SCALINGS = ("minmax", "standard", None)
SPARE = 4  # neighbours proposed beyond K at first
TREE_FEATURES = 8  # up to this many features a kd-tree is faster than matrix products
BLOCK_CELLS = 2**20  # numbers held at once while distances are computed: 8 MB


def neighbor_weights(distances: FloatArray, weights: str) -> IntArray:
    """Fixed-point weights int64 (q, K) of neighbours at `distances` (q, K).

    "linear": w = 1 - d / sum d; all distances 0 (duplicates) or K = 1: equal weights. "uniform": w = 1.
    """
    ones = np.full(distances.shape, WEIGHT_UNIT, dtype=np.int64)
    if weights == "uniform" or distances.shape[1] == 1:
        return ones
    with np.errstate(over="ignore", invalid="ignore"):
        total = distances.sum(axis=1, keepdims=True)
        usable = (total > 0) & np.isfinite(total)
        linear = 1.0 - distances / np.where(usable, total, 1.0)
    # Rounding of the sum may leave 1 - d/d an ulp below 0; a weight is never negative.
    return np.where(usable, fixed_weights(np.where(usable, np.maximum(linear, 0.0), 1.0)), ones)


def make_scaler(scaling: str | None, is_sparse: bool) -> Any:
    """An unfitted scaler, or None. Sparse features are never shifted and stay sparse: max-abs for "minmax"."""
    if scaling is None:
        return None
    if scaling == "standard":
        return StandardScaler(with_mean=not is_sparse)
    return MaxAbsScaler() if is_sparse else MinMaxScaler()


class NeighborGraph:
    """Scaler and neighbour index of the training rows. X: finite float64 array (n, d) or CSR, already checked."""

    def __init__(self, X: Any, n_neighbors: int, weights: str, scaling: str | None) -> None:
        self.scaler = make_scaler(scaling, sparse.issparse(X))
        self.X = X if self.scaler is None else self.scaler.fit_transform(X)
        if sparse.issparse(self.X):
            self.X = sparse.csr_matrix(self.X)
            self.X.sort_indices()
        self.n_rows: int = self.X.shape[0]
        self.n_neighbors = min(n_neighbors, self.n_rows)
        self.weights = weights
        tree = not sparse.issparse(X) and self.X.shape[1] <= TREE_FEATURES
        # Of more than K + 1 equal rows the later ones are nobody's neighbours but their own: they stay out of the
        # search, so that data with few distinct rows do not tie everybody with everybody.
        self._searched = _first_of_equals(self.X, self.n_neighbors + 1)
        self._index = NearestNeighbors(algorithm="kd_tree" if tree else "brute").fit(self.X[self._searched])
        self._largest_norm = float(_squared_norms(self.X).max())

    def neighbors_of(self, X: Any) -> tuple[IntArray, IntArray]:
        """(neighbors, weights) int64 (q, K) of new rows X (q, d), nearest first."""
        queries = X if self.scaler is None else self.scaler.transform(X)
        if sparse.issparse(queries):
            queries = sparse.csr_matrix(queries)
            queries.sort_indices()
        rows, distances = self._nearest(queries, self.n_neighbors, None)
        return rows, neighbor_weights(distances, self.weights)

    def own_neighbors(self, rows: IntArray | None = None) -> tuple[IntArray, IntArray]:
        """(neighbors, weights) int64 (q, K) of training rows (default: all), each its own first neighbour."""
        own = np.arange(self.n_rows) if rows is None else rows
        neighbors, distances = own[:, None], np.zeros((len(own), 1))
        if self.n_neighbors > 1:
            others, far = self._nearest(self.X[own], self.n_neighbors - 1, own)
            neighbors, distances = np.hstack([neighbors, others]), np.hstack([distances, far])
        return neighbors, neighbor_weights(distances, self.weights)

    def _nearest(self, queries: Any, n_nearest: int, own: IntArray | None) -> tuple[IntArray, FloatArray]:
        """The n_nearest rows of each query by (distance, row number), never its own row, with exact distances."""
        n_queries = queries.shape[0]
        found = np.empty((n_queries, n_nearest), dtype=np.int64)
        distances = np.empty((n_queries, n_nearest))
        # Rounding of the proposed squared distances: |q|^2 + |x|^2 - 2qx, sums over the features.
        slack = (
            8 * (self.X.shape[1] + 8) * np.finfo(float).eps * (_squared_norms(queries) + self._largest_norm)
        )
        todo = np.arange(n_queries)
        n_proposed = n_nearest + (own is not None) + SPARE
        while len(todo):
            n_proposed = min(n_proposed, len(self._searched))
            length = max(1, BLOCK_CELLS // (n_proposed * max(1, self._row_cells())))
            unsure = []
            for start in range(0, len(todo), length):
                block = todo[start : start + length]
                limit, places = self._index.kneighbors(queries[block], n_neighbors=n_proposed)
                proposed = self._searched[places]
                squared = _squared_distances(queries[block], self.X, proposed)
                if own is not None:
                    squared[proposed == own[block, None]] = np.inf
                order = np.lexsort((proposed, squared), axis=1)[:, :n_nearest]
                found[block] = np.take_along_axis(proposed, order, axis=1)
                nearest = np.take_along_axis(squared, order, axis=1)
                distances[block] = np.sqrt(nearest)
                if n_proposed < len(self._searched):
                    safe: BoolArray = nearest[:, -1] < limit[:, -1] ** 2 - slack[block]
                    unsure.append(block[~safe])
            todo = np.concatenate(unsure) if unsure else todo[:0]
            n_proposed *= 4
        return found, distances

    def _row_cells(self) -> int:
        """Numbers stored for one row, about."""
        return int(self.X.nnz // self.n_rows if sparse.issparse(self.X) else self.X.shape[1])


def _first_of_equals(X: Any, most: int) -> IntArray:
    """The rows of X, ascending, without those that equal `most` earlier ones."""
    count: dict[bytes, int] = {}
    kept = []
    for row in range(X.shape[0]):
        if sparse.issparse(X):
            stored = slice(X.indptr[row], X.indptr[row + 1])
            key = X.indices[stored].tobytes() + X.data[stored].tobytes()
        else:
            key = X[row].tobytes()
        count[key] = count.get(key, 0) + 1
        if count[key] <= most:
            kept.append(row)
    return np.array(kept, dtype=np.int64)


def _squared_norms(X: Any) -> FloatArray:
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _squared_distances(queries: Any, X: Any, proposed: IntArray) -> FloatArray:
    """Squared distances (q, P) between each query and its proposed rows of X, as sums of squared differences."""
    if not sparse.issparse(X):
        difference = queries[:, None, :] - X[proposed]
        return np.asarray((difference * difference).sum(axis=2))
    repeated = np.repeat(np.arange(queries.shape[0]), proposed.shape[1])
    return _squared_norms(queries[repeated] - X[proposed.ravel()]).reshape(proposed.shape)
