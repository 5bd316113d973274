"""Explain why a row is asked about: the targets it decides, and the changes by each answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import FloatArray, IntArray, Matrix
from plcore.neighbors.near import NearGraph, near_graphs
from plcore.query.effects import Rule
from plcore.query.possible import near_possible, near_sets


@dataclass(frozen=True)
class AnswerEffect:
    """Effect of one answer on one target: its label sets before and after, as ascending class numbers.

    Possible labels are exact under rule "pl", else approximate (APL).
    """

    target: int
    answer: int  # the class number answered
    winners: tuple[tuple[int, ...], tuple[int, ...]]  # before, after
    necessary: tuple[tuple[int, ...], tuple[int, ...]]
    possible: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Explanation:
    """The explanation of a row's score."""

    row: int
    score: float  # sum of the shares of the decisions counted by the rule
    candidates: int  # number of remaining candidates
    targets: tuple[int, ...]  # targets that count this row among their neighbours
    changes: tuple[int, ...]  # targets whose winners, necessary or possible labels one answer could change
    undecided: int  # number of unsettled targets in total
    answers: tuple[AnswerEffect, ...] = ()  # every answer that changes something, by target, then answer


def answer_effects(rule: Rule, targets: IntArray, slots: IntArray) -> tuple[AnswerEffect, ...]:
    """Return the changes of these targets by each answer about a row that is neighbour number slots[i] of
    targets[i]."""
    found: dict[int, list[AnswerEffect]] = {}
    for places, near in near_graphs(targets, rule.neighbors, rule.weights, rule.masks, rule.n_classes):
        numbers = np.arange(len(targets))[places]
        for number, own in zip(numbers.tolist(), near.targets.tolist(), strict=True):
            found[number] = _of_target(rule, near, own, int(targets[number]), int(slots[number]))
    return tuple(effect for number in sorted(found) for effect in found[number])


def _of_target(rule: Rule, near: NearGraph, own: int, target: int, slot: int) -> list[AnswerEffect]:
    """Return the changes of one target by answers about its neighbour at this slot. own : its number in its graph"""
    rows = near.neighbors[own]
    masks = near.masks[rows]
    labels = np.arange(near.n_classes)
    answers = labels[(masks[slot, labels >> 6] >> (labels & 63)) & 1 != 0]
    if not len(answers):
        return []
    # Build a small graph: the target once unchanged, and once for each answer.
    single = np.zeros((len(answers), masks.shape[1]), dtype=np.int64)
    single[np.arange(len(answers)), answers >> 6] = np.left_shift(np.int64(1), answers & 63)
    neighbors = np.tile(np.arange(len(rows), dtype=np.int32), (len(answers) + 1, 1))
    neighbors[1:, slot] = len(rows) + np.arange(len(answers))
    weights = np.tile(near.weights[own], (len(neighbors), 1))
    every = np.arange(len(neighbors))
    graph = NearGraph(every, neighbors, weights, np.concatenate([masks, single]), near.n_classes, None)
    sets = near_sets(graph)
    if rule.rule == "pl":
        sets = sets._replace(possible=near_possible(graph, rule.max_nodes)[0])
    names = labels if near.names is None else near.names[np.flatnonzero(near.targets == own)[0]]
    moved = np.zeros(len(answers), dtype=bool)
    for each in sets:
        moved |= (each[1:] != each[0]).any(axis=1)
    return [
        AnswerEffect(
            target,
            int(names[answers[at]]),
            *((tuple(names[each[0]].tolist()), tuple(names[each[1 + at]].tolist())) for each in sets),
        )
        for at in np.flatnonzero(moved).tolist()
    ]


# The features that separate two labels, highlighted for the annotator who has to choose between them.
#
# The score of a feature for labels a and b is the standardised difference of its means (Cohen 1988, *d*, with equal
# weights for both labels),
#
#     score_j = |mean_aj - mean_bj| / sqrt((variance_aj + variance_bj) / 2),
#
# in which every row counts for a label with its share in the row's label distribution. It does not depend on the
# scale of a feature. Means and variances belong to the model and are taken once (`label_moments`); a question then
# costs O(d).

