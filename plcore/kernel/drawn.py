"""More rows than memory is to hold the features of: the regression learns from drawn ones, the others follow.

Their soft labels go by scores of a regression that has not seen them, as the leave-one-out scores of the drawn rows do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernel.choice import Rows
from plcore.kernel.masses import softmax_inside
from plcore.kernel.rounds import Rounds
from plcore.kernel.soft_labels import scaled
from plcore.labels.masses import ClassMasses

MOST_RESIDENT = 200_000  # rows up to which all are learnt from: features of 1,000 points take 800 MB
DRAWN = 50_000
FEW = 50  # rows of a class up to which all of them are drawn
BLOCK = 4096  # rows whose scores are made at a time


def draw(candidates: BoolArray, weights: FloatArray, seed: int) -> IntArray | None:
    """The rows to learn from, ascending: None for all, else DRAWN of those with weight and all of the rare classes."""
    if len(candidates) <= MOST_RESIDENT:
        return None
    present = np.flatnonzero(weights > 0)
    drawn = np.random.RandomState(seed).choice(present, min(DRAWN, len(present)), replace=False)
    rare = candidates.sum(axis=0) <= FEW
    needed = present[candidates[np.ix_(present, np.flatnonzero(rare))].any(axis=1)]
    return np.union1d(drawn, needed)


def follow(
    rows: Rows,
    drawn: IntArray,
    labels: FloatArray,
    rounds: Rounds,
    score: Callable[[Any], FloatArray],
    scaler: Any,
) -> FloatArray:
    """(n, m) soft labels of all rows, given those of the drawn ones (r, m).

    rounds : of the regression      score : its scores (q, m) of rows (q, d)
    scaler : of the rows before they are scored, None for none
    """
    everyone = np.empty(rows.prior.shape)
    everyone[drawn] = labels
    others = np.setdiff1d(np.arange(len(everyone)), drawn, assume_unique=True)
    for start in range(0, len(others), BLOCK):
        part = others[start : start + BLOCK]
        everyone[part] = softmax_inside(
            score(scaled(scaler, rows.X[part])), rounds.temperature, rows.prior[part]
        )
    masses = ClassMasses.of(rows.imported[others], rows.weights[others])
    everyone[others] = masses.pull(everyone[others], rounds.mass)
    return everyone
