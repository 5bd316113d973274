"""Compiled maximum flow: whether every voter finds a label with room. See `plcore.kernels.placing`."""

from __future__ import annotations

from plcore.common.types import IntArray
from plcore.kernels.compiled import kernel


@kernel
def flow_fits(
    n_free: int,
    free: IntArray,
    n_labels: int,
    n_options: IntArray,
    options: IntArray,
    room: IntArray,
    at: IntArray,
    wanted_by: IntArray,
    queue: IntArray,
) -> bool:
    """Whether all free voters find a label with at most room[label] of them each; fills `at` when they do.

    Maximum flow by augmenting paths: each voter in turn takes a label, moving others on where it is full.
    """
    for number in range(n_free):
        at[free[number]] = -1
    for number in range(n_free):
        newcomer = free[number]
        wanted_by[:n_labels] = -1
        end = 0
        for option in range(n_options[newcomer]):
            label = options[newcomer, option]
            wanted_by[label] = newcomer
            queue[end] = label
            end += 1
        placed, begin = False, 0
        while begin < end and not placed:
            label = queue[begin]
            begin += 1
            if room[label] > 0:
                room[label] -= 1
                while True:  # along the path: each voter takes the label it wants and frees its own
                    voter = wanted_by[label]
                    freed = at[voter]
                    at[voter] = label
                    if voter == newcomer:
                        break
                    label = freed
                placed = True
            else:
                for other in range(number):
                    voter = free[other]
                    if at[voter] != label:
                        continue
                    for option in range(n_options[voter]):
                        wish = options[voter, option]
                        if wanted_by[wish] < 0:
                            wanted_by[wish] = voter
                            queue[end] = wish
                            end += 1
        if not placed:
            return False
    return True
