"""What rows lose of their effect scores while others are asked about rows that count the same targets."""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernels.scores import SHARE_UNIT
from plcore.neighbors.votes import SlotIndex
from plcore.query.effects import Rule


def lost_by_claims(
    claimed: IntArray, index: SlotIndex, rule: Rule, counted: BoolArray, power: FloatArray
) -> tuple[IntArray, IntArray]:
    """(rows, lost) int64, rows ascending: what these rows lose by the claims, in shares, as `pick_batch` damps them;
    all others lose nothing.

    claimed : (c,) rows that others are asked about, one at least      counted : bool (T, K), what is in the scores
    power : a target that c of them count has power[c] of its shares, the last of power where c is larger; power[0] is 1
    It takes as long as the claims have neighbours, however many rows there are.
    """
    places = np.concatenate([index.of(row) for row in claimed]).astype(np.int64)
    among, _ = np.divmod(places[counted.reshape(-1)[places]], rule.neighbors.shape[1])
    targets, times = np.unique(among, return_counts=True)
    weights = rule.weights[targets]
    shares = np.rint(weights * float(SHARE_UNIT) / np.maximum(weights.sum(axis=1, keepdims=True), 1))
    left = np.trunc(shares * power[np.minimum(times, len(power) - 1), None])
    lose = counted[targets]
    rows, place = np.unique(rule.neighbors[targets][lose], return_inverse=True)
    lost = np.zeros(len(rows), dtype=np.int64)
    np.add.at(lost, place, (shares - left)[lose].astype(np.int64))
    return rows.astype(np.int64), lost
