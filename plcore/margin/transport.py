"""The class capacities of M3PL, and the labels that keep them exactly at the least cost."""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernels.margin import move_surplus


def class_capacities(candidates: BoolArray) -> IntArray:
    """n_p (m,), which sum to n: the expected class counts when each row draws one of its candidates evenly.

    The floors of sum_i [p in S_i] / |S_i|; the units left go to the largest fractional parts, ties to the first
    class (Yu and Zhang, ACML 2015, section 3).
    """
    expected = (candidates / candidates.sum(axis=1, keepdims=True)).sum(axis=0)
    # Sums such as 1/3 + 1/3 + 1/3 must not fall below the integer they stand for.
    floors: IntArray = np.floor(expected + 1e-9).astype(np.int64)
    left = len(candidates) - int(floors.sum())
    order = np.argsort(-np.round(expected - floors, 9), kind="stable")
    floors[order[:left]] += 1
    return floors


def assign(costs: FloatArray, capacities: IntArray) -> IntArray:
    """(n,) labels with exactly capacities[p] rows of class p and the least sum of costs[i, label_i].

    costs : (n, m), finite      capacities : (m,), sum to n
    The optimum of the transportation problem, whose linear program is integral.
    """
    labels: IntArray = np.argmin(costs, axis=1).astype(np.int64)
    move_surplus(np.ascontiguousarray(costs), np.ascontiguousarray(capacities, dtype=np.int64), labels)
    return labels
