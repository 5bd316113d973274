"""Shortlists that hold the truth as often as was promised: split conformal prediction by rows with known truth.

A row j whose truth is known, and which no model has learnt from, has the score s_j = 1 - p_j(y_j), p_j the model's
shares of its candidates. With m such rows, drawn at random, the threshold q of the miss rate a is the
ceil((m + 1)(1 - a))-th smallest score. The shortlist of any other row of that kind is {k in S: 1 - p(k) <= q}: it holds
the truth with probability 1 - a at least, and at most 1 - a + 1 / (m + 1) where no scores are equal, whatever the model
is (Vovk, Gammerman and Shafer 2005; shown to people: Straitouri et al., ICML 2023).

Where the truth is none of the candidates no list of candidates can hold it: the score is infinite. Such rows count, so
that the promise is about all rows; where they are more than a share a there is no finite threshold. Equal scores make
lists longer, never shorter.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from plcore.common.checks import is_real
from plcore.common.types import BoolArray, FloatArray, IntArray


def checks_needed(miss: float) -> int:
    """How many rows with known truth it takes before anything can be left out: m >= 1 / miss - 1, for .05 it is 19.

    miss : the share of lists that may lack the truth, in (0, 1). Raises ValueError.
    """
    return ceil(1 / _exactly(miss)) - 1


def conformity_scores(shares: Any, truth: Any) -> FloatArray:
    """(c,) the scores 1 - p(y) of rows with known truth.

    shares : (c, m) the model's, inside the candidates of each row as they were before anybody answered
    truth : (c,) class numbers; -1 where the truth is none of the candidates: the score is then infinite
    Raises ValueError for other numbers, and for what is none, such as the name of a class.
    """
    shares, truth = np.asarray(shares, dtype=np.float64), np.asarray(truth)
    m = shares.shape[-1]
    if truth.dtype.kind not in "iuf" or not ((truth >= -1) & (truth < m) & (truth % 1 == 0)).all():
        raise ValueError(
            f"truth must be class numbers, columns of shares from 0 to {m - 1}, or -1 where the truth is none of the "
            f"candidates. Got {truth.tolist()[:6]!r}. Fix: for names, pandas.Index(classes).get_indexer(names)."
        )
    number: IntArray = truth.astype(np.int64)
    given = shares[np.arange(len(number)), np.maximum(number, 0)]
    return np.where(number >= 0, 1.0 - given, np.inf)


def conformal_threshold(scores: Any, miss: float) -> float:
    """q, the largest score of a label that is on the shortlist; infinite where nothing may be left out: there are too
    few scores, or too many of them are infinite.

    scores : (c,) as `conformity_scores` gives them, in any order      miss : in (0, 1)
    Raises ValueError.
    """
    scores = np.sort(np.asarray(scores, dtype=np.float64))
    if np.isnan(scores).any():
        raise ValueError("scores must be numbers. Got NaN. Fix: leave out rows whose truth is not known.")
    # (m + 1)(1 - a) in exact arithmetic: rounding must not turn 19 into 20.
    rank = len(scores) + 1 - floor((len(scores) + 1) * _exactly(miss))
    return float(scores[rank - 1]) if rank <= len(scores) else np.inf


def conformal_sets(shares: Any, candidates: Any, threshold: float) -> BoolArray:
    """(n, m) the labels on the shortlist of each row, all of them candidates; the likeliest alone where none is within
    the threshold.

    shares : (n, m) the model's, inside the candidates      candidates : bool (n, m)
    Of two miss rates the smaller one's lists hold the other's.
    """
    shares, candidates = np.asarray(shares, dtype=np.float64), np.asarray(candidates, dtype=bool)
    within = candidates & (1.0 - shares <= threshold)
    best = np.where(candidates, shares, -1.0).argmax(axis=1)
    alone = candidates & (np.arange(candidates.shape[1]) == best[:, None])
    return np.asarray(np.where(within.any(axis=1, keepdims=True), within, alone))


def _exactly(miss: float) -> Fraction:
    """The rate as it was written: 0.05 is a twentieth."""
    if not is_real(miss) or not 0 < miss < 1:
        raise ValueError(f"miss must be a number in (0, 1). Got {miss!r}.")
    rate = Fraction(str(float(miss)))
    near = rate.limit_denominator(1_000_000)
    return near if 0 < near < 1 else rate  # what is rarer than one in a million is no 0
