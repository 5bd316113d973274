"""Metrics of predicted label vectors on the known cells."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike
from plcore.labels.vectors import LabelVectors, check_label_vectors
from plcore.labels.weights import check_sample_weight


def precision_at(y: LabelsLike, scores: ArrayLike, t: int, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the share of yes among the t highest ranked labels of each row, in [0, 1]; nan if no row with
    weight has a known cell. Raises ValueError if all weights are 0.

    y : (n, L) label vectors with missing labels      scores : (n, L), higher = more likely a yes; ties to the first
    label
    Unasked cells are left out of the ranking; rows with fewer than t known cells count with these.
    """
    vectors, values = _checked(y, scores)
    if not isinstance(t, Integral) or isinstance(t, bool) or t < 1:
        raise ValueError(f"t must be an int of at least 1. Got {t!r}.")
    order = np.argsort(np.where(vectors.known, -values, np.inf), axis=1, kind="stable")[:, :t]
    hits = np.take_along_axis(vectors.values, order, axis=1)
    counted = np.take_along_axis(vectors.known, order, axis=1)
    rows = counted.any(axis=1)
    if not rows.any():
        return float("nan")
    share = (hits * counted)[rows].sum(axis=1) / counted[rows].sum(axis=1)
    weights = check_sample_weight(sample_weight, vectors.values)[rows]
    return float(np.average(share, weights=weights)) if weights.any() else float("nan")


def f1_scores(y: LabelsLike, predicted: ArrayLike) -> tuple[float, float]:
    """Return (macro, micro) F1 of predicted labels on the known cells of y, both (n, L).

    Macro is the mean over labels with a known yes or a predicted yes; 0 if there is none.
    """
    vectors, values = _checked(y, predicted)
    yes = (values > 0.5) & vectors.known
    right = (yes * vectors.values).sum(axis=0)
    said, true = yes.sum(axis=0), vectors.values.sum(axis=0)
    counted = said + true > 0
    macro = float((2.0 * right[counted] / (said + true)[counted]).mean()) if counted.any() else 0.0
    total = float((said + true).sum())
    return macro, 2.0 * float(right.sum()) / total if total else 0.0


def _checked(y: LabelsLike, scores: ArrayLike) -> tuple[LabelVectors, FloatArray]:
    vectors = check_label_vectors(y, matrix=True)
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != vectors.values.shape:
        raise ValueError(f"The scores must have the shape of y, {vectors.values.shape}. Got {values.shape}.")
    return vectors, values


# Threshold on the scores for yes: the one with the best F1 on known cells.
#
# Posterior means and coefficients are pulled to 0, more so the fewer cells are known, so one half is above nearly all
# of them. From scores that the cells themselves had no part in, the threshold with the highest F1 also works for new
# rows.

EVEN = 0.5  # halfway from no, 0, to yes, 1: the threshold of the paper, and if no yes is known
AUTO = "auto"
# Maximum number of cells that a threshold is fitted to; above it, a sample is used. On 25,000 to 100,000 cells of three
# sets micro F1 is the same within 0.005 (draws of Phi change it by more); the cost of a fit follows the cells.
MOST_CELLS = 30_000
THRESHOLD: dict[str, list[object]] = {"threshold": [StrOptions({AUTO}), Interval(Real, None, None, closed="neither")]}


def best_threshold(scores: FloatArray, yes: BoolArray) -> float:
    """Return the t for which "yes if score > t" has the highest F1; among several, the highest t. EVEN if no cell is
    yes.

    scores (k,), yes (k,) : of known cells. t lies halfway between two neighbouring scores, or 1 below the lowest.
    """
    found = int(yes.sum())
    if not found:
        return EVEN
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    hits = np.cumsum(yes[order])
    ends = np.append(np.flatnonzero(ordered[1:] < ordered[:-1]), len(ordered) - 1)  # last place of each score
    f1 = 2.0 * hits[ends] / (ends + 1 + found)
    last = ends[f1.argmax()]
    if last == len(ordered) - 1:
        return float(ordered[last] - 1.0)
    least, below = float(ordered[last]), float(ordered[last + 1])
    middle = below + (least - below) / 2.0
    return middle if middle < least else below


def drawn_rows(known: BoolArray) -> IntArray:
    """Return the rows of `known` (n, L) with a known cell, in order; a seeded sample if they have more cells than
    MOST_CELLS."""
    rows = np.flatnonzero(known.any(axis=1))
    most = max(1, MOST_CELLS // known.shape[1])
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
