"""What pages show of the scores that came with a table: how many of those so high are right, by label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plcore.evaluation import (
    Precision,
    ScoredCandidates,
    precision_above,
    precision_by_label,
    precision_by_score,
)

BINS = 10


@dataclass(frozen=True)
class ScoreLine:
    """The candidates of one label whose score is at least the threshold.

    seen : by all rows that people have looked at; strategies choose rows that are in doubt, so it is a low guess
    drawn : by rows drawn at random alone, which stand for all
    """

    label: str
    seen: Precision
    drawn: Precision


@dataclass(frozen=True)
class ScoreReview:
    """highest : of all scores      total : of all labels together      lines : most candidates first
    edges : (BINS + 1,) scores that part `bins` of the label asked about, or of all
    """

    highest: float
    total: ScoreLine
    lines: tuple[ScoreLine, ...]
    edges: tuple[float, ...]
    bins: tuple[Precision, ...]


def review_scores(
    found: ScoredCandidates, classes: Sequence[str], threshold: float, label: str | None = None
) -> ScoreReview:
    """Raises ValueError for a label that is no class. label : whose bins are wanted, None: those of all"""
    at = found.drawn
    by_draw = ScoredCandidates(
        found.rows[at], found.labels[at], found.scores[at], found.verdicts[at], found.drawn[at]
    )

    apart = zip(
        classes,
        *(precision_by_label(one, threshold, len(classes)) for one in (found, by_draw)),
        strict=True,
    )
    lines = sorted((ScoreLine(*one) for one in apart if one[1].scored), key=lambda one: -one.seen.scored)
    total = ScoreLine("", *(precision_above(one, threshold) for one in (found, by_draw)))
    highest = float(found.scores.max(initial=0.0)) or 1.0
    edges = np.linspace(0.0, highest, BINS + 1)
    place = None if label is None else list(classes).index(label)
    bins = precision_by_score(found, edges, place)
    return ScoreReview(highest, total, tuple(lines), tuple(edges.tolist()), tuple(bins))


def unseen_rows(found: ScoredCandidates, threshold: float, place: int) -> list[int]:
    """The rows whose candidate of this class has at least this score, and that nobody has decided; without those that
    are asked as blind checks, which nobody may choose."""
    chosen = (found.scores >= threshold) & (found.labels == place) & (found.verdicts < 0) & ~found.drawn
    return [int(row) for row in found.rows[chosen]]
