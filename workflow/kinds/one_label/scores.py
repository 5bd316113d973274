"""The scores that came with the candidates, against what people have made of them."""

from __future__ import annotations

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.evaluation import ScoredCandidates, scored_candidates

Learner = ActiveLearner[LabelTable]


def scores_given(learner: Learner) -> ScoredCandidates | None:
    """Every scored candidate; None where the table has no scores. True labels that the file gives count too.

    Of a table that another model has scored in part, a row that it has not, all of whose candidates weigh 1, has none.
    """
    pool = learner.pool
    if pool.table.candidate_weights is None:
        return None
    scores = pool.table.candidate_weights
    if pool.table.roles.scored_by is not None:
        scores = np.where(((scores != 0) & (scores != 1)).any(axis=1, keepdims=True), scores, 0.0)
    known = (pool.answered | pool.exact) & (pool.sizes == 1)
    return scored_candidates(scores, pool.original, pool.candidates, known, pool.control_rows)
