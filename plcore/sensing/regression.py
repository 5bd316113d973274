"""q(W): K ridge regressions that share one covariance, on d features (primal) or n rows (dual).

Prior w_k ~ N(0, tau2 I), noise t2; only their ratio, the *ridge* t2 / tau2, is needed for means: fitted = G (G +
ridge)^-1 T with G the Gram matrix of the rows. Only the smaller of n x n and d x d is computed and factored: text with
47,236 features costs as much as its 3,000 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from plcore.arrays.types import FeatureMatrix, FloatArray, is_sparse
from plcore.margin.feature_maps import LinearMap, default_gamma

LARGEST = 12_000  # maximum rows or features of the only matrix: 1.2 GB, and as much for its factor


@dataclass(frozen=True)
class Kernel:
    """ "linear" x.x', "poly" (gamma x.x' + coef0)^degree, "rbf" exp(-gamma |x - x'|^2); a constant 1 is appended
    to x first where `intercept` (no effect for rbf)."""

    name: str
    gamma: float
    degree: int
    coef0: float
    intercept: bool

    def between(self, A: FeatureMatrix, B: FeatureMatrix) -> FloatArray:
        """Return (len(A), len(B)) the kernel between rows."""
        if self.name == "rbf":
            return np.asarray(rbf_kernel(A, B, gamma=self.gamma))
        if self.name == "poly":
            shift = self.coef0 + self.gamma * self.intercept
            return np.asarray(polynomial_kernel(A, B, degree=self.degree, gamma=self.gamma, coef0=shift))
        product = A @ B.T
        dense = product.toarray() if is_sparse(product) else np.asarray(product)
        dense += float(self.intercept)
        return dense

    def own(self, A: FeatureMatrix) -> FloatArray:
        """Return (len(A),) the kernel of each row with itself."""
        if self.name == "rbf":
            return np.ones(A.shape[0])
        squares = np.asarray(A.multiply(A).sum(axis=1)).ravel() if is_sparse(A) else (A * A).sum(axis=1)
        if self.name == "poly":
            return np.asarray((self.gamma * (squares + self.intercept) + self.coef0) ** self.degree)
        return np.asarray(squares + float(self.intercept))


def make_kernel(name: str, X: FeatureMatrix, gamma: float | None, degree: int, coef0: float, intercept: bool) -> Kernel:
    """Return the kernel; gamma None: 1 for "poly", `default_gamma` of X for "rbf"."""
    if gamma is None:
        gamma = default_gamma(X) if name == "rbf" else 1.0
    return Kernel(name, gamma, degree, coef0, intercept)


class Regression:
    """Ridge regressions on the rows X.

    dual : None: the smaller matrix for a linear kernel; other kernels are always dual
    Attributes: moments, G (n, n) or X'X (d, d); dual
    """

    def __init__(self, kernel: Kernel, X: FeatureMatrix, dual: bool | None = None) -> None:
        n, d = X.shape
        wide = d + kernel.intercept > n
        self.kernel, self.rows = kernel, X
        self.dual = kernel.name != "linear" or (wide if dual is None else dual)
        size = n if self.dual else d
        if size > LARGEST:
            raise ValueError(
                f"{n} rows of {d} features with kernel={kernel.name!r} need a matrix of {size} x {size}; at most "
                f"{LARGEST} are allowed. Fix: use kernel='linear', reduce the features, for example with "
                "sklearn.decomposition.TruncatedSVD, or fit on fewer rows."
            )
        if self.dual:
            self.moments = kernel.between(X, X)
        else:
            features = self.features(X)
            product = features.T @ features
            self.moments = product.toarray() if is_sparse(product) else np.asarray(product)

    def features(self, X: FeatureMatrix) -> FeatureMatrix:
        """Return X with the constant, for a linear kernel."""
        return LinearMap(float(self.kernel.intercept)).fit(X)

    def at(self, ridge: float) -> RegressionAt:
        """Return the regressions at one ridge, with one Cholesky factor."""
        shifted = self.moments.copy()
        shifted.flat[:: len(shifted) + 1] += ridge
        # The transposed matrix is equal and in Fortran order, so nothing is copied.
        factor = linalg.cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
        return RegressionAt(self, ridge, factor)


@dataclass
class RegressionAt:
    """Regressions at one ridge, with the factor lower L, L L' = moments + ridge I."""

    parent: Regression
    ridge: float
    lower: FloatArray

    def _solve(self, right: FloatArray) -> FloatArray:
        return np.asarray(linalg.cho_solve((self.lower, True), right, check_finite=False))

    def coefficients(self, T: FloatArray) -> FloatArray:
        """Return the weights for targets T (n, K): (d, K) of the features (primal), or (n, K) of the rows (dual)."""
        if self.parent.dual:
            return self._solve(T)
        return self._solve(np.asarray(self.parent.features(self.parent.rows).T @ T))

    def fitted(self, T: FloatArray, coefficients: FloatArray | None = None) -> FloatArray:
        """Return (n, K) fitted values of the rows: G (G + ridge)^-1 T."""
        coefficients = self.coefficients(T) if coefficients is None else coefficients
        if self.parent.dual:
            return np.asarray(T - self.ridge * coefficients)  # G (G + r)^-1 = I - r (G + r)^-1
        return np.asarray(self.parent.features(self.parent.rows) @ coefficients)

    def predict(self, X: FeatureMatrix, coefficients: FloatArray) -> FloatArray:
        """Return (len(X), K) predictions for new rows."""
        if self.parent.dual:
            return np.asarray(self.parent.kernel.between(X, self.parent.rows) @ coefficients)
        return np.asarray(self.parent.features(X) @ coefficients)

    def left_out(self, T: FloatArray, coefficients: FloatArray | None = None) -> FloatArray:
        """Return (n, K) the prediction for each row by the regressions on the others, whose targets stay the same: t -
        (t - fitted) / (1 - h), h the diagonal of G (G + ridge)^-1."""
        coefficients = self.coefficients(T) if coefficients is None else coefficients
        if self.parent.dual:  # both are multiples of the ridge, which may be tiny
            return np.asarray(T - coefficients / self._inverse_diagonal[:, None])
        outside = np.maximum(1.0 - self.spread(), 1e-12)
        return np.asarray(T - (T - self.fitted(T, coefficients)) / outside[:, None])

    @cached_property
    def _inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of (moments + ridge I)^-1."""
        return np.asarray(linalg.lapack.dpotri(self.lower, lower=1)[0].diagonal())

    def spread(self, X: FeatureMatrix | None = None) -> FloatArray:
        """Return x' (X'X + ridge)^-1 x for new rows, or for the training rows if X is None; times t2 it is the variance
        x' S_W x."""
        if not self.parent.dual:
            Z = self.parent.features(self.parent.rows if X is None else X)
            Z = Z.toarray() if is_sparse(Z) else Z
            half = linalg.solve_triangular(self.lower, Z.T, lower=True, check_finite=False)
            return np.asarray((half * half).sum(axis=0))
        if X is None:
            return np.asarray(1.0 - self.ridge * self._inverse_diagonal)  # diagonal of G (G + r)^-1
        kernel = self.parent.kernel
        cross = kernel.between(self.parent.rows, X)
        half = linalg.solve_triangular(self.lower, cross, lower=True, check_finite=False)
        return np.asarray(np.maximum(kernel.own(X) - (half * half).sum(axis=0), 0.0) / self.ridge)

    def covariance_cost(self) -> float:
        """Return sum_e [log(1 + e / r) - e / (e + r)] over the eigenvalues e of the moments, r the ridge: twice the
        contribution of the covariance of one w_k to KL(q(w_k) || prior)."""
        size = len(self.lower)
        logdet = 2.0 * float(np.log(self.lower.diagonal()).sum()) - size * float(np.log(self.ridge))
        return logdet - (size - self.ridge * float(self._inverse_diagonal.sum()))

    def squared_norm(self, coefficients: FloatArray) -> float:
        """Return |E[W]|^2 over all K."""
        if self.parent.dual:
            return float((coefficients * (self.parent.moments @ coefficients)).sum())
        return float((coefficients * coefficients).sum())
