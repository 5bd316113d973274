"""Estimate the curve of random order, the baseline for asking in a better order.

There are two ways, both with runs in random order whose predictions for measured rows are compared with the truth:

- `by_replays`: the truth of the rows to be asked about is known, so that whole runs are replayed, up to the project's
  number of answers and beyond. Nothing is extrapolated. The uncertainty comes from the few measured rows, and from the
  differences between random orders.
- `by_carrying_on`: only the answers to blind checks, which are a random sample, can be given in random order. They are
  few, so the curve ends early; it is fitted and extrapolated (`learning_curves`), which causes most of the uncertainty.

The intervals are for *one* run in random order, which the project would have been, and for all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.evaluation.estimates import LEVEL, wilson_interval
from plcore.evaluation.learning_curves import Reach, fit_learning_curve, reach_of

FEWEST_ORDERS = 3
"""Minimum number of runs to measure the differences between random orders."""
_DRAWS = 1000
_LINE = 13
"""Number of points of an extrapolated line."""
_FARTHEST = 3.0
"""Maximum range of the line, as a multiple of the number of checks: farther on it is too low, by seven points at five
times."""


@dataclass(frozen=True, eq=False)
class RandomRuns:
    """Predictions of models after answers in random order, for rows that they never learnt from.

    answers : (j,) ascending from 0, numbers of answers to training rows
    right : (orders, j, k) whether each of k measured rows was predicted right
    weights : (k,) weight of each row, sum 1      right_now : (k,) the same for the project's real answers
    given : number of real answers to training rows
    """

    answers: IntArray
    right: BoolArray
    weights: FloatArray
    right_now: BoolArray
    given: int

    @property
    def measured(self) -> float:
        """Effective number of measured rows (Kish 1965)."""
        return float(1 / (self.weights**2).sum())

    @property
    def accuracy(self) -> FloatArray:
        """Return (orders, j) the accuracy of each run."""
        return np.asarray(self.right @ self.weights)


@dataclass(frozen=True)
class RandomOrderLine:
    """The line of random order, and the answers it needs to reach the project's accuracy. Tuples of one length.

    answers : answers to training rows      value, low, high : accuracy, with its interval for one run
    needed : number of answers at which random order is as good as the project is now; infinite if it never is within
        the measured range
    """

    answers: tuple[float, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    needed: Reach

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`; None for infinite ones."""
        needed = [None if np.isinf(part) else part for part in self.needed]
        return {**asdict(self), "needed": needed}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RandomOrderLine:
        """Restore the result of `to_json`."""
        needed = Reach(*(np.inf if part is None else float(part) for part in stored["needed"]))
        lines = {name: tuple(stored[name]) for name in ("answers", "value", "low", "high")}
        return cls(**lines, needed=needed)


def by_replays(runs: RandomRuns, level: float = LEVEL, random_state: int = 0) -> RandomOrderLine:
    """Return the line through whole runs. Raises ValueError below FEWEST_ORDERS.

    The interval combines the uncertainty of the mean of the runs, from the measured rows, and the differences between
    runs.
    """
    orders = len(runs.right)
    if orders < FEWEST_ORDERS:
        raise ValueError(f"right must hold {FEWEST_ORDERS} random orders at least. Got {orders}.")
    value = runs.accuracy.mean(axis=0)
    often = runs.right.mean(axis=0)  # (j, k) share of runs in which each row is right
    of_rows = (runs.weights**2 * (often - value[:, None]) ** 2).sum(axis=1)
    between = runs.accuracy.var(axis=0, ddof=1)
    # The variance of few orders is rough, and nearly the same at neighbouring points.
    between[1:] = np.convolve(np.pad(between[1:], 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
    variance = of_rows + (1 + 1 / orders) * between
    spread = np.maximum(value * (1 - value), 0.25 / runs.measured)
    low, high = wilson_interval(value, spread / np.maximum(variance, 1e-9), level)
    return _line(
        runs.answers, (value, low, high), reach_of(_crossings(runs, np.random.default_rng(random_state)), level)
    )


def _crossings(runs: RandomRuns, random: np.random.Generator) -> FloatArray:
    """Return (d,) the numbers of answers after which one run is as good as the project is now, over bootstrap samples
    of the measured rows.

    The same rows measure both, so rows that are hard for all cancel out. One run differs from the mean by a normal draw
    with the covariance of the runs.
    """
    found = np.empty(_DRAWS)
    orders, rows = len(runs.right), len(runs.weights)
    apart = np.sqrt((1 + 1 / orders) / (orders - 1))
    right = runs.right.astype(np.float64)  # once: each product would convert it again
    for place in range(_DRAWS):
        counts = random.multinomial(rows, np.full(rows, 1 / rows)) * runs.weights
        counts /= counts.sum()
        every = right @ counts
        mean = every.mean(axis=0)
        run = mean + apart * random.standard_normal(orders) @ (every - mean)
        found[place] = first_reached(runs.answers, run, float(runs.right_now @ counts))
    return found


def first_reached(answers: FloatArray | IntArray, accuracy: ArrayLike, goal: float) -> float:
    """Return the number of answers at which a measured curve reaches the goal; infinite if it does not. The curve is
    made monotone and is linear between its points."""
    rising = np.asarray(optimize.isotonic_regression(np.asarray(accuracy, dtype=np.float64)).x)
    if rising[-1] < goal:
        return np.inf
    after = int(np.argmax(rising >= goal))
    if after == 0:
        return float(answers[0])
    share = (goal - rising[after - 1]) / (rising[after] - rising[after - 1])
    return float(answers[after - 1] + share * (answers[after] - answers[after - 1]))


def by_carrying_on(runs: RandomRuns, level: float = LEVEL, random_state: int = 0) -> RandomOrderLine | None:
    """Return the line through short runs, extrapolated to the project's number of answers; None if they are too short
    (`fit_learning_curve`).

    The project's current accuracy is measured on the same rows as the line, but treated as if measured on others. So
    the interval of `needed` is wider than necessary.
    """
    now, measured = float(runs.right_now @ runs.weights), runs.measured
    curve = fit_learning_curve(runs.answers, runs.accuracy.mean(axis=0), measured, float(runs.given), random_state)
    if curve is None:
        return None
    answers = np.linspace(0.0, min(max(runs.given, 1), _FARTHEST * float(runs.answers[-1])), _LINE)
    value, low, high = curve.at(answers, level)
    random = np.random.default_rng([random_state, 1])
    reached = random.beta(now * measured + 0.5, (1 - now) * measured + 0.5, len(curve.top))
    return _line(answers, (value, low, high), reach_of(curve.answers_to(reached), level))


def _line(answers: ArrayLike, parts: tuple[FloatArray, FloatArray, FloatArray], needed: Reach) -> RandomOrderLine:
    """Return the line as plain values. parts : value, low, high"""
    value, low, high = (tuple(part.tolist()) for part in parts)
    return RandomOrderLine(tuple(np.asarray(answers, dtype=np.float64).tolist()), value, low, high, needed)
