"""Intervals of a share seen in a number of trials.

Two of them, each for its purpose. `wilson_interval` holds its level on average and is short: it stands round what
is measured on held-out rows, of which there are many; and round every figure of label vectors, blind checks too, for
cells of one row are alike and their number of independent trials is no whole number. `exact_interval`
(Clopper-Pearson) holds its level for every true share: it stands round what blind checks of one label among candidates
say, of which there are few and by which people decide to stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from plcore.common.types import FloatArray

LEVEL = 0.95


def wilson_interval(share: Any, n: Any, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """(low, high) of the share seen in n trials, arrays of one shape; NaN where n is 0 or the share is NaN.

    share : in [0, 1]      n : may be no whole number, as an effective sample size is
    Wilson (1927): unlike the normal interval it never leaves [0, 1]. Raises ValueError unless 0 < level < 1.
    """
    _check_level(level)
    share, n = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64))
    z = special.ndtri((1 + level) / 2)
    n = np.where(n > 0, n, np.nan)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def exact_interval(right: Any, n: Any, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """(low, high) of the share behind `right` hits in n trials, arrays of one shape; [0, 1] where n is 0.

    Clopper and Pearson (1934), by quantiles of the Beta distribution: at least `level` for every n and share.
    Raises ValueError unless 0 <= right <= n and 0 < level < 1.
    """
    right, n = np.broadcast_arrays(np.asarray(right, dtype=np.float64), np.asarray(n, dtype=np.float64))
    if (wrong := ~((right >= 0) & (right <= n))).any():  # NaN fails it too
        raise ValueError(
            f"right must be between 0 and n everywhere. Got {right[wrong][0]:g} of {n[wrong][0]:g}."
        )
    _check_level(level)
    tail = (1 - level) / 2
    missed = n - right
    # Parameters of 0 have no quantile: the bound is the end of the range there.
    low = special.betaincinv(np.maximum(right, 1), missed + 1, tail)
    high = special.betaincinv(right + 1, np.maximum(missed, 1), 1 - tail)
    return np.where(right > 0, low, 0.0), np.where(missed > 0, high, 1.0)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1). Got {level!r}.")
