"""What rows lose by claims: the difference of their scores with the targets of the claims damped, and nothing else."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.kernels.scores import SHARE_UNIT
from plcore.query import EffectRanker
from plcore.query.ranker import lost_by_claims
from tests.plcore.query.test_batches import problem


def lost_in_full(ranker, claimed, power):
    """(n,) the same by going through all targets."""
    rule, counted = ranker._rule, ranker._counted
    weights = rule.weights.astype(float)
    shares = np.rint(weights * float(SHARE_UNIT) / np.maximum(weights.sum(axis=1, keepdims=True), 1)).astype(
        np.int64
    )
    lost = np.zeros(len(ranker.candidates_), dtype=np.int64)
    for target, near in enumerate(rule.neighbors):
        times = int((np.isin(near, claimed) & counted[target]).sum())
        left = np.floor(shares[target] * power[min(times, len(power) - 1)]).astype(np.int64)
        np.add.at(lost, near[counted[target]], (shares[target] - left)[counted[target]])
    return lost


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), damping=st.sampled_from([0.0, 0.5, 0.9, 1.0]))
@settings(max_examples=25)
def test_they_lose_what_is_damped_and_no_others_lose(rule, seed, n, damping):
    X, sets = problem(seed)
    ranker = EffectRanker(rule, 4, damping=damping).fit(X, sets)
    claimed = np.sort(np.random.default_rng(seed).choice(60, n, replace=False))
    power = damping ** np.arange(4.0)  # a target that is claimed more often stays at the last
    rows, lost = lost_by_claims(claimed, ranker.votes_.index, ranker._rule, ranker._counted, power)
    assert (np.diff(rows) > 0).all()
    full = lost_in_full(ranker, claimed, power)
    np.testing.assert_array_equal(lost, full[rows])
    assert not np.delete(full, rows).any()


def seconds_beside_a_hub(n: int) -> float:
    """CPU seconds of the next row while somebody is asked about one that all n targets count."""
    neighbors = np.stack([np.arange(n), np.zeros(n, dtype=np.int64)], axis=1)
    neighbors[0, 1] = 1
    sets = np.ones((n, 2), dtype=bool)
    ranker = EffectRanker("mw", 2).fit_graph(neighbors, np.ones_like(neighbors), sets, np.arange(n))
    assert ranker.next(1, claimed=[0]).tolist() == [1]
    spent = []
    for _ in range(5):
        begun = time.process_time()
        ranker.next(1, claimed=[0])
        spent.append(time.process_time() - begun)
    return min(spent)


def test_a_row_that_many_targets_count_takes_no_square_of_them():
    assert seconds_beside_a_hub(48_000) < 7 * seconds_beside_a_hub(12_000)
