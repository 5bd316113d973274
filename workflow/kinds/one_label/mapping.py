"""Which rows of the map are answered or open, their labels, and what the model says of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.common import BoolArray
from workflow.kinds.mapping import NOTHING, NamedRows

Learner = ActiveLearner[LabelTable]

MOST_SHARES = 5_000_000
"""Rows times classes of which the shares are looked at; of more rows, some in even steps."""


def answered_and_open(learner: Learner) -> tuple[BoolArray, BoolArray]:
    """(n,) bool each: rows that have an answer, rows that can still be asked about."""
    return learner.pool.answered, learner.pool.asked.waiting()


def labels_on_map(learner: Learner, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The candidates of each of these rows; none of a bad item. Of a row that more people are to answer those at first:
    nobody is to see what others said."""
    pool = learner.pool
    hidden = pool.asked.waiting() if learner.settings.several else np.zeros(len(pool.bad), dtype=bool)
    return tuple(pool.names(pool.first[row] if hidden[row] else pool.candidates[row]) for row in rows)


def named_on_map(learner: Learner, rows: Sequence[int]) -> NamedRows:
    """The one candidate of each of these rows or, as its question would show it, the one with the largest share.
    Nothing of a row that more people are to answer once somebody has: the model may have learnt from it."""
    pool, numbers = learner.pool, np.asarray(rows, dtype=np.int64)
    candidates = np.asarray(pool.candidates[numbers])
    begun = (pool.asked.waiting() & ~pool.asked.fresh())[numbers]
    left = candidates.sum(axis=1)
    classes = np.full(len(numbers), NOTHING, dtype=np.int64)
    doubt = np.full(len(numbers), np.nan)
    known = (left == 1) & ~begun
    classes[known] = candidates[known].argmax(axis=1)
    asked = np.flatnonzero((left >= 2) & ~begun)
    if len(asked) and (learner.version_published is not None or not learner.settings.is_trained):
        most = max(1, MOST_SHARES // len(pool.classes))
        asked = asked[:: -(-len(asked) // most)]
        shares = learner.shares_asked(numbers[asked], candidates[asked])
        classes[asked], doubt[asked] = shares.argmax(axis=1), 1.0 - shares.max(axis=1)
    return NamedRows(classes, known, doubt)


def label_to_ask(learner: Learner, row: int) -> None:
    """The label of the row that a question would be about: none, it is about all of them."""
