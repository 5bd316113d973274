"""Compiled loops over shares of labels: they run over every open row after each version of a model."""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def softmax_rows(scores: AnyArray, candidates: BoolArray) -> FloatArray:
    """(r, m) softmax of scores (r, m) over the candidates bool (r, m) of each row, 0 outside; even shares where the
    scores say nothing: all of them -inf, or one of them inf or NaN.
    """
    n_rows, n_classes = candidates.shape
    shares = np.zeros((n_rows, n_classes))
    for row in range(n_rows):
        best, count = -np.inf, 0
        for label in range(n_classes):
            if candidates[row, label]:
                count += 1
                best = max(best, float(scores[row, label]))
        total = 0.0
        for label in range(n_classes):
            if candidates[row, label]:
                weight = np.exp(scores[row, label] - best)
                shares[row, label] = weight
                total += weight
        if np.isfinite(total):
            shares[row] /= max(total, 1.0)  # without candidates it is 0, else the best alone adds 1
        else:
            shares[row] = candidates[row] / count
    return shares


@kernel
def softmax_margins(scores: AnyArray, candidates: BoolArray, rows: IntArray) -> FloatArray:
    """(r,) `margins` of `softmax_rows` for these rows int64 (r,) of scores and candidates (n, m), in one go."""
    n_classes = candidates.shape[1]
    found = np.zeros(len(rows))
    for place in range(len(rows)):
        row = rows[place]
        first, second, count = -np.inf, -np.inf, 0
        for label in range(n_classes):
            if candidates[row, label]:
                count += 1
                value = float(scores[row, label])
                if value > first:
                    first, second = value, first
                elif value > second:
                    second = value
        total = 0.0
        for label in range(n_classes):
            if candidates[row, label]:
                total += np.exp(scores[row, label] - first)
        if count == 1:
            found[place] = 1.0
        elif count > 1 and np.isfinite(total):  # else the shares are even, or there are none
            found[place] = (1.0 - np.exp(second - first)) / total
    return found


@kernel
def margins(shares: FloatArray) -> FloatArray:
    """(r,) the largest share of each row less the second largest."""
    n_rows, n_classes = shares.shape
    found = np.zeros(n_rows)
    for row in range(n_rows):
        first, second = 0.0, 0.0
        for label in range(n_classes):
            value = shares[row, label]
            if value > first:
                first, second = value, first
            elif value > second:
                second = value
        found[row] = first - second
    return found


@kernel
def largest_change(before: FloatArray, after: FloatArray, weights: FloatArray) -> float:
    """The largest sum of a row of |after - before|, both (r, m), of the rows that have weights (r,) above 0."""
    n_rows, n_classes = before.shape
    found = 0.0
    for row in range(n_rows):
        if weights[row] > 0.0:
            total = 0.0
            for label in range(n_classes):
                total += abs(after[row, label] - before[row, label])
            found = max(found, total)
    return found
