"""Combine a file's scores with a kernel ridge: how much each counts for the labels of the rows.

In the rounds, the scores w of a row's candidates are a factor of its soft label, next to exp(F / 0.05). So scores that
are nearly always right are overruled by a regression that is right less often. A pool of both has a temperature T for
the regression's left-out scores F and a power omega for the file's scores, at which the two agree best:

    sum_i log(|S_i| sum over c in S_i of softmax(F_i / T)_c r_ic),    r_ic ~ w_ic^omega inside S_i

The sum is 0 for even r, so scores unrelated to the rows get a power near 0. No true label is used. File scores from a
model of the same features agree with F only for that reason, and a pool would overrate them. So p, how often the file's
winners are right, is estimated from how often they are the left-out winners:

    max over p of sum_i log(p q_i + (1 - p)(1 - q_i)/(|S_i| - 1)),    q_i = softmax(F_i / T')_winner inside S_i

T' is the temperature of probabilities (`plcore.labels.temperature`). The pool is used if p = 0.98 is not rejected.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.kernels import softmax_rows
from plcore.labels.temperature import fit_temperature

TEMPERATURES = np.geomspace(0.6, 12.0, 14)
"""Factors for the rounds' own logarithms: T from 0.03 to 0.6, where the rounds use 0.05."""
POWERS = np.linspace(0.0, 4.0, 17)
MOST_ROWS = 2000
"""Approximate number of ambiguous rows, evenly spaced, to fit a pool to."""
GOOD = 0.98
"""Scores that are right this often should decide."""
REJECTED = chi2.ppf(0.95, 1) / 2
"""Nats by which the best accuracy must beat GOOD in likelihood to rule GOOD out: a test at level 0.05."""
FEWEST_CHECKS = 10
"""Fewest blind checks that choose the rule."""


class ScoreRule(StrEnum):
    """How rows with a file's scores get their labels."""

    ROUNDS = "rounds"
    """By the rounds, in which the scores are a factor."""
    POOL = "pool"
    """By the regression and the scores at the temperature and the power at which they agree best."""
    SCORES = "scores"
    """By only the file's scores."""
    IGNORED = "ignored"
    """By rounds without the scores, if the scores are unrelated to the rows."""


CHECKED = (ScoreRule.ROUNDS, ScoreRule.POOL, ScoreRule.SCORES)
"""The rules that blind checks choose from."""


