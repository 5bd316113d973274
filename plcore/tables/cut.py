"""Which of a row's labels stay its candidates, where every label has a weight."""

from __future__ import annotations

import numpy as np

from plcore.common.types import FloatArray


def cut_weights(weights: FloatArray, cut: str, at: float) -> FloatArray:
    """The weights (n, m), none below 0, of the labels that stay; 0 for the others.

    cut : "all", all above 0; "threshold", those of at least `at`, in rows without any all above 0: nothing speaks for
        one of them more than for none; "top", the `at` heaviest and those as heavy as the last of them; "mass", the
        heaviest until they hold the share `at` of the row's weight, and those as heavy as the last of them
    """
    if cut == "all" or not weights.size:
        return weights
    if cut == "threshold":
        kept = weights >= at
        kept |= ~kept.any(axis=1, keepdims=True)
    else:
        least = _at_least(weights, int(at)) if cut == "top" else _least_of_mass(weights, at)
        kept = weights >= least[:, None]
    return np.where(kept, weights, 0.0)


def _at_least(weights: FloatArray, count: int) -> FloatArray:
    """(n,) the weight of the last of the `count` heaviest labels of each row."""
    m = weights.shape[1]
    if count >= m:
        return np.zeros(len(weights))
    found: FloatArray = np.partition(weights, m - count, axis=1)[:, m - count]
    return found


def _least_of_mass(weights: FloatArray, share: float) -> FloatArray:
    """(n,) the weight of the last label that is needed to hold this share of the row's weight."""
    falling = -np.sort(-weights, axis=1)
    held = np.cumsum(falling, axis=1)
    # A sum of parts may miss the whole by its last digits.
    needed = held >= share * held[:, -1:] * (1 - 1e-12)
    return np.take_along_axis(falling, needed.argmax(axis=1)[:, None], axis=1)[:, 0]
