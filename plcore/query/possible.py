"""Possible labels: exact (Eq. 5), by greedy placement, maximum flow and search, or approximate (Def. 2)."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from plcore.arrays.types import AnyArray, BoolArray, IntArray, LabelsLike
from plcore.kernels.possible import search_effects
from plcore.kernels.scores import find_sets
from plcore.neighbors.near import Kept, NearGraph, kept_form, near_graphs
from plcore.neighbors.votes import VoteTable, check_graph

# Winners, necessary labels and approximate possible labels of targets with partially labelled neighbours.
#
# Nguyen, Destercke and Masson, "Querying partially labelled data to improve a K-nn classifier", AAAI 2017: Eq. 1,
# Prop. 1 and Def. 2. Omega_t, the labels seen among the neighbours of t, is the range of every maximum here; a
# maximum over nothing is minus infinity.


class LabelSets(NamedTuple):
    """Label sets of B targets, each bool (B, m)."""

    winners: BoolArray  # h(t), Eq. 1, as a set
    necessary: BoolArray  # NL_t, Prop. 1
    possible: BoolArray  # APL_t, Def. 2


def sets_of_targets(
    targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: Kept, n_classes: int
) -> LabelSets:
    """Return the label sets of some targets int64 (B,) of a graph, with masks in its form. Inputs are not checked."""
    sets = LabelSets(*(np.empty((len(targets), n_classes), dtype=bool) for _ in range(3)))
    for places, near in near_graphs(targets, neighbors, weights, masks, n_classes):
        found = near_sets(near)
        for whole, own in zip(sets, found, strict=True):
            whole[places] = near.by_class(own, n_classes)
    return sets


def near_sets(near: NearGraph) -> LabelSets:
    """Return the label sets of the targets of a near graph, over their own labels."""
    sets = LabelSets(*(np.zeros((len(near.targets), near.n_classes), dtype=bool) for _ in range(3)))
    find_sets(near.targets, near.neighbors, near.weights, near.masks, *sets)
    return sets


def winners(neighbors: ArrayLike, weights: ArrayLike, candidates: LabelsLike) -> BoolArray:
    """Return h(t) of Eq. 1, the *set* of labels with the most weighted votes; ties are common and matter.

    neighbors : int (T, K) row numbers      candidates : bool (n, m)
    weights : (T, K), integers unchanged, floats as `rint(w * 2**24)`; ties are judged on these integers
    Returns bool (T, m). Raises ValueError and CandidateError as `plcore.neighbors.votes.check_graph`.
    """
    return sets_in_blocks(*check_graph(neighbors, weights, candidates), "winners")


def necessary_labels(neighbors: ArrayLike, weights: ArrayLike, candidates: LabelsLike) -> BoolArray:
    """Return NL_t of Prop. 1: labels that win for all possible true labels of the neighbours. Arguments as for
    `winners`."""
    return sets_in_blocks(*check_graph(neighbors, weights, candidates), "necessary")


def sets_in_blocks(neighbors: AnyArray, weights: IntArray, candidates: BoolArray, name: str) -> BoolArray:
    """Return one kind of label set ("winners", "necessary" or "possible") for all targets; inputs must be valid."""
    rows, fixed = np.ascontiguousarray(neighbors, np.int32), np.ascontiguousarray(weights, np.int64)
    sets = sets_of_targets(np.arange(len(rows)), rows, fixed, kept_form(candidates), candidates.shape[1])
    result: BoolArray = getattr(sets, name)
    return result


def necessary_of(votes: VoteTable, targets: IntArray) -> BoolArray:
    """Return NL (B, m) of some targets of a table of votes, for its current candidates."""
    return sets_of_targets(targets, votes.neighbors, votes.weights, votes.masks, votes.n_classes).necessary


MAX_NODES = 100_000  # placements tried for a label of a target before it counts as undecided
NO_STATE: IntArray = np.zeros(0, dtype=np.int64)
NO_EFFECTS: BoolArray = np.zeros((0, 0), dtype=bool)


def exact_possible(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    masks: Kept,
    n_classes: int,
    max_nodes: int,
    plain_search: bool = False,
) -> tuple[BoolArray, BoolArray]:
    """Return (PL, undecided), bool (B, m), of some targets; undecided labels are also in PL. Inputs must be valid.

    plain_search : leave out greedy placement and maximum flow (for a test that compares the ways).
    """
    possible = np.empty((len(targets), n_classes), dtype=bool)
    undecided = np.empty_like(possible)
    for places, near in near_graphs(targets, neighbors, weights, masks, n_classes):
        found = near_possible(near, max_nodes, plain_search)
        possible[places], undecided[places] = (near.by_class(one, n_classes) for one in found)
    return possible, undecided


def near_possible(near: NearGraph, max_nodes: int, plain_search: bool = False) -> tuple[BoolArray, BoolArray]:
    """Return the same as `exact_possible`, over the targets' own labels."""
    possible = np.zeros((len(near.targets), near.n_classes), dtype=bool)
    undecided = np.zeros_like(possible)
    search_effects(
        near.targets, near.neighbors, near.weights, near.masks, near.n_classes, int(max_nodes), plain_search,
        NO_STATE, NO_EFFECTS, NO_EFFECTS, possible, undecided,
    )  # fmt: skip
    return possible, undecided


