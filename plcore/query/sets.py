"""Winners, necessary labels and approximate possible labels of targets with partially labelled neighbours.

Nguyen, Destercke and Masson, "Querying partially labelled data to improve a K-nn classifier", AAAI 2017: Eq.
1, Prop. 1 and Def. 2. Omega_t, the labels seen among the neighbours of t, is the range of every maximum here;
a maximum over nothing is minus infinity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.kernels.sets import find_sets
from plcore.neighbors.near import Kept, NearGraph, kept_form, near_graphs
from plcore.neighbors.votes import VoteTable, check_graph


class LabelSets(NamedTuple):
    """Label sets of B targets, each bool (B, m)."""

    winners: BoolArray  # h(t), Eq. 1, as a set
    necessary: BoolArray  # NL_t, Prop. 1
    possible: BoolArray  # APL_t, Def. 2


def sets_of_targets(
    targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: Kept, n_classes: int
) -> LabelSets:
    """The sets of some targets int64 (B,) of a graph, masks as it keeps them; inputs are already valid."""
    sets = LabelSets(*(np.empty((len(targets), n_classes), dtype=bool) for _ in range(3)))
    for places, near in near_graphs(targets, neighbors, weights, masks, n_classes):
        found = near_sets(near)
        for whole, own in zip(sets, found, strict=True):
            whole[places] = near.by_class(own, n_classes)
    return sets


def near_sets(near: NearGraph) -> LabelSets:
    """The sets of its targets, over their own labels."""
    sets = LabelSets(*(np.zeros((len(near.targets), near.n_classes), dtype=bool) for _ in range(3)))
    find_sets(near.targets, near.neighbors, near.weights, near.masks, *sets)
    return sets


def winners(neighbors: Any, weights: Any, candidates: Any) -> BoolArray:
    """h(t) of Eq. 1, the *set* of labels with the most weighted votes; ties are common and matter.

    neighbors : int (T, K) row numbers      candidates : bool (n, m)
    weights : (T, K), integers as they are, floats as `rint(w * 2**24)`; ties are judged on those integers
    Returns bool (T, m). Raises ValueError and CandidateError as `plcore.neighbors.votes.check_graph` says.
    """
    return sets_in_blocks(*check_graph(neighbors, weights, candidates), "winners")


def necessary_labels(neighbors: Any, weights: Any, candidates: Any) -> BoolArray:
    """NL_t of Prop. 1: labels that win whatever the true labels of the neighbours are. Arguments as `winners`."""
    return sets_in_blocks(*check_graph(neighbors, weights, candidates), "necessary")


def approximate_possible_labels(neighbors: Any, weights: Any, candidates: Any) -> BoolArray:
    """APL_t of Def. 2, an outer approximation of the possible labels. Arguments as `winners`."""
    return sets_in_blocks(*check_graph(neighbors, weights, candidates), "possible")


def sets_in_blocks(neighbors: AnyArray, weights: IntArray, candidates: BoolArray, name: str) -> BoolArray:
    """One kind of set, "winners", "necessary" or "possible", for all targets; inputs are already valid."""
    rows, fixed = np.ascontiguousarray(neighbors, np.int32), np.ascontiguousarray(weights, np.int64)
    sets = sets_of_targets(np.arange(len(rows)), rows, fixed, kept_form(candidates), candidates.shape[1])
    result: BoolArray = getattr(sets, name)
    return result


def necessary_of(votes: VoteTable, targets: IntArray) -> BoolArray:
    """NL (B, m) of some targets of a table of votes, as its candidates stand."""
    return sets_of_targets(targets, votes.neighbors, votes.weights, votes.masks, votes.n_classes).necessary
