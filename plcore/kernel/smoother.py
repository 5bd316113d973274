"""Kernel ridge regression on soft labels, with leave-one-out scores in closed form.

    H = Z (Z'SZ + alpha)^-1 Z'S + 1 s'/sum(s)      Z centred, S = diag(s) the weights of the rows
    F = (H Q - t h Q) / (1 - t h),   h = diag(H)/s, t = min(s, 1)

F_i is the score of row i by a regression without it. Of a row with weight s_i > 1, one copy is left out, so that
weights equal repetition. One eigendecomposition of Z'SZ serves every alpha (`Smoother`). For a single alpha, a Cholesky
factor of Z'SZ + alpha M is enough, at less than half the cost (`FactoredSmoother`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg
from scipy.linalg import blas, lapack

from plcore.arrays.types import AnyArray, FeatureMatrix, FloatArray, Matrix, is_sparse

SINGLE_FROM = 1000  # rows from which the rounds are computed in float32; their errors stay at 1e-6
BLOCK = 4096  # rows transformed at a time, so that there are never two full copies
# OpenBLAS computes products of up to this many multiplications without packing: 0.6 of the time with few classes.
SMALL, FEWEST = 500_000, 16  # and rows from which that pays off
FACTOR_BLOCK = 1024  # the same for `FactoredSmoother`: 8 MB of 1,000 features stay in the third-level cache
SINGLE_ERROR = 1e-5  # rounding error of a row of U, up to which it is computed in float32, if it is stored so
LEAST = 1e-12  # eigenvalues below this share of the largest are rounding errors


class Smoother:
    """The eigendecomposition of the features Z (n, r) of weighted rows, shared by all ridges.

    axes : (d, r) eigenvectors of Z'SZ, values (r,) its eigenvalues      mean : (d,) of the features
    rows : (n, r) the centred features in these axes
    """

    def __init__(self, Z: Matrix, weights: FloatArray) -> None:
        gram, mean = _centred_gram(Z, weights)
        values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
        kept = values > LEAST * max(float(values[-1]), np.finfo(float).tiny) if len(values) else values > 0
        self.weights, self.mean = weights, mean
        self.values = values[kept]
        self.axes = vectors[:, kept]
        self.rows = self.turn(Z, np.float32 if Z.shape[0] >= SINGLE_FROM else np.float64)

    def turn(self, Z: Matrix, kind: DTypeLike = np.float64) -> AnyArray:
        """Return (q, r), of this float type: the centred features Z (q, d) in the axes."""
        rows = np.empty((Z.shape[0], len(self.values)), dtype=kind)
        axes, shift = self.axes.astype(kind), (self.mean @ self.axes).astype(kind)
        for start in range(0, len(rows), BLOCK):
            part = Z[start : start + BLOCK].astype(kind)
            rows[start : start + BLOCK] = part @ axes - shift
        return rows

    def ridge(self, alpha: float) -> Ridge:
        """Return the regression with this ridge."""
        return Ridge(self.rows, self.weights, 1.0 / (self.values + alpha))

    def weights_of(self, ridge: Ridge, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (d, m) and (m,): the scores of rows with features Z, by a ridge of this smoother on soft labels (n,
        m), are Z @ first + second."""
        inner, mean = ridge.coefficients(labels)
        outer = self.axes @ inner
        return outer, mean - self.mean @ outer


