"""Learning curves: accuracy against answers, fitted and extrapolated, with uncertainty.

    accuracy(t) = top - rise * g(t; shape),   g = (1 + t / s)^-c  (inverse power law)  or  exp(-t / s)

Most learning curves follow inverse power laws (Viering and Loog 2023, IEEE PAMI 45, arXiv 2103.10948). The exponential
is their limit when few rows are left to learn from. Which of them holds, and how fast it rises, is averaged over, not
chosen: each shape is weighted by how well it explains the points. Two curves that fit equally well may separate soon
after the last point, and that is most of the uncertainty about when a goal is reached.

Points of one curve are measured on the same rows. The error of the first point is also in the last, and a hundred
points say little more about the level than one. Intervals that treat them as independent would be far too short. Here
two points have the covariance of shares counted on the same rows, which become right one after another and stay right:
p_i (1 - p_j) / n for p_i <= p_j, as in an empirical distribution function. Two more variances are averaged over as
well: the fluctuation of the models, and the misfit of the early part of the curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from plcore.arrays.checks import check_share
from plcore.arrays.types import FloatArray
from plcore.evaluation.estimates import LEVEL

FEWEST_POINTS = 6
"""Minimum number of points to fit a curve."""
FEWEST_ANSWERS = 20
"""Minimum number of answers that the points must span."""
FEWEST_ROWS = 30
"""Minimum number of rows that accuracy is measured on: with fewer, each row changes it by more than three points."""
MOST_POINTS = 24
"""Maximum number of points to fit. From denser curves, evenly spaced points are taken; the ones between add nothing
new."""

_POWERS = (0.5, 1.0, 2.0, np.inf)
"""Values of the exponent c, with equal prior weight; infinite: the exponential."""
_SPEEDS = 15
_FASTEST, _SLOWEST = 1 / 16, 8.0
"""Number and range of the scales s to try, as multiples of the number of answers."""
_WAVERS = (0.0025, 0.005, 0.01)
"""Standard deviations of the models' fluctuation from one point to the next, as shares."""
_DRIFTS = (0.01, 0.02, 0.04)
"""Standard deviations of the misfit of the family, as shares, per factor of e fewer answers: no family holds from the
first answer on, and only the end of the curve is extrapolated."""
_EARLY = 1 / 16
"""Share of the answers below which the misfit no longer grows."""
_WIDER = 1.6
"""Factor of the variance of shared rows. Models do not only gain rows, as the covariance assumes, but also lose some.
With this value, intervals had the right coverage on runs that `benchmarks/questions/proof.py` does not measure."""
_PRIOR = np.array([0.8, 0.4]), np.array([0.5, 0.5])
"""Prior means and standard deviations of top and rise: they say little more than that both are shares."""
_TRIES = 48
_DRAWS = 1000


