"""The compiled loops match enumeration to the last bit, and flow matches search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.arrays.candidate_sets import FEW_CLASSES
from plcore.neighbors.near import pack
from plcore.neighbors.votes import VoteTable
from plcore.query import effect_scores, possible_labels
from plcore.query.possible import exact_possible
from tests.plcore.query.enumeration import check
from tests.plcore.random_sets import some_sets


def graph_of(rng, n, m, k, n_targets, share, unit):
    """A random graph; unit: weights are multiples of it, so that ties are common; 0: any weights."""
    sets = some_sets(rng, n, m, share)
    neighbors = np.argsort(rng.random((n_targets, n)), axis=1)[:, :k]
    low, high = (0, 4) if unit else (2**23, 2**24)
    return neighbors, rng.integers(low, high, size=neighbors.shape) * max(unit, 1), sets


@given(
    st.integers(0, 2**32),
    st.integers(1, 6),
    st.integers(1, 7),
    st.sampled_from([0.1, 0.4, 0.8, 1.0]),
    st.sampled_from([0, 1, 2**30]),
)
def test_compiled_loops_match_enumeration(seed, m, k, share, unit):
    rng = np.random.default_rng(seed)
    check(*graph_of(rng, 12, m, k, int(rng.integers(0, 9)), share, unit))


@pytest.mark.parametrize(
    "m", [31, 32, 33, 63, 64, 65, 128, 129, *(pytest.param(m, marks=pytest.mark.proof) for m in (96, 200))]
)
@pytest.mark.parametrize("unit", [1, 2**30])
def test_every_width_of_masks_matches_enumeration(m, unit):
    rng = np.random.default_rng(m)
    check(*graph_of(rng, 30, m, 6, 70, 3 / m, unit))
    single = np.arange(m * 3) % m  # every label alone in some row
    sets = np.eye(m, dtype=bool)[single]
    sets[::3] |= rng.random((m, m)) < 0.02
    check(np.argsort(rng.random((90, m * 3)), axis=1)[:, :6], np.full((90, 6), max(unit, 1)), sets)
    check(*graph_of(rng, 30, m, 6, 70, 0.5, unit), exact=False)


@pytest.mark.parametrize("n_targets", [1, 63, 64, 65, 130])
def test_every_filling_of_lanes_matches_enumeration(n_targets):
    rng = np.random.default_rng(n_targets)
    check(*graph_of(rng, 40, 5, 6, n_targets, 0.4, 0), exact=False)


def test_unusual_graphs_match_enumeration():
    rng = np.random.default_rng(0)
    same = graph_of(rng, 20, 4, 5, 30, 0.5, 0)
    check(same[0], np.full_like(same[1], 2**24), same[2])  # duplicates: all distances 0
    check(*graph_of(rng, 20, 4, 1, 30, 0.5, 0))
    check(*graph_of(rng, 20, 4, 20, 30, 0.1, 0), exact=False)  # K = n
    one = np.ones((9, 1), dtype=bool)
    check(np.arange(9).reshape(3, 3), np.ones((3, 3), dtype=int), one)  # M = 1
    precise = np.eye(4, dtype=bool)[rng.integers(4, size=20)]
    check(same[0], same[1], precise)
    assert not effect_scores(same[0], same[1], precise).any()
    check(same[0], same[1], np.ones((20, 4), dtype=bool))
    large = np.full((3, 3), 2**50)  # near the largest weights allowed
    check(np.arange(9).reshape(3, 3), large, rng.random((9, 3)) < 2)


def test_flow_for_equal_weights_matches_search():
    """10,000 targets with equal weights, some of weight 0: maximum flow compared with the search."""
    rng = np.random.default_rng(7)
    for k, m in ((4, 3), (6, 5), (8, 6), (10, 8), (12, 10)):
        n_targets = 2000
        sets = rng.random((n_targets * k, m)) < rng.choice([0.15, 0.3, 0.5], size=(n_targets * k, 1))
        sets[np.arange(n_targets * k), rng.integers(m, size=n_targets * k)] = True
        neighbors = np.arange(n_targets * k, dtype=np.int32).reshape(n_targets, k)
        weights = np.where(rng.random((n_targets, k)) < 0.1, 0, 2**24)
        graph = np.arange(n_targets), neighbors, weights, pack(sets), m
        # One node is enough: there is no flow.
        by_flow, undecided = exact_possible(*graph, 1)
        assert not undecided.any()
        by_search, undecided = exact_possible(*graph, 10**6, plain_search=True)
        assert not undecided.any()
        np.testing.assert_array_equal(by_flow, by_search)
        assert (by_flow != possible_labels(neighbors, weights, sets, exact=False)).any() or k < 6


def test_unequal_weights_match_search():
    rng = np.random.default_rng(8)
    for high in (3, 9, 1000):
        k, m, n_targets = 10, 8, 1000
        sets = rng.random((n_targets * k, m)) < 0.3
        sets[np.arange(n_targets * k), rng.integers(m, size=n_targets * k)] = True
        neighbors = np.arange(n_targets * k, dtype=np.int32).reshape(n_targets, k)
        weights = rng.integers(high // 2, high, size=(n_targets, k))
        graph = np.arange(n_targets), neighbors, weights, pack(sets), m
        found, undecided = exact_possible(*graph, 10**6)
        by_search, unknown = exact_possible(*graph, 10**6, plain_search=True)
        assert not undecided.any()
        assert not unknown.any()
        np.testing.assert_array_equal(found, by_search)


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_number_of_threads_changes_nothing(rule, monkeypatch):
    monkeypatch.setattr("plcore.query.effects.BLOCK", 50)
    graph = graph_of(np.random.default_rng(3), 300, 6, 8, 700, 0.3, 0)
    alone = effect_scores(*graph, rule=rule)
    for n_jobs in (2, 3, 8):
        np.testing.assert_array_equal(effect_scores(*graph, rule=rule, n_jobs=n_jobs), alone)
    with pytest.raises(ValueError, match=r"n_jobs must be an int of at least 1\. Got 0"):
        effect_scores(*graph, n_jobs=0)


@pytest.mark.parametrize("m", [3, 64, 70])
def test_vote_table_matches_its_definition(m):
    rng = np.random.default_rng(m)
    neighbors, weights, sets = graph_of(rng, 30, m, 5, 40, 0.3, 1)
    late, early = VoteTable(neighbors, weights, sets), VoteTable(neighbors, weights, sets)
    assert early.votes.shape == (40, m)
    for _ in range(20):
        row, new = int(rng.integers(30)), rng.random(m) < 0.3
        targets = early.update(row, sets[row].copy(), new)
        late.update(row, sets[row].copy(), new)
        if not np.array_equal(sets[row], new):
            assert targets.tolist() == np.flatnonzero(((neighbors == row) & (weights > 0)).any(1)).tolist()
        sets[row] = new
    expected = (weights[:, :, None] * sets[neighbors]).sum(axis=1)
    np.testing.assert_array_equal(early.votes, expected)
    np.testing.assert_array_equal(late.votes, expected)  # made only now
    np.testing.assert_array_equal(early.masks, pack(sets) if m <= FEW_CLASSES else sets)
    for row in range(30):
        targets, slots = early.index.places(row)
        assert list(zip(targets, slots, strict=True)) == [
            tuple(place) for place in np.argwhere((neighbors == row) & (weights > 0))
        ]
