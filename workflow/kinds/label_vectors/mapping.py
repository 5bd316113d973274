"""Which rows of the map are answered or open, their labels, and what the model says of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plcore import LabelTable
from plcore.common import BoolArray
from plcore.loop.label_vectors import LabelVectorLearner
from workflow.kinds.mapping import NOTHING, NamedRows

Learner = LabelVectorLearner[LabelTable]

_SURE = 2.0
"""In the place of the share of a label that is known to be right: more than any share."""


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


def named_on_map(learner: Learner, rows: Sequence[int]) -> NamedRows:
    """The first label known to be right for each of these rows or, where none is, the one of which the model is surest,
    if it says yes to it. Its doubt is that about the label that is in doubt most. Nothing of a row some label of which
    more people are to answer once somebody has: the model may have learnt from it."""
    pool, numbers = learner.pool, np.asarray(rows, dtype=np.int64)
    cells, told = pool.cells[numbers], learner.shares_of(numbers)
    shares, threshold = (np.zeros(cells.shape), np.inf) if told is None else told
    unknown = cells < 0
    value = np.where(unknown, shares, np.where(cells == 1, _SURE, 0.0))
    best = value.argmax(axis=1)
    largest = value[np.arange(len(value)), best]
    hidden = pool.bad[numbers].copy()
    if pool.several is not None:
        hidden |= (pool.several.waiting & ~pool.fresh())[numbers].any(axis=1)
    known = (largest == _SURE) & ~hidden
    says = known | ((largest > threshold) & ~hidden)
    wrong = np.where(unknown, np.minimum(shares, 1.0 - shares), -1.0).max(axis=1)
    doubtful = unknown.any(axis=1) & ~hidden & (told is not None)
    return NamedRows(np.where(says, best, NOTHING), known, np.where(doubtful, wrong, np.nan))


def label_to_ask(learner: Learner, row: int) -> str | None:
    """The label of the row that a question would be about, the open one that is in doubt most; None where questions are
    about whole rows, or none is open. No blind check: which these are, nobody is to choose."""
    pool = learner.pool
    if learner.settings.by_row:
        return None
    columns = np.flatnonzero(pool.fresh()[row] & ~pool.control_cells[row])
    if not len(columns):
        return None
    told = learner.shares_of(np.array([row]))
    doubt = np.zeros(len(columns)) if told is None else -np.abs(told[0][0, columns] - told[1])
    return learner.classes[int(columns[doubt.argmax()])]
