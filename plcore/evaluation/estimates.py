"""Unbiased estimate of the accuracy over all rows, with its interval, from control rows only.

Control rows are a uniform sample that no model learns from. Rows that were ambiguous at first enter when they are
asked, the others at once. So the two kinds are strata: each is weighted by its share of the rows, not by its share of
the control answers. Given the model, the hits of a stratum are binomial, whatever the strategy asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d

from plcore.arrays.types import AnyArray, FeatureMatrix, FloatArray, IntArray, LabelsLike, Matrix
from plcore.labels.candidates import CandidateError, candidates_among, check_candidates, holds_sets, is_candidate_matrix

# Intervals of a share observed in a number of trials.
#
# There are two, for two purposes. `wilson_interval` holds its level on average and is short. It is used for
# measurements on held-out rows, of which there are many, and for every figure of label vectors, including blind checks:
# cells of one row are correlated, so their effective number of trials is not a whole number. `exact_interval`
# (Clopper-Pearson) holds its level for every true share. It is used for blind checks of one label among candidates:
# there are few of them, and people decide by them when to stop.

LEVEL = 0.95


def wilson_interval(share: ArrayLike, n: ArrayLike, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """Return the Wilson interval (low, high) of a share observed in n trials, arrays of one shape; NaN if n is 0 or the
    share is NaN.

    share : in [0, 1]      n : may be fractional, such as an effective sample size
    Wilson (1927): unlike the normal interval it never leaves [0, 1]. Raises ValueError unless 0 < level < 1.
    """
    _check_level(level)
    share, n = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64))
    z = special.ndtri((1 + level) / 2)
    n = np.where(n > 0, n, np.nan)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # Rounding may put a share of 0 or 1 outside its own interval.
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)


def exact_interval(right: ArrayLike, n: ArrayLike, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """Return the Clopper-Pearson interval (low, high) for `right` hits in n trials, arrays of one shape; [0,
    1] if n is 0.

    Clopper and Pearson (1934), by quantiles of the Beta distribution: at least `level` for every n and share.
    Raises ValueError unless 0 <= right <= n and 0 < level < 1.
    """
    right, n = np.broadcast_arrays(np.asarray(right, dtype=np.float64), np.asarray(n, dtype=np.float64))
    if (wrong := ~((right >= 0) & (right <= n))).any():  # also catches NaN
        raise ValueError(f"right must be between 0 and n everywhere. Got {right[wrong][0]:g} of {n[wrong][0]:g}.")
    _check_level(level)
    tail = (1 - level) / 2
    missed = n - right
    # Parameters of 0 have no quantile; the bound is then the end of the range.
    low = special.betaincinv(np.maximum(right, 1), missed + 1, tail)
    high = special.betaincinv(right + 1, np.maximum(missed, 1), 1 - tail)
    return np.where(right > 0, low, 0.0), np.where(missed > 0, high, 1.0)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1). Got {level!r}.")


@dataclass(frozen=True)
class ControlCounts:
    """Counts of control rows that the model predicts correctly, among those answered and those with one candidate at
    import."""

    right_asked: int = 0
    asked: int = 0
    right_free: int = 0
    free: int = 0


NOTHING_COUNTED = ControlCounts()


class Estimate(NamedTuple):
    """Accuracy and its interval, arrays of one length; value is NaN while a stratum that counts has no answer."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def stratified_accuracy(right: ArrayLike, n: ArrayLike, weights: ArrayLike, level: float = LEVEL) -> Estimate:
    """Compute the weighted mean of the accuracies of s strata, with its interval.

    right, n : (p, s) hits and trials, p points of a curve      weights : (s,) shares of the strata, sum 1
    The interval combines the exact intervals of the strata by the squares of their distances (MOVER: Zou and Donner
    2008, Statistics in Medicine 27; for weighted binomials Decrouez and Robinson 2012), so with one stratum it is the
    exact interval. A stratum without trials adds its whole weight, one without weight adds nothing. Raises ValueError.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1 or not ((weights >= 0).all() and abs(weights.sum() - 1) < 1e-9):
        raise ValueError(f"weights must be shares of at least 0 that sum to 1. Got {weights.tolist()}.")
    right, n = np.asarray(right, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if right.shape != n.shape or right.ndim != 2 or right.shape[1] != len(weights):
        raise ValueError(f"right and n must have the shape (points, {len(weights)}). Got {right.shape} and {n.shape}.")
    low, high = exact_interval(right, n, level)
    known, counts = n > 0, weights > 0
    share = np.divide(right, n, out=np.full(n.shape, np.nan), where=known)
    parts = np.where(counts, weights * share, 0.0)  # a stratum without weight may be unknown
    centre = np.where(known, parts, 0.0).sum(axis=1)
    down = np.where(known, weights * (share - low), 0.0)
    up = np.where(known, weights * (high - share), 0.0)
    unknown = np.where(known, 0.0, weights).sum(axis=1)
    return Estimate(
        parts.sum(axis=1),
        np.clip(centre - np.sqrt((down**2).sum(axis=1)), 0.0, 1.0),
        np.clip(centre + np.sqrt((up**2).sum(axis=1)) + unknown, 0.0, 1.0),
    )


def control_accuracy(counts: Sequence[ControlCounts], share_ambiguous: float, level: float = LEVEL) -> Estimate:
    """Estimate the accuracy over all rows that control rows are drawn from, for each point of a curve.

    counts : p `plcore.ControlCounts`, one per point      share_ambiguous : share of ambiguous rows in the pool
    """
    flat = np.array(
        [(one.right_asked, one.asked, one.right_free, one.free) for one in counts], dtype=np.float64
    ).reshape(-1, 4)
    return stratified_accuracy(flat[:, ::2], flat[:, 1::2], [share_ambiguous, 1 - share_ambiguous], level)


def control_rows_measured(counts: Sequence[ControlCounts], share_ambiguous: float) -> FloatArray:
    """Return (p,) the effective sample size: the number of equally weighted rows that would measure as
    precisely as these controls; 0 while a stratum that counts has no answer. Arguments as for
    `control_accuracy`."""
    asked = np.array([one.asked for one in counts], dtype=np.float64)
    free = np.array([one.free for one in counts], dtype=np.float64)
    spread = np.zeros(len(counts))
    for share, rows in ((share_ambiguous, asked), (1 - share_ambiguous, free)):
        if share > 0:
            spread += np.divide(share**2, rows, out=np.full(len(counts), np.inf), where=rows > 0)
    return np.asarray(1 / spread)


# Progressive validation: predict each row, then learn from it. Every row is a test row once before it is used for
# training.


@dataclass(frozen=True)
class Progressive:
    """Predictions made before each row was learnt, and running mean errors.

    predictions : (n,) members of the classes
    ambiguous_error : (n,) running share of predictions outside of their candidates (L_A of the paper, Eq. 1)
    truth_error : (n,) running share of predictions that are not the true label (0/1 loss); None without truth
    """

    predictions: AnyArray
    ambiguous_error: FloatArray
    truth_error: FloatArray | None


def progressive_validation(
    estimator: BaseEstimator,
    X: Matrix,
    y: LabelsLike,
    truth: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    copy: bool = True,
) -> Progressive:
    """Predict each row in turn, compare, then learn it with `partial_fit`.

    estimator : anything with `predict` and `partial_fit(X, y, classes=)`; `predict_then_learn` is used if it has it,
        with the same result but much faster
    X (n, d), dense or CSR      y : candidate matrix (n, m), sets of class names or label vector (n,), as the
        estimator takes it
    truth : (n,) true labels, members of the classes; any other is an error
    classes : (m,) names of the classes; None: those of an already fitted estimator, else the columns of a matrix, or
        the sorted labels of sets or of a label vector
    copy : train a fresh clone; False: continue training the estimator itself
    Before anything was learnt, the first class counts as predicted. Raises ValueError for different lengths,
    CandidateError for invalid candidates, and the estimator's errors.
    """
    candidates, names = check_candidates(y)
    model = clone(estimator) if copy else estimator
    known = None if copy else getattr(model, "classes_", None)
    if classes is not None or known is not None:
        names = np.asarray(known if classes is None else classes)
    sets = holds_sets(y)
    if sets:
        candidates = candidates_among(y, names)
    check_consistent_length(X, candidates)
    if hasattr(model, "predict_then_learn"):
        predictions = model.predict_then_learn(X, y, classes=names)
    else:
        predictions = _one_by_one(model, X, y, names, fresh=known is None)
    columns: IntArray = pd.Index(names).get_indexer(pd.Index(predictions))
    if sets or is_candidate_matrix(y):
        if len(names) != candidates.shape[1]:
            raise CandidateError(f"classes must name the {candidates.shape[1]} columns. Got {len(names)} names.")
        outside = ~candidates[np.arange(len(columns)), columns] | (columns < 0)
    else:
        outside = np.asarray(predictions != column_or_1d(y))
    wrong = None
    if truth is not None:
        check_consistent_length(predictions, truth)
        wrong = _running(np.asarray(predictions != column_or_1d(truth)))
    return Progressive(predictions, _running(outside), wrong)


def _one_by_one(model: BaseEstimator, X: FeatureMatrix, y: LabelsLike, names: AnyArray, fresh: bool) -> AnyArray:
    """Return the predictions (n,), each made right before its row was learnt."""
    found = []
    rows = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
    for row in rows:
        one = _safe_indexing(X, [row])
        found.append(names[0] if fresh and not row else model.predict(one)[0])
        model.partial_fit(one, _safe_indexing(y, [row]), classes=names)
    return np.asarray(found)


def _running(errors: AnyArray) -> FloatArray:
    """Return (n,) the mean of the errors up to each row."""
    return np.asarray(np.cumsum(errors) / np.arange(1, len(errors) + 1))
