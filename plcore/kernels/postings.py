"""Compiled loops over sparse rows by feature: products of a block, and a partly read inverted index.

Why it is fast: sums of a block of rows stay in the first-level cache while the lists of a query are added up (blocks of
32,768 rows take twice the time). Vector instructions find the sums that are large enough. These few go into an array of
twice the required length, which is cut to its best half whenever it is full: cheaper than a heap, with the same result.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel
from plcore.kernels.near import _offer, _squared_sparse

BLOCK_ROWS = 2**13  # rows summed at once: 32 kB


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
def list_postings(
    values: AnyArray, lists: AnyArray, starts: AnyArray, ends: AnyArray, rows: AnyArray, listed: AnyArray
) -> None:
    """List the rows of a block, as float32 CSR arrays, by their columns, here numbers of lists.

    ends int32 (lists + 1,) : where each list ends, the one before it first
    rows uint16, listed float32 (postings,) : rows, ascending in each list, and their values
    """
    ends[:] = 0
    for place in lists:
        ends[place + 1] += 1
    for place in range(1, len(ends)):
        ends[place] += ends[place - 1]
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            posting = ends[lists[at]]
            rows[posting], listed[posting] = row, values[at]
            ends[lists[at]] = posting + 1
    for place in range(len(ends) - 1, 0, -1):  # each has moved to the end of its own list
        ends[place] = ends[place - 1]
    ends[0] = 0


@kernel
def _cut(keys: AnyArray, rows: AnyArray, n_kept: int) -> np.float32:
    """Move the `n_kept` largest keys to the front, lower rows first on ties; returns the least of them."""
    low, high = 0, len(keys) - 1
    while low < high:
        key, row = keys[(low + high) >> 1], rows[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while keys[left] > key or (keys[left] == key and rows[left] < row):
                left += 1
            while keys[right] < key or (keys[right] == key and rows[right] > row):
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                rows[left], rows[right] = rows[right], rows[left]
                left += 1
                right -= 1
        if n_kept - 1 <= right:
            high = right
        elif n_kept - 1 >= left:
            low = left
        else:
            break
    least: np.float32 = keys[n_kept - 1]
    return least


@kernel
def _flag(
    sums: AnyArray, heights: AnyArray, limits: AnyArray, height: np.float32, limit: np.float32, flags: AnyArray
) -> None:
    """Flag the rows of a block that a query proposes, or that propose the query."""
    for row in range(len(sums)):
        double = sums[row] + sums[row]
        flags[row] = (double - heights[row] > limit) | (double - height > limits[row])


@kernel
def propose(
    values: AnyArray,
    lists: AnyArray,
    starts: AnyArray,
    numbers: IntArray,
    until: IntArray,
    q_heights: AnyArray,
    q_keys: AnyArray,
    q_rows: AnyArray,
    q_sizes: IntArray,
    q_limits: AnyArray,
    first: int,
    ends: AnyArray,
    rows: AnyArray,
    listed: AnyArray,
    heights: AnyArray,
    keys: AnyArray,
    own: AnyArray,
    sizes: IntArray,
    limits: AnyArray,
    n_kept: int,
) -> None:
    """Propose rows of a block to each query, and the query to them, by the sums over the lists read.

    values float32, lists, starts : queries as CSR arrays of the lists to be read
    numbers (q,) : the row that each query is, or -1      until (q,) : only rows before this one are looked at
    ends, rows, listed : as `list_postings` fills them      first : number of the block's first row
    q_heights, heights float32 : squared lengths of queries, of the rows of the block
    q_keys, keys float32, q_rows, own int32, (q, 2 n_kept), (b, 2 n_kept) : proposed to each query, and to each row of
        the block: 2 sum - height, and the number of the row; q_sizes, sizes : how many; cut to the best when full
    q_limits, limits float32 : keys are larger than this, infinite: nothing is proposed
    """
    n_rows, capacity = len(heights), q_keys.shape[1]
    sums = np.zeros(n_rows, dtype=np.float32)
    flags = np.zeros(BLOCK_ROWS, dtype=np.uint8)
    words = flags.view(np.uint64)
    for query in range(len(starts) - 1):
        n_here = min(until[query] - first, n_rows)
        if n_here <= 0:
            continue
        for at in range(starts[query], starts[query + 1]):
            value, place = values[at], lists[at]
            for posting in range(ends[place], ends[place + 1]):
                sums[rows[posting]] += value * listed[posting]
        height, limit = q_heights[query], q_limits[query]
        _flag(sums[:n_here], heights, limits, height, limit, flags)
        flags[n_here : (n_here + 7) // 8 * 8] = 0
        for word in range((n_here + 7) // 8):
            if not words[word]:
                continue
            for row in range(8 * word, 8 * word + 8):
                if not flags[row] or first + row == numbers[query]:
                    continue
                key = sums[row] + sums[row] - heights[row]
                if key > limit:
                    size = q_sizes[query]
                    q_keys[query, size], q_rows[query, size] = key, first + row
                    q_sizes[query] = size + 1
                    if size + 1 == capacity:
                        limit = _cut(q_keys[query], q_rows[query], n_kept)
                        q_sizes[query], q_limits[query] = n_kept, limit
                key = sums[row] + sums[row] - height
                if key > limits[row]:
                    size = sizes[row]
                    keys[row, size], own[row, size] = key, numbers[query]
                    sizes[row] = size + 1
                    if size + 1 == capacity:
                        limits[row] = _cut(keys[row], own[row], n_kept)
                        sizes[row] = n_kept
        sums[:] = 0


@kernel
def _product(dense: FloatArray, values: FloatArray, features: AnyArray) -> float:
    """Return the product of a sparse row with a dense one; four sums, so that none waits for the previous."""
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
def measure_proposed(
    q_values: FloatArray,
    q_features: AnyArray,
    q_starts: AnyArray,
    x_values: FloatArray,
    x_features: AnyArray,
    x_starts: AnyArray,
    squares: FloatArray,
    n_features: int,
    keys: AnyArray,
    proposed: AnyArray,
    sizes: IntArray,
    limits: AnyArray,
    n_kept: int,
    best: FloatArray,
    who: IntArray,
) -> None:
    """Measure the rows of X proposed to each query of Q, and keep the nearest.

    q_, x_ : float64 CSR arrays, indices sorted      squares float64 (n,) : squared lengths of the rows of X
    keys, proposed, sizes, limits, n_kept : as `propose` leaves them; cut once more
    best, who : (q, k) ascending by (squared distance, row), changed in place
    """
    squared = np.empty(n_kept)
    most, whose = np.empty(best.shape[1]), np.empty(best.shape[1], dtype=np.int64)
    dense = np.zeros(n_features)
    for query in range(len(q_starts) - 1):
        size = sizes[query]
        if size > n_kept:
            limits[query] = _cut(keys[query, :size], proposed[query, :size], n_kept)
            size = n_kept
        mine = slice(q_starts[query], q_starts[query + 1])
        values, features = q_values[mine], q_features[mine]
        whole = 0.0
        for at in range(len(features)):
            whole += values[at] * values[at]
            dense[features[at]] = values[at]
        for at in range(len(most)):
            most[at] = np.inf
        for at in range(size):
            row = proposed[query, at]
            its = slice(x_starts[row], x_starts[row + 1])
            squared[at] = whole + squares[row] - 2 * _product(dense, x_values[its], x_features[its])
            # Rounding can change these sums by far less than 1e-9 of the largest length.
            _offer(squared[at] + 1e-9 * (whole + squares[row]), row, most, whose)
        n_best = min(size, len(most))
        limit = most[n_best - 1] if n_best else np.inf
        for at in range(size):
            row = proposed[query, at]
            if squared[at] - 1e-9 * (whole + squares[row]) > limit:
                continue
            its = slice(x_starts[row], x_starts[row + 1])
            _offer(_squared_sparse(values, features, x_values[its], x_features[its]), row, best[query], who[query])
        for feature in features:
            dense[feature] = 0.0
