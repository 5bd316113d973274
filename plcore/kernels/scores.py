"""Compiled loops that add up scores, maintain the order of questions and pick batches. See
`plcore.kernels.compiled`."""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel

# The integer for the whole weight of one target. 2**40 represents shares to 1e-12 and leaves room in int64 for eight
# million targets; sums of these integers do not depend on their order.
SHARE_UNIT = 2**40
FAN = 64  # a block of the maxima has this many members


@kernel
def share(weight: int, total: int) -> int:
    """`rint(weight * 2**40 / total)`, 0 if there is no weight."""
    return int(np.rint(weight * float(SHARE_UNIT) / max(total, 1)))


@kernel
def add_scores(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    changing: BoolArray,
    counted: BoolArray,
    scores: IntArray,
    touched: IntArray,
) -> int:
    """Count the shares of the changing slots bool (B, K) of B targets in scores int64 (n,), by differences.

    counted bool (T, K) records what is in the scores. touched int64: filled with the rows whose score changed, each at
    least once, as far as there is room. Returns how many were written.
    """
    n_voters, found = neighbors.shape[1], 0
    for place in range(len(targets)):
        target = targets[place]
        total = 0
        for slot in range(n_voters):
            total += weights[target, slot]
        for slot in range(n_voters):
            now = changing[place, slot]
            if now != counted[target, slot]:
                counted[target, slot] = now
                row, part = neighbors[target, slot], share(weights[target, slot], total)
                scores[row] += part if now else -part
                if found < len(touched):
                    touched[found] = row
                    found += 1
    return found


@kernel
def add_shares(targets: IntArray, neighbors: AnyArray, weights: IntArray, scores: IntArray) -> None:
    """Add the shares of all neighbours of B targets to scores int64 (n,): MW before precise rows are set to 0."""
    n_voters = neighbors.shape[1]
    for target in targets:
        total = 0
        for slot in range(n_voters):
            total += weights[target, slot]
        for slot in range(n_voters):
            scores[neighbors[target, slot]] += share(weights[target, slot], total)


@kernel
def build_maxima(keys: IntArray, begin: IntArray) -> None:
    """Fill the upper levels of blocked maxima; level l is keys[begin[l] : begin[l + 1]], level 0 is given."""
    for level in range(1, len(begin) - 1):
        for block in range(begin[level + 1] - begin[level]):
            first = begin[level - 1] + block * FAN
            most = keys[first]
            for member in range(first + 1, min(first + FAN, begin[level])):
                most = max(most, keys[member])
            keys[begin[level] + block] = most


