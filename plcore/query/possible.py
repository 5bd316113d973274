"""Possible labels: exact (Eq. 5) by greedy placement, maximum flow and search, or their approximation (Def. 2)."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Literal, overload

import numpy as np

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.kernels.possible import search_effects
from plcore.neighbors.near import Kept, NearGraph, kept_form, near_graphs
from plcore.neighbors.votes import check_graph
from plcore.query.sets import approximate_possible_labels

MAX_NODES = 100_000  # placements tried for one label of one target before it counts as undecided
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
    """(PL, undecided) bool (B, m) of some targets; undecided labels stand in PL too. Inputs are already valid.

    plain_search : leave out greedy placement and maximum flow (a test compares the ways).
    """
    possible = np.empty((len(targets), n_classes), dtype=bool)
    undecided = np.empty_like(possible)
    for places, near in near_graphs(targets, neighbors, weights, masks, n_classes):
        found = near_possible(near, max_nodes, plain_search)
        possible[places], undecided[places] = (near.by_class(one, n_classes) for one in found)
    return possible, undecided


def near_possible(near: NearGraph, max_nodes: int, plain_search: bool = False) -> tuple[BoolArray, BoolArray]:
    """As `exact_possible`, over the targets' own labels."""
    possible = np.zeros((len(near.targets), near.n_classes), dtype=bool)
    undecided = np.zeros_like(possible)
    search_effects(
        near.targets, near.neighbors, near.weights, near.masks, near.n_classes, int(max_nodes), plain_search,
        NO_STATE, NO_EFFECTS, NO_EFFECTS, possible, undecided,
    )  # fmt: skip
    return possible, undecided


@overload
def possible_labels(
    neighbors: Any,
    weights: Any,
    candidates: Any,
    exact: bool = ...,
    max_nodes: int = ...,
    return_undecided: Literal[False] = ...,
) -> BoolArray: ...
@overload
def possible_labels(
    neighbors: Any,
    weights: Any,
    candidates: Any,
    exact: bool = ...,
    max_nodes: int = ...,
    *,
    return_undecided: Literal[True],
) -> tuple[BoolArray, BoolArray]: ...
def possible_labels(
    neighbors: Any,
    weights: Any,
    candidates: Any,
    exact: bool = True,
    max_nodes: int = MAX_NODES,
    return_undecided: bool = False,
) -> BoolArray | tuple[BoolArray, BoolArray]:
    """PL_t of Eq. 5 (exact) or APL_t of Def. 2 (exact=False): labels that win for some true labels of the
    neighbours.

    neighbors, weights, candidates : as `plcore.query.winners`
    max_nodes : placements the search may try for each label of each target. A label on which it runs out is
        *undecided*: it counts as possible, with a RuntimeWarning, or `return_undecided=True` returns
        (possible, undecided), both bool (T, m). With equal weights nothing is ever undecided: a maximum flow answers.
    Returns bool (T, m). Raises ValueError and CandidateError as `plcore.neighbors.votes.check_graph` says.
    """
    check_count("max_nodes", max_nodes)
    if not exact:
        approximate = approximate_possible_labels(neighbors, weights, candidates)
        return (approximate, np.zeros_like(approximate)) if return_undecided else approximate
    rows, fixed, known = check_graph(neighbors, weights, candidates)
    possible, undecided = exact_possible(
        np.arange(len(rows)), rows, fixed, kept_form(known), known.shape[1], max_nodes
    )
    if return_undecided:
        return possible, undecided
    warn_undecided(int(undecided.sum()), max_nodes)
    return possible


def check_count(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an int of at least 1. Got {value!r}.")


def warn_undecided(undecided: int, max_nodes: int) -> None:
    """Say that the exact search gave up somewhere, so that a score is never silently wrong."""
    if undecided:
        warnings.warn(
            f"{undecided} searches for exact possible labels stopped after max_nodes={max_nodes} "
            "and count as possible. Fix: raise max_nodes, or use rule='apl'.",
            RuntimeWarning,
            stacklevel=3,
        )
