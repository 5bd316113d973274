"""How right the scores are that came with a table: of the candidates scored so high, how many did people confirm?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.evaluation.intervals import wilson_interval

RIGHT, WRONG, OPEN = 1, 0, -1


@dataclass(frozen=True)
class ScoredCandidates:
    """Every candidate that came with a score, d of them, and what people have made of it.

    Attributes
    ----------
    rows, labels : (d,) int, the row and the class number of each
    scores : (d,) float, above 0
    verdicts : (d,) int, RIGHT, WRONG or OPEN
    drawn : (d,) bool, whether its row was drawn at random to be asked about, so that it stands for all
    """

    rows: IntArray
    labels: IntArray
    scores: FloatArray
    verdicts: IntArray
    drawn: BoolArray


@dataclass(frozen=True)
class Precision:
    """How many candidates there are, how many of them people have looked at, and how many of these are right.

    share, low, high : of those looked at that are right, with its 95 % Wilson interval; NaN where none was
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
    """The candidates of n rows and m classes that have a score above 0.

    scores : (n, m)      before, after : (n, m) the candidates as they came and as they are now
    confirmed : (n,) rows whose one candidate people have named      drawn : (n,), see `ScoredCandidates`
    A candidate is right where its row is confirmed and it is the one left, wrong where it is left no more: answers
    alone take candidates away. What is left of a row that was set aside is nothing, and says nothing of its scores.
    """
    rows, labels = np.nonzero((scores > 0) & before)
    left = after[rows, labels]
    verdicts = np.where(left, np.where(confirmed[rows], RIGHT, OPEN), WRONG)
    set_aside = ~np.asarray(after.any(axis=1))
    verdicts[set_aside[rows]] = OPEN
    return ScoredCandidates(rows, labels, scores[rows, labels], verdicts, drawn[rows])


def precision_above(found: ScoredCandidates, threshold: float) -> Precision:
    """Of all candidates whose score is at least the threshold."""
    return _counted(found, found.scores >= threshold, np.zeros(len(found.scores), dtype=np.int64), 1)[0]


def precision_by_label(found: ScoredCandidates, threshold: float, m: int) -> list[Precision]:
    """The same of each of the m classes."""
    return _counted(found, found.scores >= threshold, found.labels, m)


def precision_by_score(
    found: ScoredCandidates, edges: FloatArray, label: int | None = None
) -> list[Precision]:
    """Of the candidates of this class, or of any, between each two of these rising edges: from the lower on, below the
    upper; the last takes all from its lower on."""
    chosen = found.scores >= edges[0]
    if label is not None:
        chosen &= found.labels == label
    places = np.searchsorted(edges[1:-1], found.scores, side="right")
    return _counted(found, chosen, places, len(edges) - 1)


def _counted(found: ScoredCandidates, chosen: BoolArray, places: IntArray, n: int) -> list[Precision]:
    """Of those chosen, counted apart by their place, 0 to n - 1."""
    places, verdicts = places[chosen], found.verdicts[chosen]
    scored, looked, right = (
        np.bincount(places[which], minlength=n)
        for which in (slice(None), verdicts != OPEN, verdicts == RIGHT)
    )
    share = np.where(looked > 0, right / np.maximum(looked, 1), np.nan)
    columns = (scored, looked, right, share, *wilson_interval(share, looked))
    return [Precision(*one) for one in zip(*(column.tolist() for column in columns), strict=True)]
