"""Compiled loop for the label sets of targets: h(t), NL and APL. See `plcore.kernels.compiled`."""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.kernels.compiled import kernel


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
    """h (Eq. 1), NL (Prop. 1) and APL (Def. 2) of B targets, each bool (B, m), filled with False before.

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
