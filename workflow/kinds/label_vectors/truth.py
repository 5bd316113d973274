"""True labels that a table hides: tables of label vectors hide none."""

from __future__ import annotations

from plcore import LabelTable
from plcore.loop import Place
from plcore.loop.label_vectors import LabelVectorLearner
from workflow.common.answers import Given
from workflow.kinds.label_vectors.showing import ShownVector

Learner = LabelVectorLearner[LabelTable]


def hides_truth(learner: Learner) -> bool:  # noqa: ARG001
    """Never: what a file knows of a row is held out or learnt from."""
    return False


def true_answer(learner: Learner, shown: ShownVector) -> Given | None:  # noqa: ARG001
    """Nobody knows."""
    return None


def known_places(learner: Learner) -> list[Place]:  # noqa: ARG001
    """None are known."""
    return []
