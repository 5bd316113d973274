"""Measures of decisions that are sets of winners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from plcore.arrays.checks import check_share
from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike
from plcore.evaluation.estimates import LEVEL, exact_interval, wilson_interval

TIES = ("error", "uniform")


def check_ties(ties: str) -> None:
    """Raise ValueError unless `ties` is one of the two readings."""
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}. Got {ties!r}.")


def error_rate(
    winners: ArrayLike, y_true: LabelsLike, ties: str = "error", *, classes: ArrayLike | None = None
) -> float:
    """Compute the share of targets decided wrong, in [0, 1], when the decision is a *set* of winners (Eq. 1).

    winners : bool or 0/1 (T, m), as `plcore.query.winners`; a target without winners is an error
    y_true : (T,) true labels, members of `classes`; any other label is an error
    ties : "error": more than one winner is an error (Table 8 of Nguyen et al., AAAI 2017); "uniform": the expected
        error if one of the winners is drawn at random, 1 - 1/|h| if the truth is among them
    classes : (m,) names of the columns; None: 0..m-1
    Raises ValueError for other ties, different lengths, or no targets.
    """
    check_ties(ties)
    best = np.asarray(winners)
    labels = np.asarray(y_true)
    if best.ndim != 2 or not np.isin(best, (0, 1)).all():
        raise ValueError(f"winners must be True/False or 1/0 (n_targets, m). Got shape {best.shape}.")
    if labels.shape != (len(best),) or not len(best):
        raise ValueError(f"y_true must be {len(best)} labels, at least one. Got shape {labels.shape}.")
    names = np.arange(best.shape[1]) if classes is None else np.asarray(classes)
    if names.shape != (best.shape[1],):
        raise ValueError(f"classes must name the {best.shape[1]} columns of winners. Got shape {names.shape}.")
    columns: IntArray = pd.Index(names).get_indexer(pd.Index(labels))
    right = best.astype(bool)[np.arange(len(best)), columns] & (columns >= 0)
    size = best.sum(axis=1)
    chance = np.where(right, 1 / np.maximum(size, 1), 0.0)
    return float(1 - (np.where(size == 1, chance, 0.0) if ties == "error" else chance).mean())


# Truths outside the candidates: how often they occur, and which rows are at risk.
#
# Every learner here trusts the candidate sets. Blind checks, which are drawn at random, show how often the sets are
# wrong: by the answer "none of these". This rate, and a model's shares of all classes learnt from other rows only, give
# the probability that a row's truth is outside its candidates.


class OutsideRate(NamedTuple):
    """Rate of truths outside the candidates.

    outside : number of the `checks` whose truth is outside the candidates
    low, high : interval of the share"""

    outside: int
    checks: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Share of the checks; NaN without checks."""
        return self.outside / self.checks if self.checks else float("nan")


def outside_rate(outside: int, checks: int, level: float = LEVEL) -> OutsideRate:
    """Return the rate with its exact interval (`exact_interval`), from rows drawn at random. Raises ValueError."""
    low, high = exact_interval(outside, checks, level)
    return OutsideRate(outside, checks, float(low), float(high))


def outside_probabilities(shares: ArrayLike, candidates: LabelsLike, rate: float) -> FloatArray:
    """Return (n,) the probability that the truth of each row is not a candidate.

    shares : (n, m) a model's shares of all classes for each row, trained on other rows only      candidates : bool (n,
        m)
    rate : rate of truths outside, in [0, 1), from blind checks

    Bayes' rule with the prior (1 - rate) / |S| for each candidate and rate / (m - |S|) for every other class. 0 if
    every class is a candidate, or none is. If a model is uninformative about a row, the result is the rate. Raises
    ValueError.
    """
    check_share("rate", rate)
    shares, candidates = np.asarray(shares, dtype=np.float64), np.asarray(candidates, dtype=bool)
    size = candidates.sum(axis=1)
    others = candidates.shape[1] - size
    inside = (1 - rate) * shares.sum(axis=1, where=candidates) / np.maximum(size, 1)
    beyond = rate * shares.sum(axis=1, where=~candidates) / np.maximum(others, 1)
    total = inside + beyond
    found = np.where(total > 0, beyond / np.where(total > 0, total, 1.0), rate)
    return np.where((size > 0) & (others > 0), found, 0.0)


