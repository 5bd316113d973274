"""Compiled loop of the sparse recovery: sequential sparse Bayesian learning, one row of labels at a time.

The evidence of a row is log N(r; 0, C), C = noise I + sum_j g_j phi_j phi_j'. Changing one g_j changes C by rank one,
so C is never formed: S_j = phi_j' C^-1 phi_j and Q_j = phi_j' C^-1 r are stored for all labels, and every change so far
as its vector t = Phi' C^-1 phi_k. One step costs L times the changes so far, on contiguous memory, and touches nothing
of size K. Plain twin: `tests/plcore/sensing/test_estimators.py`.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def recover_rows(
    gram: FloatArray,
    projected: FloatArray,
    free: BoolArray,
    noise: FloatArray,
    max_steps: int,
    tol: float,
    gamma: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    steps: IntArray,
) -> None:
    """Tipping and Faul (2003), the best single change first, until none gains `tol` in log evidence.

    gram (L, L) : Phi' Phi      projected (n, L) : Phi' r of each row      free (n, L) : labels to recover
    noise (n,)      Fills gamma, mean, variance (n, L), 0 for labels left out, and steps (n,).
    """
    n, L = projected.shape
    past = np.empty((max_steps, L))
    weight = np.empty(max_steps)
    S, Q = np.empty(L), np.empty(L)
    for i in range(n):
        for j in range(L):
            S[j], Q[j] = gram[j, j] / noise[i], projected[i, j] / noise[i]
            gamma[i, j] = 0.0
        done = 0
        while done < max_steps:
            # 1) The best change of each label, eq. 20 of the paper: g = (q^2 - s) / s^2 where q^2 > s, else 0.
            best, gain, change = -1, tol, 0.0
            for j in range(L):
                g = gamma[i, j]
                if not free[i, j] or (g == 0.0 and Q[j] * Q[j] <= S[j]):
                    continue
                rest = 1.0 - g * S[j]  # of S and Q without label j itself
                if rest <= 0.0:
                    continue
                s, q = S[j] / rest, Q[j] / rest
                new = (q * q - s) / (s * s) if q * q > s else 0.0
                delta = new - g
                scale = 1.0 + delta * S[j]
                if delta == 0.0 or scale <= 0.0:
                    continue
                gained = 0.5 * (Q[j] * Q[j] * delta / scale - np.log(scale))
                if gained > gain:
                    best, gain, change = j, gained, delta
            if best < 0:
                break
            # 2) t = Phi' C^-1 phi_best, from Phi' phi_best / noise and the changes so far.
            t = past[done]
            for j in range(L):
                t[j] = gram[best, j] / noise[i]
            for k in range(done):
                factor = weight[k] * past[k, best]
                if factor != 0.0:
                    for j in range(L):
                        t[j] -= factor * past[k, j]
            # 3) Sherman-Morrison.
            weight[done] = change / (1.0 + change * S[best])
            shift = weight[done] * Q[best]
            for j in range(L):
                S[j] -= weight[done] * t[j] * t[j]
                Q[j] -= shift * t[j]
            gamma[i, best] = max(gamma[i, best] + change, 0.0)
            done += 1
        steps[i] = done
        for j in range(L):
            mean[i, j] = gamma[i, j] * Q[j]
            variance[i, j] = max(gamma[i, j] - gamma[i, j] ** 2 * S[j], 0.0)
