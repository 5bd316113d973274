"""Compiled loops of the neighbour search.

Why it is fast: almost all pairs of rows are far apart, and one single-precision matrix product tells so for a
block of pairs at 32 multiplications per cycle. The loops here run over such a block while it is in the cache,
64 pairs at a time, and ask only "could any of these be nearer than the worst neighbour kept?". The product comes
with a bound on its rounding, so "no" is proof; the few that could be are measured in float64 and inserted in place.
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel

STRIDE = 64  # pairs asked about at once


@kernel
def _mark(products: AnyArray, heights: AnyArray, limit: np.float32, marks: BoolArray) -> None:
    """Mark the strides in which some height - 2 product <= limit; what is not a number counts as below."""
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
def _squared_sparse(
    query: FloatArray, query_features: AnyArray, row: FloatArray, row_features: AnyArray
) -> float:
    """As dense: adding the square of 0 - 0 changes no bit."""
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
    rows, places (c,) : the numbers of the rows, by which ties go, and where in X they are
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
