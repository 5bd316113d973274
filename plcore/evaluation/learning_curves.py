"""Learning curves: accuracy against answers, fitted and extrapolated, with uncertainty.

    accuracy(t) = top - rise * g(t; shape),   g = (1 + t / s)^-c  (inverse power law)  or  exp(-t / s)

Inverse power laws are what learning curves mostly follow (Viering and Loog 2023, IEEE PAMI 45, arXiv 2103.10948), the
exponential is their end where few rows are left to learn. Which of them holds, and how fast it rises, is not chosen but
averaged over, each shape by how well it explains the points: two curves that fit alike may part soon after the last
point, and that is most of what is uncertain about when a goal is reached.

Points of one curve are measured on the same rows: what chance has put into the first is in the last too, and a hundred
points tell little more of the level than one. Taken as independent they would give intervals that are far too short.
Here two points have the covariance of a share that is counted on the same rows, which come right one after another and
stay so: p_i (1 - p_j) / n for p_i <= p_j, which is that of an empirical distribution function. How models waver next to
that, and how far the beginning of a curve may be off its end, are variances of their own, averaged over as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from plcore.arrays.types import FloatArray, check_share
from plcore.evaluation.estimates import LEVEL

FEWEST_POINTS = 6
"""Points below which no curve is fitted."""
FEWEST_ANSWERS = 20
"""Answers that these must span."""
FEWEST_ROWS = 30
"""Rows that accuracy must be measured on: below, it moves by more than three points with each of them."""
MOST_POINTS = 24
"""Points that are fitted: those of a denser curve are spread evenly; between them nothing new is measured."""

_POWERS = (0.5, 1.0, 2.0, np.inf)
"""The constant c of the shapes, each as likely as the others before any point is seen; infinite: the exponential."""
_SPEEDS = 15
_FASTEST, _SLOWEST = 1 / 16, 8.0
"""How many constants s, between which multiples of the answers that are looked at."""
_WAVERS = (0.0025, 0.005, 0.01)
"""Standard deviations, as shares, of what models waver from one point to the next."""
_DRIFTS = (0.01, 0.02, 0.04)
"""Standard deviations, as shares, of how far a curve of the family is off where answers are fewer by a factor of e: no
family holds from the first answer on, and what is to be carried on is the end."""
_EARLY = 1 / 16
"""Share of the answers below which factors no longer count."""
_WIDER = 1.6
"""Factor of the shared rows' variance. Models do not only gain rows, as the covariance has it, but change some for
others; so much is what made intervals hold on runs that `benchmarks/questions/proof.py` does not measure."""
_PRIOR = np.array([0.8, 0.4]), np.array([0.5, 0.5])
"""Means and standard deviations of top and rise before any point is seen: hardly more than that both are shares."""
_TRIES = 48
_DRAWS = 1000


class Reach(NamedTuple):
    """Answers until a goal is reached, counted from the first; infinite if the curve never reaches it.

    value : the median      low, high : the interval
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """A fitted curve: equally likely posterior draws, given the points.

    top, rise, speed : (d,)      power : (d,) of the inverse power law, infinite of an exponential
    """

    top: FloatArray
    rise: FloatArray
    speed: FloatArray
    power: FloatArray

    def draws(self, answers: ArrayLike) -> FloatArray:
        """Return (d, p) the accuracy after this many answers (p,) of each draw; in [0, 1]."""
        t = np.asarray(answers, dtype=np.float64)[None]
        shape = _shape(t, self.speed[:, None], self.power[:, None])
        return np.clip(self.top[:, None] - self.rise[:, None] * shape, 0.0, 1.0)

    def at(self, answers: ArrayLike, level: float = LEVEL) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return median, low and high, (p,) each, of the accuracy after this many answers."""
        low, value, high = np.quantile(self.draws(answers), [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
        return value, low, high

    def answers_to(self, goal: float | FloatArray) -> FloatArray:
        """(d,) answers after which each draw reaches the goal, a share or one share for each draw; 0 if it begins
        there, infinite where it stays below."""
        missing = np.clip((self.top - goal) / np.maximum(self.rise, 1e-12), 0.0, 1.0)
        return _inverse(missing, self.speed, self.power)

    def reach(self, goal: float, level: float = LEVEL) -> Reach:
        """Return when the goal, a share in (0, 1), is reached over all rows, with its interval."""
        check_share("goal", goal)
        return reach_of(self.answers_to(goal), level)

    def reads(self, goal: float, now: float, figure: float, measured: float, level: float = LEVEL) -> Reach:
        """When accuracy *on the rows that the points are measured on* reads the goal, with its interval.

        now, figure : answers so far, and what these rows read by then      measured : how many rows, always the same
        How far the rows flatter, or the contrary, does not matter here, and that is most of what is uncertain about
        all rows: each draw is moved to the figure. Chance has a part in what the rows gain from there alone.
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
    """Fit a curve to points; None if they are too few (`FEWEST_POINTS`, `FEWEST_ANSWERS`, `FEWEST_ROWS`), or
    fall so much that no rising curve is near them.

    answers : (p,) ascending      accuracy : (p,) shares, NaN if there is none
    measured : rows that each is measured on, a number or (p,); the rows of a point are among those of later ones. May
        be no whole number, where rows count unevenly
    until : answers to which the curve will be carried on; up to the last point, where that is more
    Draws are seeded: the same points give the same curve. Raises ValueError for points out of order, accuracies that
    are no shares, and other lengths.
    """
    t, y = np.asarray(answers, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
    n = np.asarray(measured, dtype=np.float64)
    if n.shape not in ((), t.shape):
        raise ValueError(
            f"measured must be a number, or one for each of {t.size} points. Got shape {n.shape}."
        )
    n = np.broadcast_to(n, t.shape)
    if t.ndim != 1 or t.shape != y.shape or (np.diff(t) <= 0).any():
        raise ValueError(
            f"answers must be ascending and as many as accuracy. Got shapes {t.shape} and {y.shape}."
        )
    if (wrong := (y < 0) | (y > 1)).any():  # NaN is neither
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
    """(p, p) covariance of shares that are counted on the same rows, see above.

    answers : (p,) ascending      accuracy : (p,)      measured : (p,) rows, those of a point among those of later ones
    The shares themselves are taken from a line over log answers: as they were measured they would rise where chance
    has them rise, and explain it away.
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
    """Draws from all shapes, each as often as it explains the points; None if none is one of accuracies.

    Given shape, wavering and drift, top and rise are a linear regression with a normal prior, whose posterior and
    evidence are known (Bishop 2006, eqs. 3.49-3.54, 3.86); draws that are no accuracies are thrown away.
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
    weight = np.stack(weights)  # (drifts and wavers, s, tries)
    if weight.max() == -np.inf:
        return None
    weight = np.exp(weight - weight.max())
    chosen = random.choice(weight.size, _DRAWS, p=weight.ravel() / weight.sum())
    top, rise = np.stack(found).reshape(-1, 2)[chosen].T
    shape = np.unravel_index(chosen, weight.shape)[1]
    return LearningCurve(top, rise, speed[shape], power[shape])


def _shape(t: FloatArray, speed: FloatArray, power: FloatArray) -> FloatArray:
    """Share of the rise still missing after t answers, 1 at first."""
    finite = np.where(np.isinf(power), 1.0, power)
    return np.where(np.isinf(power), np.exp(-t / speed), (1 + t / speed) ** -finite)


def _inverse(missing: FloatArray, speed: FloatArray, power: FloatArray) -> FloatArray:
    """The t at which `_shape` is as much."""
    finite = np.where(np.isinf(power), 1.0, power)
    with np.errstate(divide="ignore"):
        return np.where(np.isinf(power), -speed * np.log(missing), speed * (missing ** (-1 / finite) - 1))
