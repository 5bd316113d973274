"""The weight of a table's scores for the labels, next to a kernel ridge that learns from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray, Table
from plcore.kernel.file_scores import FEWEST_CHECKS, MOST_ROWS, ScorePool, ScoreRule, weigh
from plcore.labels.weights import prior_labels
from plcore.loop.one_label.checks import known_checks, weighs_own
from plcore.loop.one_label.models import Model
from plcore.loop.one_label.pool import OneLabelPool


@dataclass(frozen=True)
class FileScores:
    """Weight of a table's scores (`plcore.kernel.file_scores`).

    rule : how rows get their labels      pool : temperature and power for `ScoreRule.POOL`
    checks : number of blind checks with known truth      right : number of them right under each rule; {} below ten
        checks
    """

    rule: ScoreRule
    pool: ScorePool
    checks: int
    right: dict[ScoreRule, int]

    @property
    def missing(self) -> int:
        """Number of further checks needed before checks choose the rule."""
        return max(0, FEWEST_CHECKS - self.checks)


def weigh_file(pool: OneLabelPool[Table], model: Model) -> FileScores | None:
    """Weigh the table's scores by the rows and the answered blind checks; None if there are no scores, the
    model does not learn from each row's scores, or it has no version yet."""
    if not weighs_own(pool) or model.said is None:
        return None
    rows = pool.train[(pool.sizes[pool.train] > 1) & ~pool.bad[pool.train]]
    rows = rows[:: max(1, len(rows) // MOST_ROWS)]
    own, prior, weighed = own_scores(pool, model, rows)
    own, prior = own[~weighed], prior[~weighed]
    found = ScorePool.fit(own, prior)
    checks = known_checks(pool)
    first = pool.first[checks.rows]
    theirs = model.scores(checks.rows)
    told = theirs, prior_labels(first, pool.imported_weights(checks.rows, first)), checks.truth
    best = weigh(own, prior, found, told)
    return FileScores(best.rule, found, len(checks.rows), best.right)


def own_scores(pool: OneLabelPool[Table], model: Model, rows: IntArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return (own, prior, weighed) of rows with at least one candidate.

    own : (r, m) the model's scores of each class, without the weights that it was trained with
    prior : (r, m) the table's scores inside the current candidates, as shares
    weighed : (r,) whether answers of people replaced these shares in training"""
    candidates = pool.candidates[rows]
    prior = prior_labels(candidates, pool.imported_weights(rows, candidates))
    used = prior_labels(candidates, pool.weights_of(rows, candidates))
    own = model.scores(rows)
    trained = ~(pool.test_rows[rows] | pool.control_rows[rows])[:, None] & (used > 0)
    logs = np.log(used / used.max(axis=1, keepdims=True), out=np.zeros_like(used), where=trained)
    return own - logs, prior, np.asarray(~np.isclose(used, prior).all(axis=1))


def pooled_shares(
    pool: OneLabelPool[Table], model: Model, file: FileScores, rows: IntArray, shares: FloatArray
) -> FloatArray:
    """Return the model's shares (r, m) of rows. Under the rule POOL, they are pooled with the table's scores for rows
    with several candidates that are not weighted by anyone's answers."""
    several = np.flatnonzero(pool.sizes[rows] > 1)
    if file.rule is not ScoreRule.POOL or not len(several):
        return shares
    found = shares.copy()
    own, prior, weighed = own_scores(pool, model, rows[several])
    by_file = several[~weighed]
    if len(by_file):
        found[by_file] = file.pool.labels(own[~weighed], prior[~weighed])
    return found
