"""Probabilities of the margin learners: softmax(s / T), T by `plcore.labels.temperature`, smoothed as in Platt (1999).

The rows that T is found on are a third that a learner fitted on the others has scored.
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernels import softmax_rows

HELD_OUT = 3  # one of so many rows


def split_rows(weights: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows to fit on, and rows to hold out, of those with a weight (n,), in an order that is always the same."""
    present = np.flatnonzero(weights)
    drawn = np.random.default_rng(0).permutation(present)
    held = len(present) // HELD_OUT
    return np.sort(drawn[held:]), np.sort(drawn[:held])


def probabilities(scores: FloatArray, temperature: float, possible: BoolArray) -> FloatArray:
    """(n, m) softmax(scores / temperature) over the classes that are possible (m,); 0 for the others."""
    inside = np.ascontiguousarray(np.broadcast_to(possible, scores.shape))
    return np.asarray(softmax_rows(np.where(inside, scores, 0.0) / temperature, inside))
