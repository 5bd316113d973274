"""Truths that are none of the candidates: how often, and which rows are at risk.

Every learner here takes the candidate sets at their word. Rows that people are asked about at random say how often they
are wrong: "none of these" on blind checks. By that rate, and by what a model says of all classes of a row from other
rows alone, follows how likely the truth of a row lies outside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plcore.common.checks import check_share
from plcore.common.types import FloatArray
from plcore.evaluation.intervals import LEVEL, exact_interval


class OutsideRate(NamedTuple):
    """outside : of so many `checks` had their truth outside of the candidates      low, high : interval of the share"""

    outside: int
    checks: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """NaN without checks."""
        return self.outside / self.checks if self.checks else float("nan")


def outside_rate(outside: int, checks: int, level: float = LEVEL) -> OutsideRate:
    """The rate with its exact interval (`exact_interval`), from rows drawn at random. Raises ValueError."""
    low, high = exact_interval(outside, checks, level)
    return OutsideRate(outside, checks, float(low), float(high))


def outside_probabilities(shares: Any, candidates: Any, rate: float) -> FloatArray:
    """(n,) how likely the truth of each row is none of its candidates.

    shares : (n, m) what a model says of all classes of each row, by other rows alone      candidates : bool (n, m)
    rate : of truths outside, in [0, 1), as blind checks have it

    Bayes' rule with the prior (1 - rate) / |S| for each candidate and rate / (m - |S|) for every other class. 0 where
    every class is a candidate, or none is. A model that says nothing of a row leaves it at the rate.
    Raises ValueError.
    """
    check_share("rate", rate)
    shares, candidates = np.asarray(shares, dtype=np.float64), np.asarray(candidates, dtype=bool)
    size = candidates.sum(axis=1)
    others = candidates.shape[1] - size
    inside = (1 - rate) * shares.sum(axis=1, where=candidates) / np.maximum(size, 1)
    beyond = rate * shares.sum(axis=1, where=~candidates) / np.maximum(others, 1)
    total = inside + beyond
    found = np.where(total > 0, beyond / np.where(total > 0, total, 1.0), rate)
    return np.where((size > 0) & (others > 0), found, 0.0)
