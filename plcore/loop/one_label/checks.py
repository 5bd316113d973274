"""Results of blind checks in addition to accuracy: how sure the model was of the truth, and how often that is no
candidate.

A check is a control row with two candidates or more at import that people have answered. It counts once its truth is
known: one candidate is left, or the answers say that none of those at import is right. What people could not tell, bad
items, and checks on which they still differ do not count, as they do not in the accuracy (`.pool`). If several
people answer, the rule of the settings makes one answer of theirs.
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
"""Rows times classes that are looked at at a time."""
FEWEST_CHECKS = 20
"""Checks from which on the rate of truths outside is estimated for single rows."""
LEAST_RATE = 0.01
"""The rate above which rows are said to be at risk."""


class Checks(NamedTuple):
    """rows : (c,) ascending      truth : (c,) their classes, -1 if it is none of the candidates at import"""

    rows: IntArray
    truth: IntArray


def weighs_own(pool: OneLabelPool[Table]) -> bool:
    """Whether what the model says of a row that trains rests on weights of the row's own candidates too, which the
    table gives: of a held-out row it does not (`.fits.KernelFits`), and checks tell of no other row then."""
    return pool.settings.model_entry.relabels and pool.table.candidate_weights is not None


def known_checks(pool: OneLabelPool[Table], until: int | None = None) -> Checks:
    """The checks whose truth is known.

    until : those alone that are since this entry, or longer, as they are; one that changed later is left out, for
        nothing keeps what was known of it before. None: all of them
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
    """Places among the rows (r,), so many that their classes can be looked at at a time."""
    block = max(1, BLOCK_CELLS // len(pool.classes))
    return (slice(begin, begin + block) for begin in range(0, len(rows), block))


def check_scores(
    pool: OneLabelPool[Table],
    shares_of: Callable[[IntArray, BoolArray], FloatArray],
    until: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """(c,) how far the model is from the truth of each check, among the candidates at import, and (c,) how sure it is
    of the check, by the margin of the same shares: what shortlists use.

    shares_of : gives the model's shares (r, m) of rows (r,) inside these candidates (r, m)
    until : as for `known_checks`
    """
    rows, truth = known_checks(pool, until)
    scores, sureness = np.zeros(len(rows)), np.zeros(len(rows))
    for part in _parts(pool, rows):
        shares = shares_of(rows[part], pool.first[rows[part]])
        scores[part], sureness[part] = conformity_scores(shares, truth[part]), margins(shares)
    return scores, sureness


def rate_outside(pool: OneLabelPool[Table]) -> OutsideRate:
    """How often the truth of a row with several candidates is none of them."""
    truth = known_checks(pool).truth
    return outside_rate(int((truth < 0).sum()), len(truth))


def rate_at_risk(pool: OneLabelPool[Table], model: Model) -> float | None:
    """The rate by which `rows_at_risk` goes. None if it is not known, or too seldom to matter: fewer than
    FEWEST_CHECKS checks, a rate of LEAST_RATE at most, or a model that says of a row what it has learnt from the row's
    own candidates, or takes their weights in."""
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
    """(r,) how likely the truth of each of these rows is none of its candidates; NaN of those that people have settled
    or given others, and of those with one candidate at import, of which no check tells. rate : as `rate_at_risk` has it
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
