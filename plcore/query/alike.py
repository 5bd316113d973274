"""Rows that can be confirmed together at a glance: the model confidently predicts the same label for all of them, and
they are near each other.

The meaning of a share differs between models: at 0.9 one model is nearly always right, another for four of five rows
(see the figures in docs/decisions/0032-many-rows-at-once.md). So the threshold is set by rows with a known label that
the model has not learnt from (`sure_from`).
"""

from __future__ import annotations

import numpy as np
from scipy import special
from sklearn.metrics.pairwise import euclidean_distances

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix, is_sparse

SURE = 0.9
"""Confidence threshold while the accuracy of the model is unknown."""
RIGHT = 0.95
"""Required share of correct predictions among confident rows with a known label."""
AT_LEAST, DOUBT = 0.9, 0.1
"""Required share of correct predictions among all confident rows, and the level of the test for it."""
KNOWN = 22
"""Minimum number of rows with a known label: the fewest that pass this test if all of them are right."""
FEWEST = 3
"""Minimum number of rows worth confirming together: fewer are answered one by one just as fast."""


def sure_from(shares: FloatArray, right: BoolArray) -> float | None:
    """Return the smallest share above which a model is right often enough, judged by rows with a known label that it
    has not learnt from.

    shares : (k,) of the best label of each      right : bool (k,), whether that is its label

    It is one of the shares, above 0.5; SURE if there are fewer than KNOWN rows; None if no share is good enough. Among
    the rows at least as confident, a share of RIGHT must be right, and an exact binomial test at level DOUBT must show
    that at least AT_LEAST of all such rows are. Shares are tried from the highest down, after the first KNOWN rows,
    until the first that fails. Taking the lowest of all shares that happen to pass would find one even if shares were
    meaningless, and be too optimistic. In this order, fixed beforehand, each share can be tested at the full level.
    """
    if len(shares) < KNOWN:
        return SURE
    order = np.argsort(-shares, kind="stable")
    share, good = shares[order], np.cumsum(right[order])
    number = np.arange(1, len(share) + 1)
    last = np.append(share[1:] < share[:-1], True)  # all rows of equal confidence, or none
    enough = (good >= RIGHT * number) & (special.bdtrc(good - 1, number, AT_LEAST) <= DOUBT)
    tried = last & (number >= KNOWN) & (share > 0.5)
    passed = share[tried][np.logical_and.accumulate(enough[tried])]
    return float(passed[-1]) if len(passed) else None


def sure_rows(shares: FloatArray, *, at_least: float, fewest: int = FEWEST) -> IntArray:
    """Return the confident rows of the label that the model is most confident in: places in `shares`, most confident
    first, ties by place.

    shares : (r, m) label distributions      at_least : the least share of a row's best label, above 0.5
    fewest : a label with fewer such rows is skipped

    The label is that of the most confident row whose label has enough rows. Empty if no label has enough. Raises
    ValueError if at_least would allow two confident labels for a row.
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


def nearest_rows(X: Matrix, first: Matrix, most: int) -> IntArray:
    """Return the places in X (r, d), dense or CSR, of up to `most` rows nearest to `first` (1, d), nearest
    first, ties by place."""
    far = euclidean_distances(first, X)[0].round(9)
    return np.asarray(np.argsort(far, kind="stable")[:most], dtype=np.int64)


_ROWS_AT_ONCE = 1 << 13


def cosine_similarities(vectors: Matrix, wanted: AnyArray) -> FloatArray:
    """Return the cosine of each row of `vectors` (n, d), dense or CSR, to `wanted` (d,), as (n,) in [-1, 1].

    It is NaN for rows that hold NaN or only 0, and for all rows if `wanted` does. Raises ValueError for different
    widths.
    """
    if wanted.shape != vectors.shape[1:]:
        raise ValueError(f"wanted must have shape ({vectors.shape[1]},), as the rows of vectors. Got {wanted.shape}.")
    unit = np.asarray(wanted, dtype=np.float64)
    found = np.full(vectors.shape[0], np.nan)
    length = np.linalg.norm(unit)
    if not length > 0:
        return found
    unit = unit / length
    for begin in range(0, len(found), _ROWS_AT_ONCE):
        some = vectors[begin : begin + _ROWS_AT_ONCE]
        some = np.asarray(some.toarray() if is_sparse(some) else some, dtype=np.float64)
        lengths = np.linalg.norm(some, axis=1)
        known = lengths > 0
        found[begin : begin + _ROWS_AT_ONCE][known] = some[known] @ unit / lengths[known]
    return found.clip(-1.0, 1.0)
