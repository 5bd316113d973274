"""What rows lose of their effect scores while others are asked about rows that count the same targets."""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernels.scores import find_claimed
from plcore.neighbors.votes import SlotIndex
from plcore.query.effects import Rule


def lost_by_claims(
    claimed: IntArray, index: SlotIndex, rule: Rule, counted: BoolArray, power: FloatArray
) -> tuple[IntArray, IntArray]:
    """(rows, lost) int64, rows ascending: what these rows lose by the claims, in shares; all others lose nothing.

    claimed : rows that others are asked about      counted : bool (T, K), what is in the scores
    power : a target that c of them count has power[c] of its shares, the last of power where c is larger
    It takes as long as the claims have neighbours, however many rows there are.
    """
    room = int((index.start[claimed + 1] - index.start[claimed]).sum()) * rule.neighbors.shape[1]
    rows, parts = np.empty((2, room), dtype=np.int64)
    found = find_claimed(
        claimed, index.start, index.slots, rule.neighbors, rule.weights, counted, power, rows, parts,
    )  # fmt: skip
    touched, place = np.unique(rows[:found], return_inverse=True)
    lost = np.zeros(len(touched), dtype=np.int64)
    np.add.at(lost, place, parts[:found])
    return touched, lost
