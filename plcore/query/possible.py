"""Exact possible labels (Eq. 5) by search, and what an answer does to them.

Deciding whether a label can win is NP-hard when weights differ (a packing problem), yet small: K neighbours,
a few candidates each. A label l is possible if and only if it wins some selection in which *every* voter that
may choose l does: moving such a voter to l raises l and lowers another load. What remains is to place the
other voters so that no load exceeds S = S^max(l). Label sets are bit masks here, weights Python integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from plcore._types import BoolArray, IntArray
from plcore.query.sets import LabelSets, approximate_possible_labels, block_length, label_sets
from plcore.votes import check_graph

MAX_NODES = 100_000  # placements tried for one label of one target before it counts as undecided


class Undecided(Exception):  # noqa: N818  (not an error: a search that ran out of nodes)
    """The node budget ran out before the question was settled."""


def labels_of(mask: int) -> Iterator[int]:
    """The labels of a bit mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def masks_of(sets: BoolArray) -> list[int]:
    """Bit masks of bool (K, m) rows, of any width."""
    packed = np.packbits(sets, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def find_selection(
    masks: Sequence[int], weights: Sequence[int], label: int, max_nodes: int = MAX_NODES
) -> list[int] | None:
    """A selection, one label for each voter, in which `label` wins (perhaps with others); None if there is
    none.

    Voters without candidates or without weight get whatever fits. Raises Undecided after `max_nodes`
    placements.
    """
    limit = sum(weight for mask, weight in zip(masks, weights, strict=True) if mask >> label & 1)
    selection = [label if mask >> label & 1 else -1 for mask in masks]
    loads: dict[int, int] = {}
    free: list[int] = []
    for voter, mask in enumerate(masks):
        if selection[voter] == label or not mask:
            continue
        if mask & (mask - 1) and weights[voter]:
            free.append(voter)
        else:
            first = (mask & -mask).bit_length() - 1
            selection[voter] = first
            loads[first] = loads.get(first, 0) + weights[voter]
    if max(loads.values(), default=0) > limit:  # S < max S^min
        return None
    free.sort(key=lambda voter: (-weights[voter], voter))
    budget = [max_nodes]
    return selection if _place(masks, weights, free, loads, limit, selection, budget) else None


def _place(
    masks: Sequence[int],
    weights: Sequence[int],
    free: list[int],
    loads: dict[int, int],
    limit: int,
    selection: list[int],
    budget: list[int],
) -> bool:
    """Place the free voters (heaviest first) so that no load exceeds the limit; fills `selection` when it can."""
    # 1) Labels that could carry all their voters at once take them: nobody loses by that. Repeat while it
    # helps.
    demand: dict[int, int] = {}
    helped = True
    while helped:
        helped = False
        demand = {}
        for voter in free:
            for label in labels_of(masks[voter]):
                demand[label] = demand.get(label, 0) + weights[voter]
        for label, wanted in demand.items():
            if loads.get(label, 0) + wanted <= limit:
                for voter in free:
                    if masks[voter] >> label & 1:
                        selection[voter] = label
                free = [voter for voter in free if not masks[voter] >> label & 1]
                helped = True
                break  # the demands have changed
    if not free:
        return True
    # 2) Capacity: the room left on all labels still wanted must hold all the voters left.
    if sum(limit - loads.get(label, 0) for label in demand) < sum(weights[voter] for voter in free):
        return False
    # 3) Depth first: the heaviest voter, on the least demanded label first.
    voter, rest = free[0], free[1:]
    tried: set[tuple[int, tuple[int, ...]]] = set()
    for label in sorted(
        labels_of(masks[voter]), key=lambda label: (loads.get(label, 0) + demand[label], label)
    ):
        load = loads.get(label, 0)
        kind = (load, tuple(other for other in rest if masks[other] >> label & 1))
        if (
            load + weights[voter] > limit or kind in tried
        ):  # the same load and the same voters: the same outcome
            continue
        tried.add(kind)
        budget[0] -= 1
        if budget[0] < 0:
            raise Undecided
        selection[voter] = label
        if _place(masks, weights, rest, {**loads, label: load + weights[voter]}, limit, selection, budget):
            return True
    return False


def exact_possible(
    sets: BoolArray, weights: IntArray, known: LabelSets, max_nodes: int
) -> tuple[BoolArray, BoolArray]:
    """(PL, undecided) bool (B, m) of one block; undecided labels stand in PL too. Inputs are already valid."""
    possible = known.possible.copy()
    undecided = np.zeros_like(possible)
    # h is within PL, and APL = PL where NL is not empty (Prop. 2, A2): only the others need a search.
    open_cells = possible & ~known.winners & ~known.necessary.any(axis=1, keepdims=True)
    for target in np.flatnonzero(open_cells.any(axis=1)):
        masks, heavy = masks_of(sets[target]), weights[target].tolist()
        for label in np.flatnonzero(open_cells[target]).tolist():
            try:
                possible[target, label] = find_selection(masks, heavy, label, max_nodes) is not None
            except Undecided:
                undecided[target, label] = True
    return possible, undecided


def answer_changes_possible(
    masks: list[int], weights: list[int], voter: int, max_nodes: int
) -> tuple[bool, int]:
    """Whether some answer of `voter` changes PL of this target (Def. 3), and how many searches stayed
    undecided.

    Undecided searches count as possible. An answer only shrinks PL, so every label of PL is tried with every
    answer.
    """
    undecided = 0
    seen = 0
    for mask in masks:
        seen |= mask
    for label in labels_of(seen):
        try:
            selection = find_selection(masks, weights, label, max_nodes)
        except Undecided:
            undecided += 1
            continue
        if selection is None:
            continue
        loads: dict[int, int] = {}
        for other, choice in enumerate(selection):
            if choice >= 0:
                loads[choice] = loads.get(choice, 0) + weights[other]
        for answer in labels_of(masks[voter]):
            if answer == selection[voter] or _still_wins(selection, loads, weights, voter, label, answer):
                continue
            try:
                pinned = [*masks[:voter], 1 << answer, *masks[voter + 1 :]]
                if find_selection(pinned, weights, label, max_nodes) is None:
                    return True, undecided
            except Undecided:
                undecided += 1
    return False, undecided


def _still_wins(
    selection: list[int], loads: dict[int, int], weights: list[int], voter: int, label: int, answer: int
) -> bool:
    """Whether `label` still wins this selection when `voter` changes to `answer`: a proof without a new search."""
    moved = {**loads, answer: loads.get(answer, 0) + weights[voter]}
    moved[selection[voter]] -= weights[voter]
    return max(moved.values()) <= moved.get(label, 0)


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
        *undecided*: it counts as possible, and `return_undecided=True` returns (possible, undecided), both
        bool (T, m).
    Returns bool (T, m). Raises ValueError and CandidateError as `plcore.votes.check_graph` says.
    """
    if max_nodes < 1:
        raise ValueError(f"max_nodes must be an int of at least 1. Got {max_nodes!r}.")
    if not exact:
        approximate = approximate_possible_labels(neighbors, weights, candidates)
        return (approximate, np.zeros_like(approximate)) if return_undecided else approximate
    rows, fixed, known = check_graph(neighbors, weights, candidates)
    possible = np.zeros((len(rows), known.shape[1]), dtype=bool)
    undecided = np.zeros_like(possible)
    length = block_length(rows.shape[1], known.shape[1])
    for start in range(0, len(rows), length):
        block = slice(start, start + length)
        sets = known[rows[block]]
        possible[block], undecided[block] = exact_possible(
            sets, fixed[block], label_sets(sets, fixed[block]), max_nodes
        )
    return (possible, undecided) if return_undecided else possible
