"""Label vectors come without scores."""

from __future__ import annotations

from plcore import LabelTable
from plcore.evaluation import ScoredCandidates
from plcore.loop.label_vectors import LabelVectorLearner


def scores_given(learner: LabelVectorLearner[LabelTable]) -> ScoredCandidates | None:  # noqa: ARG001
    """None."""
    return None
