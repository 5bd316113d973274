"""Compiled loops for MW and APL effects: which answers could change h, NL or APL of a target.

`plcore.kernels.compiled` explains why these loops are fast and the rules they follow. The formulas are those of Prop.
4, 5, 6 of Nguyen, Destercke and Masson (AAAI 2017), rearranged so that one pass over the labels collects a few maxima
inside and outside the answers of a neighbour, and a second pass compares.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.kernels.compiled import kernel

LANES = 64  # targets handled side by side; every cell below is a run of LANES numbers, one for each
NARROW = 2**29  # weight sums below this fit int32 lanes, which run twice as fast as int64 lanes
WIDE = 2**60
SETTLED, DECIDED, SEVERAL = 1, 2, 4
GUARD = 1024  # unused numbers around each scratch array: the compiler's overlap checks read slightly beyond it

# Cells of each label, of each neighbour, and the running maxima of one neighbour.
SMAX, SMIN, POSSIBLE_SMAX, OPEN_SMIN = 0, LANES, 2 * LANES, 3 * LANES
LABEL = 4 * LANES
WEIGHT, PRECISE_WEIGHT, MANY = 0, LANES, 2 * LANES
VOTER = 3 * LANES
IN_SMIN, IN_SMIN_2, OUT_SMIN = 0, LANES, 2 * LANES
IN_SMAX, IN_SMAX_2, OUT_SMAX, OUT_SMAX_2 = 3 * LANES, 4 * LANES, 5 * LANES, 6 * LANES
LEAST_IN_SMAX, LOSES, JOINS = 7 * LANES, 8 * LANES, 9 * LANES
TOP_SMAX, TOP_SMAX_2, TOP_SMIN = 10 * LANES, 11 * LANES, 12 * LANES
LEFT, NECESSARY, DIFFER = 13 * LANES, 14 * LANES, 15 * LANES
BEST = 16 * LANES


@kernel
def larger(a: int | np.int64, b: int | np.int64) -> int | np.int64:
    """max(a, b), which Numba would widen to int64."""
    return a if a > b else b


@kernel
def smaller(a: int | np.int64, b: int | np.int64) -> int | np.int64:
    """min(a, b), which Numba would widen to int64."""
    return a if a < b else b


@kernel
def aligned(n_cells: int, like: IntArray) -> IntArray:
    """Return zeros of the type of `like`, aligned to a cache line, so that no vector crosses two."""
    cells = np.zeros(n_cells + 2 * GUARD + 64, dtype=like.dtype)
    begin = GUARD + ((-cells.ctypes.data) & 63) // cells.itemsize
    return cells[begin : begin + n_cells]


@kernel
def find_effects(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    masks: IntArray,
    n_classes: int,
    incumbent: bool,
    like: IntArray,
    sure: BoolArray,
    approximate: BoolArray,
    state: IntArray,
) -> None:
    """Find, for B targets and their K neighbours each, which neighbours could change something by one answer.

    targets int64 (B,), neighbors int32 (T, K), weights int64 (T, K), masks int64 (n, words). like: an empty
    array of the type of the lanes, int32 if no weight sum passes NARROW, else int64. Fills, for the b-th target,
    sure bool (B, K) : an answer can change h (Prop. 5; incumbent: unseat a winner) or NL (Prop. 6)
    approximate bool (B, K) : an answer can change APL (Prop. 4)
    (both may be empty arrays: only the state is wanted)
    state int64 (B,) : SETTLED (NL not empty and APL = NL) + DECIDED (NL not empty) + SEVERAL (|APL| > 1)
    """
    n_targets, n_voters, n_words = len(targets), neighbors.shape[1], 2 * masks.shape[1]
    number_of = like.dtype.type
    zero, one = number_of(0), number_of(1)
    anything = number_of(NARROW if like.itemsize == 4 else WIDE)
    nothing = number_of(-anything)
    label = aligned(n_classes * LABEL, like)
    voter = aligned(n_voters * VOTER, like)
    answers = aligned(n_voters * n_words * LANES, like)
    best = aligned(BEST, like)
    for start in range(0, n_targets, LANES):
        lanes = min(LANES, n_targets - start)
        # 1) Side by side: the answers and weights of each neighbour. Lanes without a target have no answers.
        if lanes < LANES:
            voter[:] = 0
            answers[:] = 0
        for lane in range(lanes):
            target = targets[start + lane]
            for slot in range(n_voters):
                row = neighbors[target, slot]
                at = slot * VOTER + lane
                voter[at + WEIGHT] = weights[target, slot]
                for word in range(n_words):
                    half = (masks[row, word >> 1] >> (32 * (word & 1))) & 0xFFFFFFFF
                    answers[(slot * n_words + word) * LANES + lane] = number_of(half)
        for slot in range(n_voters):
            at = slot * VOTER
            for lane in range(LANES):
                voter[at + MANY + lane] = 0
                voter[at + PRECISE_WEIGHT + lane] = 0
            for word in range(n_words):
                of = (slot * n_words + word) * LANES
                mine = answers[of : of + LANES]
                for lane in range(LANES):
                    mask = mine[lane]
                    seen = voter[at + PRECISE_WEIGHT + lane]
                    two = (number_of(mask & number_of(mask - 1)) != 0) | ((seen != 0) & (mask != 0))
                    voter[at + MANY + lane] |= one if two else zero
                    voter[at + PRECISE_WEIGHT + lane] |= one if mask != 0 else zero
            for lane in range(LANES):
                precise = (voter[at + PRECISE_WEIGHT + lane] != 0) & (voter[at + MANY + lane] == 0)
                voter[at + PRECISE_WEIGHT + lane] = voter[at + WEIGHT + lane] if precise else zero
        # 2) S^max, S^min and their largest values.
        for lane in range(LANES):
            best[TOP_SMAX + lane] = nothing
            best[TOP_SMAX_2 + lane] = nothing
            best[TOP_SMIN + lane] = nothing
            best[LEFT + lane] = 0
            best[NECESSARY + lane] = 0
            best[DIFFER + lane] = 0
        for number in range(n_classes):
            at = number * LABEL
            word, bit = number >> 5, number_of(1 << (number & 31))
            for lane in range(LANES):
                label[at + SMAX + lane] = 0
                label[at + SMIN + lane] = 0
                label[at + OPEN_SMIN + lane] = 0
            for slot in range(n_voters):
                of, by = (slot * n_words + word) * LANES, slot * VOTER
                mine = answers[of : of + LANES]
                for lane in range(LANES):
                    inside = number_of(mine[lane] & bit) != 0
                    label[at + SMAX + lane] += voter[by + WEIGHT + lane] if inside else zero
                    label[at + SMIN + lane] += voter[by + PRECISE_WEIGHT + lane] if inside else zero
                    label[at + OPEN_SMIN + lane] |= one if inside else zero
            for lane in range(LANES):
                seen = label[at + OPEN_SMIN + lane] != 0
                smax = label[at + SMAX + lane] if seen else nothing
                smin = label[at + SMIN + lane] if seen else nothing
                label[at + SMAX + lane] = smax
                label[at + SMIN + lane] = smin
                first = best[TOP_SMAX + lane]
                best[TOP_SMAX_2 + lane] = larger(best[TOP_SMAX_2 + lane], smaller(first, smax))
                best[TOP_SMAX + lane] = larger(first, smax)
                best[TOP_SMIN + lane] = larger(best[TOP_SMIN + lane], smin)
        # 3) NL (Prop. 1) and APL (Def. 2). Labels outside them are moved out of reach of the tests below.
        for number in range(n_classes):
            at = number * LABEL
            for lane in range(LANES):
                smax, smin = label[at + SMAX + lane], label[at + SMIN + lane]
                rival = best[TOP_SMAX_2 + lane] if smax == best[TOP_SMAX + lane] else best[TOP_SMAX + lane]
                seen = smax > nothing
                necessary = seen & (smin >= rival)
                possible = seen & (smax >= best[TOP_SMIN + lane])
                label[at + POSSIBLE_SMAX + lane] = smax if possible else anything
                label[at + OPEN_SMIN + lane] = nothing if necessary else smin
                best[LEFT + lane] += one if possible else zero
                best[NECESSARY + lane] |= one if necessary else zero
                best[DIFFER + lane] |= one if possible != necessary else zero
        for lane in range(lanes):
            decided = best[NECESSARY + lane] != 0
            state[start + lane] = (
                (SETTLED if decided and best[DIFFER + lane] == 0 else 0)
                + (DECIDED if decided else 0)
                + (SEVERAL if best[LEFT + lane] > 1 else 0)
            )
        # 4) Each neighbour's answers against the maxima inside and outside them, if requested.
        for slot in range(n_voters if len(sure) else 0):
            by = slot * VOTER
            mine = answers[slot * n_words * LANES : (slot + 1) * n_words * LANES]
            for lane in range(LANES):
                best[IN_SMIN + lane] = nothing
                best[IN_SMIN_2 + lane] = nothing
                best[OUT_SMIN + lane] = nothing
                best[IN_SMAX + lane] = nothing
                best[IN_SMAX_2 + lane] = nothing
                best[OUT_SMAX + lane] = nothing
                best[OUT_SMAX_2 + lane] = nothing
                best[LEAST_IN_SMAX + lane] = anything
                best[LOSES + lane] = 0
                best[JOINS + lane] = 0
            for number in range(n_classes):
                at = number * LABEL
                of, bit = (number >> 5) * LANES, number_of(1 << (number & 31))
                for lane in range(LANES):
                    inside = number_of(mine[of + lane] & bit) != 0
                    smin, smax = label[at + SMIN + lane], label[at + SMAX + lane]
                    smin_in = smin if inside else nothing
                    smax_in = smax if inside else nothing
                    smax_out = nothing if inside else smax
                    smin_out = nothing if inside else smin
                    least_in = smax if inside else anything
                    first = best[IN_SMIN + lane]
                    best[IN_SMIN_2 + lane] = larger(best[IN_SMIN_2 + lane], smaller(first, smin_in))
                    best[IN_SMIN + lane] = larger(first, smin_in)
                    best[OUT_SMIN + lane] = larger(best[OUT_SMIN + lane], smin_out)
                    first = best[IN_SMAX + lane]
                    best[IN_SMAX_2 + lane] = larger(best[IN_SMAX_2 + lane], smaller(first, smax_in))
                    best[IN_SMAX + lane] = larger(first, smax_in)
                    first = best[OUT_SMAX + lane]
                    best[OUT_SMAX_2 + lane] = larger(best[OUT_SMAX_2 + lane], smaller(first, smax_out))
                    best[OUT_SMAX + lane] = larger(first, smax_out)
                    best[LEAST_IN_SMAX + lane] = smaller(best[LEAST_IN_SMAX + lane], least_in)
            for number in range(n_classes):
                at = number * LABEL
                of, bit = (number >> 5) * LANES, number_of(1 << (number & 31))
                for lane in range(LANES):
                    inside = number_of(mine[of + lane] & bit) != 0
                    weight = voter[by + WEIGHT + lane]
                    own = weight if inside else zero
                    smin, smax = label[at + SMIN + lane], label[at + SMAX + lane]
                    # Prop. 4: D2 for labels inside, D1 for labels outside.
                    top, second = best[IN_SMIN + lane], best[IN_SMIN_2 + lane]
                    d1 = number_of(top + weight)
                    d2 = larger(number_of((second if smin == top else top) + weight), best[OUT_SMIN + lane])
                    left = number_of(label[at + POSSIBLE_SMAX + lane] - own)
                    best[LOSES + lane] |= one if left < (d2 if inside else d1) else zero
                    # Prop. 6: C2 for labels inside, C1 for labels outside. The answer a takes the weight from all other
                    # labels inside; the best a for an outside label has the least S^max.
                    top, second = best[IN_SMAX + lane], best[IN_SMAX_2 + lane]
                    top_out, second_out = best[OUT_SMAX + lane], best[OUT_SMAX_2 + lane]
                    c2 = larger(number_of((second if smax == top else top) - weight), top_out)
                    floor = larger(number_of(top - weight), best[LEAST_IN_SMAX + lane])
                    c1 = larger(second_out if smax == top_out else top_out, floor)
                    grown = number_of(label[at + OPEN_SMIN + lane] + own)
                    best[JOINS + lane] |= one if grown >= (c2 if inside else c1) else zero
            for lane in range(lanes):
                weight, top = voter[by + WEIGHT + lane], best[TOP_SMAX + lane]
                asked = voter[by + MANY + lane] != 0 and weight > 0 and best[LEFT + lane] > 1
                # Prop. 5. The second largest equals the largest if several labels win.
                left, rival = top - weight, best[TOP_SMAX_2 + lane]
                unseats = left < rival if incumbent else left <= rival
                wins = best[IN_SMAX + lane] == top and unseats
                sure[start + lane, slot] = asked and (wins or best[JOINS + lane] != 0)
                approximate[start + lane, slot] = asked and best[LOSES + lane] != 0


@kernel
def find_imprecise(targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: IntArray, sure: BoolArray) -> None:
    """MW: sure bool (B, K) = the neighbour has weight and at least two candidates."""
    for place in range(len(targets)):
        target = targets[place]
        for slot in range(neighbors.shape[1]):
            row, words = neighbors[target, slot], 0
            many = False
            for word in range(masks.shape[1]):
                mask = masks[row, word]
                many |= (mask & (mask - 1)) != 0
                words += mask != 0
            sure[place, slot] = (many or words > 1) and weights[target, slot] > 0
