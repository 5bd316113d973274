"""Compiled loops of the online learners: predict, see the candidates, update; one pass over the rows.

The weights are W = scale * V, so that decay and projection are one multiplication, and |W|^2 is updated along the way:
a round costs one product with W (`plcore.kernels.linear`) and the changed rows of V. The best candidate and its
competitor are found without branches, which would be mispredicted half of the time for random candidates.

When scale < SMALLEST it is folded into V, before 1 / scale loses digits. That is rare, because decay divides by the
number of rounds. Averaging keeps the sum of all iterates as mass * V - U, mass being the sum of the scales, so that a
round changes U in the rows that change in V.

Rows longer than LARGEST_FEATURE, or with NaN, end the loop: the caller restores the state. The rules are those of
`plcore.kernels.compiled`, except the second: these numbers are floats. Plain twins:
`tests/plcore/online/plain_online.py`.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numba import njit

from plcore.arrays.array_files import LARGEST_FEATURE
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import Compiler, kernel
from plcore.kernels.linear import best_possible, mean_weights, score_dense, score_sparse, squared_length

SMALLEST = 1 / 16
# numbers: scale, mass, |W|^2, sum of the objectives so far, mean |x|^2 of the rows at the start
SCALE, MASS, SQUARE, OBJECTIVE, LENGTH = range(5)
ROUNDS, UPDATES, MISTAKES = range(3)  # counts

# Inlined into the two loops below before compilation: a fifth faster than calls.
inlined = cast(Compiler, njit(nogil=True, error_model="numpy", inline="always"))


@inlined
def settle(
    scores: FloatArray, candidates: BoolArray, i: int, use_max: bool, moved: IntArray
) -> tuple[float, int, bool]:
    """Compute the loss of a row (Eq. 2, or 3 with use_max), and the classes that an update moves.

    Fills moved (m + 1,): the classes to raise by 1 / raised each, then the one to lower by 1.
    Returns the loss (0 if every class is a candidate), raised, and whether the class with the highest score of
    all, the first on ties, is not a candidate.
    """
    best, rival, raised, total = 0, -1, 0, 0.0
    inside, outside = -np.inf, -np.inf
    for k in range(len(scores)):
        member = candidates[i, k]
        if_in = scores[k] if member else -np.inf
        if_out = -np.inf if member else scores[k]
        best = k if if_in > inside else best
        inside = max(if_in, inside)
        rival = k if if_out > outside else rival
        outside = max(if_out, outside)
        total += scores[k] if member else 0.0
        moved[raised] = k
        raised += 1 if member else 0
    if rival < 0:
        return 0.0, raised, False
    value = total / raised
    if use_max:
        value, raised, moved[0] = inside, 1, best
    moved[raised] = rival
    mistaken = outside > inside or (outside == inside and rival < best)
    return max(0.0, 1.0 - (value - outside)), raised, mistaken


@kernel
def rescale(V: FloatArray, U: FloatArray, numbers: FloatArray, factor: float, averaging: bool) -> None:
    """W <- factor * W."""
    numbers[SCALE] *= factor
    numbers[SQUARE] *= factor * factor
    if numbers[SCALE] >= SMALLEST:
        return
    rows, columns = V.shape
    square = 0.0
    for i in range(rows):
        for j in range(columns):
            if averaging:
                U[i, j] -= numbers[MASS] * V[i, j]
            V[i, j] *= numbers[SCALE]
            square += V[i, j] * V[i, j]
    numbers[SCALE], numbers[MASS], numbers[SQUARE] = 1.0, 0.0, square


@inlined
def begin_round(
    scores: FloatArray,
    candidates: BoolArray,
    i: int,
    weight: float,
    settings: tuple[bool, float, float, bool, bool],
    V: FloatArray,
    U: FloatArray,
    numbers: FloatArray,
    counts: IntArray,
    possible: BoolArray,
    moved: IntArray,
) -> tuple[float, int, float]:
    """Compute step and decay from a row's scores and candidates; W then changes by eta * outer(tau, x).

    weight : of the row, which multiplies its loss, and so its step
    Returns eta (0: no update), raised (tau is 1 / raised on moved[:raised], -1 on moved[raised]), and tau . W x.
    """
    use_max, eta0, alpha, decay_always, averaging = settings
    loss, raised, mistaken = settle(scores, candidates, i, use_max, moved)
    numbers[OBJECTIVE] += weight * loss + 0.5 * alpha * numbers[SQUARE]
    counts[ROUNDS] += 1
    counts[MISTAKES] += mistaken
    counts[UPDATES] += loss > 0.0
    for k in range(len(scores)):
        possible[k] |= candidates[i, k]
    eta, kept = eta0, 1.0
    if alpha > 0.0:
        eta, kept = 1.0 / (alpha * counts[ROUNDS]), 1.0 - 1.0 / counts[ROUNDS]
        if loss > 0.0 or decay_always:
            rescale(V, U, numbers, kept, averaging)
    return (weight * eta if loss > 0.0 else 0.0), raised, kept * (1.0 - loss)


@inlined
def end_round(
    settings: tuple[bool, float, float, bool, bool],
    V: FloatArray,
    U: FloatArray,
    numbers: FloatArray,
    eta: float,
    gain: float,
    size: float,
) -> None:
    """After W += eta * outer(tau, x): Pegasos projects W into the ball of radius 1 / sqrt(alpha).

    gain : tau . W x before the update      size : |tau|^2 |x|^2
    """
    _, _, alpha, _, averaging = settings
    if alpha > 0.0 and eta > 0.0:
        numbers[SQUARE] = max(0.0, numbers[SQUARE] + 2 * eta * gain + eta * eta * size)
        if numbers[SQUARE] * alpha > 1.0:
            rescale(V, U, numbers, 1.0 / np.sqrt(numbers[SQUARE] * alpha), averaging)
    numbers[MASS] += numbers[SCALE]


@kernel
def learn_dense(
    X: AnyArray,
    order: IntArray,
    candidates: BoolArray,
    weights: FloatArray,
    settings: tuple[bool, float, float, bool, bool],
    constant: float,
    V: FloatArray,
    U: FloatArray,
    numbers: FloatArray,
    counts: IntArray,
    possible: BoolArray,
    predicted: IntArray,
) -> int:
    """Run the rounds over the rows of X (n, d); returns how many were learnt, fewer than n if a row cannot be.

    order : (n,) the rows in the order of the rounds, or (0,) for their order in X
    weights : (n,) of the rows, 0 for rows to skip; or (0,) for all 1
    settings : use_max; eta0, the step of the Perceptrons (Algorithms 1, 2); alpha, lambda of Pegasos (Algorithms 3,
        4) or 0 for the Perceptrons; decay_always; averaging
    U : as V, or (0, 0) without averaging      predicted : (n,) the class predicted before each update, or (0,)
    """
    n, d = X.shape
    averaging = settings[4]
    scores, moved = np.empty(len(V)), np.empty(len(V) + 1, dtype=np.int64)
    mean = np.empty(V.shape if averaging and len(predicted) else (0, 0))
    for place in range(n):
        i = order[place] if len(order) else place
        length = squared_length(X, i)
        if not length <= LARGEST_FEATURE * LARGEST_FEATURE:
            return place
        if len(mean):
            mean_weights(V, U, numbers[MASS], counts[ROUNDS], mean)
            score_dense(mean, 1.0, X, i, constant, scores)
            predicted[place] = best_possible(scores, possible)
        score_dense(V, numbers[SCALE], X, i, constant, scores)
        if len(predicted) and not len(mean):
            predicted[place] = best_possible(scores, possible)
        weight = weights[i] if len(weights) else 1.0
        if weight == 0.0:
            continue
        eta, raised, gain = begin_round(scores, candidates, i, weight, settings, V, U, numbers, counts, possible, moved)
        for turn in range(raised + 1 if eta > 0.0 else 0):
            k = moved[turn]
            step = (eta / raised if turn < raised else -eta) / numbers[SCALE]
            for j in range(d):
                V[k, j] += step * X[i, j]
            V[k, d] += step * constant
            if averaging:
                late = step * numbers[MASS]
                for j in range(d):
                    U[k, j] += late * X[i, j]
                U[k, d] += late * constant
        size = (1.0 / raised + 1.0) * (length + constant * constant)
        end_round(settings, V, U, numbers, eta, gain, size)
    return len(X)


@kernel
def learn_sparse(
    values: FloatArray,
    columns: IntArray,
    starts: IntArray,
    order: IntArray,
    candidates: BoolArray,
    weights: FloatArray,
    settings: tuple[bool, float, float, bool, bool],
    constant: float,
    V: FloatArray,
    U: FloatArray,
    numbers: FloatArray,
    counts: IntArray,
    possible: BoolArray,
    predicted: IntArray,
) -> int:
    """Like `learn_dense`, for CSR rows without repeated columns; V and U are (d + 1, m)."""
    n, d = len(starts) - 1, len(V) - 1
    averaging = settings[4]
    scores, moved = np.empty(V.shape[1]), np.empty(V.shape[1] + 1, dtype=np.int64)
    mean = np.empty(V.shape if averaging and len(predicted) else (0, 0))
    for place in range(n):
        i = order[place] if len(order) else place
        length = 0.0
        for spot in range(starts[i], starts[i + 1]):
            length += values[spot] * values[spot]
        if not length <= LARGEST_FEATURE * LARGEST_FEATURE:
            return place
        if len(mean):
            mean_weights(V, U, numbers[MASS], counts[ROUNDS], mean)
            score_sparse(mean, 1.0, values, columns, starts, i, constant, scores)
            predicted[place] = best_possible(scores, possible)
        score_sparse(V, numbers[SCALE], values, columns, starts, i, constant, scores)
        if len(predicted) and not len(mean):
            predicted[place] = best_possible(scores, possible)
        weight = weights[i] if len(weights) else 1.0
        if weight == 0.0:
            continue
        eta, raised, gain = begin_round(scores, candidates, i, weight, settings, V, U, numbers, counts, possible, moved)
        for turn in range(raised + 1 if eta > 0.0 else 0):
            k = moved[turn]
            step = (eta / raised if turn < raised else -eta) / numbers[SCALE]
            for spot in range(starts[i], starts[i + 1]):
                V[columns[spot], k] += step * values[spot]
            V[d, k] += step * constant
            if averaging:
                late = step * numbers[MASS]
                for spot in range(starts[i], starts[i + 1]):
                    U[columns[spot], k] += late * values[spot]
                U[d, k] += late * constant
        size = (1.0 / raised + 1.0) * (length + constant * constant)
        end_round(settings, V, U, numbers, eta, gain, size)
    return n
