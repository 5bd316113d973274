"""Which answered rows may be shown beside a question, and their labels."""

from __future__ import annotations

import numpy as np

from plcore import LabelTable
from plcore.common import BoolArray
from plcore.loop.label_vectors import LabelVectorLearner

Learner = LabelVectorLearner[LabelTable]


def shown_to_all(learner: Learner) -> BoolArray:
    """(n,) bool: rows of which people have said that a label is right; a new array. Blind checks do not count."""
    pool = learner.pool
    return _said_yes(learner).any(axis=1) & ~pool.bad & ~pool.test_rows


def blind_checks(learner: Learner) -> BoolArray:
    """(n,) bool: rows that are, or have, a blind check."""
    return np.asarray(learner.pool.control_cells.any(axis=1))


def answered_labels(learner: Learner, row: int) -> tuple[str, ...]:
    """The labels that people have said are right, those of blind checks left out."""
    return tuple(learner.classes[column] for column in np.flatnonzero(_said_yes(learner)[row]))


def _said_yes(learner: Learner) -> BoolArray:
    """(n, L), without what more people are to answer: nobody is to see what others said"""
    pool = learner.pool
    said = pool.answered & (pool.cells == 1) & ~pool.control_cells
    return np.asarray(said if pool.several is None else said & ~pool.several.waiting)
