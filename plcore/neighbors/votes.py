"""Weighted votes of neighbours, in exact integers.

A target t has K neighbours (training rows) with weights; every neighbour votes with its weight for each of its
candidates (Eq. 1 of Nguyen, Destercke and Masson, AAAI 2017). Equality of sums decides which label wins, and
`0.9+0.8+0.7-0.7 > 0.9+0.8` in doubles, so weights are converted to integers once. Sums are then exact, independent of
order, and equal after any number of updates.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from plcore.arrays.array_files import large_array
from plcore.arrays.candidate_sets import CandidateSets
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, LabelsLike
from plcore.kernels.near import add_listed_votes, find_most_listed
from plcore.kernels.votes import (
    add_scaled_votes,
    add_votes,
    change_scaled_votes,
    count_places,
    fill_places,
    find_most_votes,
    has_repeated,
)
from plcore.labels.candidates import kept_candidates, name_rows
from plcore.neighbors.near import kept_form, pack

WEIGHT_UNIT = 2**24  # the integer that stands for weight 1.0
LARGEST_SUM = 2**52  # limit of weight sums, so that they are exact in int64 and in double


def fixed_weights(weights: ArrayLike) -> IntArray:
    """Convert weights (T, K) to int64: integers unchanged, floats as `rint(w * 2**24)`.

    Raises ValueError for negative or infinite weights, and if their sum over a target exceeds 2**52.
    """
    given = np.asarray(weights)
    if given.ndim != 2 or given.dtype.kind not in "iufb":
        raise ValueError(
            f"weights must be a numeric array (n_targets, K). Got shape {given.shape} and dtype {given.dtype}."
        )
    if given.size and not (given.min() >= 0 and given.max() < np.inf):  # NaN compares false
        rows = np.flatnonzero(~(np.isfinite(given) & (given >= 0)).all(axis=1))
        raise ValueError(f"weights must be finite and not negative; other values in {name_rows(rows)}.")
    scaled = given
    if given.dtype.kind == "f":
        with np.errstate(over="ignore"):  # overflow is refused by the check below
            scaled = given.astype(np.float64) * WEIGHT_UNIT
            np.rint(scaled, out=scaled)
    if scaled.size and float(scaled.max()) * scaled.shape[1] > LARGEST_SUM:
        largest = float(scaled.sum(axis=1, dtype=np.float64).max())
        if largest > LARGEST_SUM:
            raise ValueError(
                "the weights of a target must sum to less than 2**52 (a float of 1.0 counts 2**24). "
                f"Got {largest:g}. Fix: scale the weights down."
            )
    return np.ascontiguousarray(scaled, dtype=np.int64)


def check_graph(
    neighbors: ArrayLike, weights: ArrayLike, candidates: LabelsLike, *, copied: bool = True
) -> tuple[AnyArray, IntArray, BoolArray]:
    """Check a neighbour graph; return (neighbors int32 (T, K), weights int64 (T, K), candidates bool (n, m)).

    copied : copy even read-only candidates

    A row listed twice for a target is one voter: its weights are added up at its first place, 0 elsewhere. C-contiguous
    arrays of these types are not copied. `CandidateSets` are copied as such. Raises ValueError for shapes that do not
    match, for neighbours that are not whole numbers in 0..n-1, and for weights as `fixed_weights`; CandidateError for
    invalid candidates.
    """
    candidates = kept_candidates(candidates, copied=copied)
    rows = np.asarray(neighbors)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            "neighbors must be an integer array (n_targets, K) of row numbers with K at least 1. "
            f"Got shape {rows.shape} and dtype {rows.dtype}."
        )
    weights = fixed_weights(weights)
    if weights.shape != rows.shape:
        raise ValueError(f"weights must have the shape of neighbors, {rows.shape}. Got {weights.shape}.")
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < len(candidates):
        outside = np.flatnonzero(((rows < 0) | (rows >= len(candidates))).any(axis=1))
        raise ValueError(
            f"neighbors must be rows of candidates, 0..{len(candidates) - 1}; others for the targets in "
            f"{name_rows(outside)}."
        )
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    if has_repeated(rows):
        weights = _merge_repeated(rows, weights)
    return rows, weights, candidates


def _merge_repeated(neighbors: AnyArray, weights: IntArray) -> IntArray:
    """Return new weights in which those of a row listed twice for a target are added up at its first place."""
    weights = weights.copy()
    ordered = np.sort(neighbors, axis=1)
    for target in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        _, first, voter = np.unique(neighbors[target], return_index=True, return_inverse=True)
        merged = np.zeros(neighbors.shape[1], dtype=np.int64)
        np.add.at(merged, first[voter], weights[target])
        weights[target] = merged
    return weights


class SlotIndex:
    """Index from each row to its (target, slot) places of positive weight, in target order: the targets that have it as
    a neighbour.

    `start` int64 (n + 1,) and `slots` uint32: the places t * K + slot of row r are slots[start[r] : start[r + 1]].
    """

    def __init__(self, neighbors: AnyArray, weights: IntArray, n_rows: int) -> None:
        if neighbors.size >= 2**32:
            raise ValueError(
                f"A neighbour graph may have at most 2**32 - 1 (target, neighbour) pairs. Got {neighbors.size}. "
                "Fix: take fewer neighbours."
            )
        self.start: IntArray = np.zeros(n_rows + 1, dtype=np.int64)
        count_places(neighbors, weights, self.start)
        self.slots: AnyArray = large_array((int(self.start[-1]),), np.uint32)
        fill_places(neighbors, weights, self.start, self.slots)
        self._width = neighbors.shape[1]

    def of(self, row: int) -> AnyArray:
        """Return the places of one row, uint32, ascending: a view."""
        return self.slots[self.start[row] : self.start[row + 1]]

    def places(self, row: int) -> tuple[IntArray, IntArray]:
        """Return (targets, slots) of one row; the targets are ascending and distinct."""
        flat = self.of(row).astype(np.int64)
        targets = flat // self._width
        return targets, flat - targets * self._width


class VoteTable:
    """The votes of Eq. 1 for fixed targets, which follow changes of the candidates.

    neighbors, weights : integers (T, K), checked, distinct neighbours for each target
    candidates : bool (n, m); a row without a candidate (an excluded item) casts no vote
    Inputs are not checked. `masks` are the current candidates in the form of
    `plcore.neighbors.near.kept_form`. Votes are not stored: counting a target's votes on demand costs no more
    than keeping them up to date.
    """

    def __init__(self, neighbors: AnyArray, weights: IntArray, candidates: BoolArray) -> None:
        self._take(neighbors, weights, len(candidates))
        self.masks = kept_form(candidates)
        self.n_classes = candidates.shape[1]

    def _take(self, neighbors: AnyArray, weights: IntArray, n_rows: int) -> None:
        self.neighbors: AnyArray = np.ascontiguousarray(neighbors, dtype=np.int32)
        self.weights: IntArray = np.ascontiguousarray(weights, dtype=np.int64)
        self.index = SlotIndex(self.neighbors, self.weights, n_rows)

    def beside(self, neighbors: AnyArray, weights: IntArray) -> VoteTable:
        """Return the votes about other targets of the same rows. The candidates are shared: a caller that updates both
        tables must update this one first."""
        found = copy(self)
        found._take(neighbors, weights, len(self.index.start) - 1)
        return found

    def copy(self) -> Self:
        """Return a copy that does not follow later updates; the graph is shared."""
        found = copy(self)
        found.masks = self.masks.copy()
        return found

    @property
    def votes(self) -> IntArray:
        """Return the current votes (T, m), a new array."""
        return self.of(np.arange(len(self.neighbors)))

    def of(self, targets: IntArray) -> IntArray:
        """Return the current votes (B, m) about these targets."""
        votes: IntArray = np.zeros((len(targets), self.n_classes), dtype=np.int64)
        graph = targets, self.neighbors, self.weights
        if isinstance(sets := self.masks, CandidateSets):
            add_listed_votes(*graph, sets.words, sets.start, sets.sizes, self.n_classes, votes)
        else:
            add_votes(*graph, sets, votes)
        return votes

    def most(self, targets: IntArray) -> IntArray:
        """Return (B,) the class with the most votes about each of these targets, ties to the first; -1 without a
        vote."""
        best = np.empty(len(targets), dtype=np.int64)
        graph = targets, self.neighbors, self.weights
        if isinstance(sets := self.masks, CandidateSets):
            find_most_listed(*graph, sets.words, sets.start, sets.sizes, self.n_classes, best)
        else:
            find_most_votes(*graph, sets, self.n_classes, best)
        return best

    def update(self, row: int, old: BoolArray, new: BoolArray) -> IntArray:
        """Replace the votes of `row`, `old` -> `new` (m,); return the targets whose votes changed, ascending."""
        targets, _ = self.index.places(row)
        if np.array_equal(old, new):
            return targets[:0]
        self._put(row, new)
        return targets

    def _put(self, row: int, new: BoolArray) -> None:
        if isinstance(self.masks, CandidateSets):
            self.masks[row] = new
        else:
            self.masks[row] = pack(new[None])[0]


class ScaledVoteTable(VoteTable):
    """Votes in which a row may count more for some labels: scales int64 (n, m), 0 if it does not vote.

    The vote of a row is its weight in a neighbourhood times its scales, in integers, so that updates stay exact. The
    votes are stored.
    """

    def __init__(self, neighbors: AnyArray, weights: IntArray, scales: IntArray) -> None:
        super().__init__(neighbors, weights, scales > 0)
        self._votes: IntArray = np.zeros((len(self.neighbors), self.n_classes), dtype=np.int64)
        add_scaled_votes(self.neighbors, self.weights, scales, self._votes)

    def copy(self) -> Self:
        found = super().copy()
        found._votes = self._votes.copy()
        return found

    def of(self, targets: IntArray) -> IntArray:
        return self._votes[targets]

    def most(self, targets: IntArray) -> IntArray:
        votes = self._votes[targets]
        return np.where(votes.any(axis=1), votes.argmax(axis=1), -1)

    def update(self, row: int, old: AnyArray, new: AnyArray) -> IntArray:
        """Replace the scales of `row`, `old` -> `new` int64 (m,); return the targets that changed."""
        targets, _ = self.index.places(row)
        if np.array_equal(old, new):
            return targets[:0]
        self._put(row, new > 0)
        change_scaled_votes(self.index.of(row), self.weights, new - old, self._votes)
        return targets


def scale_bits(n_neighbors: int, n_classes: int, largest: float) -> int:
    """Return the exponent e for which `vote_scales` times 2**e fill 20 bits, or the largest that leaves all sums of
    votes below 2**62.

    n_neighbors : K of the targets, with weights of at most `WEIGHT_UNIT`      largest : largest scale, above 0
    """
    room = 62 - (n_neighbors * n_classes * WEIGHT_UNIT).bit_length()
    return min(20, room) - math.ceil(math.log2(largest))


def vote_scales(prior: FloatArray, weights: FloatArray, bits: int) -> IntArray:
    """Return int64 (n, m) the scale of each row's vote for a label: its weight (n,) for the likeliest of prior (n, m),
    else less.

    It is `rint(s_i * p_ic / max_c p_ic * 2**bits)`: no candidate counts more than the label of an exact row, and even
    candidates all count s_i.
    """
    likeliest = prior.max(axis=1, keepdims=True)
    return np.asarray(np.rint(np.ldexp(weights[:, None] * (prior / likeliest), bits)), dtype=np.int64)
