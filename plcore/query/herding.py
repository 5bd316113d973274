"""Ask first about rows that represent many others: greedy coverage of the neighbour graph.

With few answers, coverage of the data matters more than model uncertainty. MaxHerding (Bae, Noh, Sutherland,
"Generalized coverage for more robust low-budget active learning", ECCV 2024) picks rows one by one, each time the row
that adds most to the coverage of all rows by the labelled ones L,

    gain(x) = sum_i w_i max(0, k(x_i, x) - max_{s in L} k(x_i, s)),

with a Gaussian kernel k. The coverage is submodular: a gain never grows as rows are labelled, and the greedy choice
covers at least 1 - 1/e of the best choice with the same number of rows (Nemhauser, Wolsey and Fisher 1978).

Here k is defined on the graph of nearest neighbours: k(x_i, x) = exp(-(d / s_i)^2 / 2) for the neighbours of row i, 0
elsewhere. The width s_i is the median distance of row i to its neighbours (Zelnik-Manor and Perona, "Self-tuning
spectral clustering", NIPS 2004), so distances are needed only up to the scale of each row, and these follow from the
weights of the graph. w_i is 1 minus the largest share that a model gives row i: decided rows need no cover. Without a
model shares are even, w_i = 1 - 1 / |S_i|.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length

from plcore.arrays.checks import check_int
from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, IntArray, LabelsLike, Matrix, MatrixLike
from plcore.labels.candidates import check_candidates
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.votes import WEIGHT_UNIT, SlotIndex, check_graph
from plcore.query.strategies import allowed_rows, check_number
from plcore.query.uncertainty import BLOCK_CELLS, ByModel, learner_shares

CONCERN_UNIT = 2**16
"""The integer for w = 1. Gains are sums of integers below 2**40, exact in any order."""
ANSWERS_PER_CLASS, LEAST_GAIN = 2, 0.01
"""Limits at which coverage ends; see `MaxHerding.lasts`."""
BLOCK = 50_000  # rows whose neighbours are processed at a time


@dataclass(eq=False, repr=False)
class MaxHerding(ByModel):
    """Greedy coverage of the neighbour graph, updated with each answer; the updated gains equal those of a fresh fit
    bit for bit.

    figures : returns w (r,) in [0, 1] for training rows (r,); None: 1 - 1 / |S|, or by the learner given to
        `learner_changed`
    n_neighbors : K of the graph that `fit` finds, including the row itself      scaling, search : as for `EffectRanker`

    Scores are gains: the number of rows that the row would represent, if all w were 1 and k were 0 or 1. Rows with one
    candidate are labelled. Rows without candidates neither cover others nor need cover.
    """

    n_neighbors: int = 10
    _: KW_ONLY
    scaling: str | None = "minmax"
    search: str = "auto"

    def fit(self, X: MatrixLike, candidates: LabelsLike) -> Self:
        """Find the neighbours of X (n, d), dense or CSR, and start with candidates as for `check_candidates`.

        Raises ValueError for wrong parameters or features, CandidateError for wrong candidates.
        """
        features = check_array(X, accept_sparse="csr", dtype=np.float64)
        check_int("n_neighbors", self.n_neighbors, 1)
        known, _ = check_candidates(candidates)
        check_consistent_length(features, known)
        graph = NeighborGraph(features, self.n_neighbors, "linear", self.scaling, self.search)
        return self.fit_graph(*graph.own_neighbors(), known)

    def fit_graph(self, neighbors: ArrayLike, weights: ArrayLike, candidates: LabelsLike) -> Self:
        """Start on a neighbour graph made elsewhere.

        neighbors, weights : (n, K) for all rows, each its own first neighbour, with weights from `neighbor_weights`
        candidates : bool (n, m)

        With "uniform" weights, which contain no distances, all neighbours are equally near. Raises ValueError and
        CandidateError as `check_graph`.
        """
        rows, fixed, known = check_graph(neighbors, weights, candidates)
        if not np.array_equal(rows[:, 0], np.arange(len(known))):
            raise ValueError(f"neighbors must have the {len(known)} rows of candidates, each its own first neighbour.")
        self._neighbors, self._near = rows, nearness(fixed)
        self._index = SlotIndex(rows, self._near, len(known))
        return super().fit(np.zeros((len(known), 1)), known)

    def _start(self, features: FeatureMatrix) -> None:  # noqa: ARG002 - the graph is enough
        n = len(self._sizes)
        self._labelled: BoolArray = np.zeros(n, dtype=bool)
        self._concern: IntArray = _fixed(1.0 - 1.0 / np.maximum(self._sizes, 1))
        self._gains: IntArray = np.zeros(n, dtype=np.int64)
        self._add(np.arange(n), self._labelled, self._gains, 1)
        self._most = int(self._gains.max(initial=0))
        self._stale: BoolArray = np.ones(n, dtype=bool)

    def learner_changed(self, learner: BaseEstimator, X: Matrix) -> None:
        """Use the shares of this fitted learner for its training rows X (n, d) (`learner_shares`)."""
        shares = learner_shares(learner, X, self.candidates_)
        self.figures = lambda rows: 1.0 - shares[rows].max(axis=1)
        self.model_changed()

    def _refresh(self) -> None:
        """Update the gains for all changes since they were last needed."""
        stale = np.flatnonzero(self._stale)
        if not len(stale):
            return
        if len(stale) == len(self._stale):
            touched = stale
            self._gains[:] = 0
        else:
            touched = np.unique(np.concatenate([stale, *(self._index.places(row)[0] for row in stale.tolist())]))
            self._add(touched, self._labelled, self._gains, -1)
        self._labelled[stale] = self._sizes[stale] == 1
        self._concern[stale] = 0
        open_rows = stale[self._sizes[stale] >= 2]
        block = max(1, BLOCK_CELLS // self.candidates_.shape[1])
        for begin in range(0, len(open_rows), block):
            part = open_rows[begin : begin + block]
            unsure = 1.0 - 1.0 / self._sizes[part] if self.figures is None else self.figures(part)
            self._concern[part] = _fixed(unsure)
        self._add(touched, self._labelled, self._gains, 1)
        self._stale[stale] = False

    def _add(self, rows: IntArray, labelled: BoolArray, gains: IntArray, sign: int) -> None:
        """Add to gains (n,), or subtract, the contributions of these rows (r,) to each of their neighbours."""
        for begin in range(0, len(rows), BLOCK):
            part = rows[begin : begin + BLOCK]
            others, near = self._neighbors[part], self._near[part]
            covered = np.where(labelled[others], near, 0).max(axis=1, keepdims=True)
            extra = np.maximum(near - covered, 0) * (sign * self._concern[part])[:, None]
            np.add.at(gains, others.ravel(), extra.ravel())

    def _label(self, row: int, labelled: BoolArray, gains: IntArray) -> None:
        """Count a row as labelled, in these arrays."""
        touched = self._index.places(row)[0]
        self._add(touched, labelled, gains, -1)
        labelled[row] = True
        self._add(touched, labelled, gains, 1)

    def _values(self, rows: IntArray) -> FloatArray:
        self._refresh()
        return self._gains[rows] / float(CONCERN_UNIT * WEIGHT_UNIT)

    def next(self, n: int = 1, among: BoolArray | None = None, claimed: Iterable[int] = ()) -> IntArray:
        """Return up to n rows to ask about, each chosen as if the previous ones were labelled; ties by row number.

        among : as for all strategies      claimed : rows that others are being asked about now; they count as labelled,
            and are not returned
        """
        self._check_fitted()
        check_number(n)
        self._refresh()
        left = allowed_rows(self._sizes >= 2, among)
        labelled, gains = self._labelled.copy(), self._gains.copy()
        for row in claimed:
            self._label(row, labelled, gains)
            left[row] = False
        chosen: list[int] = []
        while left.any() and len(chosen) < n:
            if chosen:
                self._label(chosen[-1], labelled, gains)
            best = np.flatnonzero(left & (gains == gains[left].max()))
            chosen.append(int(best[self._tie_order[best].argmin()]))
            left[chosen[-1]] = False
        return np.array(chosen, dtype=np.int64)

    def lasts(self, answered: int) -> bool:
        """Return whether coverage continues: fewer rows are answered than twice the number of classes, and the largest
        gain is at least 1% of the largest at `fit`, with even shares and no labelled rows."""
        self._check_fitted()
        if answered >= ANSWERS_PER_CLASS * self.candidates_.shape[1]:
            return False
        self._refresh()
        largest = int(self._gains[self._sizes >= 2].max(initial=0))
        return largest > 0 and largest >= LEAST_GAIN * self._most


def _fixed(concern: FloatArray) -> IntArray:
    """Return shares in [0, 1] as integers."""
    fixed: IntArray = np.rint(np.clip(concern, 0.0, 1.0) * CONCERN_UNIT).astype(np.int64)
    return fixed


def nearness(weights: IntArray) -> IntArray:
    """Return (n, K) exp(-(d / s)^2 / 2) in units of 2**-24, from the weights w = 1 - d / sum d of each row's
    neighbours.

    The row itself is the first neighbour; s is the median of d over the others. If all distances of a row are 0 or
    unknown, the result is 1 for all of them.
    """
    far: FloatArray = np.maximum(1.0 - weights / WEIGHT_UNIT, 0.0)
    if far.shape[1] == 1:
        return np.full(weights.shape, WEIGHT_UNIT, dtype=np.int64)
    width = np.median(far[:, 1:], axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative: AnyArray = np.where(far > 0, far / width, 0.0)
    near: IntArray = np.rint(np.exp(-(relative**2) / 2) * WEIGHT_UNIT).astype(np.int64)
    return near
