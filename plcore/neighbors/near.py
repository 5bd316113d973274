"""The labels near each target: its neighbours have few of many classes, and only these matter to its votes.

Votes, label sets and effects of a target depend on the weights and on which labels its neighbours share, not on the
names of the labels. With up to FEW_CLASSES classes, sets are bit masks of one word. With more, they are
`CandidateSets`, and each target gets an ascending numbering of its own labels, so that ties and searches give the same
result as with all classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plcore.arrays.candidate_sets import FEW_CLASSES, CandidateSets
from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.kernels.near import count_labels, number_labels
from plcore.kernels.votes import fill_masks

MOST_WORDS = 2**21
"""Maximum number of words of masks at a time: 16 MB."""

Kept = IntArray | CandidateSets
"""Candidates in the form of the compiled loops: bit masks int64 (n, words), or sets."""


class NearGraph(NamedTuple):
    """A neighbour graph in the form of the loops over effects and label sets.

    targets : int64 (B,), the targets in the graph      neighbors, weights : (T, K)
    masks : int64 (rows, words)      n_classes : number of labels
    names : int32 (B, n_classes), the class of each of a target's own labels, ascending, then -1; None if they are the
        classes
    """

    targets: IntArray
    neighbors: AnyArray
    weights: IntArray
    masks: IntArray
    n_classes: int
    names: AnyArray | None

    def by_class(self, sets: BoolArray, n_classes: int) -> BoolArray:
        """Convert sets (B, own labels) of the targets to sets (B, n_classes) of classes."""
        if self.names is None:
            return sets
        whole = np.zeros((len(sets), n_classes), dtype=bool)
        rows, labels = np.nonzero(sets)
        whole[rows, self.names[rows, labels]] = True
        return whole


def pack(candidates: BoolArray) -> IntArray:
    """Pack bool (n, m) into bit masks int64 (n, words): bit l % 64 of word l // 64 = label l is a
    candidate."""
    n, m = candidates.shape
    masks: IntArray = np.zeros((n, -(-m // 64)), dtype=np.int64)
    fill_masks(np.ascontiguousarray(candidates), masks)
    return masks


def kept_form(candidates: BoolArray) -> Kept:
    """Return a copy of candidates (n, m) in the form stored with a graph."""
    if isinstance(candidates, CandidateSets):
        return candidates.copy()
    return pack(candidates) if candidates.shape[1] <= FEW_CLASSES else CandidateSets.of_mask(candidates)


def near_graphs(
    targets: IntArray, neighbors: AnyArray, weights: IntArray, kept: Kept, n_classes: int
) -> Iterator[tuple[IntArray | slice, NearGraph]]:
    """Yield (places among the targets int64 (B,), their graph) in parts of one width and bounded memory."""
    if not isinstance(kept, CandidateSets):
        yield slice(None), NearGraph(targets, neighbors, weights, kept, n_classes, None)
        return
    sets = kept.words, kept.start, kept.sizes, kept.n_classes
    counts = np.empty(len(targets), dtype=np.int64)
    count_labels(targets, neighbors, *sets, counts)
    width = neighbors.shape[1]
    # Words per row, rounded up to a power of two: a part is as wide as its widest target.
    words = 2 ** np.ceil(np.log2(np.maximum(-(-counts // 64), 1))).astype(np.int64)
    for size in np.unique(words).tolist():
        same = np.flatnonzero(words == size)
        block = max(1, MOST_WORDS // (size * max(width, 64)))  # a name takes half a word, and a word has 64 labels
        for begin in range(0, len(same), block):
            places = same[begin : begin + block]
            chosen, most = targets[places], max(int(counts[places].max()), 1)
            masks = np.zeros((len(places) * width, -(-most // 64)), dtype=np.int64)
            names = np.full((len(places), most), -1, dtype=np.int32)
            number_labels(chosen, neighbors, *sets, masks, names)
            rows = np.arange(len(masks), dtype=np.int32).reshape(-1, width)
            yield places, NearGraph(np.arange(len(places)), rows, weights[chosen], masks, most, names)
