"""Compiled loops of the large-margin learners: the loss of every row, given the rows' scores.

Scores come from a matrix product made in blocks that stay in the second-level cache; what is left, a handful of
comparisons for each row and class, would cost NumPy ten passes over (n, m). One pass here finds the label, its
rivals, the loss, its derivative and the dual value, and marks the rows that carry a loss: the gradient is a
product over those rows alone. The rules are those of `plcore.kernels.compiled`, but for its second: these numbers are
floats. Plain twins are in `tests/plcore/kernels/test_margin.py`.
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def best_candidates(scores: FloatArray, candidates: BoolArray, labels: IntArray) -> None:
    """labels[i] = the candidate of row i with the highest score, the first of them on ties."""
    n, m = scores.shape
    for i in range(n):
        best = -1
        for k in range(m):
            if candidates[i, k] and (best < 0 or scores[i, k] > scores[i, best]):
                best = k
        labels[i] = best


@kernel
def hard_rows(
    scores: FloatArray,
    candidates: BoolArray,
    labels: IntArray,
    weights: FloatArray,
    all_others: bool,
    slope: FloatArray,
    active: BoolArray,
) -> tuple[float, float]:
    """The hinge of each row against its highest rival, and a subgradient of it.

    Rivals of labels[i] are the classes outside of the candidates, or, with `all_others`, every other class.
    Fills slope (n, m) = derivative of weights[i] * hinge by the scores, and active (n,) = hinge > 0.
    Returns the weighted sum of the hinges and the weight of the active rows.
    """
    n, m = scores.shape
    loss, weight = 0.0, 0.0
    for i in range(n):
        y, rival = labels[i], -1
        for k in range(m):
            slope[i, k] = 0.0
            free = k != y if all_others else not candidates[i, k]
            if free and (rival < 0 or scores[i, k] > scores[i, rival]):
                rival = k
        active[i] = False
        if rival < 0:
            continue
        excess = 1.0 - (scores[i, y] - scores[i, rival])
        if excess > 0.0:
            active[i] = True
            loss += weights[i] * excess
            weight += weights[i]
            slope[i, y] = -weights[i]
            slope[i, rival] = weights[i]
    return loss, weight


@kernel
def smooth_rows(
    scores: FloatArray,
    candidates: BoolArray,
    labels: IntArray,
    weights: FloatArray,
    all_others: bool,
    mu: float,
    prior: FloatArray,
    slope: FloatArray,
    active: BoolArray,
    store: FloatArray,
) -> tuple[float, float, float]:
    """The smoothed hinge of each row: max over a in the simplex of a.u - mu/2 |a - prior|^2, prior 0 if absent.

    u has a 0 (no loss, entry m of `prior` and `store`) and 1 - s_y + s_k for each rival k. The maximiser is the
    projection of prior + u / mu on the simplex; it is the derivative by u and a feasible point of the dual.
    prior, store : (n, m + 1), or no rows for "none"; the maximiser goes to `store`.
    Returns weighted sums of the smoothed loss, of the hinge, and of sum_k a_k, the dual's linear part.
    """
    n, m = scores.shape
    has_prior, has_store = prior.shape[0] > 0, store.shape[0] > 0
    point = np.empty(m + 1)
    chosen = np.empty(m + 1, dtype=np.int64)
    smooth, hinge, linear = 0.0, 0.0, 0.0
    for i in range(n):
        y = labels[i]
        base = 1.0 - scores[i, y]
        top_loss = 0.0
        point[m] = prior[i, m] if has_prior else 0.0
        top = point[m]
        for k in range(m):
            slope[i, k] = 0.0
            free = k != y if all_others else not candidates[i, k]
            if not free:
                point[k] = -np.inf
                continue
            u = base + scores[i, k]
            if u > top_loss:
                top_loss = u
            value = u / mu
            if has_prior:
                value += prior[i, k]
            point[k] = value
            if value > top:
                top = value
        hinge += weights[i] * top_loss
        # Only entries within 1 of the largest can be positive after the projection.
        count, total = 0, 0.0
        for k in range(m + 1):
            if point[k] > top - 1.0:
                chosen[count] = k
                count += 1
                total += point[k]
        shift = (total - 1.0) / count
        while True:  # Michelot 1986: drop what falls below the shift until nothing does
            kept, total = 0, 0.0
            for c in range(count):
                if point[chosen[c]] > shift:
                    chosen[kept] = chosen[c]
                    kept += 1
                    total += point[chosen[kept - 1]]
            if kept == count:
                break
            count = kept
            shift = (total - 1.0) / count
        if has_store:
            for k in range(m + 1):
                store[i, k] = 0.0
        linear_row, value_row, distance = 0.0, 0.0, 0.0
        if has_prior:
            for k in range(m + 1):
                distance += prior[i, k] * prior[i, k]
        for c in range(count):
            k = chosen[c]
            a = point[k] - shift
            if has_store:
                store[i, k] = a
            before = prior[i, k] if has_prior else 0.0
            distance += (a - before) * (a - before) - before * before
            if k < m:
                linear_row += a
                value_row += a * (base + scores[i, k])
                slope[i, k] = weights[i] * a
        active[i] = linear_row > 0.0
        slope[i, y] = -weights[i] * linear_row
        smooth += weights[i] * (value_row - 0.5 * mu * distance)
        linear += weights[i] * linear_row
    return smooth, hinge, linear


@kernel
def simplex_quadratic(
    hessian: FloatArray, linear: FloatArray, point: FloatArray, slack: FloatArray, tol: float, max_steps: int
) -> int:
    """Ascend v'a - a'Ha/2 over a >= 0 with its sum kept, by pairs of highest gain (SMO); in place.

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
        for k in range(t):  # the partner with the largest gain of the step to the end of the segment
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


