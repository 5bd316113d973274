"""Estimates of the model's quality on held-out rows and on blind checks, with 95% intervals.

An estimate is a ratio a / b of counts over sampled clusters (a cell, or a row if whole rows are held out or asked
about), with its Wilson interval. Cells of one row are correlated. So the count b is first reduced to the number of
independent cells with the same variance of the ratio, linearised over the clusters (as Korn and Graubard do, Survey
Methodology 24, 1998). F1 = 2 J / (1 + J) increases with J = TP / (TP + FP + FN), which is such a ratio (Hand, Christen
and Kirielle, "F*", 2021), so the ends of its interval follow from those of J. The macro F1 is a mean of such ratios.
Its variance is the jackknife over the rows (Efron and Stein 1981): if labels are rare, linearisation and bootstrap miss
labels that depend on a single row (see docs/decisions/0012).
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

NOTHING_FOUND = Share(0.0, 0.0, 1.0)  # F1 if no cell is yes and the model predicts no yes


def held_out(truth: AnyArray, proba: FloatArray, threshold: float = EVEN) -> HeldOut | None:
    """Measure the model on the test rows; None if there are none.

    truth (t, L) int8, all cells known      proba (t, L) : probability of yes; the model predicts yes above the
        threshold
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
    """Return the mean F1, with its interval, of the labels that are yes or predicted as yes in any row, as
    `sensing.metrics.f1_scores`.

    yes, said (n, L) : the truth and the prediction
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
    # Without a row, the F1 of a label is unchanged, or changes in one of two ways: either the truth or the prediction
    # is yes there, or both are. A label whose only yes was in that row no longer counts.
    sums = full.sum() + one @ (scores(hits, size - 1) - full) + both @ (scores(hits - 1, size - 2) - full)
    left = labels - one @ (size == 1).astype(float) - both @ (size == 2).astype(float)
    without = sums / np.maximum(left, 1)
    variance = (1 - 1 / len(yes)) * float(((without - without.mean()) ** 2).sum())
    alike = value * (1 - value) / variance if variance and 0 < value < 1 else rows
    return Share(value, *wilson(value, min(alike, cells)))


def label_f1(
    yes: BoolArray, said: BoolArray, columns: IntArray, n_labels: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Return (cells, F1, low, high) of each label, (L,) each: the number of cells that are yes or predicted as yes, and
    the F1 with its interval; without such cells 0 (0 to 1).

    yes, said, columns (k,) : truth, prediction and label of the cells; a label has at most one cell in a row
    """
    hits = np.bincount(columns[yes & said], minlength=n_labels)
    cells = np.bincount(columns[yes | said], minlength=n_labels)
    jaccard = hits / np.maximum(cells, 1)
    low, high = wilson_interval(jaccard, np.maximum(cells, 1))
    high = np.where(cells, high, 1.0)
    value, low, high = (2 * j / (1 + j) for j in (jaccard, low, high))
    return cells, value, low, high


def control_estimate(
    sample: ControlSample, proba: FloatArray | None, by_row: bool, threshold: float = EVEN
) -> ControlEstimate:
    """Measure the model on blind checks.

    sample : answered controls, k cells
    proba (k,) : probability of yes by the model, which has not learnt from them; None: there is no model yet
    by_row : whether whole rows were drawn, so that labels can be ranked within each row
    threshold : probability above which the model predicts yes
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
    """Return the share of yes among the 1, 3 and 5 most probable cells of each row. Ties go to the first."""
    order = np.lexsort((np.arange(len(yes)), -proba, cluster))
    start = np.searchsorted(cluster[order], cluster[order])
    rank = np.empty(len(yes), dtype=np.int64)
    rank[order] = np.arange(len(yes)) - start
    found = ((t, share_of(yes & (rank < t), rank < t, cluster)) for t in AT if t <= rank.max() + 1)
    return tuple((t, share) for t, share in found if share is not None)


def share_of(part: BoolArray, whole: BoolArray, cluster: AnyArray) -> Share | None:
    """Return the share of `part` in `whole`, a superset, with its interval; None if `whole` is empty.

    part, whole (k,) bool      cluster (k,) int : the cluster each cell was drawn in
    """
    return _share(np.bincount(cluster, part), np.bincount(cluster, whole))


def _share(a: AnyArray, b: AnyArray) -> Share | None:
    """Return the same as `share_of`, from the counts (c,) of each cluster."""
    count, groups = float(b.sum()), int((b > 0).sum())
    if not count:
        return None
    share = a.sum() / count
    size = count
    if groups < count:
        if groups == 1 or not 0 < share < 1:
            size = groups  # the data cannot show the correlation within rows, so assume the maximum
        else:
            variance = groups / (groups - 1) * float(((a - share * b) ** 2).sum()) / count**2
            size = min(count, share * (1 - share) / variance) if variance else count
    low, high = wilson(share, size)
    return Share(float(share), low, high)


def wilson(share: float, size: float) -> tuple[float, float]:
    """Return the 95% Wilson interval of a share observed in `size` independent trials, as two numbers."""
    low, high = wilson_interval(share, size)
    return float(low), float(high)


def entropy_of(p: FloatArray) -> float:
    """Return the sum of the binary entropies of these probabilities, in bits."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)).sum())


def _f1(jaccard: Share) -> Share:
    return Share(*(2 * j / (1 + j) for j in (jaccard.value, jaccard.low, jaccard.high)))


