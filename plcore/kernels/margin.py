"""Compiled loops of the large-margin learners: the loss of every row, given the rows' scores.

Scores come from a matrix product in blocks that stay in the second-level cache. The rest, a handful of comparisons for
each row and class, would cost NumPy ten passes over (n, m). One pass here finds the label, its competitors, the loss,
its derivative and the dual value. The derivative has few entries: it is a sparse matrix, and with many classes the
gradient is a sum over those entries. The rules are those of `plcore.kernels.compiled`, except the second: these numbers
are floats. Plain twins are in `tests/plcore/kernels/test_compiled_loops.py`.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numba import njit

from plcore.arrays.types import AnyArray, FloatArray, IntArray
from plcore.kernels.compiled import Compiler, kernel
from plcore.kernels.linear import squared_length

# Vectorized: sums in any order, no NaN, 0 equals -0.
many = cast(Compiler, njit(nogil=True, error_model="numpy", fastmath={"nnan", "nsz", "reassoc", "contract"}))


@many
def largest(values: FloatArray) -> float:
    """Return the largest of the values (m,), -inf if there are none."""
    found = -np.inf
    for k in range(len(values)):
        found = max(found, values[k])
    return found


@many
def above(values: FloatArray, shift: float) -> tuple[float, float]:
    """Return the sum and number of the values (m,) that are larger than `shift`."""
    total, count = 0.0, 0.0
    for k in range(len(values)):
        total += values[k] if values[k] > shift else 0.0
        count += 1.0 if values[k] > shift else 0.0
    return total, count


@kernel
def best_candidates(
    scores: FloatArray, starts: IntArray, members: IntArray, favours: FloatArray, labels: IntArray
) -> None:
    """labels[i] = the candidate of row i with the highest score + favour, the first of them on ties.

    The candidates of row i are members[starts[i] : starts[i + 1]], in ascending order, their favours next to them.
    """
    for i in range(len(scores)):
        best, highest = -1, -np.inf
        for place in range(starts[i], starts[i + 1]):
            value = scores[i, members[place]] + favours[place]
            if best < 0 or value > highest:
                best, highest = members[place], value
        labels[i] = best


@kernel
def candidate_losses(scores: FloatArray, starts: IntArray, members: IntArray, losses: FloatArray) -> None:
    """losses[p] = [1 - (s_k - max over j != k of s_j)]_+ for k = members[p], the loss of row i with that label."""
    for i in range(len(scores)):
        top, best = largest(scores[i]), 0
        while scores[i, best] < top:
            best += 1
        scores[i, best] = -np.inf
        second = largest(scores[i])
        scores[i, best] = top
        for place in range(starts[i], starts[i + 1]):
            k = members[place]
            losses[place] = max(0.0, 1.0 - (scores[i, k] - (second if k == best else top)))


@kernel
def keep_rivals(scores: FloatArray, i: int, y: int, starts: IntArray, members: IntArray, all_others: bool) -> float:
    """Set all scores of row i except those of competitors of class y to -inf; returns the score of y.

    Competitors are the classes outside the candidates, or, with `all_others`, every other class.
    """
    own = float(scores[i, y])
    scores[i, y] = -np.inf
    if not all_others:
        for place in range(starts[i], starts[i + 1]):
            scores[i, members[place]] = -np.inf
    return own


@kernel
def hard_rows(
    scores: FloatArray,
    starts: IntArray,
    members: IntArray,
    labels: IntArray,
    weights: FloatArray,
    all_others: bool,
    ends: IntArray,
    places: IntArray,
    slopes: FloatArray,
) -> tuple[float, float]:
    """The hinge of each row of scores (b, m) against its highest competitor (`keep_rivals`), and a subgradient of it.

    Fills the derivative of weights[i] * hinge by the scores, as rows of a sparse matrix: that of row i is slopes[p] at
    the classes places[p], ends[i] <= p < ends[i + 1]. Overwrites the scores. Returns the weighted sum of the hinges and
    the total weight of the rows with a hinge.
    """
    loss, weight, end = 0.0, 0.0, 0
    for i in range(len(scores)):
        ends[i] = end
        own = keep_rivals(scores, i, labels[i], starts, members, all_others)
        top = largest(scores[i])
        excess = 1.0 - (own - top)
        if excess > 0.0:  # not if there is no competitor
            rival = 0
            while scores[i, rival] < top:
                rival += 1
            loss += weights[i] * excess
            weight += weights[i]
            places[end], slopes[end] = labels[i], -weights[i]
            places[end + 1], slopes[end + 1] = rival, weights[i]
            end += 2
    ends[len(scores)] = end
    return loss, weight


@kernel
def smooth_rows(
    scores: FloatArray,
    starts: IntArray,
    members: IntArray,
    labels: IntArray,
    weights: FloatArray,
    all_others: bool,
    mu: float,
    prior: FloatArray,
    store: FloatArray,
    ends: IntArray,
    places: IntArray,
    slopes: FloatArray,
) -> tuple[float, float, float]:
    """The smoothed hinge of each row: max over a in the simplex of a.u - mu/2 |a - prior|^2, prior 0 if absent.

    u has a 0 (no loss, entry m of `prior` and `store`) and 1 - s_y + s_k for each competitor k. The maximiser is the
    projection of prior + u / mu on the simplex; it is the derivative by u and a feasible point of the dual.
    prior, store : (b, m + 1), or no rows for "none"; the maximiser goes to `store`. For the others see `hard_rows`.
    Returns weighted sums of the smoothed loss, of the hinge, and of sum_k a_k, the dual's linear part.
    """
    n, m = scores.shape
    has_prior, has_store = prior.shape[0] > 0, store.shape[0] > 0
    point = np.empty(m + 1)
    smooth, hinge, linear, end = 0.0, 0.0, 0.0, 0
    for i in range(n):
        ends[i] = end
        y = labels[i]
        base = 1.0 - keep_rivals(scores, i, y, starts, members, all_others)
        top_loss = max(0.0, base + largest(scores[i]))
        hinge += weights[i] * top_loss
        distance = 0.0
        for k in range(m):
            point[k] = (base + scores[i, k]) / mu
        point[m] = 0.0
        if has_prior:
            distance = squared_length(prior, i)
            for k in range(m + 1):
                point[k] += prior[i, k]
        # Michelot 1986: start from all that can be positive, drop the values below the shift, and repeat until none is.
        shift, count, before = largest(point) - 1.0, 0.0, -1.0
        while count != before:
            before = count
            total, count = above(point, shift)
            shift = (total - 1.0) / count
        if has_store:
            for k in range(m + 1):
                store[i, k] = 0.0
        linear_row, value_row = 0.0, 0.0
        for k in range(m + 1):
            a = point[k] - shift
            if a > 0.0:
                if has_store:
                    store[i, k] = a
                old = prior[i, k] if has_prior else 0.0
                distance += (a - old) * (a - old) - old * old
                if k < m:
                    linear_row += a
                    value_row += a * (base + scores[i, k])
                    places[end], slopes[end] = k, weights[i] * a
                    end += 1
        if linear_row > 0.0:
            places[end], slopes[end] = y, -weights[i] * linear_row
            end += 1
        smooth += weights[i] * (value_row - 0.5 * mu * distance)
        linear += weights[i] * linear_row
    ends[n] = end
    return smooth, hinge, linear


@kernel
def spread(ends: IntArray, places: IntArray, slopes: FloatArray, whole: FloatArray) -> None:
    """Fill whole (b, m) with the rows of `hard_rows` or `smooth_rows`."""
    for i in range(len(whole)):
        for k in range(whole.shape[1]):
            whole[i, k] = 0.0
        for place in range(ends[i], ends[i + 1]):
            whole[i, places[place]] = slopes[place]


@kernel
def add_rows(ends: IntArray, places: IntArray, slopes: FloatArray, X: AnyArray, total: FloatArray) -> None:
    """total (m, d) += S'X, S (b, m) the rows of `hard_rows` or `smooth_rows`, X (b, d)."""
    d = X.shape[1]
    for i in range(len(X)):
        for place in range(ends[i], ends[i + 1]):
            k, slope = places[place], slopes[place]
            for j in range(d):
                total[k, j] += slope * X[i, j]


