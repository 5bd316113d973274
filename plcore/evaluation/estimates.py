"""The honest estimate: accuracy over all rows, and its interval, from control rows alone.

Control rows are a uniform sample that no model learns from. Rows that were ambiguous at first enter only when they
are asked, the others at once, so the two kinds are strata: each is weighted by its share of the rows, not by its
share of the control answers. Given the model, the hits of a stratum are binomial whatever the strategy asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from plcore.common.types import FloatArray
from plcore.evaluation.intervals import LEVEL, exact_interval


@dataclass(frozen=True)
class ControlCounts:
    """How many control rows the model gets right: of those answered, and of those that had one candidate anyway."""

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


def stratified_accuracy(right: Any, n: Any, weights: Any, level: float = LEVEL) -> Estimate:
    """The weighted mean of the accuracies of s strata, with its interval.

    right, n : (p, s) hits and trials, p points of a curve      weights : (s,) shares of the strata, sum 1
    The interval joins the exact ones of the strata by the squares of their distances (MOVER: Zou and Donner 2008,
    Statistics in Medicine 27; for weighted binomials Decrouez and Robinson 2012), so with one stratum it is the
    exact one. A stratum without trials adds its whole weight, and one without weight nothing. Raises ValueError.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1 or not ((weights >= 0).all() and abs(weights.sum() - 1) < 1e-9):
        raise ValueError(f"weights must be shares of at least 0 that sum to 1. Got {weights.tolist()}.")
    right, n = np.asarray(right, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if right.shape != n.shape or right.ndim != 2 or right.shape[1] != len(weights):
        raise ValueError(
            f"right and n must have the shape (points, {len(weights)}). Got {right.shape} and {n.shape}."
        )
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


def control_accuracy(
    counts: Sequence[ControlCounts], share_ambiguous: float, level: float = LEVEL
) -> Estimate:
    """Accuracy over all rows that control rows are drawn from, for each point of a curve.

    counts : p of them, see `plcore.ControlCounts`      share_ambiguous : of the pool
    """
    flat = np.array(
        [(one.right_asked, one.asked, one.right_free, one.free) for one in counts], dtype=np.float64
    ).reshape(-1, 4)
    return stratified_accuracy(flat[:, ::2], flat[:, 1::2], [share_ambiguous, 1 - share_ambiguous], level)


def control_rows_measured(counts: Sequence[ControlCounts], share_ambiguous: float) -> FloatArray:
    """(p,) how many rows that all count the same would measure as well as these controls do; 0 while a stratum that
    counts has no answer. Arguments as for `control_accuracy`."""
    asked = np.array([one.asked for one in counts], dtype=np.float64)
    free = np.array([one.free for one in counts], dtype=np.float64)
    spread = np.zeros(len(counts))
    for share, rows in ((share_ambiguous, asked), (1 - share_ambiguous, free)):
        if share > 0:
            spread += np.divide(share**2, rows, out=np.full(len(counts), np.inf), where=rows > 0)
    return np.asarray(1 / spread)
