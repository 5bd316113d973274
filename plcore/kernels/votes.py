"""Compiled loops of the vote table: packed candidates, the inverted index, votes. See `plcore.kernels.compiled`."""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def fill_masks(candidates: BoolArray, masks: IntArray) -> None:
    """Set bit l % 64 of word l // 64 where candidates bool (n, m) are True; masks int64 (n, words), zeros before."""
    n_classes = candidates.shape[1]
    for row in range(candidates.shape[0]):
        for label in range(n_classes):
            masks[row, label >> 6] |= np.int64(candidates[row, label]) << (label & 63)


@kernel
def has_repeated(neighbors: AnyArray) -> bool:
    """Whether some target of neighbors int32 (T, K) lists a row twice."""
    found = False
    for target in range(neighbors.shape[0]):
        for slot in range(neighbors.shape[1]):
            for other in range(slot):
                found |= neighbors[target, slot] == neighbors[target, other]
    return found


@kernel
def count_places(neighbors: AnyArray, weights: IntArray, start: IntArray) -> None:
    """Where the places of each row begin in the inverted index: start int64 (n + 1,), zeros before.

    neighbors int32 (T, K), weights int64 (T, K). A row's places are those where it is a neighbour with weight.
    """
    for target in range(neighbors.shape[0]):
        for slot in range(neighbors.shape[1]):
            if weights[target, slot] > 0:
                start[neighbors[target, slot] + 1] += 1
    for row in range(len(start) - 1):
        start[row + 1] += start[row]


@kernel
def fill_places(neighbors: AnyArray, weights: IntArray, start: IntArray, places: AnyArray) -> None:
    """The places t * K + slot of each row, uint32, row by row, ascending; start as `count_places` left it."""
    n_voters = neighbors.shape[1]
    free = start[:-1].copy()
    for target in range(neighbors.shape[0]):
        for slot in range(n_voters):
            if weights[target, slot] > 0:
                row = neighbors[target, slot]
                places[free[row]] = target * n_voters + slot
                free[row] += 1


@kernel
def add_votes(
    targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: IntArray, votes: IntArray
) -> None:
    """Add the votes of Eq. 1 about some targets int64 (B,) to votes int64 (B, m)."""
    n_classes = votes.shape[1]
    for place in range(len(targets)):
        target = targets[place]
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            for label in range(n_classes):
                votes[place, label] += weight & -((masks[row, label >> 6] >> (label & 63)) & 1)


@kernel
def find_most_votes(
    targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: IntArray, n_classes: int, best: IntArray
) -> None:
    """The label with the most votes of Eq. 1 of each target int64 (B,), the lowest of several; -1 without a vote."""
    votes = np.empty(n_classes, dtype=np.int64)
    for place in range(len(targets)):
        target = targets[place]
        votes[:] = 0
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            for label in range(n_classes):
                votes[label] += weight & -((masks[row, label >> 6] >> (label & 63)) & 1)
        most, first = 0, -1
        for label in range(n_classes):
            if votes[label] > most:
                most, first = votes[label], label
        best[place] = first


@kernel
def add_scaled_votes(neighbors: AnyArray, weights: IntArray, scales: IntArray, votes: IntArray) -> None:
    """Add to votes int64 (T, m) the neighbours' weights times what their rows count, scales int64 (n, m)."""
    for target in range(neighbors.shape[0]):
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            for label in range(votes.shape[1]):
                votes[target, label] += weight * scales[row, label]


@kernel
def change_scaled_votes(places: AnyArray, weights: IntArray, change: IntArray, votes: IntArray) -> None:
    """Votes after the row at these places counts `change` more for each label, int64 (m,)."""
    n_voters = weights.shape[1]
    for number in range(len(places)):
        place = np.int64(places[number])
        target, slot = place // n_voters, place % n_voters
        for label in range(votes.shape[1]):
            votes[target, label] += weights[target, slot] * change[label]
