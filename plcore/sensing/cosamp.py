"""CoSaMP: sparse label vectors from their random projections (Needell and Tropp, 2009), many rows at once."""

from __future__ import annotations

import numpy as np

from plcore.common.types import FloatArray, IntArray

ROUNDS = 20
BLOCK = 1024  # rows at a time


def cosamp(Phi: FloatArray, Z: FloatArray, sparsity: int) -> FloatArray:
    """(n, L) coefficients with at most `sparsity` entries that are not 0, such that Phi y is near to Z (n, K).

    Per round: the columns most correlated with the residual join the support, least squares on 3 * sparsity
    columns (at most K), the largest `sparsity` of them stay. A row ends when its residual does not fall.
    """
    gram = Phi.T @ Phi
    found = np.zeros((len(Z), Phi.shape[1]))
    for begin in range(0, len(Z), BLOCK):
        rows = slice(begin, begin + BLOCK)
        found[rows] = _block(gram, Z[rows] @ Phi, (Z[rows] ** 2).sum(axis=1), sparsity, len(Phi))
    return found


def _block(gram: FloatArray, projected: FloatArray, energy: FloatArray, sparsity: int, K: int) -> FloatArray:
    """projected = Phi' z of each row, energy = |z|^2: the residual itself is never needed."""
    n, L = projected.shape
    merged = min(3 * sparsity, K, L)
    kept = min(sparsity, merged)
    best = np.zeros((n, L))
    least = energy.copy()
    active = np.arange(n)
    current = np.zeros((n, L))
    for _ in range(ROUNDS):
        proxy = np.abs(projected[active] - current @ gram)
        proxy[current != 0] = np.inf  # the support stays among the columns
        columns = np.sort(_largest(proxy, merged), axis=1)
        right = np.take_along_axis(projected[active], columns, axis=1)
        square = gram[columns[:, :, None], columns[:, None, :]]
        # Nearly dependent columns of an unlucky projection shall not end the whole fit.
        square = square + 1e-10 * np.eye(merged)
        values = np.linalg.solve(square, right[:, :, None])[:, :, 0]
        chosen = _largest(np.abs(values), kept)
        current = np.zeros((len(active), L))
        columns = np.take_along_axis(columns, chosen, axis=1)
        np.put_along_axis(current, columns, np.take_along_axis(values, chosen, axis=1), axis=1)
        residual = energy[active] + ((current @ gram - 2.0 * projected[active]) * current).sum(axis=1)
        better = residual < least[active] - 1e-9 * energy[active]
        active = active[better]
        if not len(active):
            break
        current = current[better]
        best[active], least[active] = current, residual[better]
    return best


def _largest(values: FloatArray, count: int) -> IntArray:
    """(n, count) the columns of the largest values, ties to the first."""
    return np.argsort(-values, axis=1, kind="stable")[:, :count]
