"""The learner of a project with one true label among candidates, made of its stored table."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.common import AnyArray
from plcore.loop.one_label import Trainer
from workflow.home import room_for_learner
from workflow.kinds.one_label.graphs import keep_graph, kept_graph

if TYPE_CHECKING:
    from plcore.loop import ClassChange
    from workflow.home import Home

Learner = ActiveLearner[LabelTable]

logger = logging.getLogger("winnow")


@room_for_learner()
def first_learner(table: LabelTable, settings: LearnerSettings) -> Learner:
    """The learner of a new project. Raises ValueError where none can be built, or only one that cannot be trained."""
    if table.label_vectors is not None:
        raise ValueError("the table holds label vectors, these settings are for candidates.")
    learner = ActiveLearner(table, settings)
    if settings.is_trained:
        Trainer(learner.pool)
    return learner


@room_for_learner()
def build_learner(
    home: Home,
    table_hash: str,
    settings: LearnerSettings,
    changes: Sequence[ClassChange] = (),
    checkpoint: Mapping[str, AnyArray] | None = None,
) -> Learner:
    """The learner of a stored table under these changes of its classes, its neighbours from the cache if there.

    checkpoint : where it goes on; None: before the first entry
    """
    table = home.read_table(table_hash)
    if (graph := kept_graph(home, table_hash, settings)) is not None:
        try:
            return ActiveLearner(table, settings, graph, changes, checkpoint=checkpoint)
        except ValueError:
            logger.warning(
                "The stored neighbours of table %s do not fit it; they are found anew.", table_hash[:12]
            )
    learner = ActiveLearner(table, settings, changes=changes, checkpoint=checkpoint)
    keep_graph(home, table_hash, learner)
    return learner


def checkpoint_of(learner: Learner) -> dict[str, AnyArray]:
    """What another learner goes on from."""
    return learner.checkpoint()


def n_to_ask(learner: Learner) -> int:
    """How many rows a person could be asked about in a new project: those with two candidates or more."""
    return learner.pool.n_open


def keep_beside(home: Home, table_hash: str, learner: Learner) -> None:
    """Store the neighbours, so that the next start need not find them again."""
    keep_graph(home, table_hash, learner)
