"""Combine scores of a file with a kernel ridge: how much each counts for the labels of the rows.

In the rounds the scores w of a row's candidates are a factor of its soft label, next to exp(F / 0.05): scores that are
nearly always right are overruled there by a regression that is right less often. A pool of both has a temperature T of
the regression's left-out scores F and a power omega of the file's, at which the two agree best:

    sum_i log(|S_i| sum over c in S_i of softmax(F_i / T)_c r_ic),    r_ic ~ w_ic^omega inside S_i

It is 0 for even r, so that scores that have nothing to do with the rows get a power near 0. No true label is seen. A
file's scores that come from a model of the same features agree with F for that reason alone, and a pool makes too much
of them. So how often the file's winners are right, p, is read from how often they are the left-out winners:

    max over p of sum_i log(p q_i + (1 - p)(1 - q_i)/(|S_i| - 1)),    q_i = softmax(F_i / T')_winner inside S_i

T' the temperature of probabilities (`plcore.labels.temperature`). The pool is taken where p = 0.98 is not rejected.
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
"""For the rounds' own logarithms: T from 0.03 to 0.6, where that of the rounds is 0.05."""
POWERS = np.linspace(0.0, 4.0, 17)
MOST_ROWS = 2000
"""Approximate number of ambiguous rows, evenly spaced, that a pool is fitted to."""
GOOD = 0.98
"""Scores that are right this often must decide."""
REJECTED = chi2.ppf(0.95, 1) / 2
"""Nats by which the best accuracy must be likelier than GOOD for GOOD to be ruled out: a test at level 0.05."""
FEWEST_CHECKS = 10
"""Minimum number of blind checks that choose the rule."""


class ScoreRule(StrEnum):
    """How rows with a file's scores get their labels."""

    ROUNDS = "rounds"
    """By the rounds, in which the scores are a factor."""
    POOL = "pool"
    """By the regression and the scores at the temperature and the power at which they agree best."""
    SCORES = "scores"
    """By the file's scores alone."""
    IGNORED = "ignored"
    """By rounds without the scores, if the scores are unrelated to the rows."""


CHECKED = (ScoreRule.ROUNDS, ScoreRule.POOL, ScoreRule.SCORES)
"""Among these blind checks choose."""


@dataclass(frozen=True)
class ScorePool:
    """temperature : by which the logarithms of the rounds are divided      power : of the file's scores
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
        """The best of a grid, for what the rounds say of each class without the row's own scores, own (n, m), and the
        scores prior (n, m), which are 0 outside of the sets and sum to 1."""
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
        """(n, m) softmax of own / temperature + power * log(prior), inside the sets."""
        logs, inside = _logs(prior)
        return np.asarray(softmax_rows(own / self.temperature + self.power * logs, inside))


def _winners_right(shares: FloatArray, prior: FloatArray) -> tuple[float, bool]:
    """How often the winners of scores prior (n, m) are right, where a row's classes have these shares (n, m); and
    whether GOOD is not rejected. Rows whose scores name no winner do not count."""
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

    right : how many of the checks each rule has right, {} if there are fewer than FEWEST_CHECKS
    """

    rule: ScoreRule
    labels: FloatArray
    pool: ScorePool
    right: dict[ScoreRule, int]


def weigh(
    own: FloatArray,
    prior: FloatArray,
    pool: ScorePool,
    checks: tuple[FloatArray, FloatArray, IntArray] | None = None,
) -> WeighedScores:
    """Label the rows by the rule that blind checks find best. With fewer than ten checks: by the pool if file
    and regression agree beyond chance and the file's winners may be right in 0.98 of the rows, else by the
    rounds.

    own, prior : (n, m) as for `ScorePool.fit`      pool : as that gave it
    checks : the same two (c, m) of rows that did not train, and their true columns (c,); -1 is outside and is wrong.
        The rule before checks stays unless another is right in more of them by over one standard error of the
        difference, the root of the number of checks that one of both alone has right.
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
    """(n, m) the logarithms of the prior, 0 if it is 0; and where it is more."""
    inside = prior > 0
    return np.log(prior, out=np.zeros_like(prior), where=inside), inside
