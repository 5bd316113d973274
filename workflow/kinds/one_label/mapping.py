"""Which rows of the map are answered or open, and their labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.common import BoolArray

Learner = ActiveLearner[LabelTable]


def answered_and_open(learner: Learner) -> tuple[BoolArray, BoolArray]:
    """(n,) bool each: rows that have an answer, rows that can still be asked about."""
    return learner.pool.answered, learner.pool.asked.waiting()


def labels_on_map(learner: Learner, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The candidates of each of these rows; none of a bad item. Of a row that more people are to answer those at first:
    nobody is to see what others said."""
    pool = learner.pool
    hidden = pool.asked.waiting() if learner.settings.several else np.zeros(len(pool.bad), dtype=bool)
    return tuple(pool.names(pool.first[row] if hidden[row] else pool.candidates[row]) for row in rows)
