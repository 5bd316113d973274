"""Winners, necessary labels and possible labels of targets with partially labelled neighbours.

Nguyen, Destercke and Masson, "Querying partially labelled data to improve a K-nn classifier", AAAI 2017: Eq.
1, Prop. 1, Def. 2 and Eq. 5. Omega_t, the labels seen among the neighbours of t, is the range of every
maximum here; a maximum over nothing is minus infinity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plcore._types import BoolArray, IntArray
from plcore.votes import check_graph

NOTHING = np.int64(-(2**60))  # minus infinity that still can be added to
BLOCK_CELLS = 2**17  # targets x neighbours x classes handled at once: about 1 MB for each int64 array


class LabelSets(NamedTuple):
    """Scores and label sets of B targets; scores of labels outside Omega_t are NOTHING."""

    smin: IntArray  # (B, m) S^min: weight of the neighbours that have this one candidate
    smax: IntArray  # (B, m) S^max: weight of the neighbours that have this candidate
    seen: BoolArray  # (B, m) Omega_t
    winners: BoolArray  # (B, m) h(t), Eq. 1, as a set
    necessary: BoolArray  # (B, m) NL_t, Prop. 1
    possible: BoolArray  # (B, m) APL_t, Def. 2
    rival: IntArray  # (B, m) largest S^max of the other labels

    def settled(self) -> BoolArray:
        """(B,) NL is not empty and APL = NL: no answer can change anything any more (Prop. 3, B3)."""
        return np.asarray(self.necessary.any(axis=1) & (self.necessary == self.possible).all(axis=1))


def largest_other(scores: IntArray) -> IntArray:
    """For each cell of (B, m) the largest of the *other* cells in its row; NOTHING where there is no other."""
    if scores.shape[1] == 1:
        return np.full_like(scores, NOTHING)
    ordered = np.partition(scores, scores.shape[1] - 2, axis=1)
    first, second = ordered[:, -1:], ordered[:, -2:-1]
    return np.where(scores == first, second, first)  # of two equal maxima each has the other as its rival


def label_sets(sets: BoolArray, weights: IntArray) -> LabelSets:
    """Scores and sets of B targets, from their neighbours' candidates bool (B, K, m) and weights int64 (B, K)."""
    precise = sets.sum(axis=2) == 1
    seen: BoolArray = np.asarray(sets.any(axis=1))
    # One-byte sets times int64 weights: einsum sums exactly and makes no (B, K, m) copy in int64.
    smax = np.where(seen, np.einsum("bk,bkm->bm", weights, sets), NOTHING)
    smin = np.where(seen, np.einsum("bk,bkm->bm", weights * precise, sets), NOTHING)
    rival = largest_other(smax)
    return LabelSets(
        smin=smin,
        smax=smax,
        seen=seen,
        winners=seen & (smax >= rival),
        necessary=seen & (smin >= rival),
        possible=seen & (smax >= smin.max(axis=1, keepdims=True)),
        rival=rival,
    )


def block_length(n_neighbors: int, n_classes: int) -> int:
    """How many targets to handle at once so that memory stays bounded."""
    return max(1, BLOCK_CELLS // (n_neighbors * n_classes))


def winners(neighbors: Any, weights: Any, candidates: Any) -> BoolArray:
    """h(t) of Eq. 1, the *set* of labels with the most weighted votes; ties are common and matter.

    neighbors : int (T, K) row numbers      candidates : bool (n, m)
    weights : (T, K), integers as they are, floats as `rint(w * 2**24)`; ties are judged on those integers
    Returns bool (T, m). Raises ValueError and CandidateError as `plcore.votes.check_graph` says.
    """
    return _sets_of(neighbors, weights, candidates, "winners")


def necessary_labels(neighbors: Any, weights: Any, candidates: Any) -> BoolArray:
    """NL_t of Prop. 1: labels that win whatever the true labels of the neighbours are. Arguments as `winners`."""
    return _sets_of(neighbors, weights, candidates, "necessary")


def approximate_possible_labels(neighbors: Any, weights: Any, candidates: Any) -> BoolArray:
    """APL_t of Def. 2, an outer approximation of the possible labels. Arguments as `winners`."""
    return _sets_of(neighbors, weights, candidates, "possible")


def _sets_of(neighbors: Any, weights: Any, candidates: Any, name: str) -> BoolArray:
    return sets_in_blocks(*check_graph(neighbors, weights, candidates), name)


def sets_in_blocks(neighbors: IntArray, weights: IntArray, candidates: BoolArray, name: str) -> BoolArray:
    """One kind of set, "winners", "necessary" or "possible", for all targets; inputs are already valid."""
    result = np.zeros((len(neighbors), candidates.shape[1]), dtype=bool)
    length = block_length(neighbors.shape[1], candidates.shape[1])
    for start in range(0, len(neighbors), length):
        block = slice(start, start + length)
        result[block] = getattr(label_sets(candidates[neighbors[block]], weights[block]), name)
    return result
