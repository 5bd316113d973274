"""Kernels as features: rows become Z (n, r) whose products are the kernel, exactly or from `n_components` points.

Up to n_components rows all of them are the points, and Z Z' is the kernel matrix; beyond that, the kernel is computed
only between the rows and n_components points (Nystroem), so that nothing is ever n x n. The kernel matrix of the points
is factored by pivoted Cholesky, which leaves out points that the others span: duplicates cost nothing. A linear kernel
of few features needs no points: it uses the features themselves, sparse ones too.

With very many rows, the kernel between rows and points itself serves as features ("plain"): a regression on them, with
the kernel matrix of the points as penalty, is the same regression, and saves the factor's n r^2 operations.

All kernels are 1, or 1 on average, between a row and itself, so that one grid of ridges serves all. They are computed
in float64: in float32, an rbf kernel of 20,000 rows loses all accuracy.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from plcore.arrays.types import FeatureMatrix, FloatArray, IntArray, Matrix, is_sparse

KERNELS = ("rbf", "laplace", "linear")
RANK_TOLERANCE = 1e-11  # minimum contribution of a point, relative to the largest diagonal entry
# The same for plain features. Their normal equations K'K are rounded to about 1e-9, which would drown the penalty of a
# point that adds less; beyond n_components rows, the kernel of other rows is off by far more than 1e-7.
PLAIN_TOLERANCE = 1e-7
WIDTH_ROWS = 1000  # rows sampled to find the width of a kernel
CENTRE_ROWS = 10  # rows per centre that k-means uses
CENTRE_ROUNDS = 5
BLOCK = 4096  # rows whose kernel is computed at a time
# If plain features cannot use all rows as points, they use this share of n_components. At 10,000 rows, 0.7 halves the
# time and lowers accuracy by 0.001 to 0.0018 (rbf and laplace on Gaussian classes and pendigits, three draws); 0.6
# lowers it by more than 0.002.
PLAIN_SHARE = 0.7
PLAIN_BLOCK = 1024  # rows of plain features at a time, so that they stay in the third-level cache


class KernelFeatures:
    """Features Z of one kernel, fitted on training rows.

    "rbf" exp(-|x - x'|^2 / 2 s^2), "laplace" exp(-|x - x'|_1 / s), s the mean distance of two training rows in the
    kernel's own metric; "linear" x.x' / s^2, s^2 the mean squared distance of a row to the mean.
    """

    width: float
    points: FeatureMatrix  # (r, d), None if the features themselves are used
    penalty: FloatArray | None  # (r, r) M of plain features: coefficients A cost tr(A'MA); None: tr(A'A)

    def __init__(self, kernel: str, n_components: int, plain: bool = False) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.plain = plain

    def fit(self, X: FeatureMatrix, weights: FloatArray, random: np.random.RandomState) -> FeatureMatrix:
        """Fit and return Z (n, r) of X (n, d), dense or CSR; rows of weight 0 have no influence but get
        features."""
        present = np.flatnonzero(weights > 0)
        self.width = self._find_width(X, weights, present, random)
        self.points = self.penalty = None
        if self.kernel != "linear" or X.shape[1] > self.n_components:
            points = self._find_points(X, weights, present, random)
            matrix = self._between(points, points).T  # symmetric, and now in Fortran order
            least = PLAIN_TOLERANCE if self.plain else RANK_TOLERANCE
            tolerance = least * max(float(matrix.diagonal().max()), np.finfo(float).tiny)
            factor, order, rank, _ = lapack.dpstrf(matrix, tol=tolerance, lower=1, overwrite_a=1)
            self.points = points[order[:rank] - 1]
            if self.plain:
                self.penalty = self._between(self.points, self.points)
            else:
                self._factor = np.tril(factor[:rank, :rank])
        return self.transform(X)

    def transform(self, X: FeatureMatrix) -> FeatureMatrix:
        """Return Z (q, r) of rows X (q, d); sparse if X is sparse and no points are needed."""
        if self.points is None:
            return X / self.width
        Z = np.empty((X.shape[0], self.points.shape[0]))
        if self.plain:
            for start in range(0, len(Z), PLAIN_BLOCK):
                self._between(X[start : start + PLAIN_BLOCK], self.points, Z[start : start + PLAIN_BLOCK])
            return Z
        for start in range(0, len(Z), BLOCK):
            between = self._between(X[start : start + BLOCK], self.points)
            Z[start : start + BLOCK] = solve_triangular(
                self._factor, between.T, lower=True, overwrite_b=True, check_finite=False
            ).T
        return Z

    def _find_width(self, X: Matrix, weights: FloatArray, present: IntArray, random: np.random.RandomState) -> float:
        if self.kernel == "linear":
            width = float(np.sqrt(_spread(X, weights)))
        else:
            rows = present
            if len(rows) > WIDTH_ROWS:
                rows = np.sort(random.choice(rows, WIDTH_ROWS, replace=False))
            shares = weights[rows] / weights[rows].sum()
            if self.kernel == "laplace" and not is_sparse(X):
                width = _mean_manhattan(X[rows], shares)
            else:
                width = float(shares @ self._distances(X[rows], X[rows]) @ shares)
        return width if width > 0 else 1.0

    def _find_points(
        self, X: Matrix, weights: FloatArray, present: IntArray, random: np.random.RandomState
    ) -> FeatureMatrix:
        """Choose the points: all rows with weight, a sample of rows, or for "laplace", which gains from it, centres of
        k-means."""
        if len(present) <= self.n_components:
            return X[present]
        drawn = random.permutation(present)
        count = int(np.ceil(PLAIN_SHARE * self.n_components)) if self.plain else self.n_components
        points = X[np.sort(drawn[:count])]
        if self.kernel != "laplace" or is_sparse(X):
            return points
        seen = np.sort(drawn[: CENTRE_ROWS * count])
        return _move_to_means(points, X[seen], weights[seen])

    def _distances(self, A: Matrix, B: Matrix) -> FloatArray:
        if self.kernel == "rbf":
            return np.asarray(euclidean_distances(A, B))
        if is_sparse(A) or is_sparse(B):
            # Copy, because the call sorts a sparse matrix in place.
            return np.asarray(manhattan_distances(sparse.csr_matrix(A, copy=True), sparse.csr_matrix(B, copy=True)))
        return np.asarray(cdist(A, B, "cityblock"))

    def _between(self, A: FeatureMatrix, B: FeatureMatrix, room: FloatArray | None = None) -> FloatArray:
        """Return (len(A), len(B)) the kernel, written to `room` if given."""
        if self.kernel == "linear":
            product = A @ B.T
            dense = product.toarray() if is_sparse(product) else np.asarray(product)
            return np.asarray(np.divide(dense, self.width**2, out=room))
        if self.kernel == "rbf":
            matrix = _exponents(A, B, self.width, room)
        else:
            matrix = self._distances(A, B)
            matrix /= -self.width
        return np.asarray(np.exp(matrix, out=matrix if room is None else room))


def _exponents(A: FeatureMatrix, B: FeatureMatrix, width: float, room: FloatArray | None) -> FloatArray:
    """Return (len(A), len(B)) -|a - b|^2 / 2 width^2 of their rows; for dense rows by one product, with two more
    columns."""
    if is_sparse(A) or is_sparse(B):
        return np.asarray(euclidean_distances(A, B, squared=True)) * (-0.5 / width**2)
    left, right = A / width, B / width
    own, other = (-0.5 * np.einsum("ij,ij->i", rows, rows)[:, None] for rows in (left, right))
    left = np.hstack([left, own, np.ones_like(own)])
    right = np.hstack([right, np.ones_like(other), other])
    return np.asarray(np.matmul(left, right.T, out=room))


def _mean_manhattan(X: FloatArray, shares: FloatArray) -> float:
    """Return the mean of |x - x'|_1 over all pairs of rows X (n, d), weighted by their shares (n,). It sums over
    features: each gap between neighbouring values separates (rows below) times (rows above) pairs."""
    order = X.argsort(axis=0)
    below = shares[order[:-1]].cumsum(axis=0)
    gaps = np.diff(np.take_along_axis(X, order, axis=0), axis=0)
    return float(2.0 * (gaps * below * (1.0 - below)).sum())


def _spread(X: FeatureMatrix, weights: FloatArray) -> float:
    """Return the mean squared distance of a row to the mean of all."""
    shares = weights / weights.sum()
    squares = X.multiply(X).sum(axis=1) if is_sparse(X) else (X * X).sum(axis=1)
    size, mean = float(shares @ np.asarray(squares).ravel()), np.asarray(X.T @ shares).ravel()
    spread = size - float(mean @ mean)
    return spread if spread > 1e-12 * size else 0.0  # rounding differences between equal rows do not count as distance


def _move_to_means(centres: FloatArray, X: FloatArray, weights: FloatArray) -> FloatArray:
    """Run some rounds of k-means from these centres (r, d); a centre that is nearest to no row stays in place."""
    for _ in range(CENTRE_ROUNDS):
        nearest = pairwise_distances_argmin(X, centres)
        member = sparse.csr_matrix((weights, (nearest, np.arange(len(X)))), shape=(len(centres), len(X)))
        total = np.asarray(member.sum(axis=1))
        centres = np.where(total > 0, (member @ X) / np.where(total > 0, total, 1.0), centres)
    return centres
