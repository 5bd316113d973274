"""How much an answer about a row would move the others: effect scores on the regression's own neighbourhoods."""

from __future__ import annotations

import numpy as np

from plcore.common.types import FloatArray
from plcore.kernel.rounds import Ridge
from plcore.kernels import margins

BLOCK = 512  # rows of H made at a time


def effects(ridge: Ridge, labels: FloatArray) -> FloatArray:
    """(n,) u_i sum_j |H_ji| u_j for soft labels (n, m), u = 1 - the largest share of a row less the second.

    Only rows with u > 0 are in the sums: what is sure neither moves nor is to be asked.
    """
    part = ridge.smoother
    unsure = 1.0 - margins(labels)
    open_rows = np.flatnonzero(unsure > 0)
    found = np.zeros(len(labels))
    right = part.rows[open_rows] * ridge.shrink.astype(part.rows.dtype)
    for start in range(0, len(open_rows), BLOCK):
        rows = open_rows[start : start + BLOCK]
        column = (
            part.rows[rows] @ right.T + 1.0 / part.total
        )  # H is this, times the weight of the row that is asked
        found[rows] = unsure[rows] * part.weights[rows] * (np.abs(column) @ unsure[open_rows])
    return found
