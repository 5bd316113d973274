"""Which answered rows may be shown beside a question, and their labels."""

from __future__ import annotations

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.common import BoolArray

Learner = ActiveLearner[LabelTable]


def shown_to_all(learner: Learner) -> BoolArray:
    """(n,) bool: rows whose answers have left one label, no held-out row, no blind check and none that more people are
    to answer among them; a new array."""
    pool = learner.pool
    held = pool.test_rows | pool.control_rows | pool.asked.waiting()
    return np.asarray(pool.answered & (pool.sizes == 1) & ~pool.bad & ~held)


def blind_checks(learner: Learner) -> BoolArray:
    """(n,) bool: rows that are, or have, a blind check."""
    return np.asarray(learner.pool.control_rows)


def answered_labels(learner: Learner, row: int) -> tuple[str, ...]:
    """The label that the answers have left."""
    return learner.pool.names(learner.candidates_of(row))
