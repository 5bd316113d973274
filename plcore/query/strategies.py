"""Query strategies (which row to ask about next) behind one small interface.

A strategy is fitted once, returns the next rows and is updated with answers: `fit`, `scores_`, `next`,
`update`. `EffectRanker` has this interface for effect scores; this module has the baselines they are compared
with (section 5 of Nguyen, Destercke and Masson, AAAI 2017). `.registry` makes any of them from its name.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length

from plcore.arrays.types import (
    BoolArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    Matrix,
    MatrixLike,
    is_sparse,
)
from plcore.labels.candidates import CandidateError, kept_candidates
from plcore.neighbors.graph import SCALINGS, make_scaler
from plcore.neighbors.search import make_search
from plcore.neighbors.search.rows import ready

# Input checks of `EffectRanker`.


def check_number(n: object) -> int:
    """Return `n`, a number of rows to return. Raises ValueError if it is none."""
    if not isinstance(n, Integral) or n < 0:
        raise ValueError(f"n must be an int of at least 0. Got {n!r}.")
    return int(n)


def check_candidates_row(candidates_row: ArrayLike, row: int, n_classes: int) -> BoolArray:
    """Return new candidates of one row as a new bool (n_classes,). Raises CandidateError if they are
    invalid."""
    given = np.asarray(candidates_row)
    if given.shape != (n_classes,) or not (given.dtype == np.bool_ or np.all((given == 0) | (given == 1))):
        raise CandidateError(
            f"candidates_row must be {n_classes} values True/False or 1/0 for row {row}. Got {given!r}."
        )
    return given.astype(bool)


def allowed_rows(ambiguous: BoolArray, among: ArrayLike | None) -> BoolArray:
    """Return a new bool (n,): the ambiguous rows, within `among` if it is given. Raises ValueError unless that is bool
    (n,)."""
    if among is None:
        return ambiguous.copy()
    mask = np.asarray(among)
    if mask.shape != ambiguous.shape or mask.dtype != np.bool_:
        raise ValueError(
            f"among must be True or False for each of the {len(ambiguous)} rows. Got shape {mask.shape} and dtype "
            f"{mask.dtype}. Fix: for row numbers make a mask, np.isin(np.arange({len(ambiguous)}), rows)."
        )
    return np.asarray(ambiguous & mask)


def check_target_rows(target_rows: ArrayLike, n_targets: int, n_rows: int) -> IntArray:
    """Return the rows that targets stand for as int64 (n_targets,). Raises ValueError unless they are distinct and in
    0..n_rows-1."""
    own = np.asarray(target_rows)
    fits = own.shape == (n_targets,) and own.dtype.kind in "iu"
    if not fits or not ((own[1:] > own[:-1]).all() or len(np.unique(own)) == len(own)):
        raise ValueError(f"target_rows must be {n_targets} distinct row numbers. Got shape {own.shape}.")
    if len(own) and not 0 <= own.min() <= own.max() < n_rows:
        raise ValueError(f"target_rows must be rows of candidates, 0..{n_rows - 1}.")
    return own.astype(np.int64)


class Strategy(Protocol):
    """Interface of a strategy for learner, replay and benchmarks. Rows with at most one candidate are never asked
    about."""

    candidates_: BoolArray  # (n, m) after the updates

    def fit(self, X: MatrixLike, candidates: LabelsLike) -> Self:
        """Start with features X (n, d), dense or CSR, and candidates (n, m)."""

    @property
    def scores_(self) -> FloatArray:
        """Scores (n,), a new array, higher = ask sooner; 0 for rows that are never asked about."""

    def score_of(self, row: int) -> float:
        """Return the score of one row."""

    def next(self, n: int = 1, among: BoolArray | None = None) -> IntArray:
        """Return up to n rows to ask about, best first; ties by row number. among: bool (n,), rows that may be
        returned."""

    def update(self, row: int, candidates_row: ArrayLike) -> object:
        """Replace the candidates of a row (m,) after an answer or an undo."""


class ModelStrategy(Strategy, Protocol):
    """A strategy that uses the model's predictions for the rows."""

    def model_changed(self) -> None:
        """Handle a change of the model, which may affect any row."""


