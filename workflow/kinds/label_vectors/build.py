"""Construction of the learner of a project of label vectors from its stored table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plcore import LabelTable
from plcore.arrays import AnyArray
from plcore.loop import ClassChange
from plcore.loop.label_vectors import LabelVectorLearner, LabelVectorPool, LabelVectorSettings
from workflow.server.home import Home, room_for_learner
from workflow.server.shelf import machine_memory

Learner = LabelVectorLearner[LabelTable]


@room_for_learner()
def first_learner(table: LabelTable, settings: LabelVectorSettings) -> Learner:
    """Return the learner of a new project. Raises ValueError if none can be built, or it cannot be fitted."""
    learner = LabelVectorLearner(table, settings)
    memory = machine_memory()
    learner.check_fit(None if memory is None else memory // 2)
    return learner


@room_for_learner()
def build_learner(
    home: Home,
    table_hash: str,
    settings: LabelVectorSettings,
    changes: Sequence[ClassChange] = (),
    checkpoint: Mapping[str, AnyArray] | None = None,
) -> Learner:
    """Return the learner of a stored table.

    changes : of its rows; the labels of vectors do not change
    checkpoint : the state it resumes from; None: before the first entry
    """
    return LabelVectorLearner(home.read_table(table_hash), settings, changes, checkpoint)


def make_pool(
    table: LabelTable, settings: LabelVectorSettings, changes: Sequence[ClassChange] = ()
) -> LabelVectorPool[LabelTable]:
    """Return the rows before the first entry. changes : of the rows; the labels of vectors do not change"""
    return LabelVectorPool(table, settings, changes)