@kernel
def move_surplus(costs: FloatArray, room: AnyArray, labels: IntArray) -> None:
    """Make `labels`, the row argmins of `costs`, keep the capacities at the least total cost, in place.

    costs : (n, m)      room : (m,) int64, sums to n      labels : (n,)
    Shortest augmenting paths over the m classes: moving some row from class p to q costs at least
    gain[p, q] = min over the rows of p of costs[i, q] - costs[i, p]. Row argmins admit no negative cycle, and
    shortest paths keep it so; Bellman-Ford finds them among the m nodes.
    """
    n, m = costs.shape
    count = np.zeros(m, dtype=np.int64)
    for i in range(n):
        count[labels[i]] += 1
    # The rows of each class as lists: first[p], following[i], preceding[i].
    first = np.full(m, -1, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    preceding = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        following[i] = first[p]
        if first[p] >= 0:
            preceding[first[p]] = i
        first[p] = i
    gain = np.full((m, m), np.inf)
    mover = np.full((m, m), -1, dtype=np.int64)
    stale = np.ones(m, dtype=np.bool_)
    distance = np.empty(m)
    parent = np.empty(m, dtype=np.int64)
    while True:
        surplus = 0
        for p in range(m):
            if count[p] > room[p]:
                surplus += 1
            if stale[p]:
                stale[p] = False
                for q in range(m):
                    gain[p, q] = np.inf
                i = first[p]
                while i >= 0:
                    for q in range(m):
                        cost = costs[i, q] - costs[i, p]
                        if q != p and cost < gain[p, q]:
                            gain[p, q] = cost
                            mover[p, q] = i
                    i = following[i]
        if surplus == 0:
            return
        for p in range(m):
            distance[p] = 0.0 if count[p] > room[p] else np.inf
            parent[p] = -1
        for _ in range(m):
            changed = False
            for p in range(m):
                if distance[p] < np.inf:
                    for q in range(m):
                        reached = distance[p] + gain[p, q]
                        # A margin against rounding, so that a cycle of cost 0 never looks negative.
                        if reached < distance[q] - 1e-12 * (1.0 + abs(reached)):
                            distance[q] = reached
                            parent[q] = p
                            changed = True
            if not changed:
                break
        target = -1
        for p in range(m):
            if count[p] < room[p] and (target < 0 or distance[p] < distance[target]):
                target = p
        q = target
        while parent[q] >= 0:
            p = parent[q]
            i = mover[p, q]
            if preceding[i] >= 0:
                following[preceding[i]] = following[i]
            else:
                first[p] = following[i]
            if following[i] >= 0:
                preceding[following[i]] = preceding[i]
            preceding[i] = -1
            following[i] = first[q]
            if first[q] >= 0:
                preceding[first[q]] = i
            first[q] = i
            labels[i] = q
            stale[p] = True
            stale[q] = True
            q = p
        count[q] -= 1
        count[target] += 1
