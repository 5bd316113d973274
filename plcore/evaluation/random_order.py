"""Estimate the curve of random order: the curve to which asking in a better order is compared.

Two ways to know it, from runs in random order whose predictions of measured rows are compared with what is known:

- `by_replays`: the truth of the rows that were to be asked is known, so that whole runs are replayed, as far as the
  project has come and beyond. Nothing is carried on; what is uncertain is that rows to measure on are few, and that
  one random order goes better than another.
- `by_carrying_on`: only the answers to blind checks, which are a random sample, can be given in random order. They are
  few, so that the curve ends early; it is fitted and carried on (`learning_curves`): most of what is uncertain.

The intervals are about *one* run in random order, which is what the project would have been, and about all rows.
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
"""Runs below which no one can say how far one random order is from another."""
_DRAWS = 1000
_LINE = 13
"""Points of a line that is carried on."""
_FARTHEST = 3.0
"""How many times as far as the checks reach: farther on the line lies too low, by seven points at five times."""


@dataclass(frozen=True, eq=False)
class RandomRuns:
    """Predictions of models after answers in random order, for rows that they never learnt from.

    answers : (j,) ascending from 0, after how many answers to rows that train
    right : (orders, j, k) whether each of k measured rows was predicted right
    weights : (k,) what each row counts, sum 1      right_now : (k,) under the answers that the project really has
    given : how many of these are about rows that train
    """

    answers: IntArray
    right: BoolArray
    weights: FloatArray
    right_now: BoolArray
    given: int

    @property
    def measured(self) -> float:
        """Rows that would measure as well if each counted the same (Kish 1965)."""
        return float(1 / (self.weights**2).sum())

    @property
    def accuracy(self) -> FloatArray:
        """(orders, j)"""
        return np.asarray(self.right @ self.weights)


@dataclass(frozen=True)
class RandomOrderLine:
    """The line of random order, and when it comes to where the project is. Tuples of one length.

    answers : to rows that train      value, low, high : accuracy, with its interval for one run
    needed : answers at which random order is as good as the project is now; infinite where it never is, as far as this
        can tell
    """

    answers: tuple[float, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    needed: Reach

    def to_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`; None for what is infinite."""
        needed = [None if np.isinf(part) else part for part in self.needed]
        return {**asdict(self), "needed": needed}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RandomOrderLine:
        """Restore the result of `to_json`."""
        needed = Reach(*(np.inf if part is None else float(part) for part in stored["needed"]))
        lines = {name: tuple(stored[name]) for name in ("answers", "value", "low", "high")}
        return cls(**lines, needed=needed)


def by_replays(runs: RandomRuns, level: float = LEVEL, random_state: int = 0) -> RandomOrderLine:
    """The line through whole runs. Raises ValueError below FEWEST_ORDERS.

    The interval joins what the measured rows leave open, of the mean of the runs, and how far one run is from others.
    """
    orders = len(runs.right)
    if orders < FEWEST_ORDERS:
        raise ValueError(f"right must hold {FEWEST_ORDERS} random orders at least. Got {orders}.")
    value = runs.accuracy.mean(axis=0)
    often = runs.right.mean(axis=0)  # (j, k) how often each row is right
    of_rows = (runs.weights**2 * (often - value[:, None]) ** 2).sum(axis=1)
    between = runs.accuracy.var(axis=0, ddof=1)
    # A variance of few orders is rough, and of neighbouring points much the same.
    between[1:] = np.convolve(np.pad(between[1:], 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
    variance = of_rows + (1 + 1 / orders) * between
    spread = np.maximum(value * (1 - value), 0.25 / runs.measured)
    low, high = wilson_interval(value, spread / np.maximum(variance, 1e-9), level)
    return _line(
        runs.answers,
        (value, low, high),
        reach_of(_crossings(runs, np.random.default_rng(random_state)), level),
    )


def _crossings(runs: RandomRuns, random: np.random.Generator) -> FloatArray:
    """(d,) answers after which one run is as good as the project is now, over bootstrap samples of the measured rows:
    the same rows measure both, so that rows which are hard for all cancel out.

    One run is as far from the mean as a normal draw with the covariance of those there are.
    """
    found = np.empty(_DRAWS)
    orders, rows = len(runs.right), len(runs.weights)
    apart = np.sqrt((1 + 1 / orders) / (orders - 1))
    for place in range(_DRAWS):
        counts = random.multinomial(rows, np.full(rows, 1 / rows)) * runs.weights
        counts /= counts.sum()
        every = runs.right @ counts
        mean = every.mean(axis=0)
        run = mean + apart * random.standard_normal(orders) @ (every - mean)
        found[place] = first_reached(runs.answers, run, float(runs.right_now @ counts))
    return found


def first_reached(answers: FloatArray | IntArray, accuracy: ArrayLike, goal: float) -> float:
    """Answers at which a measured curve reaches the goal, made to rise everywhere and linear between its points;
    infinite if it does not."""
    rising = np.asarray(optimize.isotonic_regression(np.asarray(accuracy, dtype=np.float64)).x)
    if rising[-1] < goal:
        return np.inf
    after = int(np.argmax(rising >= goal))
    if after == 0:
        return float(answers[0])
    share = (goal - rising[after - 1]) / (rising[after] - rising[after - 1])
    return float(answers[after - 1] + share * (answers[after] - answers[after - 1]))


def by_carrying_on(runs: RandomRuns, level: float = LEVEL, random_state: int = 0) -> RandomOrderLine | None:
    """The line through short runs, carried on to the answers that are given; None if they are too short
    (`fit_learning_curve`).

    Where the project is now is measured on the same rows as the line, but taken as if it were on others: that makes
    the interval of `needed` wider than it need be.
    """
    now, measured = float(runs.right_now @ runs.weights), runs.measured
    curve = fit_learning_curve(
        runs.answers, runs.accuracy.mean(axis=0), measured, float(runs.given), random_state
    )
    if curve is None:
        return None
    answers = np.linspace(0.0, min(max(runs.given, 1), _FARTHEST * float(runs.answers[-1])), _LINE)
    value, low, high = curve.at(answers, level)
    random = np.random.default_rng([random_state, 1])
    reached = random.beta(now * measured + 0.5, (1 - now) * measured + 0.5, len(curve.top))
    return _line(answers, (value, low, high), reach_of(curve.answers_to(reached), level))


def _line(
    answers: ArrayLike, parts: tuple[FloatArray, FloatArray, FloatArray], needed: Reach
) -> RandomOrderLine:
    """As plain values. parts : value, low, high"""
    value, low, high = (tuple(part.tolist()) for part in parts)
    return RandomOrderLine(tuple(np.asarray(answers, dtype=np.float64).tolist()), value, low, high, needed)
