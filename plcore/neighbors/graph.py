"""Nearest neighbours and their weights, the basis of PL-KNN and the query scores.

`.search` finds the neighbours. This module scales the features, makes each training row its own first neighbour, and
converts distances to fixed-point weights. The same data give the same neighbours and weights, in any batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from plcore.arrays.array_files import large_array
from plcore.arrays.types import (
    BOTH,
    AnyArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    MatrixLike,
    ShareProgress,
    is_sparse,
    untold,
)
from plcore.neighbors.search import make_search
from plcore.neighbors.search.rows import ready
from plcore.neighbors.votes import WEIGHT_UNIT, fixed_weights

WEIGHTS = ("linear", "uniform")
SCALINGS = ("minmax", "standard", None)
VERSION = 7  # version of stored graphs: increase it when the same table and settings give another graph


def neighbor_weights(distances: FloatArray, weights: str) -> IntArray:
    """Return fixed-point weights int64 (q, K) of neighbours at `distances` (q, K).

    "linear": w = 1 - d / sum d; all distances 0 (duplicates) or K = 1: equal weights. "uniform": w = 1.
    """
    ones = np.full(distances.shape, WEIGHT_UNIT, dtype=np.int64)
    if weights == "uniform" or distances.shape[1] == 1:
        return ones
    with np.errstate(over="ignore", invalid="ignore"):
        total = distances.sum(axis=1, keepdims=True)
        usable = (total > 0) & np.isfinite(total)
        linear = 1.0 - distances / np.where(usable, total, 1.0)
    # Rounding of the sum may put 1 - d/d slightly below 0; a weight is never negative.
    return np.where(usable, fixed_weights(np.where(usable, np.maximum(linear, 0.0), 1.0)), ones)


def make_scaler(scaling: str | None, is_sparse: bool) -> TransformerMixin | None:
    """Return an unfitted scaler, or None. Sparse features are never shifted and stay sparse: max-abs for
    "minmax"."""
    if scaling is None:
        return None
    if scaling == "standard":
        return StandardScaler(with_mean=not is_sparse)
    return MaxAbsScaler() if is_sparse else MinMaxScaler()


class NeighborGraph:
    """Scaler and neighbour search of the training rows. X: finite float64 array (n, d) or CSR, already checked.

    search : "auto", "exact" or "approximate", as for `.search.make_search`      seed : of the approximate search
    `kind` : what was chosen, "exact" | "kd-tree" | "approximate"      `recall` : share of the true neighbours
    found, measured on a sample of training rows; 1.0 for the exact kinds
    """

    def __init__(
        self, X: MatrixLike, n_neighbors: int, weights: str, scaling: str | None, search: str = "auto", seed: int = 0
    ) -> None:
        self.scaler = make_scaler(scaling, is_sparse(X))
        self.X = ready(X if self.scaler is None else self.scaler.fit_transform(X))
        self.n_rows: int = self.X.shape[0]
        self.n_neighbors = min(n_neighbors, self.n_rows)
        self.weights = weights
        self._search = make_search(self.X, self.n_neighbors, search, seed)
        self.kind = self._search.kind
        self.recall = self._search.recall

    def neighbors_of(self, X: FeatureMatrix) -> tuple[IntArray, IntArray]:
        """Return (neighbors int32, weights int64) (q, K) of new rows X (q, d), dense or CSR, nearest
        first."""
        if is_sparse(X) != is_sparse(self.X):  # the scaler and the search accept only one form
            X = X.toarray() if is_sparse(X) else sparse.csr_matrix(X)
        queries = X if self.scaler is None else self.scaler.transform(X)
        rows, distances = self._search.nearest(queries, self.n_neighbors)
        return rows.astype(np.int32), neighbor_weights(distances, self.weights)

    def own_neighbors(self, rows: IntArray | None = None, tell: ShareProgress = untold) -> tuple[IntArray, IntArray]:
        """Return (neighbors int32, weights int64) (q, K) of training rows, each its own first neighbour.

        rows : None for all; `tell` is then called with the progress
        """
        n_others = self.n_neighbors - 1
        if rows is None and n_others:
            shape = self.n_rows, self.n_neighbors
            neighbors, weights = large_array(shape, np.int32), large_array(shape, np.int64)
            for some, near, far in self._search.own_nearest(n_others, tell):
                neighbors[some], weights[some] = self._with_own(some, near, far)
            return neighbors, weights
        own = np.arange(self.n_rows) if rows is None else rows
        if not n_others:
            return self._with_own(own, own[:, None][:, :0], np.empty((len(own), 0)))
        return self._with_own(own, *self._search.nearest(self.X[own], n_others, own))

    def _with_own(self, own: IntArray, others: AnyArray, distances: AnyArray) -> tuple[AnyArray, IntArray]:
        """Return (neighbors, weights) of rows whose other neighbours are at these distances (q, K - 1)."""
        far = np.hstack([np.zeros((len(own), 1)), distances])
        return np.hstack([own[:, None], others]).astype(np.int32), neighbor_weights(far, self.weights)


class GraphSettings(Protocol):
    """The settings of a learner that its graph depends on."""

    @property
    def n_neighbors(self) -> int: ...
    @property
    def weights(self) -> str: ...
    @property
    def test_share(self) -> float: ...
    @property
    def control_share(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def features_in_force(self) -> str: ...


def graph_key(settings: GraphSettings) -> str:
    """Return the inputs of a learner's graph in addition to its table, as part of a file name."""
    shares = (float(share).hex() for share in (settings.test_share, settings.control_share))
    test, control = (share.replace(".", "_").replace("+", "") for share in shares)
    features = "" if settings.features_in_force == BOTH else f"-{settings.features_in_force}"
    return f"v{VERSION}-k{settings.n_neighbors}-{settings.weights}-t{test}-c{control}-s{settings.seed}{features}"


