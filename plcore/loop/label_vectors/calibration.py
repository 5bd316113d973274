"""From the posterior means of BML-CS to probabilities that are right as often as they say.

The prior of BML-CS pulls every label not asked to 0, so that with many holes hardly any mean passes .5 and its own
probabilities are far too sure of no. Here P(yes) of label j is

    sigma( logit r_j + a + b (mean - centre) / scale ),   b >= 0,

with r_j the share of yes among the known cells of the label: Platt's scaling (1999) with the base rates as offset. a
and b are fitted to known cells that a second model was not shown, under a prior N(0, 1): without such cells the base
rates are what remains. Rows of which something is known have an a and b of their own: there the model, fitted to the
row, leans to no most of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from plcore.common.types import AnyArray, BoolArray, FloatArray
from plcore.loop.label_vectors.fold import UNKNOWN

HIDDEN = 0.2  # share of the rows, and of the cells of the others, that the second model is not shown
SMOOTHING = 4.0  # cells at the overall rate that each label is given


@dataclass(frozen=True)
class Scaling:
    """What a posterior mean adds to the logit of its label's base rate, for one group of cells.

    shift, slope : a, b      centre, scale : of the means
    """

    shift: float = 0.0
    slope: float = 0.0
    centre: float = 0.0
    scale: float = 1.0

    def of(self, mean: FloatArray) -> FloatArray:
        """What is added to the logit of the base rate."""
        return np.asarray(self.shift + self.slope * (mean - self.centre) / self.scale)


@dataclass(frozen=True)
class Calibration:
    """Makes probabilities of yes from posterior means.

    base (L,) : logit r_j      blank, partial : for rows of which nothing, and something, is known
    """

    base: FloatArray
    blank: Scaling
    partial: Scaling

    def proba(self, mean: FloatArray, partial: BoolArray) -> FloatArray:
        """(n, L) probabilities of yes, strictly inside (0, 1).

        mean (n, L) : posterior means      partial (n,) : whether anything is known of the row
        """
        score = self.base + np.where(partial[:, None], self.partial.of(mean), self.blank.of(mean))
        return np.asarray(np.clip(expit(score), 1e-9, 1 - 1e-9))


def hide(cells: AnyArray, seed: int) -> AnyArray:
    """The cells (n, L) that the second model is shown: without a seeded share of the rows, and of the cells."""
    random = np.random.default_rng([seed, 5])
    rows = np.flatnonzero((cells != UNKNOWN).any(axis=1))
    shown = np.where(random.random(cells.shape) < HIDDEN, UNKNOWN, cells)
    shown[random.permutation(rows)[: int(HIDDEN * len(rows))]] = UNKNOWN
    return shown


def calibrate(cells: AnyArray, mean: FloatArray, shown: AnyArray, shown_mean: FloatArray) -> Calibration:
    """The calibration of a model, fitted to the cells that a second one was not shown.

    cells (n, L) as known, mean (n, L) by the model      shown, shown_mean (n, L) : the same of the second model
    """
    hidden, base = (cells != UNKNOWN) & (shown == UNKNOWN), base_rates(shown)
    scalings = []
    for partial in (False, True):
        group = _group(shown, partial)
        own = _centred(Scaling(slope=1.0), shown_mean[group])
        at = hidden & group
        offset = np.broadcast_to(base, at.shape)[at]
        shift, slope = _fit(own.of(shown_mean[at]), offset, np.where(cells[at] == 1, 1.0, -1.0))
        # The model has seen more than the second one, and its means are spread wider: each is put on its own scale.
        found = Scaling(shift, slope, own.centre, own.scale)
        scalings.append(_centred(found, mean[_group(cells, partial)]))
    return Calibration(base_rates(cells), *scalings)


def _group(cells: AnyArray, partial: bool) -> BoolArray:
    """(n, L) bool, the cells not known of rows of which something (`partial`), or nothing, is known."""
    known = cells != UNKNOWN
    return np.asarray(~known & (known.any(axis=1) == partial)[:, None])


def _centred(scaling: Scaling, means: FloatArray) -> Scaling:
    if not len(means):
        return scaling
    return Scaling(scaling.shift, scaling.slope, float(means.mean()), max(float(means.std()), 1e-12))


def _fit(x: FloatArray, offset: FloatArray, sign: FloatArray) -> tuple[float, float]:
    """a and b for k cells. x, offset, sign (k,) : standardised mean, logit of the base rate, 1 for yes and -1 for no"""

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (offset + weights[0] + weights[1] * x)
        slack = -sign * expit(-margin)
        gradient = np.array([slack.sum(), slack @ x]) + weights
        return float(0.5 * weights @ weights - log_expit(margin).sum()), gradient

    bounds = ((None, None), (0.0, None))
    shift, slope = minimize(cost, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(shift), float(slope)


def base_rates(cells: AnyArray) -> FloatArray:
    """(L,) logit of the share of yes among the known cells of each label, drawn towards that of all labels."""
    yes, known = (cells == 1).sum(axis=0), (cells != UNKNOWN).sum(axis=0)
    overall = (yes.sum() + 1) / (known.sum() + 2)
    return np.asarray(logit((yes + SMOOTHING * overall) / (known + SMOOTHING)))
