"""Compiled loops over sparse rows by feature: products of a block, and an inverted index read from its rarest feature.

The list of the rows that have a feature (its postings) is long if the feature is common. Rare features have the larger
weights, and shorter lists: they tell more for each posting that is read.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel
from plcore.kernels.near import STRIDE, _offer, _squared_sparse

BLOCK_ROWS = 2**16  # rows whose sums stay in the second-level cache


@kernel
def multiply_sparse(
    values: AnyArray,
    features: AnyArray,
    starts: AnyArray,
    listed: AnyArray,
    rows: AnyArray,
    ends: AnyArray,
    products: AnyArray,
) -> None:
    """Write the products float32 (b, c) of CSR rows (b, d) and columns (d, c), both float32; columns as CSR, too."""
    for query in range(len(starts) - 1):
        found = products[query]
        found[:] = 0
        for place in range(starts[query], starts[query + 1]):
            value, feature = values[place], features[place]
            for posting in range(ends[feature], ends[feature + 1]):
                found[rows[posting]] += value * listed[posting]


@kernel
def count_postings(
    features: AnyArray,
    starts: AnyArray,
    searched: IntArray,
    places: AnyArray,
    n_blocks: int,
    counts: IntArray,
) -> None:
    """Add up the postings of each list in each block of rows: counts int64 (lists * n_blocks,).

    searched : ascending row numbers      places int32 (d,) : the list of each feature, -1 for none
    """
    for row in searched:
        for at in range(starts[row], starts[row + 1]):
            if places[features[at]] >= 0:
                counts[np.int64(places[features[at]]) * n_blocks + row // BLOCK_ROWS] += 1


@kernel
def list_postings(
    values: FloatArray,
    features: AnyArray,
    starts: AnyArray,
    searched: IntArray,
    scale: float,
    places: AnyArray,
    free: IntArray,
    rows: AnyArray,
    listed: AnyArray,
) -> None:
    """Fill the lists: rows int32, ascending in each, and scale * value as float32.

    free int64 : where each list begins; moved to its end      the others : as in `count_postings`
    """
    for row in searched:
        for at in range(starts[row], starts[row + 1]):
            place = places[features[at]]
            if place >= 0:
                rows[free[place]] = row
                listed[free[place]] = scale * values[at]
                free[place] += 1


@kernel
def _keep_best(keys: AnyArray, rows: AnyArray, size: int, key: float, row: int) -> int:
    """Offer an entry to a heap of the largest keys, the least of them first; returns how many it holds then.

    Of equal keys the lower row stays: rows are offered in ascending order.
    """
    at = size
    if size < len(keys):
        while at > 0:
            parent = (at - 1) >> 1
            if keys[parent] < key or (keys[parent] == key and rows[parent] > row):
                break
            keys[at], rows[at] = keys[parent], rows[parent]
            at = parent
        keys[at], rows[at] = key, row
        return size + 1
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and (
            keys[child + 1] < keys[child]
            or (keys[child + 1] == keys[child] and rows[child + 1] > rows[child])
        ):
            child += 1
        if key < keys[child] or (key == keys[child] and row > rows[child]):
            break
        keys[at], rows[at] = keys[child], rows[child]
        at = child
    keys[at], rows[at] = key, row
    return size


@kernel
def _product(dense: FloatArray, values: FloatArray, features: AnyArray) -> float:
    """The product of a row with one that is laid out; four sums, so that none waits for the one before it."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    at = 0
    while at + 3 < len(values):
        first += dense[features[at]] * values[at]
        second += dense[features[at + 1]] * values[at + 1]
        third += dense[features[at + 2]] * values[at + 2]
        fourth += dense[features[at + 3]] * values[at + 3]
        at += 4
    while at < len(values):
        first += dense[features[at]] * values[at]
        at += 1
    return (first + second) + (third + fourth)


@kernel
def search_postings(
    q_values: FloatArray,
    q_features: AnyArray,
    q_starts: AnyArray,
    ranked: AnyArray,
    ranks: AnyArray,
    r_starts: AnyArray,
    x_values: FloatArray,
    x_features: AnyArray,
    x_starts: AnyArray,
    squares: FloatArray,
    heights: AnyArray,
    ends: IntArray,
    rows: AnyArray,
    listed: AnyArray,
    own: IntArray,
    n_features: int,
    most_postings: int,
    n_proposed: int,
    best: FloatArray,
    who: IntArray,
) -> None:
    """Measure the rows of X that share most of its rarest features with each query of Q, and keep the nearest.

    q_, x_ : float64 CSR arrays, indices sorted
    ranked float32, ranks int32, r_starts : the queries again, scaled, by list and in the order of lists
    squares float64 (n,) : squared lengths of the rows of X
    heights float32 (n,) : the same scaled, infinite for rows that are not searched
    ends int64 (lists * blocks + 1,) : where each list has come to an end in each block of rows, the first being 0
    rows, listed : as `list_postings` fills them      own : (q,) row of each query in X, or -1
    most_postings : that are read for a query      n_proposed : rows that are measured
    best, who : (q, k) ascending by (squared distance, row), changed in place
    """
    n = len(heights)
    n_blocks = (n + BLOCK_ROWS - 1) // BLOCK_ROWS
    partial = np.zeros(min(n, BLOCK_ROWS), dtype=np.float32)
    keys, proposed = np.empty(n_proposed, dtype=np.float32), np.empty(n_proposed, dtype=np.int32)
    squared = np.empty(n_proposed)
    dense = np.zeros(n_features)
    for query in range(len(q_starts) - 1):
        start, end, spent = r_starts[query], r_starts[query], 0
        while end < r_starts[query + 1]:
            spent += ends[(np.int64(ranks[end]) + 1) * n_blocks] - ends[np.int64(ranks[end]) * n_blocks]
            if spent > most_postings:
                break
            end += 1
        size, limit = 0, np.float32(-np.inf)
        for block in range(n_blocks):
            before = block * BLOCK_ROWS
            n_here = min(BLOCK_ROWS, n - before)
            for at in range(start, end):
                value, place = ranked[at], np.int64(ranks[at]) * n_blocks + block
                for posting in range(ends[place], ends[place + 1]):
                    partial[rows[posting] - before] += value * listed[posting]
            for stride in range(0, n_here, STRIDE):
                stop, above = min(stride + STRIDE, n_here), 0
                for at in range(stride, stop):
                    above += partial[at] + partial[at] - heights[before + at] > limit
                if not above:
                    continue
                for at in range(stride, stop):
                    key = partial[at] + partial[at] - heights[before + at]
                    if key > limit and before + at != own[query]:
                        size = _keep_best(keys, proposed, size, key, before + at)
                        if size == n_proposed:
                            limit = keys[0]
            partial[:n_here] = 0
        mine = slice(q_starts[query], q_starts[query + 1])
        values, features = q_values[mine], q_features[mine]
        whole = 0.0
        for at in range(len(features)):
            whole += values[at] * values[at]
            dense[features[at]] = values[at]
        for at in range(size):
            its = slice(x_starts[proposed[at]], x_starts[proposed[at] + 1])
            squared[at] = whole + squares[proposed[at]] - 2 * _product(dense, x_values[its], x_features[its])
        # What rounding can do to these sums is far less than 1e-9 of the largest length.
        for at in range(size):
            row = proposed[at]
            if squared[at] - 1e-9 * (whole + squares[row]) > best[query, -1]:
                continue
            its = slice(x_starts[row], x_starts[row + 1])
            _offer(
                _squared_sparse(values, features, x_values[its], x_features[its]),
                row,
                best[query],
                who[query],
            )
        for feature in features:
            dense[feature] = 0.0
