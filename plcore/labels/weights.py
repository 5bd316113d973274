"""Weights of rows, and prior weights of candidates: what people or programs know before anything is learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, MatrixLike, is_sparse
from plcore.labels.candidates import CandidateError, name_rows, refuse_other_columns


def check_sample_weight(sample_weight: ArrayLike | None, X: MatrixLike, **how: object) -> FloatArray:
    """Return the weights as scikit-learn checks them. Raise ValueError if all are 0, as its older releases do not."""
    weights: FloatArray = _check_sample_weight(sample_weight, X, **how)
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def check_candidate_weights(
    candidate_weights: MatrixLike | None, shape: tuple[int, ...], classes: AnyArray
) -> FloatArray | None:
    """The weights as a new float64 array (n, m), None for none.

    candidate_weights : (n, m) array, DataFrame whose columns are the classes (m,) in their order, or SciPy sparse
        matrix; finite and at least 0      shape : (n, m) of the candidates
    Raises CandidateError for another shape or other columns, and naming the rows for a weight that is negative or not
    finite.
    """
    if candidate_weights is None:
        return None
    if isinstance(candidate_weights, pd.DataFrame):
        refuse_other_columns("candidate_weights", candidate_weights, classes)
    elif is_sparse(candidate_weights):
        candidate_weights = candidate_weights.toarray()
    given = np.array(candidate_weights, dtype=float)
    if given.shape != shape:
        raise CandidateError(f"candidate_weights must have the shape of the candidates, {shape}. Got {given.shape}.")
    wrong = np.flatnonzero((~np.isfinite(given) | (given < 0)).any(axis=1))
    if len(wrong):
        raise CandidateError(
            f"candidate_weights must be finite and at least 0; they are not in {name_rows(wrong)}. "
            "Fix: write 0 for a candidate without support."
        )
    return given


def prior_labels(candidates: BoolArray, weights: FloatArray | None = None) -> FloatArray:
    """Soft labels (n, m) before anything is learnt: the weights scaled to 1 in each row, or S/|S|.

    weights : (n, m) as `check_candidate_weights` returns them; what is outside of a set does not count, and a row whose
        candidates all have weight 0 is spread evenly.
    """
    if weights is None:
        inside = candidates.astype(float)
    else:
        inside = np.where(candidates, weights, 0.0)
        largest = inside.max(axis=1, keepdims=True)
        inside = np.where(largest > 0, inside / np.where(largest > 0, largest, 1.0), candidates)
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def weights_after_answers(weights: FloatArray, candidates: BoolArray) -> FloatArray:
    """Weights (n, m) for the current candidates (n, m), from those at import: above 0 for candidates, else 0.

    A candidate that came by an answer, and so without weight, counts as much as the likeliest the row came with:
    anyone who named it knew as much as all votes.
    """
    return np.where(candidates & (weights == 0), weights.max(axis=1, keepdims=True), weights)


# Class masses: how much of the rows' weight each class is to have, and soft labels moved towards them.

POWER_STEPS = 3


@dataclass(frozen=True, eq=False)
class ClassMasses:
    """How much of the rows' weight each class is to have, counted over the rows that say something.

    A row whose set is every class says nothing about the classes' sizes and is left out of the counts.

    weights : (n,) of the rows, 0 for those left out      targets : (m,) their soft labels' mass as imported
    """

    weights: FloatArray
    targets: FloatArray

    @classmethod
    def of(cls, prior: FloatArray, weights: FloatArray) -> ClassMasses:
        """The masses of soft labels as imported (n, m)."""
        known = (prior[weights > 0] > 0).any(axis=0)
        if not known.any():  # no row has weight
            return cls(np.zeros(len(prior)), np.zeros(prior.shape[1]))
        lowest, highest = prior[:, known].min(axis=1), prior[:, known].max(axis=1)
        counted = np.where(highest > lowest * (1 + 1e-9), weights, 0.0)
        if known.sum() == 1:
            counted = weights.copy()
        return cls(counted, counted @ prior)

    def pull(self, labels: FloatArray, power: float) -> FloatArray:
        """Soft labels (n, m) moved towards the masses: three times Q_ic (M_c / sum_i Q_ic)^power, rows scaled to 1.

        power : 0 leaves them unchanged, 1 moves the sums to the masses as far as the sets allow. A class without mass
        is not pulled: the first answer may introduce it, and then no imported set gives its size.
        """
        return self.pull_with_logs(labels, power)[0]

    def pull_with_logs(self, labels: FloatArray, power: float) -> tuple[FloatArray, FloatArray]:
        """Like `pull`; also (m,) the logarithms of the factors by which it multiplies each class, before rows are
        scaled."""
        logs = np.zeros(labels.shape[1])
        for _ in range(POWER_STEPS if power > 0 else 0):
            sums = self.weights @ labels
            told = (self.targets > 0) & (sums > 0)
            factors = np.where(told, self.targets / np.where(told, sums, 1.0), 1.0) ** power
            moved = labels * factors
            total = moved @ np.ones(len(factors))  # a fifth of the time of a sum of rows
            if (total <= 0).any():
                moved, total = np.where(total[:, None] > 0, moved, labels), np.where(total > 0, total, 1.0)
            moved /= total[:, None]
            labels = moved
            logs += np.log(factors)
        return labels, logs


# Soft labels nearest to given numbers: the projection on the simplices of the candidate sets.


def project_rows(points: AnyArray, inside: BoolArray) -> FloatArray:
    """(n, m) for each row the nearest p, in Euclidean distance, with p >= 0, sum p = 1 and p = 0 outside of its set.

    points : (n, m), finite inside of the sets      inside : bool (n, m), at least one True in each row
    Exact, all rows at once: p = max(f - t, 0), t from the sorted numbers and their sums (Held, Wolfe and Crowder 1974).
    """
    # Shifting a row changes nothing, and entries 1 or more below its largest number get 0, as do entries outside the
    # set.
    top = np.max(points, axis=1, where=inside, initial=-np.inf, keepdims=True)
    moved = np.full(points.shape, -1.0)
    np.subtract(points, top, out=moved, where=inside)
    np.maximum(moved, -1.0, out=moved)
    falling = -np.sort(-moved, axis=1)
    thresholds = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, points.shape[1] + 1)
    last = np.count_nonzero(falling > thresholds, axis=1) - 1  # true for the first few, then never again
    moved -= np.take_along_axis(thresholds, last[:, None], axis=1)
    return np.asarray(np.maximum(moved, 0.0, out=moved))


# Scores of the classes, whatever the number of classes: scikit-learn gives two of them one column.


def score_columns(scores: AnyArray) -> AnyArray:
    """(n, m) scores, a column for each class, from a `decision_function`: (n, m), or (n,) = s1 - s0 for two classes.

    Of two classes each gets half of the difference. If that is infinite, one of them cannot be: -inf next to 0, so
    that a softmax gives all to the other.
    """
    scores = np.asarray(scores)
    if scores.ndim == 2:
        return scores
    columns = np.column_stack([-scores / 2, scores / 2])
    return np.where(columns == np.inf, 0.0, columns)
