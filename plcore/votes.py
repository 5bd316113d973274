"""Weighted votes of neighbours, in exact integers.

A target t has K neighbours (training rows) with weights; every neighbour votes with its weight for each of
its candidates (Eq. 1 of Nguyen, Destercke and Masson, AAAI 2017). Equality of sums decides who wins, and
`0.9+0.8+0.7-0.7 > 0.9+0.8` in doubles, so weights become integers once. Sums are then exact, independent of
order, and equal after any number of updates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plcore._types import BoolArray, IntArray
from plcore.candidates import check_candidates, name_rows

WEIGHT_UNIT = 2**24  # the integer that stands for weight 1.0
LARGEST_SUM = 2**52  # weight sums stay below, so that they are exact in int64 and in double alike


def fixed_weights(weights: Any) -> IntArray:
    """Weights (T, K) as int64: integers as they are, floats as `rint(w * 2**24)`.

    Raises ValueError for weights that are negative, not finite, or whose sum over a target passes 2**52.
    """
    given = np.asarray(weights)
    if given.ndim != 2 or given.dtype.kind not in "iufb":
        raise ValueError(
            f"weights must be a numeric array (n_targets, K). Got shape {given.shape} and dtype {given.dtype}."
        )
    rows = np.flatnonzero(~(np.isfinite(given) & (given >= 0)).all(axis=1))
    if len(rows):
        raise ValueError(f"weights must be finite and not negative; other values in {name_rows(rows)}.")
    scaled = given
    if given.dtype.kind == "f":
        with np.errstate(over="ignore"):  # the check below refuses what overflows
            scaled = np.rint(given.astype(np.float64) * WEIGHT_UNIT)
    if scaled.size and float(scaled.sum(axis=1, dtype=np.float64).max()) > LARGEST_SUM:
        raise ValueError(
            "the weights of a target must sum to less than 2**52 (a float of 1.0 counts 2**24). "
            f"Got {scaled.sum(axis=1, dtype=np.float64).max():g}. Fix: scale the weights down."
        )
    return scaled.astype(np.int64)


def check_graph(neighbors: Any, weights: Any, candidates: Any) -> tuple[IntArray, IntArray, BoolArray]:
    """Check a neighbour graph; return (neighbors int64 (T, K), weights int64 (T, K), candidates bool (n, m)).

    A row listed twice for a target is one voter: its weights are added up on its first place, 0 elsewhere.
    Raises ValueError for shapes that do not match, for neighbours that are not whole numbers in 0..n-1 and
    for weights as `fixed_weights` says; CandidateError for candidates that break the convention.
    """
    known, _ = check_candidates(candidates)
    rows = np.asarray(neighbors)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            "neighbors must be an integer array (n_targets, K) of row numbers with K at least 1. "
            f"Got shape {rows.shape} and dtype {rows.dtype}."
        )
    fixed = fixed_weights(weights)
    if fixed.shape != rows.shape:
        raise ValueError(f"weights must have the shape of neighbors, {rows.shape}. Got {fixed.shape}.")
    outside = np.flatnonzero(((rows < 0) | (rows >= len(known))).any(axis=1))
    if len(outside):
        raise ValueError(
            f"neighbors must be rows of candidates, 0..{len(known) - 1}; others for the targets in "
            f"{name_rows(outside)}."
        )
    rows = rows.astype(np.int64)
    _merge_repeated(rows, fixed)
    return rows, fixed, known


def _merge_repeated(neighbors: IntArray, weights: IntArray) -> None:
    """Add the weights of a row listed twice for a target up on its first place, in place."""
    ordered = np.sort(neighbors, axis=1)
    for target in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        _, first, voter = np.unique(neighbors[target], return_index=True, return_inverse=True)
        merged = np.zeros(neighbors.shape[1], dtype=np.int64)
        np.add.at(merged, first[voter], weights[target])
        weights[target] = merged


class SlotIndex:
    """Who has a row among its neighbours: row -> its (target, slot) places of positive weight, in target order."""

    def __init__(self, neighbors: IntArray, weights: IntArray, n_rows: int) -> None:
        flat = np.flatnonzero(weights.ravel() > 0)
        rows = neighbors.ravel()[flat]
        self._places = flat[np.argsort(rows, kind="stable")]
        self._start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        self._width = neighbors.shape[1]

    def places(self, row: int) -> tuple[IntArray, IntArray]:
        """(targets, slots) of one row; the targets ascend and are distinct."""
        flat = self._places[self._start[row] : self._start[row + 1]]
        targets, slots = np.divmod(flat, self._width)
        return targets, slots


class VoteTable:
    """The votes of Eq. 1 for fixed targets, kept right while candidate rows change.

    neighbors, weights : int64 (T, K), checked, distinct neighbours for each target
    candidates : bool (n, m); a row without a candidate (an item taken out) casts no vote
    `votes` : int64 (T, m). Inputs are already valid.
    """

    def __init__(self, neighbors: IntArray, weights: IntArray, candidates: BoolArray) -> None:
        self.neighbors = neighbors
        self.weights = weights
        self.index = SlotIndex(neighbors, weights, len(candidates))
        self.votes: IntArray = np.zeros((len(neighbors), candidates.shape[1]), dtype=np.int64)
        for slot in range(neighbors.shape[1]):
            self.votes += weights[:, slot, None] * candidates[neighbors[:, slot]]

    def update(self, row: int, old: BoolArray, new: BoolArray) -> IntArray:
        """Replace what `row` votes for, `old` -> `new` (m,); return the targets whose votes changed, ascending."""
        targets, slots = self.index.places(row)
        difference = new.astype(np.int64) - old
        if not difference.any():
            return targets[:0]
        self.votes[targets] += self.weights[targets, slots, None] * difference
        return targets