class Reach(NamedTuple):
    """Number of answers until a goal is reached, counted from the first; infinite if the curve never reaches it.

    value : the median      low, high : the interval
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """A fitted curve: equally likely posterior draws, given the points.

    top, rise, speed : (d,)      power : (d,) exponent of the inverse power law, infinite for an exponential
    """

    top: FloatArray
    rise: FloatArray
    speed: FloatArray
    power: FloatArray

    def draws(self, answers: ArrayLike) -> FloatArray:
        """Return (d, p) each draw's accuracy, in [0, 1], after these numbers of answers (p,)."""
        t = np.asarray(answers, dtype=np.float64)[None]
        shape = _shape(t, self.speed[:, None], self.power[:, None])
        return np.clip(self.top[:, None] - self.rise[:, None] * shape, 0.0, 1.0)

    def at(self, answers: ArrayLike, level: float = LEVEL) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return median, low and high, (p,) each, of the accuracy after these numbers of answers (p,)."""
        low, value, high = np.quantile(self.draws(answers), [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
        return value, low, high

    def answers_to(self, goal: float | FloatArray) -> FloatArray:
        """Return (d,) the number of answers after which each draw reaches the goal; 0 if it starts there, infinite if
        it stays below.

        goal : a share, or a share for each draw"""
        missing = np.clip((self.top - goal) / np.maximum(self.rise, 1e-12), 0.0, 1.0)
        return _inverse(missing, self.speed, self.power)

    def reach(self, goal: float, level: float = LEVEL) -> Reach:
        """Return the number of answers until the goal, a share in (0, 1), is reached over all rows, with its
        interval."""
        check_share("goal", goal)
        return reach_of(self.answers_to(goal), level)

    def reads(self, goal: float, now: float, figure: float, measured: float, level: float = LEVEL) -> Reach:
        """Return the number of answers until the accuracy *on the measured rows* reaches the goal, with its interval.

        now, figure : current number of answers, and the current accuracy on these rows
        measured : number of rows, always the same ones

        The difference between these rows and all rows does not matter here, although it is most of the uncertainty
        about all rows: each draw is shifted to the current figure. Only the further gain on these rows is subject to
        chance.
        """
        check_share("goal", goal)
        gain = min(max(goal - figure, 0.0), 1.0)
        chance = np.random.default_rng(0).standard_normal(len(self.top))
        aim = goal - figure + chance * np.sqrt(_WIDER * gain * (1 - gain) / measured)
        at = self.answers_to(self.draws([now])[:, 0] + aim)
        return reach_of(np.maximum(at, now), level)


def reach_of(answers: FloatArray, level: float = LEVEL) -> Reach:
    """Return median and interval of draws (d,), some of which may be infinite."""
    ordered, last = np.sort(answers), len(answers) - 1
    places = (0.5, (1 - level) / 2, (1 + level) / 2)
    return Reach(*(float(ordered[round(place * last)]) for place in places))


def fit_learning_curve(
    answers: ArrayLike, accuracy: ArrayLike, measured: ArrayLike, until: float = 0.0, random_state: int = 0
) -> LearningCurve | None:
    """Fit a curve to points; None if there are too few (`FEWEST_POINTS`, `FEWEST_ANSWERS`, `FEWEST_ROWS`), or they fall
    so much that no rising curve is near them.

    answers : (p,) ascending      accuracy : (p,) shares, NaN if there is none
    measured : number of rows of each point, a number or (p,); later points include the rows of earlier ones. May be
        fractional if rows have different weights
    until : number of answers up to which the curve will be used, at least that of the last point
    Draws are seeded: the same points give the same curve. Raises ValueError for points out of order, accuracies that
    are not shares, and different lengths.
    """
    t, y = np.asarray(answers, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
    n = np.asarray(measured, dtype=np.float64)
    if n.shape not in ((), t.shape):
        raise ValueError(f"measured must be a number, or one for each of {t.size} points. Got shape {n.shape}.")
    n = np.broadcast_to(n, t.shape)
    if t.ndim != 1 or t.shape != y.shape or (np.diff(t) <= 0).any():
        raise ValueError(f"answers must be ascending and as many as accuracy. Got shapes {t.shape} and {y.shape}.")
    if (wrong := (y < 0) | (y > 1)).any():  # also catches NaN
        raise ValueError(f"accuracy must be shares in [0, 1]. Got {y[wrong][0]:g}. Fix: write 75% as 0.75.")
    fit = np.flatnonzero(~np.isnan(y) & (n >= FEWEST_ROWS))
    if len(fit) < FEWEST_POINTS or np.ptp(t[fit]) < FEWEST_ANSWERS:
        return None
    if len(fit) > MOST_POINTS:
        wanted = np.linspace(t[fit[0]], t[fit[-1]], MOST_POINTS)
        fit = np.unique(fit[np.abs(t[fit][:, None] - wanted).argmin(axis=0)])
    t, y, n = t[fit], y[fit], n[fit]
    return _average(t, y, shared_rows(t, y, n), until, np.random.default_rng(random_state))


def shared_rows(answers: FloatArray, accuracy: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the (p, p) covariance of shares counted on the same rows, see above.

    answers : (p,) ascending      accuracy : (p,)      measured : (p,) number of rows; later points include the rows of
        earlier ones

    The shares are taken from a line over log answers. The measured ones would follow chance fluctuations and explain
    them away.
    """
    early = np.log1p(answers / (_EARLY * answers[-1]))
    slope, start = np.polyfit(early, accuracy, 1, w=np.sqrt(measured))
    share = np.clip(start + max(slope, 0.0) * early, 0.0, 1.0)
    share = (measured * share + 2) / (measured + 4)  # Agresti and Coull (1998): no share is certain
    low, high = np.minimum.outer(share, share), np.maximum.outer(share, share)
    return np.asarray(_WIDER * low * (1 - high) / np.maximum.outer(measured, measured))


