"""Honest figures: the model against held-out rows, and against blind checks, all with intervals.

A figure is a share a / b of counts over sampled clusters (a cell; a row, where rows are held out or asked about as a
whole), with its Wilson interval. Cells of one row are alike, so the count b is first brought down to the number of
independent cells that the variance of the ratio, linearised over the clusters, amounts to (as Korn and Graubard do,
Survey Methodology 24, 1998). F1 = 2 J / (1 + J) rises with J = TP / (TP + FP + FN), a share as the others (Hand,
Christen and Kirielle, "F*", 2021), and so do the ends of its interval. The macro F1, a mean of such shares, has the
variance of the jackknife over the rows (Efron and Stein 1981): where labels are rare, linearisation and bootstrap
miss the label that stands or falls with one row (see docs/decisions/0012).
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.evaluation.intervals import wilson_interval
from plcore.loop.label_vectors.controls import ControlSample
from plcore.loop.label_vectors.reports import AT, ControlEstimate, HeldOut, Share
from plcore.sensing.base import top_columns
from plcore.sensing.threshold import EVEN

NOTHING_FOUND = Share(0.0, 0.0, 1.0)  # F1 where nothing is yes and the model says yes to nothing


def held_out(truth: AnyArray, proba: FloatArray, threshold: float = EVEN) -> HeldOut | None:
    """How good the model is on the test rows; None where there are none.

    truth (t, L) int8, all cells known      proba (t, L) : of yes by the model, which says yes above the threshold
    """
    if not len(truth):
        return None
    yes, said = truth == 1, proba > threshold
    right = np.take_along_axis(yes, top_columns(proba, min(max(AT), truth.shape[1])), axis=1)
    found = {t: _share(right[:, :t].sum(axis=1), np.full(len(truth), t)) for t in AT if t <= truth.shape[1]}
    jaccard = _share((yes & said).sum(axis=1), (yes | said).sum(axis=1))
    return HeldOut(
        rows=len(truth),
        precision=tuple((t, share) for t, share in found.items() if share is not None),
        macro_f1=macro_f1(yes, said),
        micro_f1=NOTHING_FOUND if jaccard is None else _f1(jaccard),
    )


def macro_f1(yes: BoolArray, said: BoolArray) -> Share:
    """Mean F1 of the labels that are yes, or said to be, in any row, as `sensing.metrics.f1_scores`; with its interval.

    yes, said (n, L) : what is right, what the model says
    """
    both, one = yes & said, yes ^ said
    hits, size = both.sum(axis=0), yes.sum(axis=0) + said.sum(axis=0)

    def scores(hits: IntArray, size: IntArray) -> FloatArray:
        return 2 * np.maximum(hits, 0) / np.maximum(size, 1)

    labels, full = int((size > 0).sum()), scores(hits, size)
    if not labels:
        return NOTHING_FOUND
    value = float(full.sum() / labels)
    rows, cells = int((both | one).any(axis=1).sum()), int((both | one).sum())
    # Without a row, the F1 of a label is what it was, or one of two others, by whether one of yes and said or both
    # are true there; a label that had nothing but that row no longer counts.
    sums = full.sum() + one @ (scores(hits, size - 1) - full) + both @ (scores(hits - 1, size - 2) - full)
    left = labels - one @ (size == 1).astype(float) - both @ (size == 2).astype(float)
    without = sums / np.maximum(left, 1)
    variance = (1 - 1 / len(yes)) * float(((without - without.mean()) ** 2).sum())
    alike = value * (1 - value) / variance if variance and 0 < value < 1 else rows
    return Share(value, *wilson(value, min(alike, cells)))


def control_estimate(
    sample: ControlSample, proba: FloatArray | None, by_row: bool, threshold: float = EVEN
) -> ControlEstimate:
    """How good the model is on blind checks.

    sample : controls answered, k cells
    proba (k,) : of yes by the model, which has not learnt them; None: there is no model yet
    by_row : whether whole rows were drawn, so that labels can be ranked in each
    threshold : above which probability the model says yes
    """
    yes = sample.values == 1
    if proba is None or not len(yes):
        return ControlEstimate(cells=len(yes), yes=int(yes.sum()))
    said = proba > threshold
    _, cluster = np.unique(sample.rows, return_inverse=True)
    both = yes & said
    jaccard = share_of(both, yes | said, cluster)
    return ControlEstimate(
        cells=len(said),
        yes=int(yes.sum()),
        said_yes=int(said.sum()),
        accuracy=share_of(yes == said, np.ones(len(said), dtype=bool), cluster),
        precision=share_of(both, said, cluster),
        recall=share_of(both, yes, cluster),
        f1=None if jaccard is None else _f1(jaccard),
        at=_precision_at(yes, proba, cluster) if by_row else (),
    )


def _precision_at(yes: BoolArray, proba: FloatArray, cluster: AnyArray) -> tuple[tuple[int, Share], ...]:
    """Share of yes among the 1, 3, 5 most probable cells of each row; ties to the first."""
    order = np.lexsort((np.arange(len(yes)), -proba, cluster))
    start = np.searchsorted(cluster[order], cluster[order])
    rank = np.empty(len(yes), dtype=np.int64)
    rank[order] = np.arange(len(yes)) - start
    found = ((t, share_of(yes & (rank < t), rank < t, cluster)) for t in AT if t <= rank.max() + 1)
    return tuple((t, share) for t, share in found if share is not None)


def share_of(part: BoolArray, whole: BoolArray, cluster: AnyArray) -> Share | None:
    """The share of `part` in `whole`, which holds it, with its interval; None where `whole` is empty.

    part, whole (k,) bool      cluster (k,) int : which cells were drawn together
    """
    return _share(np.bincount(cluster, part), np.bincount(cluster, whole))


def _share(a: AnyArray, b: AnyArray) -> Share | None:
    """As `share_of`, of the counts (c,) of each cluster."""
    count, groups = float(b.sum()), int((b > 0).sum())
    if not count:
        return None
    share = a.sum() / count
    size = count
    if groups < count:
        if groups == 1 or not 0 < share < 1:
            size = groups  # the data do not show how alike cells of a row are: as alike as can be
        else:
            variance = groups / (groups - 1) * float(((a - share * b) ** 2).sum()) / count**2
            size = min(count, share * (1 - share) / variance) if variance else count
    low, high = wilson(share, size)
    return Share(float(share), low, high)


def wilson(share: float, size: float) -> tuple[float, float]:
    """95 % Wilson interval of a share seen in `size` independent trials, as two numbers."""
    low, high = wilson_interval(share, size)
    return float(low), float(high)


def entropy_of(p: FloatArray) -> float:
    """Sum of the entropies of yes or no at these probabilities, in bits."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)).sum())


def _f1(jaccard: Share) -> Share:
    return Share(*(2 * j / (1 + j) for j in (jaccard.value, jaccard.low, jaccard.high)))