# Precision of the scores that came with a table: of the candidates with a high score, how many did people confirm?

RIGHT, WRONG, OPEN = 1, 0, -1


@dataclass(frozen=True)
class ScoredCandidates:
    """The d candidates with an imported score, and people's verdicts on them.

    Attributes
    ----------
    rows, labels : (d,) int, the row and the class number of each
    scores : (d,) float, above 0
    verdicts : (d,) int, RIGHT, WRONG or OPEN
    drawn : (d,) bool, whether its row was drawn at random to be asked about, so that it represents all rows
    """

    rows: IntArray
    labels: IntArray
    scores: FloatArray
    verdicts: IntArray
    drawn: BoolArray


@dataclass(frozen=True)
class Precision:
    """Counts of candidates: all, checked by people, and right among the checked.

    share, low, high : share of right ones among the checked, with its 95% Wilson interval; NaN if none was checked
    """

    scored: int
    looked_at: int
    right: int
    share: float
    low: float
    high: float


def scored_candidates(
    scores: FloatArray, before: BoolArray, after: BoolArray, confirmed: BoolArray, drawn: BoolArray
) -> ScoredCandidates:
    """Return the candidates of n rows and m classes that have a score above 0.

    scores : (n, m)      before, after : (n, m) the candidates at import and now
    confirmed : (n,) rows whose only candidate people have confirmed      drawn : (n,), see `ScoredCandidates`
    A candidate is right if its row is confirmed and it is the only one left. It is wrong if it is no longer a
    candidate: only answers remove candidates. Rows marked as bad have no candidates left and do not count.
    """
    rows, labels = np.nonzero((scores > 0) & before)
    left = after[rows, labels]
    verdicts = np.where(left, np.where(confirmed[rows], RIGHT, OPEN), WRONG)
    set_aside = ~np.asarray(after.any(axis=1))
    verdicts[set_aside[rows]] = OPEN
    return ScoredCandidates(rows, labels, scores[rows, labels], verdicts, drawn[rows])


def precision_above(found: ScoredCandidates, threshold: float) -> Precision:
    """Return the precision of all candidates whose score is at least the threshold."""
    return _counted(found, found.scores >= threshold, np.zeros(len(found.scores), dtype=np.int64), 1)[0]


def precision_by_label(found: ScoredCandidates, threshold: float, m: int) -> list[Precision]:
    """Return the precision above the threshold for each of the m classes."""
    return _counted(found, found.scores >= threshold, found.labels, m)


def precision_by_score(found: ScoredCandidates, edges: FloatArray, label: int | None = None) -> list[Precision]:
    """Return the precision of the candidates of this class, or of any class, in each interval between edges. Intervals
    include the lower edge, not the upper; the last has no upper edge."""
    chosen = found.scores >= edges[0]
    if label is not None:
        chosen &= found.labels == label
    places = np.searchsorted(edges[1:-1], found.scores, side="right")
    return _counted(found, chosen, places, len(edges) - 1)


def _counted(found: ScoredCandidates, chosen: BoolArray, places: IntArray, n: int) -> list[Precision]:
    """Return the counts of the chosen candidates, separately for each place, 0 to n - 1."""
    places, verdicts = places[chosen], found.verdicts[chosen]
    scored, looked, right = (
        np.bincount(places[which], minlength=n) for which in (slice(None), verdicts != OPEN, verdicts == RIGHT)
    )
    share = np.where(looked > 0, right / np.maximum(looked, 1), np.nan)
    columns = (scored, looked, right, share, *wilson_interval(share, looked))
    return [Precision(*one) for one in zip(*(column.tolist() for column in columns), strict=True)]