@dataclass(frozen=True)
class ScorePool:
    """A pool of regression and file scores. temperature : divides the logarithms of the rounds      power : of the
    file's scores
    gain : the first sum above, in nats      rows : ambiguous rows that it was fitted to
    accuracy : p, of the file's winners; NaN if no row has one      good : whether GOOD is not rejected"""

    temperature: float
    power: float
    gain: float
    rows: int
    accuracy: float = np.nan
    good: bool = False

    @classmethod
    def fit(cls, own: FloatArray, prior: FloatArray) -> ScorePool:
        """Fit the best pool of a grid. own : (n, m) class logarithms of the rounds without the row's own scores
        prior : (n, m) the scores, 0 outside the sets, rows sum to 1"""
        several = np.flatnonzero((prior > 0).sum(axis=1) > 1)
        calibrated = fit_temperature(np.where(prior.any(axis=0), own, -np.inf), prior > 0, smoothed=True)
        several = several[:: max(1, len(several) // MOST_ROWS)]
        own, prior, (logs, inside) = own[several], prior[several], _logs(prior[several])
        sizes = np.log(inside.sum(axis=1))
        powered = [softmax_rows(power * logs, inside) for power in POWERS]
        accuracy, good = _winners_right(softmax_rows(own / calibrated, inside), prior)
        best = cls(1.0, 1.0, 0.0, len(own), accuracy, good)
        found = -np.inf
        for temperature in TEMPERATURES:
            shares = softmax_rows(own / temperature, inside)
            for power, scores in zip(POWERS, powered, strict=True):
                each = np.maximum((shares * scores).sum(axis=1), np.finfo(float).tiny)
                gain = float((np.log(each) + sizes).sum())
                if len(own) and gain > found + 1e-9:
                    found, best = gain, cls(float(temperature), float(power), gain, len(own), accuracy, good)
        return best

    @property
    def tells(self) -> bool:
        """Return whether file and regression agree by more than two fitted parameters would by chance (a
        penalty of log n)."""
        return self.rows > 0 and self.power > 0 and self.gain > np.log(self.rows)

    def labels(self, own: FloatArray, prior: FloatArray) -> FloatArray:
        """Return (n, m) softmax of own / temperature + power * log(prior), inside the sets."""
        logs, inside = _logs(prior)
        return np.asarray(softmax_rows(own / self.temperature + self.power * logs, inside))


def _winners_right(shares: FloatArray, prior: FloatArray) -> tuple[float, bool]:
    """Estimate how often the winners of the scores prior (n, m) are right, given the class shares (n, m) of each row;
    and whether GOOD is not rejected. Rows whose scores have no winner do not count."""
    top = prior.max(axis=1)
    one = np.flatnonzero((prior == top[:, None]).sum(axis=1) == 1)
    if not len(one):
        return np.nan, False
    own = shares[one, prior[one].argmax(axis=1)]
    others = (1.0 - own) / ((prior[one] > 0).sum(axis=1) - 1)

    def loss(right: float) -> float:
        return -float(np.log(np.maximum(right * own + (1.0 - right) * others, np.finfo(float).tiny)).sum())

    best = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded")
    return float(best.x), bool(best.x >= GOOD or loss(GOOD) - best.fun <= REJECTED)


@dataclass(frozen=True)
class WeighedScores:
    """The result of weighing a file's scores. rule : the rule chosen      labels : (n, m) by that rule, 0
    outside of the sets

    right : number of checks that each rule gets right, {} if there are fewer than FEWEST_CHECKS
    """

    rule: ScoreRule
    labels: FloatArray
    pool: ScorePool
    right: dict[ScoreRule, int]


def weigh(
    own: FloatArray, prior: FloatArray, pool: ScorePool, checks: tuple[FloatArray, FloatArray, IntArray] | None = None
) -> WeighedScores:
    """Label the rows by the rule that blind checks find best. With fewer than ten checks, use the pool if file and
    regression agree beyond chance and the file's winners may be right in 0.98 of the rows, else the rounds.

    own, prior : (n, m) as for `ScorePool.fit`      pool : its result
    checks : the same two (c, m) of rows that did not train, and their true columns (c,); -1 is outside and counts as
        wrong. The rule without checks stays unless another gets more of them right by over one standard error of the
        difference: the root of the number of checks that only one of the two gets right.
    """
    rule = ScoreRule.POOL if pool.tells and pool.good else ScoreRule.ROUNDS
    right: dict[ScoreRule, int] = {}
    if checks is not None and len(checks[2]) >= FEWEST_CHECKS:
        theirs, scores, truth = checks
        hits = {one: _labels(one, theirs, scores, pool).argmax(axis=1) == truth for one in CHECKED}
        right = {one: int(each.sum()) for one, each in hits.items()}
        before = hits[rule]
        ahead = {one: right[one] - int(before.sum()) for one in CHECKED}
        clear = [one for one in CHECKED if ahead[one] > np.sqrt((hits[one] != before).sum())]
        rule = max(clear, key=lambda one: ahead[one], default=rule)
    return WeighedScores(rule, _labels(rule, own, prior, pool), pool, right)


def _labels(rule: ScoreRule, own: FloatArray, prior: FloatArray, pool: ScorePool) -> FloatArray:
    if rule is ScoreRule.SCORES:
        return prior
    if rule is ScoreRule.POOL:
        return pool.labels(own, prior)
    return ScorePool(1.0, 1.0, 0.0, 0).labels(own, prior)


def _logs(prior: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return (n, m) the logarithms of the prior, 0 if the prior is 0; and whether the prior is above 0."""
    inside = prior > 0
    return np.log(prior, out=np.zeros_like(prior), where=inside), inside
