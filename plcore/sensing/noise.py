"""Noise and prior variance of the regressions, by the marginal likelihood of a Gaussian process.

Phi y of a fully known row is N(0, tau2 x.x' + t2) in each of its K entries: only t2 = sigma^2 + chi^2 is identified,
and its split is a choice. For a fixed ridge t2 / tau2 the best tau2 is known, so only one variable is searched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize_scalar

from plcore.arrays.types import FloatArray, Matrix
from plcore.sensing.regression import Kernel, Regression

FLOOR = 0.1  # minimum ridge, as a share of the mean x.x': with fewer rows than features the likelihood prefers 0
CEILING = 1e4
LARGEST = 1500  # maximum rows or features for the eigenvalues; more rows are sampled


@dataclass(frozen=True)
class Noise:
    """total = t2; regression = sigma^2; projection = chi^2, their sum t2; prior = tau2, variance of a weight."""

    total: float
    prior: float
    split: float

    @property
    def regression(self) -> float:
        return float(self.split * self.total)

    @property
    def projection(self) -> float:
        return self.total - self.regression

    @property
    def ridge(self) -> float:
        return self.total / self.prior


def scale_of(kernel: Kernel, X: Matrix) -> float:
    """Return the mean x.x' of the rows, the unit of the ridge; 1 if all are 0, since any ridge will do."""
    mean = float(kernel.own(X).mean())
    return mean if mean > 1e-300 else 1.0


def find_noise(
    kernel: Kernel,
    X: Matrix,
    T: FloatArray,
    split: float,
    noise: float | None,
    prior: float | None,
    random: np.random.Generator,
) -> Noise:
    """Return the noise of targets T (n, K) on rows X. A given value is not changed, and the other is found with it."""
    if noise is not None and prior is not None:
        return Noise(float(noise), float(prior), split)
    n, d = X.shape
    if min(n, d) > LARGEST or (kernel.name != "linear" and n > LARGEST):
        chosen = np.sort(random.choice(n, LARGEST, replace=False))
        X, T = X[chosen], T[chosen]
        n = LARGEST
    regression = Regression(kernel, X)
    values, vectors = linalg.eigh(regression.moments, check_finite=False)
    values = np.maximum(values, 0.0)
    K = T.shape[1]
    if regression.dual:
        energy = ((vectors.T @ T) ** 2).sum(axis=1)
        rest = 0.0
    else:
        # Targets in the n-space directions Z u / sqrt(e); outside of them there is only noise.
        images = vectors.T @ np.asarray(regression.features(X).T @ T)
        sure = values > 1e-10 * values[-1]
        energy = np.where(sure, (images**2).sum(axis=1) / np.where(sure, values, 1.0), 0.0)
        rest = max(float((T * T).sum() - energy.sum()), 0.0)
    scale = scale_of(kernel, X)
    silent = not T.any()  # no yes at all: any noise explains it, and the result is always no

    def tau2(ridge: float) -> float:
        if prior is not None:
            return float(prior)
        if noise is not None:
            return float(noise) / ridge
        if silent:
            return 1e-3 / scale
        return float(((energy / (values + ridge)).sum() + rest / ridge) / (n * K))

    def cost(log_ridge: float) -> float:
        ridge = float(np.exp(log_ridge))
        variance = tau2(ridge)
        quadratic = float((energy / (values + ridge)).sum()) + rest / ridge
        logdet = np.log(values + ridge).sum() + (n - len(values)) * np.log(ridge)
        return float((K * logdet + n * K * np.log(variance) + quadratic / variance) / (n * K))

    low, high = np.log(FLOOR * scale), np.log(CEILING * scale)
    ridge = float(np.exp(minimize_scalar(cost, bounds=(low, high), method="bounded").x))
    variance = tau2(ridge)
    return Noise(ridge * variance, variance, split)
