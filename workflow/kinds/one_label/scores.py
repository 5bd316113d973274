"""The scores that came with the candidates, against what people have made of them."""

from __future__ import annotations

from plcore import ActiveLearner, LabelTable
from plcore.evaluation import ScoredCandidates, scored_candidates

Learner = ActiveLearner[LabelTable]


def scores_given(learner: Learner) -> ScoredCandidates | None:
    """Every scored candidate; None where the table has no scores. True labels that the file gives count too."""
    pool = learner.pool
    if pool.table.candidate_weights is None:
        return None
    known = (pool.answered | pool.exact) & (pool.sizes == 1)
    return scored_candidates(
        pool.table.candidate_weights, pool.original, pool.candidates, known, pool.control_rows
    )
