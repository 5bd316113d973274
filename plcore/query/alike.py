"""Rows that one look can confirm together: the model gives all of them the same label, is sure of each, and they lie
near each other.

Nothing here asks whether the model is right: whoever confirms the rows does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from plcore.common.types import FloatArray, IntArray

SURE = 0.9
"""The share from which on a label of a row counts as sure."""
FEWEST = 3
"""Rows that are worth confirming together: of fewer each is asked alone as fast."""


def sure_rows(shares: FloatArray, *, at_least: float = SURE, fewest: int = FEWEST) -> IntArray:
    """The rows of which the model is sure, of the label that it is surest of: places in `shares`, the surest first, ties
    by place.

    shares : (r, m) label distributions      at_least : the least share of a row's best label, above 0.5
    fewest : a label with fewer such rows is passed over

    The label is that of the surest row whose label has enough rows. Empty where no label has.
    Raises ValueError where at_least would let two labels of a row be sure.
    """
    if not 0.5 < at_least <= 1.0:
        raise ValueError(f"at_least must be above 0.5, to 1. Got {at_least}.")
    if not shares.size:
        return np.zeros(0, dtype=np.int64)
    best, share = shares.argmax(axis=1), shares.max(axis=1)
    sure = np.flatnonzero(share >= at_least)
    enough = np.bincount(best[sure], minlength=shares.shape[1]) >= fewest
    sure = sure[enough[best[sure]]]
    order = sure[np.argsort(-share[sure], kind="stable")]
    return np.asarray(order[best[order] == best[order[:1]]], dtype=np.int64)


def nearest_rows(X: Any, first: Any, most: int) -> IntArray:
    """The places in X (r, d), dense or CSR, of the at most `most` rows nearest to `first` (1, d), the nearest first,
    ties by place."""
    far = euclidean_distances(first, X)[0].round(9)
    return np.asarray(np.argsort(far, kind="stable")[:most], dtype=np.int64)