@dataclass(frozen=True)
class Graph:
    """The neighbours that a learner uses, found once and stored.

    neighbors int32, weights int64 (n_train, K) : of the training rows, each its own first neighbour
    test_neighbors int32, test_weights int64 (n_test, K) : of the held-out rows, among the training rows
    kind, recall : as `NeighborGraph`
    """

    neighbors: AnyArray
    weights: IntArray
    test_neighbors: AnyArray
    test_weights: IntArray
    kind: str
    recall: float

    def check(self, n_train: int, n_test: int, n_neighbors: int) -> None:
        """Raise ValueError unless the graph has these numbers of rows, and K is n_neighbors or the number of training
        rows."""
        width = min(n_neighbors, n_train)
        if self.neighbors.shape != (n_train, width) or self.test_neighbors.shape != (n_test, width):
            raise ValueError(
                f"graph must have the neighbours of {n_train} training and {n_test} test rows, {width} for each. "
                f"Got shapes {self.neighbors.shape} and {self.test_neighbors.shape}. Fix: find it again."
            )

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return named arrays for `np.savez`; no object arrays, so no pickle."""
        return {"version": np.array(VERSION), **{name: np.asarray(one) for name, one in vars(self).items()}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Graph:
        """Rebuild the graph from the output of `to_arrays`, as `np.load` returns it.

        Raises ValueError for arrays of another version and for damaged or incomplete ones; callers then rebuild the
        graph.
        """
        missing = sorted({*cls.__dataclass_fields__, "version"} - set(arrays))
        if missing:
            raise ValueError(f"The stored graph lacks {', '.join(missing)}.")
        if arrays["version"].tolist() != VERSION:
            raise ValueError(f"The stored graph has version {arrays['version'].tolist()!r}, not {VERSION}.")
        neighbors, weights = _pair(arrays["neighbors"], arrays["weights"], len(arrays["neighbors"]))
        unseen = _pair(arrays["test_neighbors"], arrays["test_weights"], len(neighbors))
        if unseen[0].shape[1] != neighbors.shape[1] or not (neighbors[:, 0] == np.arange(len(neighbors))).all():
            raise ValueError("The stored graph is damaged: its parts do not fit together.")
        return cls(neighbors, weights, *unseen, str(arrays["kind"]), float(arrays["recall"]))


def _pair(neighbors: AnyArray, weights: AnyArray, n_rows: int) -> tuple[AnyArray, IntArray]:
    whole = neighbors.dtype.kind == weights.dtype.kind == "i" and neighbors.ndim == 2
    if not whole or neighbors.shape != weights.shape or not neighbors.shape[1]:
        raise ValueError("The stored graph is damaged: neighbors and weights must be whole numbers, (n, K) both.")
    if neighbors.size and not (0 <= neighbors.min() <= neighbors.max() < n_rows and weights.min() >= 0):
        raise ValueError(f"The stored graph is damaged: neighbors must be in 0..{n_rows - 1}, weights at least 0.")
    return neighbors.astype(np.int32, copy=False), weights.astype(np.int64, copy=False)


def find_graph(
    X: MatrixLike, unseen: MatrixLike | None, settings: GraphSettings, tell: ShareProgress = untold
) -> Graph:
    """Find the graph of training rows X (n_train, d) and held-out rows `unseen` (n_test, d), None for none.

    Both are finite float64, dense or CSR, already scaled. tell : called with the progress of the search among
    training rows
    """
    search = NeighborGraph(X, settings.n_neighbors, settings.weights, scaling=None, seed=settings.seed)
    neighbors, weights = search.own_neighbors(tell=tell)
    none = 0, search.n_neighbors
    others = np.zeros(none, dtype=np.int32), np.zeros(none, dtype=np.int64)
    if unseen is not None:
        others = search.neighbors_of(unseen)
    return Graph(neighbors, weights, *others, search.kind, search.recall)
