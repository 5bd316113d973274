"""Kernels as features: one linear solver serves all of them.

A kernel matrix of the training rows is factored, K = Z Z', by pivoted Cholesky. Rows of Z are features whose
products are the kernel, to RANK_TOLERANCE of its largest diagonal entry, so that a linear learner on Z *is* the
kernel learner. Z has as many columns as K has rank: 36 rather than n for a polynomial of degree 1 in 36 features.
New rows need the kernel against the pivot rows only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from plcore.arrays.types import FeatureMatrix, FloatArray, Matrix, is_sparse

KERNELS = ("linear", "poly", "rbf")
MAX_KERNEL_ROWS = 10_000  # 0.8 GB for the matrix, and twice that while it is factored
RANK_TOLERANCE = 1e-11


def make_map(
    kernel: str, fit_intercept: bool, degree: int = 3, gamma: float | None = None, coef0: float = 0.0
) -> LinearMap | KernelMap:
    """The map of a kernel: "linear", "poly" (gamma x.x' + coef0)^degree, or "rbf" exp(-gamma |x - x'|^2).

    gamma : None means 1 for "poly", `default_gamma` for "rbf". fit_intercept appends a constant 1 to x.
    """
    if kernel == "linear":
        return LinearMap(1.0 if fit_intercept else 0.0)
    if kernel == "poly":
        factor = 1.0 if gamma is None else gamma
        if degree == 1:  # its features are already computed
            return LinearMap(float(np.sqrt(factor * fit_intercept + coef0)), float(np.sqrt(factor)))
        return KernelMap("poly", degree, factor, coef0 + factor * fit_intercept)
    return KernelMap("rbf", degree, gamma, 0.0)


def default_gamma(X: FeatureMatrix, weights: FloatArray | None = None) -> float:
    """1 / (2 * mean of |x_i - x_j|^2 over all pairs of different rows); 1 if all rows are equal.

    weights : (n,) s_i, a pair then counts s_i s_j; None for equal ones
    """
    s = np.ones(X.shape[0]) if weights is None else weights / weights.max()
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse(X) else (X * X).sum(axis=1)
    n, size, total = float(s.sum()), float(s @ squares), np.asarray(X.T @ s).ravel()
    spread = n * size - float(total @ total)  # sum of s_i s_j |x_i - x_j|^2 over all i < j
    if spread <= 1e-12 * n * size:  # rounding differences between equal rows are not distances
        return 1.0
    return max(n * n - float(s @ s), 1e-16 * n * n) / (4.0 * spread)


@dataclass
class LinearMap:
    """Z = [factor * x, constant]; no last column where the constant is 0."""

    constant: float
    factor: float = 1.0

    def fit(self, X: FeatureMatrix, weights: FloatArray | None = None) -> FeatureMatrix:  # noqa: ARG002
        Z = X if self.factor == 1.0 else X * self.factor
        if self.constant == 0.0:
            return Z
        last = np.full((X.shape[0], 1), self.constant)
        if is_sparse(Z):
            return sparse.csr_matrix(sparse.hstack([Z, last], format="csr"))
        return np.hstack([Z, last])

    def split(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (m, d) for x and intercepts (m,)."""
        if self.constant == 0.0:
            return W * self.factor, np.zeros(len(W))
        return W[:, :-1] * self.factor, W[:, -1] * self.constant

    def scores(self, X: Matrix, W: FloatArray) -> FloatArray:
        coefficients, intercepts = self.split(W)
        return np.asarray(X @ coefficients.T + intercepts)


@dataclass(eq=False)
class KernelMap:
    """Z of a kernel matrix by pivoted Cholesky; see the module."""

    kernel: str
    degree: int
    gamma: float | None
    coef0: float

    def fit(self, X: FeatureMatrix, weights: FloatArray | None = None) -> FloatArray:
        """Z (n, rank). weights : (n,) of the rows for `default_gamma`. Raises ValueError where the kernel matrix
        would be too large, naming the way out."""
        n = X.shape[0]
        if n > MAX_KERNEL_ROWS:
            raise ValueError(
                f"kernel={self.kernel!r} needs the {n} x {n} kernel matrix ({8 * n * n / 1e9:.1f} GB); at most "
                f"{MAX_KERNEL_ROWS} rows are allowed. Fix: approximate the kernel by features, for example "
                "make_pipeline(Nystroem(...), LEARNER(kernel='linear')) with Nystroem or RBFSampler of "
                "sklearn.kernel_approximation, or fit on fewer rows."
            )
        self.gamma_ = default_gamma(X, weights) if self.gamma is None else self.gamma
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = self._kernel(X, X).T  # symmetric, and now in Fortran's order
            finite = np.isfinite(matrix.sum())
        if not finite:
            raise ValueError(
                f"The values of kernel={self.kernel!r} are too large. Fix: scale the features, or lower degree."
            )
        tolerance = RANK_TOLERANCE * max(float(matrix.diagonal().max()), np.finfo(float).tiny)
        factor, order, rank, _ = lapack.dpstrf(matrix, tol=tolerance, lower=1, overwrite_a=1)
        order = order.astype(np.int64) - 1
        lower = np.tril(factor[:, :rank])
        self.pivots = order[:rank]
        self.rows = X[self.pivots]
        self._factor = np.asfortranarray(lower[:rank])
        Z = np.empty((n, rank))
        Z[order] = lower
        return Z

    def dual(self, W: FloatArray) -> FloatArray:
        """(rank, m) coefficients A of the pivot rows: scores = K(x, pivots) A."""
        if not len(self.pivots):
            return np.zeros((0, len(W)))
        return np.asarray(solve_triangular(self._factor, W.T, lower=True, trans="T"))

    def scores(self, X: Matrix, W: FloatArray) -> FloatArray:
        if not len(self.pivots):
            return np.zeros((X.shape[0], len(W)))
        return np.asarray(self._kernel(X, self.rows) @ self.dual(W))

    def _kernel(self, A: Matrix, B: Matrix) -> FloatArray:
        if self.kernel == "rbf":
            return np.asarray(rbf_kernel(A, B, gamma=self.gamma_))
        return np.asarray(polynomial_kernel(A, B, degree=self.degree, gamma=self.gamma_, coef0=self.coef0))