_NEGLIGIBLE = 1e-9  # a spread below this share of the feature's own spread is a rounding error


class LabelMoments(NamedTuple):
    """Means and variances per label and feature; NaN if no row with a value there can have the label."""

    mean: FloatArray  # (m, d)
    variance: FloatArray  # (m, d)


def label_moments(X: FloatArray, distributions: FloatArray) -> LabelMoments:
    """Return the mean and variance of each feature under each label.

    X : (n, d) numbers, NaN for missing values, which do not count
    distributions : (n, m) shares in [0, 1], the weights of the rows

    Costs O(n d m). Raises ValueError if the shapes do not match.
    """
    if X.ndim != 2 or distributions.ndim != 2 or len(X) != len(distributions):
        raise ValueError(
            "X must be (n, d) and distributions (n, m) with the same n. "
            f"Got shapes {X.shape} and {distributions.shape}."
        )
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    centre = np.sum(X, axis=0, where=known) / count
    # Compute around the mean over all rows, so that the difference of two squares loses almost no precision.
    about = np.where(known, X - centre, 0.0)
    weight = distributions.T @ known
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (distributions.T @ about) / weight
        variance = np.maximum((distributions.T @ about**2) / weight - mean**2, 0.0)
    spread = np.mean(about**2, axis=0)
    return LabelMoments(mean + centre, np.where(variance <= _NEGLIGIBLE * spread, 0.0, variance))


def distinguishing_scores(moments: LabelMoments, first: int, second: int) -> FloatArray:
    """Return (d,) the score of each feature for two label numbers: 0 if uninformative, inf if it alone
    decides."""
    apart = np.abs(moments.mean[first] - moments.mean[second])
    spread = np.sqrt((moments.variance[first] + moments.variance[second]) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(apart / spread, nan=0.0, posinf=np.inf))


def most_telling(moments: LabelMoments, first: int, second: int, n: int) -> IntArray:
    """Return up to n features with the highest scores, best first, ties in column order; none with score
    0."""
    scores = distinguishing_scores(moments, first, second)
    order = np.argsort(-scores, kind="stable")[:n]
    return np.asarray(order[scores[order] > 0], dtype=np.int64)


# Evidence in a row for some labels: its features that are larger under one label than under the others.
#
# The row's score for a label is its product with the mean of the rows of that label (Rocchio's classifier; Manning,
# Raghavan and Schütze, *Introduction to Information Retrieval*, 2008, chapter 14.2), minus the mean of its products
# with the means of the other labels. That is a sum over features,
#
#     speaks_jk = x_j (mean_kj - mean of mean_lj over the other labels l),
#
# in which every row counts for a label with its share in the row's label distribution, as above. Only columns with a
# value in the row count, so the cost for a sparse row depends on these columns only.


def speaks_for(
    X: Matrix, distributions: FloatArray, columns: IntArray, values: FloatArray, own: int | None = None
) -> FloatArray:
    """Return (c, k) how strongly each column of one row supports each of k labels; negative values speak
    against it.

    X : CSC (n, d) the rows to learn from      distributions : (n, k) their shares of the k labels, two or more
    columns, values : (c,) nonzero columns and values of the row      own : its number among the n rows, to leave it out
    A label that no row can have has the mean 0. Raises ValueError if the shapes do not match.
    """
    if distributions.ndim != 2 or X.shape[0] != len(distributions) or distributions.shape[1] < 2:
        raise ValueError(
            "distributions must be (n, k) with a line for each of the n rows of X and two labels or more. "
            f"Got shapes {distributions.shape} and {X.shape}."
        )
    if own is not None:
        distributions = distributions.copy()
        distributions[own] = 0.0
    weight = distributions.sum(axis=0)
    means = np.asarray(X[:, columns].T @ distributions) / np.where(weight > 0, weight, 1.0)
    k = means.shape[1]
    others = (means.sum(axis=1, keepdims=True) - means) / (k - 1)
    return np.asarray(values[:, None] * (means - others))