class LearnerStrategy(Strategy, Protocol):
    """A strategy that uses a fitted learner, passed in by `plcore.evaluation.replay`."""

    def learner_changed(self, learner: BaseEstimator, X: Matrix) -> None:
        """Handle a newly trained learner: fitted on X (n, d), the rows of `fit`, and their current
        candidates."""


@dataclass(eq=False, repr=False)
class Baseline:
    """Base class of strategies that need only one method, `_values`.

    random_state : None: ties go to the lower row number; a seed: ties follow a seeded permutation
    """

    _: KW_ONLY
    random_state: int | None = None

    def fit(self, X: MatrixLike, candidates: LabelsLike) -> Self:
        """Start with X (n, d), dense or CSR, and candidates as for `check_candidates`, or `CandidateSets`.

        Raises ValueError for wrong parameters or features, CandidateError for wrong candidates.
        """
        features = check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
        known = kept_candidates(candidates)
        check_consistent_length(features, known)
        n_rows = len(known)
        self._tie_order = np.arange(n_rows)
        if self.random_state is not None:
            self._tie_order = np.random.default_rng(self.random_state).permutation(n_rows)
        self.candidates_ = known
        self._sizes: IntArray = known.sum(axis=1)
        self._start(features)
        return self

    def _start(self, features: FeatureMatrix) -> None:
        """Prepare the data for `_values`; candidates and sizes are set already."""

    def _changed(self, row: int, old_size: int) -> None:
        """Handle new candidates of a row, which are already stored."""

    def _values(self, rows: IntArray) -> FloatArray:
        """Return the scores of these rows, which have at least two candidates."""
        raise NotImplementedError

    @property
    def scores_(self) -> FloatArray:
        """Scores (n,), a new array; 0 for rows with at most one candidate."""
        self._check_fitted()
        scores = np.zeros(len(self._sizes))
        rows = np.flatnonzero(self._sizes >= 2)
        scores[rows] = self._values(rows)
        return scores

    def score_of(self, row: int) -> float:
        """Return the score of one row, without computing the others."""
        self._check_fitted()
        return float(self._values(np.array([row]))[0]) if self._sizes[row] >= 2 else 0.0

    def next(self, n: int = 1, among: BoolArray | None = None) -> IntArray:
        """Return up to n rows with at least two candidates, best first. among: bool (n,), None for all."""
        self._check_fitted()
        return self._best(np.flatnonzero(allowed_rows(self._sizes >= 2, among)), check_number(n))

    def _best(self, rows: IntArray, n: int) -> IntArray:
        values = self._values(rows)
        if n == 1 and len(rows):  # the usual case, without a sort
            rows = rows[values == values.max()]
            return rows[[self._tie_order[rows].argmin()]]
        return rows[np.lexsort((self._tie_order[rows], -values))[:n]]

    def update(self, row: int, candidates_row: ArrayLike) -> None:
        """Replace the candidates of a row (m,); all False: an excluded item, which is not asked about.

        Raises ValueError for a row out of range, CandidateError for values that are not m times True/False or
        1/0.
        """
        self._check_fitted()
        if not isinstance(row, Integral) or not 0 <= row < len(self._sizes):
            raise ValueError(f"row must be a row number in 0..{len(self._sizes) - 1}. Got {row!r}.")
        given = check_candidates_row(candidates_row, row, self.candidates_.shape[1])
        old_size = int(self._sizes[row])
        self.candidates_[row] = given
        self._sizes[row] = self.candidates_[row].sum()
        self._changed(int(row), old_size)

    def _check_fitted(self) -> None:
        if not hasattr(self, "candidates_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first.")


class RandomOrder(Baseline):
    """RD: rows in a random order that is drawn once.

    random_state : seed of the order, None counts as 0

    The order is a permutation of all rows. So the same rows with the same seed are asked in the same order live, in a
    replay and after an undo, and at every step each open row is equally likely. Scores are places in that order, in (0,
    1].
    """

    def _start(self, features: FeatureMatrix) -> None:  # noqa: ARG002
        n = len(self._sizes)
        # A separate random stream: the same seed may have drawn test rows or ties.
        rank = np.random.default_rng([self.random_state or 0, 1]).permutation(n)
        self._priority: FloatArray = (n - rank) / n

    def _values(self, rows: IntArray) -> FloatArray:
        return self._priority[rows]