class FactoredSmoother:
    """One ridge of features Z (n, r) of weighted rows, by a Cholesky factor: Z'SZ + alpha M = L L'.

    Then H = U U'S + 1 s'/sum(s), U = Z L'^-1 with Z centred. It costs 2 n r^2 operations; the eigenvectors would cost 3
    n r^2 and about 9 r^3.

    penalty : (r, r) M, None for the identity      mean : (r,) of the features      rows : (n, r) U
    """

    def __init__(self, Z: Matrix, weights: FloatArray, alpha: float, penalty: FloatArray | None = None) -> None:
        gram, self.mean = _centred_gram(Z, weights)
        spread = gram.diagonal().copy()
        # Add back what rounding of the sum may have taken from the smallest eigenvalues.
        rounding = 10.0 * len(gram) * float(np.finfo(float).eps) * float(gram.diagonal().max(initial=0.0))
        gram += alpha * (np.eye(len(gram)) if penalty is None else penalty)
        gram.flat[:: len(gram) + 1] += rounding
        lower = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        # LAPACK would reject an empty factor.
        self._inverse = lapack.dtrtri(lower, lower=1, overwrite_c=1)[0] if len(lower) else lower
        magnified = float((self._inverse**2 @ (spread / weights.sum())).max(initial=0.0))
        self._exact = bool(np.finfo(np.float32).eps * np.sqrt(magnified) > SINGLE_ERROR)
        self.weights = weights
        self.rows = self.turn(Z, np.float32 if Z.shape[0] >= SINGLE_FROM else np.float64)

    def turn(self, Z: Matrix, kind: DTypeLike = np.float64) -> AnyArray:
        """Return (q, r), of this float type: features Z (q, d), less the mean, in the axes of the factor.

        Using the inverse of the factor takes half the time of a solve, and half of that in float32. Small columns of
        the factor magnify the errors of float32: the product then stays in float64.
        """
        wide = np.float64 if self._exact else kind
        multiply = blas.dtrmm if wide == np.float64 else blas.strmm
        inverse = self._inverse.astype(wide, order="F")
        rows = np.empty((Z.shape[0], len(self.mean)), dtype=kind)
        for start in range(0, len(rows), FACTOR_BLOCK):
            part = Z[start : start + FACTOR_BLOCK]
            part = (part.toarray() if is_sparse(part) else part) - self.mean
            turned = multiply(1.0, inverse, part.astype(wide, copy=False).T, lower=1, overwrite_b=1)
            rows[start : start + FACTOR_BLOCK] = turned.T
        return rows

    def ridge(self) -> Ridge:
        """Return the regression."""
        return Ridge(self.rows, self.weights, np.ones(self.rows.shape[1]))

    def weights_of(self, ridge: Ridge, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Like `Smoother.weights_of`."""
        inner, mean = ridge.coefficients(labels)
        outer = np.asarray(blas.dtrmm(1.0, self._inverse, inner, lower=1, trans_a=1))
        return outer, mean - self.mean @ outer


def _centred_gram(Z: FeatureMatrix, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Z'SZ (r, r) of Z (n, r) less its weighted mean, and that mean (r,)."""
    total = float(weights.sum())
    mean = np.asarray(Z.T @ weights).ravel() / total
    even = bool((weights == 1).all())
    if is_sparse(Z):
        gram = np.asarray((Z.T @ Z.multiply(weights[:, None]).tocsr()).toarray())
    else:
        root = Z if even else Z * np.sqrt(weights)[:, None]
        gram = root.T @ root
    gram -= total * np.outer(mean, mean)  # as if Z had been centred, without a copy of it
    return gram, mean


@dataclass(frozen=True, eq=False)
class Ridge:
    """A regression on soft labels: H = U diag(shrink) U'S + 1 s'/sum(s).

    rows : (n, r) U, the training rows in the axes of the smoother      weights : (n,) s
    shrink : (r,) 1 / (eigenvalue + alpha)
    """

    rows: AnyArray
    weights: FloatArray
    shrink: FloatArray

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def own(self) -> FloatArray:
        """Return (n,) t h: the part of a row's own label in its score."""
        leverage = np.full(len(self.rows), 1.0 / self.total)
        for start in range(0, len(self.rows), BLOCK):
            leverage[start : start + BLOCK] += np.square(self.rows[start : start + BLOCK]) @ self.shrink
        return np.asarray(np.minimum(self.weights, 1.0) * leverage)

    def coefficients(self, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return, for soft labels (n, m), (r, m) in the axes of the smoother, and the mean label (m,)."""
        weighted = self.weights[:, None] * labels
        # In this order it takes two thirds of the time of rows' @ weighted.
        inner = weighted.astype(self.rows.dtype).T @ self.rows
        return self.shrink[:, None] * inner.T, weighted.sum(axis=0) / self.total

    def scores(self, labels: FloatArray, rows: AnyArray) -> FloatArray:
        """Return scores (q, m) of rows (q, r) in the axes of the smoother, by the regression on soft labels (n, m)."""
        inner, mean = self.coefficients(labels)
        inner = np.ascontiguousarray(inner, dtype=rows.dtype)
        found = np.empty((len(rows), inner.shape[1]))
        few = SMALL // max(inner.size, 1)
        size = few if few >= FEWEST else BLOCK
        for start in range(0, len(rows), size):
            np.add(rows[start : start + size] @ inner, mean, out=found[start : start + size])
        return found

    def left_out_scores(self, labels: FloatArray) -> FloatArray:
        """Return leave-one-out scores (n, m): each training row's by the regression without it."""
        own = self.own[:, None]
        return np.asarray((self.scores(labels, self.rows) - own * labels) / np.maximum(1.0 - own, 1e-12))


# Effect scores on the regression's own neighbourhoods: how much an answer about a row would change the others.

MOST_TARGETS = 1000  # rows that the sums include
EFFECTS_BLOCK = 512  # rows of H computed at a time


def effects(ridge: Ridge, unsure: FloatArray) -> FloatArray:
    """Return (n,) u_i sum_j |H_ji| u_j for u = unsure (n,), 1 minus the margin between the two largest shares
    of each row.

    H_ji is the effect on row j of a change of row i. A certain row, u = 0, neither changes nor needs asking, and rows
    of weight 0 do not count. The sum includes the MOST_TARGETS most uncertain rows: time grows with n, not n^2.
    """
    asked = np.flatnonzero((unsure > 0) & (ridge.weights > 0))
    moved = asked[np.argsort(-unsure[asked], kind="stable")[:MOST_TARGETS]]
    right = (ridge.rows[moved] * ridge.shrink.astype(ridge.rows.dtype)).T
    found = np.zeros(len(unsure))
    for start in range(0, len(asked), EFFECTS_BLOCK):
        rows = asked[start : start + EFFECTS_BLOCK]
        felt = np.abs(ridge.rows[rows] @ right + 1.0 / ridge.total) @ unsure[moved]
        found[rows] = unsure[rows] * ridge.weights[rows] * felt
    return found
