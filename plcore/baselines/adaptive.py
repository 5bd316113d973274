"""PL A-kNN: each prediction uses only as many neighbours as its decision needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, LabelsLike, MatrixLike, is_sparse
from plcore.kernels import softmax_rows
from plcore.labels.training import ScoreClassifier, check_features, check_training
from plcore.neighbors.search import make_search
from plcore.neighbors.search.rows import ready

# The features of PL A-kNN: unit length, mixed with their neighbours, scaled by the local density.

MIXED_NEIGHBORS, MIXED_SHARE = 10, 0.1
SCALE_NEIGHBORS = 50
TINY = 1e-12  # added to denominators that may be 0


class LocalScaling:
    """Signed cube root; unit length; 10% of the Gaussian-weighted mean of 10 neighbours mixed in; unit length; divided
    by the mean distance to 50 neighbours.

    Neighbours are training rows, not the row itself; the Gaussian's width is the median of their distances. New rows
    use their neighbours among the training rows after mixing. X: float64 (n, d), dense or CSR.
    """

    def fit(self, X: FeatureMatrix) -> FeatureMatrix:
        """Return the training rows (n, d), transformed; CSR if X is."""
        rows = _on_sphere(X)
        own = np.arange(rows.shape[0])
        self._mixed = rows
        if len(own) > 1:
            count = min(MIXED_NEIGHBORS, len(own) - 1)
            neighbors, distances = make_search(rows, count).nearest(rows, count, own)
            self._mixed = _mix(rows, rows, neighbors, distances)
        self._search = make_search(self._mixed, SCALE_NEIGHBORS)
        return self._scale(self._mixed, own)

    def transform(self, X: FeatureMatrix) -> FeatureMatrix:
        """Return new rows (q, d), transformed."""
        rows = _on_sphere(X)
        neighbors, distances = self._search.nearest(rows, min(MIXED_NEIGHBORS, self._mixed.shape[0]))
        return self._scale(_mix(rows, self._mixed, neighbors, distances), None)

    def _scale(self, rows: FeatureMatrix, own: IntArray | None) -> FeatureMatrix:
        count = min(SCALE_NEIGHBORS, self._mixed.shape[0] - 1)
        if count == 0:
            return rows
        _, distances = self._search.nearest(rows, count, own)
        return _times(1.0 / (distances.mean(axis=1) + TINY), rows)


def _on_sphere(X: FeatureMatrix) -> FeatureMatrix:
    if not is_sparse(X):
        return ready(normalize(np.cbrt(X)))
    roots = X.copy()
    roots.data = np.cbrt(X.data)
    return ready(normalize(roots))


def _mix(rows: FeatureMatrix, others: FeatureMatrix, neighbors: IntArray, distances: FloatArray) -> FeatureMatrix:
    """Mix each row (q, d) with its neighbours (q, k) among the others; return rows of unit length."""
    width = np.median(distances, axis=1, keepdims=True) + TINY
    near = np.exp(-0.5 * np.square(distances / width))
    near *= MIXED_SHARE / (near.sum(axis=1, keepdims=True) + TINY)
    count = neighbors.shape[1]
    start = np.arange(0, neighbors.size + 1, count)
    pull = sparse.csr_matrix((near.ravel(), neighbors.ravel(), start), shape=(len(near), others.shape[0]))
    return ready(normalize((1.0 - MIXED_SHARE) * rows + pull @ others))


def _times(factors: FloatArray, rows: FeatureMatrix) -> FeatureMatrix:
    """Multiply each row (q, d) by its factor (q,)."""
    return ready(rows.multiply(factors[:, None]).tocsr() if is_sparse(rows) else rows * factors[:, None])


BLOCK = 4096  # rows decided at a time


@dataclass(eq=False, repr=False)
class PLAdaptiveNeighborsClassifier(ScoreClassifier):
    """Adaptive nearest neighbours for candidate sets, PL A-kNN (Errandonea et al., AISTATS 2026, arXiv 2603.15781).

    Neighbours are added one at a time, nearest first; each votes for all its candidates. After k neighbours, a class is
    dropped if it is A sqrt(k) or more votes behind the leading remaining class,

        A = threshold * sqrt(log n + log(m / delta)),

    with n rows and m classes that occur. The search ends when one class remains, or after n_neighbors; then the
    remaining class with the largest lead over the second at any k, in units of sqrt(k), wins. Ties go to the first
    class.

    `decision_function` returns this lead in units of A sqrt(k): at 1 or more it is decisive. For a dropped class it
    returns minus its distance from the leader, -1 or less. Mixed labels and large sets need more neighbours:
    `neighbors_needed` returns how many.

    Parameters
    ----------
    n_neighbors : maximum number of neighbours, clipped to the number of training rows.
    threshold : c1 of A; a larger value uses more neighbours.
    delta : the probability of a wrong decision that A allows, below 0.5.
    scaling : "local", the authors' own: signed cube root, unit length, 10% of the Gaussian-weighted mean of 10
        neighbours, unit length, divided by the mean distance to 50 neighbours; None does not scale X.

    Attributes
    ----------
    classes_ (m,), n_features_in_, candidates_ bool (n, m)
    label_distributions_ : (n, m) probabilities of the training rows, predicted like new ones, inside their candidates.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 0.5, closed="neither")],
        "scaling": [StrOptions({"local"}), None],
    }

    n_neighbors: int = 50
    threshold: float = 0.5
    delta: float = 0.1
    scaling: str | None = "local"

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None
    ) -> PLAdaptiveNeighborsClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) number of copies of each row, whole numbers; 0 leaves it out
        Raises CandidateError for candidates that break the convention, ValueError for wrong features, weights or
        parameters.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        copies = np.rint(weights).astype(int)
        if (copies != weights).any():
            raise ValueError(
                "sample_weight of PLAdaptiveNeighborsClassifier must be whole numbers, the copies of each row: "
                f"neighbours are counted. Got {weights[copies != weights][0]:g}. Fix: round or leave them out."
            )
        rows = np.repeat(np.arange(len(copies)), copies)
        present = ready(X[rows])
        self._local = LocalScaling() if self.scaling == "local" else None
        self._rows = present if self._local is None else self._local.fit(present)
        self._votes = candidates[rows]
        self._possible = np.asarray(self._votes.any(axis=0))
        self._search = make_search(self._rows, self.n_neighbors)
        self.classes_, self.candidates_ = classes, candidates
        scores, _ = self._decide(X)
        self.label_distributions_ = self._probabilities(scores, candidates)
        self.transduction_ = classes[self.label_distributions_.argmax(axis=1)]
        return self

    def _decide(self, X: FeatureMatrix) -> tuple[FloatArray, IntArray]:
        """Return scores (q, m), -inf for classes without any row, and the neighbours needed (q,), for rows X (q, d)."""
        if is_sparse(X) != is_sparse(self._rows):  # the search reads only one form
            X = X.toarray() if is_sparse(X) else sparse.csr_matrix(X)
        queries = ready(X) if self._local is None else self._local.transform(X)
        n = self._rows.shape[0]
        neighbors, _ = self._search.nearest(queries, min(self.n_neighbors, n))
        decisive = self.threshold * math.sqrt(math.log(n) + math.log(self._possible.sum() / self.delta))
        scores, needed = np.full((len(neighbors), len(self.classes_)), -np.inf), np.empty(len(neighbors), int)
        for start in range(0, len(neighbors), BLOCK):
            part = slice(start, start + BLOCK)
            scores[part, self._possible], needed[part] = eliminate(
                neighbors[part], self._votes[:, self._possible], decisive
            )
        return scores, needed

    def _probabilities(self, scores: FloatArray, inside: BoolArray) -> FloatArray:
        """Return probabilities (n, m): a lead of 1, which is decisive, gets the odds that the rule allows."""
        return np.asarray(softmax_rows(scores * math.log((1.0 - self.delta) / self.delta), inside))

    def _decide_new(self, X: MatrixLike) -> tuple[FloatArray, IntArray]:
        check_is_fitted(self)
        return self._decide(check_features(self, X, reset=False))

    def neighbors_needed(self, X: MatrixLike) -> IntArray:
        """Return (n,) the number of neighbours used before one class was left; n_neighbors if several were
        left."""
        return self._decide_new(X)[1]

    def _scores(self, X: MatrixLike) -> FloatArray:
        return self._decide_new(X)[0]

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) softmax of the scores times log((1 - delta) / delta): a decisive lead gets the odds
        that the rule allows. A class that was never a candidate gets 0."""
        scores = self._scores(X)
        return self._probabilities(scores, np.broadcast_to(self._possible, scores.shape))


def eliminate(neighbors: IntArray, votes: BoolArray, decisive: float) -> tuple[FloatArray, IntArray]:
    """Apply the rule to q rows at once: return scores (q, m), the leads, and the neighbours needed (q,).

    neighbors : (q, K) rows of votes (n, m), nearest first      decisive : A
    """
    m = votes.shape[1]
    shape = (len(neighbors), m)
    scores, needed = np.ones(shape), np.zeros(len(neighbors), dtype=int)
    if m == 1:
        return scores, needed
    counts, left = np.zeros(shape, dtype=int), np.ones(shape, dtype=bool)
    # The largest lead so far, squared with its sign, over k: quotients of equal value are equal, roots might not be.
    leads = np.full(shape, -np.inf)
    behind = np.zeros(shape)
    undecided = np.arange(len(neighbors))
    for k in range(1, neighbors.shape[1] + 1):
        counts[undecided] += votes[neighbors[undecided, k - 1]]
        now, alive = counts[undecided], left[undecided]
        second, first = np.partition(np.where(alive, now, -1), m - 2, axis=1)[:, m - 2 :].T
        lead = now - second[:, None]
        leads[undecided] = np.where(alive, np.maximum(leads[undecided], lead * np.abs(lead) / k), leads[undecided])
        lag = (first[:, None] - now) / math.sqrt(k)
        dropped = alive & (lag >= decisive)
        behind[undecided] = np.where(dropped, lag, behind[undecided])
        left[undecided] = alive & ~dropped
        needed[undecided] = k
        undecided = undecided[left[undecided].sum(axis=1) > 1]
        if not len(undecided):
            break
    scores = np.where(left, np.sign(leads) * np.sqrt(np.abs(leads)), -behind)
    return np.asarray(scores / decisive), needed
