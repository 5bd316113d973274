"""Variational inference of the labels of many rows, given the fitted values of their regressions.

The factors of one row, with E[W]' x = f fixed: q(y) over its unknown labels, q(alpha), q(z). Two schedules reach the
same bound: "paper" alternates y, alpha, z (Kapoor et al., NIPS 2012, section 2.2; for rows with known labels the
residual z - Phi_o y_o replaces z); "block" updates the means of y and z together, in closed form, with the noise t2 =
s2 + c2 in place of c2. No step of either lowers the bound.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

from plcore.arrays.types import BoolArray, FloatArray
from plcore.sensing.noise import Noise
from plcore.sensing.projection import LabelPosterior, Projection

LOG_2PI = float(np.log(2.0 * np.pi))


class RowInference:
    """q of n rows.

    values, known (n, L) : labels, 0 if unknown      fitted (n, K) : E[W]' x; may be replaced between steps
    gamma (n, L) : initial 1 / E alpha, None for 1

    Attributes: mean (n, L), including the known values; variance (n, L); rate (n, L), b of q(alpha), whose shape is a0
    + 1/2; latent (n, K), the mean of z.
    """

    def __init__(
        self,
        projection: Projection,
        noise: Noise,
        values: FloatArray,
        known: BoolArray,
        fitted: FloatArray,
        a0: float = 1e-6,
        b0: float = 1e-6,
        gamma: FloatArray | None = None,
    ) -> None:
        self.projection, self.noise = projection, noise
        self.a0, self.b0 = a0, b0
        self.known, self.fitted = known, fitted
        self.shape = a0 + 0.5
        self.mean = values.copy()
        start = np.float64(1.0) if gamma is None else gamma
        self.rate = np.where(known, b0 + 0.5 * values**2, self.shape * start)
        self.observed = values @ projection.Phi.T
        self.latent = fitted.copy()
        self.open = np.flatnonzero(~known.all(axis=1))
        n, _ = values.shape
        self.variance = np.zeros(values.shape)
        self.trace = np.zeros(n)
        self._entropy = np.zeros(n)

    @property
    def gamma(self) -> FloatArray:
        """Return (n, L) 1 / E alpha, 0 if the label is known."""
        return np.where(self.known, 0.0, self.rate / self.shape)

    @property
    def compressed(self) -> FloatArray:
        """Return (n, K) Phi E[y]."""
        return np.asarray(self.mean @ self.projection.Phi.T)

    def update_labels(self) -> None:
        """Update q(y) given q(z) and q(alpha)."""
        self._labels(self.latent, None)

    def update_labels_and_latent(self) -> None:
        """Update q(y) and the means of q(z) together, given q(alpha)."""
        self._labels(self.fitted, self.noise.total)
        self.update_latent()

    def _labels(self, source: FloatArray, mean_noise: float | None) -> None:
        rows = self.open
        if not len(rows):
            return
        gamma = self.gamma[rows]
        residual = source[rows] - self.observed[rows]
        noise = self.noise.projection
        q = self.projection.posterior(gamma, residual, noise, mean_noise)
        unknown = ~self.known[rows]
        self.mean[rows] = np.where(unknown, q.mean, self.mean[rows])
        self.variance[rows], self.trace[rows] = q.variance, q.trace
        self._entropy[rows] = label_entropy(gamma, q, noise, len(self.projection.Phi))

    def update_precisions(self) -> None:
        """Update q(alpha) of the unknown labels given q(y)."""
        self.rate = self.b0 + 0.5 * (self.variance + self.mean**2)

    def update_latent(self) -> None:
        """Update q(z) given q(y) and the fitted values."""
        share = self.noise.split  # share of z's precision, 1/s2 : 1/c2 = (1 - split) : split
        self.latent = (1.0 - share) * self.fitted + share * self.compressed

    def iterate(self, times: int, schedule: str = "paper") -> RowInference:
        """Make rounds of one schedule with the current fitted values."""
        for _ in range(times):
            if schedule == "paper":
                self.update_labels()
                self.update_precisions()
                self.update_latent()
            else:
                self.update_labels_and_latent()
                self.update_precisions()
        return self

    def bound(self, spread: FloatArray) -> FloatArray:
        """Return (n,) the contribution of each row to the bound on the log evidence, with normalised potentials.

        spread (n,) : x' S_W x, the variance of each entry of W' x
        """
        K = len(self.projection.Phi)
        s2, c2 = self.noise.regression, self.noise.projection
        v = 1.0 / (1.0 / s2 + 1.0 / c2)
        regression = ((self.fitted - self.latent) ** 2).sum(axis=1) + K * (spread + v)
        compression = ((self.compressed - self.latent) ** 2).sum(axis=1) + self.trace + K * v
        a, b, a0, b0 = self.shape, self.rate, self.a0, self.b0
        log_alpha, alpha = digamma(a) - np.log(b), a / b
        labels = 0.5 * (log_alpha - LOG_2PI - alpha * (self.variance + self.mean**2))
        labels += a0 * np.log(b0) - gammaln(a0) + (a0 - 1.0) * log_alpha - b0 * alpha
        labels += a - np.log(b) + gammaln(a) + (1.0 - a) * digamma(a)
        constant = 0.5 * K * (1.0 + LOG_2PI + np.log(v) - 2.0 * LOG_2PI - np.log(s2) - np.log(c2))
        return np.asarray(
            -regression / (2.0 * s2) - compression / (2.0 * c2) + constant + labels.sum(axis=1) + self._entropy
        )


def label_entropy(gamma: FloatArray, posterior: LabelPosterior, noise: FloatArray | float, K: int) -> FloatArray:
    """Return (n,) the joint entropy of each row's unknown labels in nats: (logdet S + u log 2 pi e) / 2. Known labels
    and labels left out, gamma = 0, do not count."""
    unknown = gamma > 0.0
    logs = np.log(np.where(unknown, gamma, 1.0)).sum(axis=1)
    logdet = logs - posterior.logdet + K * np.log(noise)
    return np.asarray(0.5 * (logdet + unknown.sum(axis=1) * (1.0 + LOG_2PI)))