@overload
def possible_labels(
    neighbors: ArrayLike,
    weights: ArrayLike,
    candidates: LabelsLike,
    exact: bool = ...,
    max_nodes: int = ...,
    return_undecided: Literal[False] = ...,
) -> BoolArray: ...
@overload
def possible_labels(
    neighbors: ArrayLike,
    weights: ArrayLike,
    candidates: LabelsLike,
    exact: bool = ...,
    max_nodes: int = ...,
    *,
    return_undecided: Literal[True],
) -> tuple[BoolArray, BoolArray]: ...
def possible_labels(
    neighbors: ArrayLike,
    weights: ArrayLike,
    candidates: LabelsLike,
    exact: bool = True,
    max_nodes: int = MAX_NODES,
    return_undecided: bool = False,
) -> BoolArray | tuple[BoolArray, BoolArray]:
    """Return PL_t of Eq. 5 (exact) or APL_t of Def. 2 (exact=False): labels that win for some true labels of
    the neighbours.

    neighbors, weights, candidates : as for `plcore.query.winners`
    max_nodes : placements the search may try for each label of each target. Beyond, the label is *undecided*: it counts
        as possible, with a RuntimeWarning, or `return_undecided=True` returns (possible, undecided), both bool (T, m).
        With equal weights nothing is ever undecided, since a maximum flow decides.
    Returns bool (T, m). Raises ValueError and CandidateError as `plcore.neighbors.votes.check_graph`.
    """
    check_count("max_nodes", max_nodes)
    if not exact:
        approximate = sets_in_blocks(*check_graph(neighbors, weights, candidates), "possible")
        return (approximate, np.zeros_like(approximate)) if return_undecided else approximate
    rows, fixed, known = check_graph(neighbors, weights, candidates)
    possible, undecided = exact_possible(np.arange(len(rows)), rows, fixed, kept_form(known), known.shape[1], max_nodes)
    if return_undecided:
        return possible, undecided
    warn_undecided(int(undecided.sum()), max_nodes)
    return possible


def check_count(name: str, value: object) -> None:
    """Raise ValueError unless `value` is a whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an int of at least 1. Got {value!r}.")


def warn_undecided(undecided: int, max_nodes: int) -> None:
    """Warn that the exact search gave up somewhere, so that a score is never silently wrong."""
    if undecided:
        warnings.warn(
            f"{undecided} searches for exact possible labels stopped after max_nodes={max_nodes} "
            "and count as possible. Fix: raise max_nodes, or use rule='apl'.",
            RuntimeWarning,
            stacklevel=3,
        )