class LargestSet(Baseline):
    """MP: rows with the most candidates first. Scores are numbers of candidates."""

    def _values(self, rows: IntArray) -> FloatArray:
        sizes: FloatArray = self._sizes[rows].astype(np.float64)
        return sizes


@dataclass(eq=False, repr=False)
class FarthestFirst(Baseline):
    """ACT: the row farthest from its nearest labelled row first; rows with one candidate left are labelled.

    The paper's ACT is ModFF (Joshi, Porikli and Papanikolopoulos, "Coverage optimized active learning for k-nn
    classifiers", ICRA 2012), "in such a way that all target data have labelled samples at a bounded maximum distance".
    Its full text was not available: this is greedy farthest-first traversal, which has that bound. Partially labelled
    rows count as unlabelled. If nothing is labelled, it takes the row farthest from the mean of all rows. Scores are
    Euclidean distances of the scaled features, all measured by `plcore.neighbors.search`, so that after any updates
    they equal those of a fresh fit bit for bit. A batch is chosen as if its earlier rows were labelled.

    scaling : "minmax" | "standard" | None
    """

    _: KW_ONLY
    scaling: str | None = "minmax"

    def _start(self, features: FeatureMatrix) -> None:
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}. Got {self.scaling!r}.")
        scaler = make_scaler(self.scaling, is_sparse(features))
        # A copy: the caller's own matrix may change or be read-only.
        self._X = ready(features.copy() if scaler is None else scaler.fit_transform(features))
        everyone = np.arange(len(self._sizes))
        mean = np.asarray(self._X.mean(axis=0)).reshape(1, -1)
        mean = sparse.csr_matrix(mean) if is_sparse(self._X) else mean
        self._from_mean = self._nearest_of(everyone, ready(mean))[1]
        # For every row: its nearest labelled row (-1: none) and the distance to it.
        self._nearest: IntArray = np.full(len(everyone), -1)
        self._distance: FloatArray = np.full(len(everyone), np.inf)
        self._find_labelled(everyone)

    def _nearest_of(self, rows: IntArray, points: FeatureMatrix) -> tuple[IntArray, FloatArray]:
        """Return (places, distances) (r,): the nearest of these points to each of these rows."""
        places, distances = make_search(points, 1, "exact").nearest(self._X[rows], 1)
        return places[:, 0], distances[:, 0]

    def _find_labelled(self, rows: IntArray) -> None:
        """Find the nearest labelled row of these rows again."""
        labelled = np.flatnonzero(self._sizes == 1)
        self._nearest[rows], self._distance[rows] = -1, np.inf
        if len(labelled) and len(rows):
            places, self._distance[rows] = self._nearest_of(rows, self._X[labelled])
            self._nearest[rows] = labelled[places]

    def _changed(self, row: int, old_size: int) -> None:
        is_labelled, was_labelled = self._sizes[row] == 1, old_size == 1
        if is_labelled and not was_labelled:
            _, distances = self._nearest_of(np.arange(len(self._sizes)), self._X[[row]])
            closer = distances < self._distance
            self._nearest[closer], self._distance[closer] = row, distances[closer]
        elif was_labelled and not is_labelled:
            self._find_labelled(np.flatnonzero(self._nearest == row))

    def _values(self, rows: IntArray) -> FloatArray:
        return (self._distance if (self._sizes == 1).any() else self._from_mean)[rows]

    def _best(self, rows: IntArray, n: int) -> IntArray:
        values, nearest = self._values(rows), self._distance[rows]
        left = np.ones(len(rows), dtype=bool)
        chosen: list[int] = []
        while left.any() and len(chosen) < n:
            best = np.flatnonzero(left & (values == values[left].max()))
            place = best[self._tie_order[rows[best]].argmin()]
            chosen.append(int(rows[place]))
            left[place] = False
            if len(chosen) < n:
                values = nearest = np.minimum(nearest, self._nearest_of(rows, self._X[[rows[place]]])[1])
        return np.array(chosen, dtype=np.int64)
