"""Honest figures: the model against held-out rows, and against blind controls with intervals.

Every control figure is a share a / b of counts over sampled clusters (a cell; a row, where whole instances are
asked), with its Wilson interval. Cells of one row are alike, so the count b is first brought down to the number of
independent cells that the variance of the ratio, linearised over the clusters, amounts to (as Korn and Graubard do,
Survey Methodology 24, 1998). F1 = 2 J / (1 + J) rises with J = TP / (TP + FP + FN), a share as the others (Hand,
Christen and Kirielle, "F*", 2021), and so do the ends of its interval.
"""

from __future__ import annotations

import numpy as np

from plcore._types import AnyArray, BoolArray, FloatArray
from plcore.multilabel.pool import ControlSample
from plcore.multilabel.reports import AT, ControlEstimate, HeldOut, Share
from plcore.sensing.metrics import f1_scores, precision_at

Z = 1.959963984540054  # of a 95 % interval


def held_out(truth: AnyArray, proba: FloatArray) -> HeldOut | None:
    """truth (t, L) int8 of the test rows, proba (t, L) of yes by the model; None without rows."""
    if not len(truth):
        return None
    macro, micro = f1_scores(truth, (proba > 0.5).astype(np.float64))
    found = tuple((t, precision_at(truth, proba, t)) for t in AT if t <= truth.shape[1])
    return HeldOut(len(truth), found, macro, micro)


def control_estimate(sample: ControlSample, proba: FloatArray | None, by_row: bool) -> ControlEstimate:
    """sample : controls answered, k cells      proba (k,) : of yes, by the model, which has not learnt them; None:
    there is no model yet      by_row : whether whole rows were drawn, so that labels can be ranked in each
    """
    yes = sample.values == 1
    if proba is None or not len(yes):
        return ControlEstimate(cells=len(yes), yes=int(yes.sum()))
    said = proba > 0.5
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
        f1=None if jaccard is None else Share(*(2 * j / (1 + j) for j in _ends(jaccard))),
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
    a, b = np.bincount(cluster, part).astype(float), np.bincount(cluster, whole).astype(float)
    count, groups = b.sum(), int((b > 0).sum())
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
    """95 % Wilson interval of a share seen in `size` independent trials."""
    centre = (share + Z**2 / (2 * size)) / (1 + Z**2 / size)
    half = Z * np.sqrt(share * (1 - share) / size + Z**2 / (4 * size**2)) / (1 + Z**2 / size)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def entropy_of(p: FloatArray) -> float:
    """Sum of the entropies of yes or no at these probabilities, in bits."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)).sum())


def _ends(share: Share) -> tuple[float, float, float]:
    return share.value, share.low, share.high