def _average(
    t: FloatArray, y: FloatArray, covariance: FloatArray, until: float, random: np.random.Generator
) -> LearningCurve | None:
    """Return draws from all shapes, in proportion to how well they explain the points; None if none is a valid
    accuracy.

    Given shape, fluctuation and misfit, top and rise are a linear regression with a normal prior, whose posterior and
    evidence are known (Bishop 2006, eqs. 3.49-3.54, 3.86). Draws that are not accuracies are discarded.
    """
    speeds = np.geomspace(_FASTEST * t[-1], _SLOWEST * max(t[-1], until), _SPEEDS)
    speed, power = (part.ravel() for part in np.meshgrid(speeds, _POWERS))
    shapes = _shape(t[None], speed[:, None], power[:, None])  # (s, p)
    mean, precision = _PRIOR[0], np.diag(_PRIOR[1] ** -2.0)
    back = np.log((1 + _EARLY) / (t / t[-1] + _EARLY))
    tried = random.standard_normal((_TRIES, 2))
    weights, found = [], []
    for drift, waver in product(_DRIFTS, _WAVERS):
        beside = drift**2 * np.minimum.outer(back, back) + waver**2 * np.eye(len(t))
        factor = linalg.cholesky(covariance + beside, lower=True)
        white = linalg.solve_triangular(factor, np.column_stack([np.ones(len(t)), -shapes.T, y]), lower=True)
        aim, design = white[:, -1], np.stack(np.broadcast_arrays(white[:, :1], white[:, 1:-1]), axis=2)
        posterior = precision + np.einsum("psa,psb->sab", design, design)
        wanted = precision @ mean + np.einsum("psa,p->sa", design, aim)
        centre = np.linalg.solve(posterior, wanted[..., None])[..., 0]  # (s, 2)
        evidence = 0.5 * np.einsum("sa,sa->s", wanted, centre) - 0.5 * aim @ aim
        evidence -= np.log(np.diag(factor)).sum() + 0.5 * np.linalg.slogdet(posterior)[1]
        spread = np.linalg.inv(np.linalg.cholesky(posterior))  # posterior = L L': x = L'^-1 z
        both = centre[:, None] + np.einsum("sba,db->sda", spread, tried)  # (s, tries, 2)
        top, rise = both[..., 0], both[..., 1]
        possible = (top <= 1) & (rise >= 0) & (top - rise >= 0)
        weights.append(np.where(possible, evidence[:, None], -np.inf))
        found.append(both)
    weight = np.stack(weights)  # (misfits and fluctuations, s, tries)
    if weight.max() == -np.inf:
        return None
    weight = np.exp(weight - weight.max())
    chosen = random.choice(weight.size, _DRAWS, p=weight.ravel() / weight.sum())
    top, rise = np.stack(found).reshape(-1, 2)[chosen].T
    shape = np.unravel_index(chosen, weight.shape)[1]
    return LearningCurve(top, rise, speed[shape], power[shape])


def _shape(t: FloatArray, speed: FloatArray, power: FloatArray) -> FloatArray:
    """Return the share of the rise still missing after t answers, 1 at first."""
    finite = np.where(np.isinf(power), 1.0, power)
    return np.where(np.isinf(power), np.exp(-t / speed), (1 + t / speed) ** -finite)


def _inverse(missing: FloatArray, speed: FloatArray, power: FloatArray) -> FloatArray:
    """Return the t at which `_shape` has this value."""
    finite = np.where(np.isinf(power), 1.0, power)
    with np.errstate(divide="ignore"):
        return np.where(np.isinf(power), -speed * np.log(missing), speed * (missing ** (-1 / finite) - 1))
