"""How good predicted label vectors are, on the cells that are known."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from plcore.common.types import FloatArray
from plcore.labels.vectors import LabelVectors, check_label_vectors


def precision_at(y: Any, scores: Any, t: int, *, sample_weight: Any = None) -> float:
    """Share of yes among the t labels of each row that are ranked highest, in [0, 1]; nan without a known cell of
    a row with weight; ValueError where no row has any.

    y : (n, L) label vectors with holes      scores : (n, L), higher = more likely a yes; ties to the first label
    Cells not asked are left out of the ranking; rows with fewer than t known cells count with those they have.
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
    weights = _check_sample_weight(sample_weight, vectors.values)[rows]
    return float(np.average(share, weights=weights)) if weights.any() else float("nan")


def f1_scores(y: Any, predicted: Any) -> tuple[float, float]:
    """(macro, micro) F1 of predicted labels on the known cells of y, both (n, L).

    Macro: the mean over labels with a known yes or a predicted yes; 0 where there is none.
    """
    vectors, values = _checked(y, predicted)
    yes = (values > 0.5) & vectors.known
    right = (yes * vectors.values).sum(axis=0)
    said, true = yes.sum(axis=0), vectors.values.sum(axis=0)
    counted = said + true > 0
    macro = float((2.0 * right[counted] / (said + true)[counted]).mean()) if counted.any() else 0.0
    total = float((said + true).sum())
    return macro, 2.0 * float(right.sum()) / total if total else 0.0


def _checked(y: Any, scores: Any) -> tuple[LabelVectors, FloatArray]:
    vectors = check_label_vectors(y, matrix=True)
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != vectors.values.shape:
        raise ValueError(f"The scores must have the shape of y, {vectors.values.shape}. Got {values.shape}.")
    return vectors, values
