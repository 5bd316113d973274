"""Compiled loops over candidate sets that are kept as lists or bits: see `plcore.common.candidate_sets`.

A set is `size` labels in the words from `start` on: the labels themselves, ascending, or, where that is shorter, one
bit for each class. A target sees few of many classes: here it gets a numbering of its own labels, ascending, so that
the loops over label sets and effects (`.effects`, `.sets`, `.possible`) need not know of the others.
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import AnyArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def read_set(words: AnyArray, start: int, size: int, n_classes: int, labels: AnyArray) -> None:
    """Write the labels of one set, ascending, into labels int32, which has room for all of them.

    words int32, size: how many labels; as bits of ceil(n_classes / 32) words where that is shorter than a list.
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
    """The labels that a target's neighbours have, ascending, into names int32; returns how many.

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
    """How many labels the neighbours of each target have, int64 (B,)."""
    seen = np.zeros((n_classes + 63) >> 6, dtype=np.uint64)
    own, names = np.empty(n_classes, dtype=np.int32), np.empty(n_classes, dtype=np.int32)
    for place in range(len(targets)):
        counts[place] = collect_labels(
            targets[place], neighbors, words, start, size, n_classes, seen, own, names
        )


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
    """The neighbours' sets in each target's own numbering of the labels they have, ascending.

    masks int64 (B * K, own words), zeros before: the set of neighbour `slot` of the b-th target in row b * K + slot
    names int32 (B, own labels): what the target's numbers stand for, -1 beyond them, as it was before
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
    """The label with the most votes of Eq. 1 of each target int64 (B,), the lowest of several; -1 without a vote."""
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
