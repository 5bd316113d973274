"""Compiled loops over candidate sets stored as lists or bits: see `plcore.arrays.candidate_sets`.

A set is `size` labels in the words from `start` on: the labels themselves, ascending, or, if that is shorter, one bit
per class. A target sees few of many classes: here its own labels are numbered, ascending, so that the loops over label
sets and effects (`.effects`, `.sets`, `.possible`) need not handle the others.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def read_set(words: AnyArray, start: int, size: int, n_classes: int, labels: AnyArray) -> None:
    """Write the labels of one set, ascending, into labels int32, which has room for all of them.

    words int32, size: number of labels; stored as bits of ceil(n_classes / 32) words if that is shorter than a list.
    """
    n_words = (n_classes + 31) >> 5
    if size <= n_words:
        for place in range(size):
            labels[place] = words[start + place]
        return
    found = 0
    for place in range(n_words):
        word = np.int64(words[start + place])
        for bit in range(32):
            if (word >> bit) & 1:
                labels[found] = (place << 5) + bit
                found += 1


@kernel
def collect_labels(
    target: int,
    neighbors: AnyArray,
    words: AnyArray,
    start: IntArray,
    size: AnyArray,
    n_classes: int,
    seen: AnyArray,
    own: AnyArray,
    names: AnyArray,
) -> int:
    """Write the labels of a target's neighbours, ascending, into names int32; returns how many.

    seen uint64 (ceil(n_classes / 64),), zeros before and after; own int32 (n_classes,) is scratch.
    """
    for slot in range(neighbors.shape[1]):
        row = neighbors[target, slot]
        read_set(words, start[row], size[row], n_classes, own)
        for number in range(size[row]):
            label = own[number]
            seen[label >> 6] |= np.uint64(1) << np.uint64(label & 63)
    found = 0
    for place in range(len(seen)):
        word, label = seen[place], place << 6
        while word:
            if word & np.uint64(1):
                names[found] = label
                found += 1
            word >>= np.uint64(1)
            label += 1
        seen[place] = 0
    return found


@kernel
def count_labels(
    targets: IntArray,
    neighbors: AnyArray,
    words: AnyArray,
    start: IntArray,
    size: AnyArray,
    n_classes: int,
    counts: IntArray,
) -> None:
    """Count the labels that the neighbours of each target have, int64 (B,)."""
    seen = np.zeros((n_classes + 63) >> 6, dtype=np.uint64)
    own, names = np.empty(n_classes, dtype=np.int32), np.empty(n_classes, dtype=np.int32)
    for place in range(len(targets)):
        counts[place] = collect_labels(targets[place], neighbors, words, start, size, n_classes, seen, own, names)


@kernel
def number_labels(
    targets: IntArray,
    neighbors: AnyArray,
    words: AnyArray,
    start: IntArray,
    size: AnyArray,
    n_classes: int,
    masks: IntArray,
    names: AnyArray,
) -> None:
    """Write the neighbours' sets in each target's own numbering of their labels, ascending.

    masks int64 (B * K, own words), zeros before: the set of neighbour `slot` of the b-th target in row b * K + slot
    names int32 (B, own labels): the label of each of the target's numbers, -1 beyond them, as before
    """
    n_voters = neighbors.shape[1]
    seen = np.zeros((n_classes + 63) >> 6, dtype=np.uint64)
    own, number_of = np.empty(n_classes, dtype=np.int32), np.empty(n_classes, dtype=np.int32)
    for place in range(len(targets)):
        target = targets[place]
        found = collect_labels(target, neighbors, words, start, size, n_classes, seen, own, names[place])
        for number in range(found):
            number_of[names[place, number]] = number
        for slot in range(n_voters):
            row = neighbors[target, slot]
            read_set(words, start[row], size[row], n_classes, own)
            for each in range(size[row]):
                number = number_of[own[each]]
                masks[place * n_voters + slot, number >> 6] |= np.int64(1) << np.int64(number & 63)


@kernel
def add_listed_votes(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    words: AnyArray,
    start: IntArray,
    size: AnyArray,
    n_classes: int,
    votes: IntArray,
) -> None:
    """Add the votes of Eq. 1 about some targets to votes int64 (B, m)."""
    own = np.empty(n_classes, dtype=np.int32)
    for place in range(len(targets)):
        target = targets[place]
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            read_set(words, start[row], size[row], n_classes, own)
            for number in range(size[row]):
                votes[place, own[number]] += weight


@kernel
def find_most_listed(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    words: AnyArray,
    start: IntArray,
    size: AnyArray,
    n_classes: int,
    best: IntArray,
) -> None:
    """Find the label with the most votes of Eq. 1 of each target int64 (B,), the lowest on ties; -1 without a vote."""
    own, total = np.empty(n_classes, dtype=np.int32), np.zeros(n_classes, dtype=np.int64)
    for place in range(len(targets)):
        target = targets[place]
        most, first = 0, -1
        for turn in range(2):  # the votes, then zeros again
            for slot in range(neighbors.shape[1]):
                row, weight = neighbors[target, slot], weights[target, slot]
                read_set(words, start[row], size[row], n_classes, own)
                for number in range(size[row]):
                    label = own[number]
                    if turn:
                        total[label] = 0
                        continue
                    total[label] += weight
                    votes = total[label]
                    if votes > most or (votes == most and votes > 0 and label < first):
                        most, first = votes, label
        best[place] = first


# Compiled loops of the neighbour search.
#
# Why it is fast: almost all pairs of rows are far apart, and one single-precision matrix product shows that for a block
# of pairs at 32 multiplications per cycle. The loops here run over such a block while it is in the cache, 64 pairs at a
# time, and ask only "could any of these be nearer than the worst neighbour so far?". The product has a bound on its
# rounding error, so "no" is proof; the few that could be are measured in float64 and inserted in place.

STRIDE = 64  # pairs tested at once


@kernel
def _mark(products: AnyArray, heights: AnyArray, limit: np.float32, marks: BoolArray) -> None:
    """Mark the strides in which some height - 2 product <= limit; NaN counts as below."""
    for stride in range(len(marks)):
        part = products[stride * STRIDE : (stride + 1) * STRIDE]
        tall = heights[stride * STRIDE : (stride + 1) * STRIDE]
        below = 0
        for place in range(len(part)):
            below += not (tall[place] - part[place] - part[place] > limit)
        marks[stride] = below > 0


@kernel
def _offer(squared: float, row: int, best: FloatArray, who: IntArray) -> None:
    """Insert (squared, row) in the ascending lists best, who (k,), unless it is worse than all of them."""
    place = len(best) - 1
    if squared > best[place] or (squared == best[place] and row > who[place]):
        return
    while place > 0 and (squared < best[place - 1] or (squared == best[place - 1] and row < who[place - 1])):
        best[place], who[place] = best[place - 1], who[place - 1]
        place -= 1
    best[place], who[place] = squared, row


@kernel
def _squared_dense(query: FloatArray, row: FloatArray) -> float:
    total = 0.0
    for feature in range(len(query)):
        difference = query[feature] - row[feature]
        total += difference * difference
    return total


@kernel
def _squared_sparse(query: FloatArray, query_features: AnyArray, row: FloatArray, row_features: AnyArray) -> float:
    """Like for dense rows: adding the square of 0 - 0 changes no bit."""
    total, a, b = 0.0, 0, 0
    while a < len(query) or b < len(row):
        if b == len(row) or (a < len(query) and query_features[a] < row_features[b]):
            difference = query[a]
            a += 1
        elif a == len(query) or row_features[b] < query_features[a]:
            difference = row[b]
            b += 1
        else:
            difference = query[a] - row[b]
            a += 1
            b += 1
        total += difference * difference
    return total


@kernel
def scan_dense(
    products: AnyArray,
    heights: AnyArray,
    queries: IntArray,
    rows: IntArray,
    places: IntArray,
    Q: FloatArray,
    X: FloatArray,
    own: IntArray,
    depths: FloatArray,
    unit: float,
    best: FloatArray,
    who: IntArray,
) -> None:
    """Offer a block of rows to a block of queries.

    products, heights : float32 (b, c), (c,)      queries (b,) rows of Q, own, depths, best, who
    rows, places (c,) : the numbers of the rows, which break ties, and their positions in X
    best, who : (q, k) ascending, changed in place
    A row can belong to the neighbours of a query only if height - 2 product <= unit * best - depth.
    """
    marks = np.empty((len(rows) + STRIDE - 1) // STRIDE, dtype=np.bool_)
    for i in range(len(queries)):
        query = queries[i]
        limit = np.float32(unit * best[query, -1] - depths[query])
        _mark(products[i], heights, limit, marks)
        for stride in range(len(marks)):
            if not marks[stride]:
                continue
            for j in range(stride * STRIDE, min((stride + 1) * STRIDE, len(rows))):
                row = rows[j]
                if heights[j] - products[i, j] - products[i, j] > limit or row == own[query]:
                    continue
                _offer(_squared_dense(Q[query], X[places[j]]), row, best[query], who[query])
                limit = np.float32(unit * best[query, -1] - depths[query])


@kernel
def scan_sparse(
    products: AnyArray,
    heights: AnyArray,
    queries: IntArray,
    rows: IntArray,
    q_values: FloatArray,
    q_features: AnyArray,
    q_starts: AnyArray,
    x_values: FloatArray,
    x_features: AnyArray,
    x_starts: AnyArray,
    own: IntArray,
    depths: FloatArray,
    unit: float,
    best: FloatArray,
    who: IntArray,
) -> None:
    """`scan_dense` for queries and rows given as CSR arrays, indices sorted."""
    marks = np.empty((len(rows) + STRIDE - 1) // STRIDE, dtype=np.bool_)
    for i in range(len(queries)):
        query = queries[i]
        mine = slice(q_starts[query], q_starts[query + 1])
        limit = np.float32(unit * best[query, -1] - depths[query])
        _mark(products[i], heights, limit, marks)
        for stride in range(len(marks)):
            if not marks[stride]:
                continue
            for j in range(stride * STRIDE, min((stride + 1) * STRIDE, len(rows))):
                row = rows[j]
                if heights[j] - products[i, j] - products[i, j] > limit or row == own[query]:
                    continue
                its = slice(x_starts[row], x_starts[row + 1])
                squared = _squared_sparse(q_values[mine], q_features[mine], x_values[its], x_features[its])
                _offer(squared, row, best[query], who[query])
                limit = np.float32(unit * best[query, -1] - depths[query])


@kernel
def offer_proposed(
    Q: FloatArray, X: FloatArray, proposed: IntArray, own: IntArray, best: FloatArray, who: IntArray
) -> None:
    """Measure the proposed rows (q, p) of X for each query of Q and keep the best."""
    for query in range(len(Q)):
        for row in proposed[query]:
            if row != own[query]:
                _offer(_squared_dense(Q[query], X[row]), row, best[query], who[query])
