"""Recover label vectors of new rows from the predicted Phi y, in one of two ways for the same model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.kernels.sensing import recover_rows
from plcore.sensing.noise import Noise
from plcore.sensing.projection import Projection
from plcore.sensing.rows import RowInference

STEPS_PER_LABEL = 4  # limit of steps per label, as the sequential recovery may cycle
LEAST_GAIN = 1e-3  # in nats
BLOCK_CELLS = 1 << 21  # cells recovered at a time: 16 MB for each of a few matrices


@dataclass(frozen=True)
class Recovered:
    """fitted (n, K) = W'x; mean (n, L) of q(y); gamma (n, L), 1 / E alpha."""

    fitted: FloatArray
    mean: FloatArray
    gamma: FloatArray


def recover(
    projection: Projection, noise: Noise, fitted: FloatArray, mode: str, max_iter: int, a0: float, b0: float
) -> Recovered:
    """Return q(y) of rows without known labels; mode "paper" or "fast"."""
    n, L = len(fitted), projection.shape[1]
    if mode == "fast":
        free = np.ones((n, L), dtype=bool)
        gamma, mean, _, _ = recover_fast(projection, fitted, free, np.full(n, noise.total))
        return Recovered(fitted, mean, gamma)
    mean, gamma = np.empty((n, L)), np.empty((n, L))
    size = max(1, BLOCK_CELLS // L)
    for begin in range(0, n, size):
        block = slice(begin, min(n, begin + size))
        nothing = np.zeros((block.stop - begin, L))
        rows = RowInference(projection, noise, nothing, nothing > 0, fitted[block], a0, b0).iterate(max_iter)
        mean[block], gamma[block] = rows.mean, rows.gamma
    return Recovered(fitted, mean, gamma)


def recover_fast(
    projection: Projection, residual: FloatArray, free: BoolArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return gamma, mean, variance (n, L) and steps (n,) for each row, by Tipping and Faul (2003).

    residual (n, K) : W'x minus the known part      free (n, L) : the unknown labels      noise (n,)
    """
    Phi = projection.Phi
    n, L = free.shape
    gamma, mean, variance = np.zeros((n, L)), np.zeros((n, L)), np.zeros((n, L))
    steps = np.zeros(n, dtype=np.int64)
    projected = np.ascontiguousarray(residual @ Phi)
    recover_rows(
        Phi.T @ Phi,
        projected,
        free,
        np.ascontiguousarray(noise),
        STEPS_PER_LABEL * L,
        LEAST_GAIN,
        gamma,
        mean,
        variance,
        steps,
    )
    return gamma, mean, variance, steps