@kernel
def change_maxima(keys: IntArray, begin: IntArray, places: IntArray, values: IntArray) -> None:
    """Set level 0 at places to values and bring the levels above up to date."""
    for number in range(len(places)):
        place, value = places[number], values[number]
        for level in range(len(begin) - 1):
            old = keys[begin[level] + place]
            if old == value:
                break
            keys[begin[level] + place] = value
            if level + 2 >= len(begin):
                break
            above = keys[begin[level + 1] + place // FAN]
            if value < above and old < above:
                break
            if value < above:  # the largest of its block decreased
                first = begin[level] + place // FAN * FAN
                for member in range(first, min(first + FAN, begin[level + 1])):
                    value = max(value, keys[member])
            place //= FAN


@kernel
def find_best(keys: IntArray, begin: IntArray, row_at: IntArray, allowed: BoolArray, exclude: bool, floor: int) -> int:
    """Return the first place with the largest key above `floor` whose row is allowed (all if not exclude); -1 for
    none."""
    levels = len(begin) - 1
    at, end = np.zeros(levels, dtype=np.int64), np.zeros(levels, dtype=np.int64)
    level, best = levels - 1, -1
    end[level] = begin[levels] - begin[level]
    while level < levels:
        if at[level] >= end[level]:
            level += 1
            continue
        place = at[level]
        at[level] += 1
        key = keys[begin[level] + place]
        if key <= floor:
            continue
        if level:
            level -= 1
            at[level] = place * FAN
            end[level] = min(place * FAN + FAN, begin[level + 1] - begin[level])
        elif not exclude or allowed[row_at[place]]:
            best, floor = place, key
    return best


@kernel
def pick_batch(
    n_picks: int,
    claimed: IntArray,
    open_rows: BoolArray,
    tie_order: IntArray,
    start: IntArray,
    places: AnyArray,
    neighbors: AnyArray,
    weights: IntArray,
    counted: BoolArray,
    scores: IntArray,
    power: FloatArray,
) -> IntArray:
    """Up to n_picks open rows, greedily by damped score, then score, then tie_order.

    A target counts power[c] of its share where c of the rows in claimed int64 and of the rows picked so far
    count it. open_rows bool (n,) is changed: picked rows are closed.
    """
    n_voters = neighbors.shape[1]
    damped = scores.copy()
    claims = np.zeros(len(neighbors), dtype=np.int32)
    picks = np.empty(n_picks, dtype=np.int64)
    found = 0
    for turn in range(len(claimed) + n_picks):
        if turn < len(claimed):
            row = claimed[turn]
        else:
            row = -1
            for other in range(len(scores)):
                if open_rows[other] and (
                    row < 0
                    or damped[other] > damped[row]
                    or (
                        damped[other] == damped[row]
                        and (
                            scores[other] > scores[row]
                            or (scores[other] == scores[row] and tie_order[other] < tie_order[row])
                        )
                    )
                ):
                    row = other
            if row < 0:
                break
            open_rows[row] = False
            picks[found] = row
            found += 1
        for number in range(start[row], start[row + 1]):
            place = np.int64(places[number])
            target, slot = place // n_voters, place % n_voters
            if not counted[target, slot]:
                continue
            before = min(claims[target], len(power) - 1)
            after = min(claims[target] + 1, len(power) - 1)
            claims[target] += 1
            total = 0
            for voter in range(n_voters):
                total += weights[target, voter]
            for voter in range(n_voters):
                if counted[target, voter]:
                    part = share(weights[target, voter], total)
                    damped[neighbors[target, voter]] -= np.int64(part * power[before]) - np.int64(part * power[after])
    return picks[:found]


@kernel
def count_open(
    targets: IntArray, target_rows: IntArray, counts: BoolArray, initial: BoolArray, many: BoolArray, settled: BoolArray
) -> tuple[int, int]:
    """Count, for some targets, how many initially ambiguous ones are open, and how many counted ones are not settled.

    target_rows int64 (T,) or empty (all targets count, all were open); counts, initial, many bool (n,): rows
    whose targets count, rows ambiguous at first, rows ambiguous now. settled bool (T,).
    """
    still_open, undecided = 0, 0
    for target in targets:
        if settled[target]:
            continue
        row = target_rows[target] if len(target_rows) else -1
        still_open += row < 0 or (initial[row] and many[row])
        undecided += row < 0 or counts[row]
    return still_open, undecided


# Compiled loops over shares of labels, which run over every open row after each version of a model.


@kernel
def softmax_rows(scores: AnyArray, candidates: BoolArray) -> FloatArray:
    """Return (r, m) the softmax of scores (r, m) over the candidates bool (r, m) of each row, 0 outside; equal shares
    if the scores are useless: all -inf, or any inf or NaN.
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
        known = np.isfinite(total)
        whole = max(total, 1.0) if known else float(count)  # 0 without candidates, else at least 1 from the best
        for label in range(n_classes):  # not as an array: Numba would compile messages about shapes, for seconds
            if known:
                shares[row, label] /= whole
            else:
                shares[row, label] = 1.0 / whole if candidates[row, label] else 0.0
    return shares


@kernel
def softmax_margins(scores: AnyArray, candidates: BoolArray, rows: IntArray) -> FloatArray:
    """Return (r,) the `margins` of `softmax_rows` for these rows int64 (r,) of scores and candidates (n, m), in one
    pass."""
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
        elif count > 1 and np.isfinite(total):  # else the shares are equal, or there are none
            found[place] = (1.0 - np.exp(second - first)) / total
    return found


@kernel
def margins(shares: FloatArray) -> FloatArray:
    """Return (r,) the largest share of each row less the second largest."""
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
    """Return the largest row sum of |after - before|, both (r, m), among rows with weights (r,) above 0."""
    n_rows, n_classes = before.shape
    found = 0.0
    for row in range(n_rows):
        if weights[row] > 0.0:
            total = 0.0
            for label in range(n_classes):
                total += abs(after[row, label] - before[row, label])
            found = max(found, total)
    return found


# Compiled loop for the label sets of targets: h(t), NL and APL. See `plcore.kernels.compiled`.


@kernel
def find_sets(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    masks: IntArray,
    winners: BoolArray,
    necessary: BoolArray,
    possible: BoolArray,
) -> None:
    """Find h (Eq. 1), NL (Prop. 1) and APL (Def. 2) of B targets, each bool (B, m), filled with False before.

    targets int64 (B,), neighbors int32 (T, K), weights int64 (T, K), masks int64 (n, words).
    """
    n_classes = winners.shape[1]
    smin, smax = np.empty(n_classes, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    for place in range(len(targets)):
        target = targets[place]
        smin[:] = 0
        smax[:] = -1  # not seen
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            count, last = 0, 0
            for label in range(n_classes):
                if (masks[row, label >> 6] >> (label & 63)) & 1:
                    smax[label] = max(smax[label], 0) + weight
                    count += 1
                    last = label
            if count == 1:
                smin[last] += weight
        top, second, floor = -1, -1, -1
        for label in range(n_classes):
            if smax[label] >= 0:
                second = max(second, min(top, smax[label]))
                top = max(top, smax[label])
                floor = max(floor, smin[label])
        for label in range(n_classes):
            if smax[label] >= 0:
                rival = second if smax[label] == top else top
                winners[place, label] = smax[label] >= rival
                necessary[place, label] = smin[label] >= rival
                possible[place, label] = smax[label] >= floor
