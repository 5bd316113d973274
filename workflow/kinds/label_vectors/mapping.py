"""Which rows of the map are answered or open, and their labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plcore import LabelTable
from plcore.common import BoolArray
from plcore.loop.label_vectors import LabelVectorLearner

Learner = LabelVectorLearner[LabelTable]


def answered_and_open(learner: Learner) -> tuple[BoolArray, BoolArray]:
    """(n,) bool each: rows some label of which has an answer, rows some label of which can still be asked about."""
    return np.any(learner.pool.answered, axis=1), np.any(learner.pool.open, axis=1)


def labels_on_map(learner: Learner, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The labels known to be right for each of these rows; none for a bad item, and none that wait for more people:
    nobody is to see what others said."""
    pool = learner.pool
    right = (pool.cells[rows] == 1) & ~pool.bad[rows, None]
    if pool.several is not None:
        right &= ~pool.several.waiting[rows]
    return tuple(tuple(learner.classes[column] for column in np.flatnonzero(line)) for line in right)
