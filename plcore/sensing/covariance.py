"""The covariance of the regressions over a table of rows, at rank one for each answer.

V = X C X', C = (X' diag(w) X / ridge + I)^-1: how unsure W' x is on every row, in units of the prior variance tau2,
when row i has been measured with noise ridge / w_i. Measuring a row again is Sherman-Morrison, and so is taking it
back. Kept as C (d, d) or as V (n, n), whichever is smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import blas

from plcore.common.types import FloatArray, IntArray
from plcore.sensing.regression import Regression


class RowCovariance:
    """weights (n,) : w of each row, 0 for rows not measured. Attribute: variances (n,), the diagonal of V."""

    def __init__(self, regression: Regression, ridge: float, weights: FloatArray) -> None:
        self.ridge, self.dual = ridge, regression.dual
        if self.dual:
            self._matrix = _given(regression.moments, np.flatnonzero(weights > 0), ridge, weights)
            self.variances = self._matrix.diagonal().copy()
            return
        self._features: Any = regression.features(regression.rows)
        scaled = _scaled(self._features, np.sqrt(weights / ridge))
        product = scaled.T @ scaled
        precision = product.toarray() if sparse.issparse(product) else np.asarray(product)
        precision.flat[:: len(precision) + 1] += 1.0
        self._matrix = linalg.inv(precision, check_finite=False)
        self._matrix = np.ascontiguousarray(0.5 * (self._matrix + self._matrix.T))
        images = np.asarray(self._features @ self._matrix)
        product = (
            self._features.multiply(images) if sparse.issparse(self._features) else self._features * images
        )
        self.variances = np.asarray(product.sum(axis=1)).ravel()

    def column(self, row: int) -> FloatArray:
        """(n,) V_:i."""
        if self.dual:
            return np.asarray(self._matrix[row])
        return np.asarray(self._features @ (self._matrix @ self._row(row)))

    def measure(self, row: int, weight: float) -> FloatArray:
        """Add `weight` to that of a row; negative: take it back. Returns V_:i as it was before, (n,)."""
        column = self.column(row).copy()
        scale = 1.0 / (self.ridge / weight + column[row])
        image = column if self.dual else self._matrix @ self._row(row)
        # In place, of the transposed matrix, which is the same and in Fortran's order.
        blas.dger(-scale, image, image, a=self._matrix.T, overwrite_a=1, overwrite_x=0, overwrite_y=0)
        self.variances = self.variances - scale * column**2
        return column

    def _row(self, row: int) -> FloatArray:
        picked = self._features[[row]]
        return np.asarray(picked.toarray() if sparse.issparse(picked) else picked).ravel()


def _given(prior: FloatArray, inside: IntArray, ridge: float, weights: FloatArray) -> FloatArray:
    """(n, n) the covariance `prior` after the rows inside were measured. Holds four such matrices at most."""
    if not len(inside):
        return prior.copy()
    shifted = prior[np.ix_(inside, inside)]
    shifted.flat[:: len(inside) + 1] += ridge / weights[inside]
    lower = linalg.cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    # half = lower^-1 prior[inside], made in place: columns of the transposed matrix are its rows.
    half = blas.dtrsm(1.0, lower, prior[inside].T, side=1, lower=1, trans_a=1, overwrite_b=1)
    given: FloatArray = half @ half.T
    return np.subtract(prior, given, out=given)


def _scaled(features: Any, factors: FloatArray) -> Any:
    """Rows times factors."""
    if sparse.issparse(features):
        return features.multiply(factors[:, None]).tocsr()
    return features * factors[:, None]
