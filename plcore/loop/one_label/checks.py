"""More results of blind checks: the model's confidence in the truth, and how often the truth is not a candidate.

A check is an answered control row with two or more candidates at import. It counts once its truth is known:
one candidate is left, or people said that none of the imported ones is right. Rows answered "unsure", bad
items and disputed checks do not count, as in the accuracy (`.pool`). Answers of several people are merged by
the rule of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from plcore.arrays.candidate_sets import lowest_of
from plcore.arrays.types import BoolArray, FloatArray, IntArray, Table
from plcore.evaluation.metrics import OutsideRate, outside_probabilities, outside_rate
from plcore.evaluation.shortlists import conformity_scores
from plcore.kernels import margins
from plcore.loop.one_label.models import Model
from plcore.loop.one_label.pool import OneLabelPool

BLOCK_CELLS = 4_000_000
"""Rows times classes processed at a time."""
FEWEST_CHECKS = 20
"""Minimum number of checks to estimate the risk of single rows that the truth is outside the candidates."""
LEAST_RATE = 0.01
"""The rate above which rows are reported to be at risk."""


class Checks(NamedTuple):
    """rows : (c,) ascending      truth : (c,) their classes, -1 if it was not a candidate at import"""

    rows: IntArray
    truth: IntArray


def weighs_own(pool: OneLabelPool[Table]) -> bool:
    """Return whether predictions for training rows also use the table's weights of their own candidates.
    Predictions for held-out rows do not (`.training.KernelFits`), so checks are then not representative of
    training rows."""
    return pool.settings.model_entry.relabels and pool.table.candidate_weights is not None


def known_checks(pool: OneLabelPool[Table], until: int | None = None) -> Checks:
    """Return the checks whose truth is known.

    until : only checks that have not changed since this entry; a check that changed later is left out, since
        its earlier state is not stored. None: all checks
    """
    counted = pool.control_rows & pool.answered & ~pool.bad
    if until is not None:
        counted &= pool.changed_at <= until
    rows = np.flatnonzero(counted)
    ambiguous = pool.first.take(rows, axis=0).sum(axis=1) >= 2
    overlap = np.zeros(len(rows), dtype=bool)
    for part in _parts(pool, rows):
        overlap[part] = (pool.candidates[rows[part]] & pool.first[rows[part]]).any(axis=1)
    inside = ambiguous & (pool.sizes[rows] == 1) & overlap
    counts = inside | (ambiguous & ~overlap)
    return Checks(rows[counts], np.where(inside, lowest_of(pool.candidates, rows), -1)[counts])


def _parts(pool: OneLabelPool[Table], rows: IntArray) -> Iterator[slice]:
    """Yield slices of the rows (r,), small enough to process all their classes at once."""
    block = max(1, BLOCK_CELLS // len(pool.classes))
    return (slice(begin, begin + block) for begin in range(0, len(rows), block))


def check_scores(
    pool: OneLabelPool[Table], shares_of: Callable[[IntArray, BoolArray], FloatArray], until: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return two scores (c,) of each check, both for shortlists: the conformity score among the candidates at import,
    and the margin of the same shares, which is the model's confidence.

    shares_of : function that returns the model's shares (r, m) of rows (r,) inside these candidates (r, m)
    until : as for `known_checks`
    """
    rows, truth = known_checks(pool, until)
    scores, sureness = np.zeros(len(rows)), np.zeros(len(rows))
    for part in _parts(pool, rows):
        shares = shares_of(rows[part], pool.first[rows[part]])
        scores[part], sureness[part] = conformity_scores(shares, truth[part]), margins(shares)
    return scores, sureness


def rate_outside(pool: OneLabelPool[Table]) -> OutsideRate:
    """Return how often the truth of a row with several candidates is not among them."""
    truth = known_checks(pool).truth
    return outside_rate(int((truth < 0).sum()), len(truth))


def rate_at_risk(pool: OneLabelPool[Table], model: Model) -> float | None:
    """Return the rate for `rows_at_risk`. None if it is unknown or negligible: fewer than FEWEST_CHECKS
    checks, a rate of at most LEAST_RATE, or a model whose prediction for a row uses the row's own candidates
    or their weights."""
    rate = rate_outside(pool)
    if (
        rate.checks < FEWEST_CHECKS
        or rate.share <= LEAST_RATE
        or model.said is None
        or not pool.settings.model_entry.leaves_out
        or weighs_own(pool)
    ):
        return None
    return rate.share


def rows_at_risk(pool: OneLabelPool[Table], model: Model, rate: float, rows: IntArray) -> FloatArray:
    """Return (r,) the probability that the truth of each row is not a candidate.

    It is NaN for rows that people have decided or given other candidates, and for rows with one candidate at import,
    which checks do not cover.

    rate : output of `rate_at_risk`
    """
    risk = np.full(len(rows), np.nan)
    places = np.flatnonzero(~pool.test_rows[rows] & (pool.sizes[rows] >= 2))
    for part in _parts(pool, places):
        own = places[part]
        candidates = pool.candidates[rows[own]]
        as_imported = ~(candidates & ~pool.first[rows[own]]).any(axis=1)
        own, candidates = own[as_imported], candidates[as_imported]
        shares = model.unseen_shares(rows[own], np.ones_like(candidates))
        risk[own] = outside_probabilities(shares, candidates, rate)
    return risk
