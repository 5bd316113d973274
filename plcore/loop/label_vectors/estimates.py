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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.evaluation.estimates import wilson_interval
from plcore.loop.label_vectors.controls import ControlSample
from plcore.loop.label_vectors.fold import UNKNOWN
from plcore.loop.label_vectors.reports import AT, ControlEstimate, HeldOut, Share
from plcore.sensing.base import top_columns
from plcore.sensing.metrics import EVEN, best_threshold

NOTHING_FOUND = Share(0.0, 0.0, 1.0)  # F1 if nothing is yes and the model says yes to nothing


def held_out(truth: AnyArray, proba: FloatArray, threshold: float = EVEN) -> HeldOut | None:
    """How good the model is on the test rows; None if there are none.

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
    """The share of `part` in `whole`, which holds it, with its interval; None if `whole` is empty.

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
    """95% Wilson interval of a share seen in `size` independent trials, as two numbers."""
    low, high = wilson_interval(share, size)
    return float(low), float(high)


def entropy_of(p: FloatArray) -> float:
    """Sum of the entropies of yes or no at these probabilities, in bits."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)).sum())


def _f1(jaccard: Share) -> Share:
    return Share(*(2 * j / (1 + j) for j in (jaccard.value, jaccard.low, jaccard.high)))


# From what a model makes of cells to probabilities that are right as often as they say, and to yes or no.
#
# The prior of BML-CS pulls every label not asked to 0, so that with many holes hardly any mean passes 0.5 and its own
# probabilities are far too sure of no. Here P(yes) of label j is
#
#     sigma( logit r_j + a + b (value - centre) / scale ),   b >= 0,
#
# with r_j the share of yes among the known cells of the label: Platt's scaling (1999) with the base rates as offset.
# a and b are fitted to known cells that models like it were not shown, under a prior N(0, 1): without such cells the
# base rates are what remains. The value is a posterior mean, or the distance from an SVM's margin. Rows of which
# something is known have an a and b of their own: there BML-CS, fitted to the row, leans to no most of all.
#
# Yes is where the probability is above the threshold that gives those cells the highest F1, all labels together.
# Where most cells are no that lies below one half: of rare labels hardly one is ever more likely right than not.

HIDDEN = 0.2  # share of the rows, and of the cells of the others, that the model of a trial is not shown
FEWEST_YES = 10  # among cells not shown, below which the best cut, or the better model, would be chance
SMOOTHING = 4.0  # cells at the overall rate that each label is given


@dataclass(frozen=True)
class Scaling:
    """Contribution of a cell's value to the logit of its label's base rate, for one group of cells.

    shift, slope : a, b      centre, scale : of the values
    """

    shift: float = 0.0
    slope: float = 0.0
    centre: float = 0.0
    scale: float = 1.0

    def of(self, values: FloatArray) -> FloatArray:
        """Term added to the logit of the base rate."""
        return np.asarray(self.shift + self.slope * (values - self.centre) / self.scale)


@dataclass(frozen=True)
class Calibration:
    """Makes probabilities of yes, and yes or no, from what a model makes of cells.

    base (L,) : logit r_j      blank, partial : for rows of which nothing, and something, is known
    threshold : above which probability a cell is a yes
    """

    base: FloatArray
    blank: Scaling
    partial: Scaling
    threshold: float = EVEN

    def proba(self, values: FloatArray, partial: BoolArray) -> FloatArray:
        """(n, L) probabilities of yes, strictly inside (0, 1).

        values (n, L) : by the model      partial (n,) : whether anything is known of the row
        """
        score = self.base + np.where(partial[:, None], self.partial.of(values), self.blank.of(values))
        return np.asarray(np.clip(expit(score), 1e-9, 1 - 1e-9))


@dataclass(frozen=True, eq=False)
class HiddenTrial:
    """A model that was not shown all known cells.

    shown (n, L) : the cells that it was shown      values (n, L) : what it makes of every cell, higher = rather yes
    """

    shown: AnyArray
    values: FloatArray


def hide(cells: AnyArray, seed: int, trial: int = 0) -> AnyArray:
    """The cells (n, L) that the model of a trial is shown: without a seeded share of the rows, and of the cells."""
    random = np.random.default_rng([seed, 5, trial])
    rows = np.flatnonzero((cells != UNKNOWN).any(axis=1))
    shown = np.where(random.random(cells.shape) < HIDDEN, UNKNOWN, cells)
    shown[random.permutation(rows)[: int(HIDDEN * len(rows))]] = UNKNOWN
    return shown


def calibrate(cells: AnyArray, values: FloatArray, trials: Sequence[HiddenTrial]) -> Calibration:
    """The calibration of a model, fitted to the cells that models like it were not shown.

    cells (n, L) as known, values (n, L) by the model; of cells that a trial was not shown, those known here count
    """
    scalings, shares, right = [], [], []
    for partial in (False, True):
        own = Scaling(slope=1.0)
        x, offset, yes = [np.zeros(0)], [np.zeros(0)], [np.zeros(0, dtype=bool)]
        for trial in trials:
            group = _group(trial.shown, partial)
            own = _centred(Scaling(slope=1.0), trial.values[group])
            at = (cells != UNKNOWN) & group
            x.append(own.of(trial.values[at]))
            offset.append(np.broadcast_to(base_rates(trial.shown), at.shape)[at])
            yes.append(cells[at] == 1)
        told, base, truth = np.concatenate(x), np.concatenate(offset), np.concatenate(yes)
        shift, slope = _fit(told, base, np.where(truth, 1.0, -1.0))
        shares.append(expit(base + shift + slope * told))
        right.append(truth)
        # The model has seen more than those of the trials, and its values are spread wider: each is put on its own
        # scale.
        found = Scaling(shift, slope, own.centre, own.scale)
        scalings.append(_centred(found, values[_group(cells, partial)]))
    truth = np.concatenate(right)
    cut = best_threshold(np.concatenate(shares), truth) if truth.sum() >= FEWEST_YES else EVEN
    blank, some = scalings
    return Calibration(base_rates(cells), blank, some, max(cut, 0.0))


def _group(cells: AnyArray, partial: bool) -> BoolArray:
    """(n, L) bool, the cells not known of rows of which something (`partial`), or nothing, is known."""
    known = cells != UNKNOWN
    return np.asarray(~known & (known.any(axis=1) == partial)[:, None])


def _centred(scaling: Scaling, values: FloatArray) -> Scaling:
    if not len(values):
        return scaling
    return Scaling(scaling.shift, scaling.slope, float(values.mean()), max(float(values.std()), 1e-12))


def _fit(x: FloatArray, offset: FloatArray, sign: FloatArray) -> tuple[float, float]:
    """a and b for k cells. x, offset, sign (k,) : standardised value, logit of the base rate, 1 for yes, -1 for no"""

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (offset + weights[0] + weights[1] * x)
        slack = -sign * expit(-margin)
        gradient = np.array([slack.sum(), slack @ x]) + weights
        return float(0.5 * weights @ weights - log_expit(margin).sum()), gradient

    bounds = ((None, None), (0.0, None))
    shift, slope = minimize(cost, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(shift), float(slope)


def base_rates(cells: AnyArray) -> FloatArray:
    """(L,) logit of the share of yes among the known cells of each label, drawn towards that of all labels."""
    yes, known = (cells == 1).sum(axis=0), (cells != UNKNOWN).sum(axis=0)
    overall = (yes.sum() + 1) / (known.sum() + 2)
    return np.asarray(logit((yes + SMOOTHING * overall) / (known + SMOOTHING)))
