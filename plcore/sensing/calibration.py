"""Probabilities from posterior means: what share of labels with such a mean are yes.

A sparse Gaussian prior draws the means of 0/1 labels towards 0: a mean of .4 may be a yes four times in five. The
means of training rows, each predicted without its own labels, tell what a mean is worth (Platt, 1999).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from plcore._types import BoolArray, FloatArray

LEAST_SLOPE = 1e-3  # a higher mean is never less likely a yes
CERTAIN = 1e-9


def left_out(targets: FloatArray, fitted: FloatArray, own: FloatArray) -> FloatArray:
    """(n, K) what ridge regressions predict for rows left out of them, in closed form.

    targets, fitted (n, K)      own (n,) : the diagonal of G (G + ridge)^-1, below 1
    """
    return np.asarray((fitted - own[:, None] * targets) / (1.0 - own[:, None]))


def calibrate(mean: FloatArray, yes: BoolArray) -> tuple[float, float]:
    """(slope, offset) of the most likely P(yes) = 1 / (1 + exp(-slope mean - offset)), slope > 0.

    mean, yes (m,) : posterior means and answers. One yes at 1 and one no at 0 are added: with all answers the same,
    or none, the result is finite.
    """
    x = np.append(mean, (1.0, 0.0))
    y = np.append(yes, (1.0, 0.0))

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        z = parameters[0] * x + parameters[1]
        rest = expit(z) - y
        return float((np.logaddexp(0.0, z) - y * z).sum()), np.array([rest @ x, rest.sum()])

    start = np.array([4.0, -2.0])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(LEAST_SLOPE, None), (None, None)]).x
    return float(found[0]), float(found[1])


def calibrated(mean: FloatArray, calibration: tuple[float, float]) -> FloatArray:
    """Probabilities of yes of posterior means, strictly inside (0, 1)."""
    slope, offset = calibration
    return np.asarray(np.clip(expit(slope * mean + offset), CERTAIN, 1.0 - CERTAIN))
