"""Label vectors come without scores."""

from __future__ import annotations

from plcore import LabelTable
from plcore.evaluation import ScoredCandidates
from plcore.loop.label_vectors import LabelVectorLearner


def scores_given(_learner: LabelVectorLearner[LabelTable]) -> ScoredCandidates | None:
    """None."""
    return None
