"""Which rows of the map are answered or open, and their labels."""

from __future__ import annotations

from collections.abc import Sequence

from plcore import ActiveLearner, LabelTable
from plcore.common import BoolArray

Learner = ActiveLearner[LabelTable]


def answered_and_open(learner: Learner) -> tuple[BoolArray, BoolArray]:
    """(n,) bool each: rows that have an answer, rows that can still be asked about."""
    return learner.pool.answered, learner.pool.sizes >= 2


def labels_on_map(learner: Learner, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The candidates of each of these rows; none of a bad item."""
    return tuple(learner.pool.names(learner.candidates_of(row)) for row in rows)
