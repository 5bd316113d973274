"""Kernel ridge regression on soft labels, factored once: in each round only the soft labels are new.

    min over A, b of  sum_i s_i |F(x_i) - p_i|^2 + alpha |A|_K^2,   F(x) = A'k(x) + b,   b not penalised

Up to EXACT_ROWS rows by one Cholesky factor of S^1/2 K S^1/2 + alpha I:  (K + alpha S^-1) A = P - 1 b',  1'A = 0.
Of more rows, and for a linear kernel of few features, by one of Z'SZ + alpha I, Z the centred features of the kernel.
All in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from plcore.arrays.types import FeatureMatrix, FloatArray, IntArray, Matrix, is_sparse
from plcore.kernel.features import KernelFeatures

EXACT_ROWS = 5000


class ScaledKernel(KernelFeatures):
    """A kernel whose width is `scale` times the mean distance of two training rows."""

    def __init__(self, kernel: str, n_components: int, scale: float) -> None:
        super().__init__(kernel, n_components)
        self.scale = scale
        self.exact = False

    def _find_width(self, X: Matrix, weights: FloatArray, present: IntArray, random: np.random.RandomState) -> float:
        return self.scale * super()._find_width(X, weights, present, random)

    def fit_exactly(self, X: Matrix, weights: FloatArray, random: np.random.RandomState) -> FloatArray:
        """(n, n) the kernel matrix of rows X (n, d) of positive weight (n,), which become the points."""
        self.width = self._find_width(X, weights, np.arange(X.shape[0]), random)
        self.points, self.exact = X, True
        return self._between(X, X)

    def values_of(self, X: FeatureMatrix) -> FeatureMatrix:
        """(q, r) what coefficients are multiplied by: the kernel of rows X (q, d) and the points, or features."""
        return self._between(X, self.points) if self.exact else self.transform(X)


@dataclass(frozen=True)
class Fitted:
    """A regression on some soft labels.

    scores : (n, m) F of the training rows      penalty : alpha |A|_K^2
    coefficients : (r, m), shift (m,): rows with `ScaledKernel.values_of` z (q, r) have scores z coefficients + shift
    """

    scores: FloatArray
    penalty: float
    coefficients: FloatArray
    shift: FloatArray


class KernelRegression:
    """The regression for fixed rows X (n, d), dense or CSR, of positive weights (n,)."""

    def __init__(
        self, kernel: ScaledKernel, alpha: float, X: Matrix, weights: FloatArray, random: np.random.RandomState
    ) -> None:
        self.kernel, self.alpha, self.weights = kernel, alpha, weights
        n, d = X.shape
        if n <= EXACT_ROWS and (kernel.kernel != "linear" or d > kernel.n_components):
            self._root = np.sqrt(weights)
            matrix = kernel.fit_exactly(X, weights, random)
            matrix *= self._root[:, None]
            matrix *= self._root
            self._factor = _factor(matrix, alpha)
            self._ones = cho_solve(self._factor, self._root, check_finite=False)
        else:
            self._Z = kernel.fit(X, weights, random)
            self._total = float(weights.sum())
            self._mean = np.asarray(self._Z.T @ weights).ravel() / self._total
            self._factor = _factor(self._gram(), alpha)

    def _gram(self) -> FloatArray:
        """(r, r) Z'SZ, as if Z had been centred."""
        if is_sparse(self._Z):
            gram = (self._Z.T @ self._Z.multiply(self.weights[:, None]).tocsr()).toarray()
        else:
            gram = self._Z.T @ (self._Z * self.weights[:, None])
        return np.asarray(gram - self._total * np.outer(self._mean, self._mean))

    def solve(self, labels: FloatArray) -> Fitted:
        """The regression on soft labels (n, m)."""
        if self.kernel.exact:
            inner = cho_solve(self._factor, self._root[:, None] * labels, check_finite=False)
            shift = (self._root @ inner) / (self._root @ self._ones)
            scaled = inner - np.outer(self._ones, shift)
            # K A + 1 b' is P - alpha S^-1 A: no product with K, whose place the factor has taken.
            scores = labels - self.alpha * scaled / self._root[:, None]
            outer = self._root[:, None] * scaled
            return Fitted(scores, self.alpha * float(np.sum(outer * scores)), outer, shift)
        weighted = self.weights[:, None] * labels
        mean = weighted.sum(axis=0) / self._total
        right = self._Z.T @ weighted - self._total * np.outer(self._mean, mean)
        outer = cho_solve(self._factor, np.asarray(right), check_finite=False)
        shift = mean - self._mean @ outer
        scores = np.asarray(self._Z @ outer + shift)
        return Fitted(scores, self.alpha * float(np.sum(outer**2)), outer, shift)


def _factor(matrix: FloatArray, alpha: float) -> tuple[FloatArray, bool]:
    """The Cholesky factor of matrix + alpha I, in its place. Equal rows make the matrix singular: alpha must outweigh
    its rounding, or ValueError says so."""
    matrix.flat[:: len(matrix) + 1] += alpha
    try:
        factor: tuple[FloatArray, bool] = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise ValueError(
            f"alpha={alpha:g} is too small for these rows, of which some are equal or nearly so: their kernel matrix "
            "is nearly singular. Fix: take a larger alpha, such as 0.01."
        ) from error
    return factor
