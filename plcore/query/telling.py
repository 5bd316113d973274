"""Which features tell two labels apart: what a page marks for the person who has to choose between them.

The score of a feature for labels a and b is the standardised difference of its means (Cohen 1988, *d*, with both
labels weighing the same),

    score_j = |mean_aj - mean_bj| / sqrt((variance_aj + variance_bj) / 2),

in which every row counts for a label with its share in the row's label distribution. It does not depend on the
scale of a feature. Means and variances belong to the model and are taken once (`label_moments`); a question then
costs O(d).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plcore.common.types import FloatArray, IntArray

_NEGLIGIBLE = 1e-9  # a spread below this share of the feature's own is rounding


class LabelMoments(NamedTuple):
    """Per label and feature; NaN where no row with a value there can have the label."""

    mean: FloatArray  # (m, d)
    variance: FloatArray  # (m, d)


def label_moments(X: FloatArray, distributions: FloatArray) -> LabelMoments:
    """Mean and variance of each feature under each label.

    X : (n, d) numbers, NaN where a value is missing: such a cell counts for nothing
    distributions : (n, m) shares in [0, 1], the weights of the rows
    Costs O(n d m). Raises ValueError where the shapes do not match.
    """
    if X.ndim != 2 or distributions.ndim != 2 or len(X) != len(distributions):
        raise ValueError(
            "X must be (n, d) and distributions (n, m) with the same n. "
            f"Got shapes {X.shape} and {distributions.shape}."
        )
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    centre = np.sum(X, axis=0, where=known) / count
    # About the mean over all rows, where the difference of two squares loses next to nothing.
    about = np.where(known, X - centre, 0.0)
    weight = distributions.T @ known
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (distributions.T @ about) / weight
        variance = np.maximum((distributions.T @ about**2) / weight - mean**2, 0.0)
    spread = np.mean(about**2, axis=0)
    return LabelMoments(mean + centre, np.where(variance <= _NEGLIGIBLE * spread, 0.0, variance))


def telling_scores(moments: LabelMoments, first: int, second: int) -> FloatArray:
    """(d,) the score of each feature for two label numbers: 0 where it says nothing, inf where it alone decides."""
    apart = np.abs(moments.mean[first] - moments.mean[second])
    spread = np.sqrt((moments.variance[first] + moments.variance[second]) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(apart / spread, nan=0.0, posinf=np.inf))


def most_telling(moments: LabelMoments, first: int, second: int, n: int) -> IntArray:
    """The at most n features with the highest scores, best first, ties in column order; none with score 0."""
    scores = telling_scores(moments, first, second)
    order = np.argsort(-scores, kind="stable")[:n]
    return np.asarray(order[scores[order] > 0], dtype=np.int64)
