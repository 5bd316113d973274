"""Where the solvers start: ridge regression on the normalised candidate matrix."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from plcore.arrays.types import FeatureMatrix, FloatArray, Matrix, is_sparse

WIDEST = 2048  # features up to which the d x d matrix is made and factored
STEPS = 200
TURNED = 8  # rows for each feature up to which features are turned into their principal axes


def gram_matrix(X: FeatureMatrix, weights: FloatArray) -> FloatArray | None:
    """X' diag(weights) X (d, d); None where d is too large for it to pay."""
    d = X.shape[1]
    if d > WIDEST:
        return None
    if is_sparse(X):
        return np.asarray((X.T @ X.multiply(weights[:, None]).tocsr()).toarray())
    if (weights == 1).all():
        return np.asarray(X.T @ X)
    root = X * np.sqrt(weights)[:, None]
    return np.asarray(root.T @ root)


def ridge_start(
    X: FeatureMatrix, targets: FloatArray, weights: FloatArray, gram: FloatArray | None
) -> FloatArray:
    """W (m, d) = T' S X (X' S X + I)^-1, S the weights; by conjugate gradients where there is no gram matrix.

    targets : T (n, m), as `plcore.labels.weights.prior_labels` makes them
    """
    right = np.asarray(X.T @ (targets * weights[:, None]))
    if gram is not None:
        return np.ascontiguousarray(solve_shifted(gram, right).T)
    return np.ascontiguousarray(_conjugate_gradients(X, weights, right).T)


def principal_axes(X: Matrix, gram: FloatArray | None) -> tuple[FloatArray, FloatArray] | None:
    """The gram matrix (d,) of the features X (n, d) in their principal axes, and these (d, d), one a column: there it
    is diagonal, and the solvers go the same way. None for sparse features, and for so many rows that turning them costs
    more than it saves."""
    if gram is None or is_sparse(X) or X.shape[0] > TURNED * X.shape[1]:
        return None
    values, axes = linalg.eigh(gram, driver="evd", check_finite=False)
    return np.maximum(values, 0.0), np.asarray(axes)


def shifted_factor(gram: FloatArray, shift: float = 1.0) -> FloatArray:
    """L (d, d) lower triangular, L L' = gram + shift * I, and what rounding needs to keep that positive; of a diagonal
    gram matrix (d,) L is diagonal, (d,), too."""
    size = len(gram)
    largest = float((gram if gram.ndim == 1 else gram.diagonal()).max(initial=0.0))
    rounding = 10.0 * size * float(np.finfo(np.float64).eps) * largest
    if gram.ndim == 1:
        return np.asarray(np.sqrt(gram + (shift + rounding)))
    return np.asarray(linalg.cholesky(gram + (shift + rounding) * np.eye(size), lower=True))


def solve_shifted(gram: FloatArray, right: FloatArray, shift: float = 1.0) -> FloatArray:
    """(gram + shift * I)^-1 right (d, m), as `shifted_factor` has it."""
    lower = shifted_factor(gram, shift)
    if lower.ndim == 1:
        return np.asarray(right / (lower**2)[:, None])
    return np.asarray(linalg.cho_solve((lower, True), right))


def _conjugate_gradients(X: FeatureMatrix, weights: FloatArray, right: FloatArray) -> FloatArray:
    """(X' S X + I)^-1 right, all columns side by side, to a relative residual of 1e-6."""
    solution = np.zeros(right.shape)
    residual = right.copy()
    direction = residual.copy()
    size = (residual * residual).sum(axis=0)
    enough = 1e-12 * size
    for _ in range(STEPS):
        open_ = size > enough
        if not open_.any():
            break
        image = X.T @ (weights[:, None] * (X @ direction)) + direction
        bend = (direction * image).sum(axis=0)
        step = np.where(open_, size / np.where(open_, bend, 1.0), 0.0)
        solution += step * direction
        residual -= step * image
        after = (residual * residual).sum(axis=0)
        direction = residual + np.where(open_, after / np.where(open_, size, 1.0), 0.0) * direction
        size = after
    return solution