@kernel
def simplex_quadratic(
    hessian: FloatArray, linear: FloatArray, point: FloatArray, slack: FloatArray, tol: float, max_steps: int
) -> int:
    """Maximise v'a - a'Ha/2 over a >= 0 at constant sum, by pairs of highest gain (SMO); in place.

    slack : (t,) v - H a at `point`, kept up to date. Stops when no pair violates optimality by more than `tol`.
    Returns the steps taken.
    """
    t = len(linear)
    for step in range(max_steps):
        up, highest = 0, -np.inf
        lowest = np.inf
        for k in range(t):
            if slack[k] > highest:
                up, highest = k, slack[k]
            if point[k] > 0.0 and slack[k] < lowest:
                lowest = slack[k]
        if highest - lowest <= tol:
            return step
        down, best, length = -1, 0.0, 0.0
        for k in range(t):  # the partner with the largest gain from the step to the end of the segment
            if point[k] > 0.0:
                rise = highest - slack[k]
                if rise > 0.0:
                    bend = hessian[up, up] + hessian[k, k] - 2.0 * hessian[up, k]
                    move = rise / bend if bend > 0.0 else np.inf
                    if move > point[k]:
                        move = point[k]
                    gain = move * (rise - 0.5 * bend * move)
                    if gain > best:
                        down, best, length = k, gain, move
        if down < 0:
            return step
        point[up] += length
        point[down] = point[down] - length if length < point[down] else 0.0
        for k in range(t):
            slack[k] -= length * (hessian[up, k] - hessian[down, k])
    return max_steps
