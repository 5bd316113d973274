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


def precision_above(found: ScoredCandidates, threshold: float, label: int | None = None) -> Precision:
    """Of the candidates of this class, or of any, whose score is at least the threshold."""
    return _precision(found, _chosen(found, threshold, np.inf, label))


def precision_by_score(
    found: ScoredCandidates, edges: FloatArray, label: int | None = None
) -> list[Precision]:
    """The same between each two of these rising edges: from the lower on, below the upper; the last takes its upper."""
    pairs = zip(edges[:-1], [*edges[1:-1], np.inf], strict=True)
    return [_precision(found, _chosen(found, low, high, label)) for low, high in pairs]


def _chosen(found: ScoredCandidates, low: float, high: float, label: int | None) -> BoolArray:
    chosen: BoolArray = (found.scores >= low) & (found.scores < high)
    return chosen if label is None else chosen & (found.labels == label)


def _precision(found: ScoredCandidates, chosen: BoolArray) -> Precision:
    looked = chosen & (found.verdicts != OPEN)
    n, right = int(looked.sum()), int((found.verdicts[chosen] == RIGHT).sum())
    share = right / n if n else np.nan
    low, high = wilson_interval(share, n)
    return Precision(int(chosen.sum()), n, right, share, float(low), float(high))