# From the values that a model gives cells to calibrated probabilities, and to yes or no.
#
# The prior of BML-CS pulls every unasked label to 0. With many unknown cells hardly any mean is above 0.5, and its own
# probabilities are far too confident in no. Here P(yes) of label j is
#
#     sigma( logit r_j + a + b (value - centre) / scale ),   b >= 0,
#
# with r_j the share of yes among the known cells of the label. This is Platt scaling (1999) with the base rates as
# offset. a and b are fitted to known cells hidden from similar models, under a prior N(0, 1); without such cells only
# the base rates remain. The value is a posterior mean, or the distance from an SVM's margin. Partly known rows have
# their own a and b: BML-CS, fitted to the row, is most biased towards no there.
#
# A cell is predicted as yes if its probability is above a threshold: the one with the highest F1 on those cells, over
# all labels together. If most cells are no, it is below one half: rare labels are hardly ever more likely yes than no.

HIDDEN = 0.2  # share of the rows, and of the cells of other rows, hidden from the model of a trial
FEWEST_YES = 10  # fewer hidden yes cells make the best threshold, and the better model, a matter of chance
SMOOTHING = 4.0  # pseudo-count of cells at the overall rate added to each label


@dataclass(frozen=True)
class Scaling:
    """Contribution of a cell's value to the logit of its label's base rate, for one group of cells.

    shift, slope : a, b      centre, scale : mean and standard deviation of the values
    """

    shift: float = 0.0
    slope: float = 0.0
    centre: float = 0.0
    scale: float = 1.0

    def of(self, values: FloatArray) -> FloatArray:
        """Return the term added to the logit of the base rate."""
        return np.asarray(self.shift + self.slope * (values - self.centre) / self.scale)


@dataclass(frozen=True)
class Calibration:
    """Converts a model's values of cells to probabilities of yes, and to yes or no.

    base (L,) : logit r_j      blank, partial : scaling for rows with no known cell, and with some
    threshold : probability above which a cell is predicted as yes
    """

    base: FloatArray
    blank: Scaling
    partial: Scaling
    threshold: float = EVEN

    def proba(self, values: FloatArray, partial: BoolArray) -> FloatArray:
        """Return (n, L) probabilities of yes, strictly inside (0, 1).

        values (n, L) : the model's values      partial (n,) : whether some of the row is known
        """
        score = self.base + np.where(partial[:, None], self.partial.of(values), self.blank.of(values))
        return np.asarray(np.clip(expit(score), 1e-9, 1 - 1e-9))


@dataclass(frozen=True, eq=False)
class HiddenTrial:
    """A model that some known cells were hidden from.

    shown (n, L) : the cells as it saw them      values (n, L) : its value for every cell; higher = more likely yes
    """

    shown: AnyArray
    values: FloatArray


def hide(cells: AnyArray, seed: int, trial: int = 0) -> AnyArray:
    """Return the cells (n, L) for the model of a trial, with a seeded share of the rows and of the cells hidden."""
    random = np.random.default_rng([seed, 5, trial])
    rows = np.flatnonzero((cells != UNKNOWN).any(axis=1))
    shown = np.where(random.random(cells.shape) < HIDDEN, UNKNOWN, cells)
    shown[random.permutation(rows)[: int(HIDDEN * len(rows))]] = UNKNOWN
    return shown


def calibrate(cells: AnyArray, values: FloatArray, trials: Sequence[HiddenTrial]) -> Calibration:
    """Return the calibration of a model, fitted to cells hidden from similar models.

    cells (n, L) the known cells      values (n, L) the model's values
    Of the cells hidden in a trial, those known here are used.
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
        # The model has seen more cells than those of the trials, so its values vary more. Standardise each on its own
        # scale.
        found = Scaling(shift, slope, own.centre, own.scale)
        scalings.append(_centred(found, values[_group(cells, partial)]))
    truth = np.concatenate(right)
    cut = best_threshold(np.concatenate(shares), truth) if truth.sum() >= FEWEST_YES else EVEN
    blank, some = scalings
    return Calibration(base_rates(cells), blank, some, max(cut, 0.0))


def _group(cells: AnyArray, partial: bool) -> BoolArray:
    """Return (n, L) bool, the unknown cells of partly known rows (`partial`), or of rows with no known cell."""
    known = cells != UNKNOWN
    return np.asarray(~known & (known.any(axis=1) == partial)[:, None])


def _centred(scaling: Scaling, values: FloatArray) -> Scaling:
    if not len(values):
        return scaling
    return Scaling(scaling.shift, scaling.slope, float(values.mean()), max(float(values.std()), 1e-12))


def _fit(x: FloatArray, offset: FloatArray, sign: FloatArray) -> tuple[float, float]:
    """Fit a and b to k cells.

    x, offset, sign (k,) : standardised value, logit of the base rate, and 1 for yes or -1 for no"""

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (offset + weights[0] + weights[1] * x)
        slack = -sign * expit(-margin)
        gradient = np.array([slack.sum(), slack @ x]) + weights
        return float(0.5 * weights @ weights - log_expit(margin).sum()), gradient

    bounds = ((None, None), (0.0, None))
    shift, slope = minimize(cost, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(shift), float(slope)


def base_rates(cells: AnyArray) -> FloatArray:
    """Return (L,) the logit of each label's share of yes among its known cells, shrunk towards the overall share."""
    yes, known = (cells == 1).sum(axis=0), (cells != UNKNOWN).sum(axis=0)
    overall = (yes.sum() + 1) / (known.sum() + 2)
    return np.asarray(logit((yes + SMOOTHING * overall) / (known + SMOOTHING)))
