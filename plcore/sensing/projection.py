"""The random projection Phi (K, L), and q(y) of many rows at once.

With precisions alpha of one row, g = 1 / E alpha (0 if a label is known), and noise c,

    S = (diag(1/g) + Phi_u' Phi_u / c)^-1,   mu = S Phi_u' r / c,   r = z - Phi_o y_o   (u unknown, o known)

are an L x L inverse. By Woodbury, S0 = c I + Phi diag(g) Phi' (K, K) suffices:

    mu = g * Phi' S0^-1 r,   S_jj = g_j - g_j^2 phi_j' S0^-1 phi_j,
    tr(Phi S Phi') = c K - c^2 tr S0^-1,   logdet S = sum log g_u - logdet S0 + K log c.

Both heavy steps are one matrix product over all rows (Khatri-Rao): with P the packed columns phi_j phi_j', the packed
S0 are g P, and phi_j' S0^-1 phi_j are the packed inverses times P'. They are in LAPACK's rectangular full packed format
(Gustavson et al., 2010), which its blocked Cholesky reads without unpacking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from plcore.arrays.types import FloatArray

BLOCK_BYTES = 32 << 20  # packed matrices in memory at a time


@dataclass(frozen=True)
class LabelPosterior:
    """q(y) of n rows: mean (n, L), 0 if known; variance S_jj (n, L), 0 if known; trace tr(Phi S Phi') (n,);
    logdet S0 (n,)."""

    mean: FloatArray
    variance: FloatArray
    trace: FloatArray
    logdet: FloatArray


class Projection:
    """Phi (K, L) and the values derived from it once."""

    def __init__(self, Phi: FloatArray) -> None:
        self.Phi = np.ascontiguousarray(Phi, dtype=np.float64)
        K = len(Phi)
        numbers = np.arange(K * K, dtype=np.float64).reshape(K, K)
        packed = lapack.dtrttf(numbers, uplo="L")[0].astype(np.int64)  # place of each entry of K x K
        self._row, self._column = packed // K, packed % K
        self._diagonal = np.flatnonzero(self._row == self._column)
        self._products: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Return (K, L)."""
        return self.Phi.shape[0], self.Phi.shape[1]

    @property
    def products(self) -> FloatArray:
        """Return P (L, K (K + 1) / 2): phi_j phi_j', packed."""
        if self._products is None:
            columns = self.Phi.T
            self._products = columns[:, self._row] * columns[:, self._column]
        return self._products

    def posterior(
        self,
        gamma: FloatArray,
        residual: FloatArray,
        noise: FloatArray | float,
        mean_noise: FloatArray | float | None = None,
    ) -> LabelPosterior:
        """Return q(y) of rows.

        gamma (n, L) : g, 0 if the label is known      residual (n, K) : r
        noise : c of the covariance, (n,) or one number      mean_noise : c of the mean, None for the same
        """
        n, L = gamma.shape
        noise = np.broadcast_to(np.asarray(noise, dtype=np.float64), (n,))
        other = noise
        if mean_noise is not None:
            other = np.broadcast_to(np.asarray(mean_noise, dtype=np.float64), (n,))
        alike = n > 1 and bool((noise == noise[0]).all() and (other == other[0]).all())
        if alike and bool((gamma == gamma[0]).all()):
            return self._shared(gamma[0], residual, float(noise[0]), float(other[0]))
        out = LabelPosterior(np.empty((n, L)), np.empty((n, L)), np.empty(n), np.empty(n))
        size = max(1, BLOCK_BYTES // (8 * max(len(self._row), 1)))
        for begin in range(0, n, size):
            rows = slice(begin, min(n, begin + size))
            self._block(gamma[rows], residual[rows], noise[rows], other[rows], rows, out)
        return out

    def _block(
        self,
        gamma: FloatArray,
        residual: FloatArray,
        noise: FloatArray,
        other: FloatArray,
        rows: slice,
        out: LabelPosterior,
    ) -> None:
        """Compute one block of rows into `out`."""
        K = len(self.Phi)
        base = gamma @ self.products  # Phi diag(g) Phi', packed
        solved = np.empty(residual.shape)
        for i in range(len(gamma)):
            matrix = base[i]
            if other[i] != noise[i]:
                shifted = matrix.copy()
                shifted[self._diagonal] += other[i]
                factor = _factor(K, shifted)
                solved[i] = lapack.dpftrs(K, factor, residual[i][:, None], uplo="L")[0][:, 0]
            matrix[self._diagonal] += noise[i]
            factor = _factor(K, matrix)
            if other[i] == noise[i]:
                solved[i] = lapack.dpftrs(K, factor, residual[i][:, None], uplo="L")[0][:, 0]
            out.logdet[rows.start + i] = 2.0 * np.log(factor[self._diagonal]).sum()
            inverse = lapack.dpftri(K, factor, uplo="L", overwrite_a=1)[0]
            out.trace[rows.start + i] = K * noise[i] - noise[i] ** 2 * inverse[self._diagonal].sum()
            inverse *= 2.0  # each entry off the diagonal counts twice
            inverse[self._diagonal] *= 0.5
            base[i] = inverse
        quadratic = base @ self.products.T  # phi_j' S0^-1 phi_j
        np.multiply(gamma, solved @ self.Phi, out=out.mean[rows])
        out.variance[rows] = np.maximum(gamma - gamma**2 * quadratic, 0.0)

    def _shared(self, gamma: FloatArray, residual: FloatArray, noise: float, other: float) -> LabelPosterior:
        """Return the same for equal precisions in all rows, as before the first iteration: one factor is enough."""
        n, K = residual.shape
        one = LabelPosterior(*(np.empty((1, gamma.size)) for _ in range(2)), *(np.empty(1) for _ in range(2)))
        self._block(gamma[None], np.zeros((1, K)), np.array([noise]), np.array([noise]), slice(0, 1), one)
        base = (self.Phi * gamma) @ self.Phi.T + other * np.eye(K)
        mean = gamma * (np.linalg.solve(base, residual.T).T @ self.Phi)
        return LabelPosterior(
            mean, np.repeat(one.variance, n, axis=0), np.repeat(one.trace, n), np.repeat(one.logdet, n)
        )


def _factor(K: int, packed: FloatArray) -> FloatArray:
    """Return the Cholesky factor of a packed matrix, computed in place."""
    factor, info = lapack.dpftrf(K, packed, uplo="L", overwrite_a=1)
    if info:
        raise ValueError(
            "The variance noise is too small for what doubles can tell apart with labels of 0 and 1. "
            "Fix: give noise and prior_variance of at least 1e-12, or None, which finds them from the data."
        )
    return np.asarray(factor)
