"""Candidate sets of many classes compared with bit masks: equal votes, label sets, effects and questions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from plcore.arrays.candidate_sets import CandidateSets
from plcore.neighbors import near
from plcore.neighbors.votes import VoteTable
from plcore.query import EffectRanker, effect_scores, necessary_labels, possible_labels, winners

EVERY = 10**9


@pytest.fixture
def in_form(monkeypatch):
    """Forces candidates to be masks or sets, whatever the number of classes."""

    def call(few, function):
        monkeypatch.setattr(near, "FEW_CLASSES", few)
        return function()

    return call


def graph_of(rng, n, m, k):
    """Rows of few, of many and of all classes, some without any; weights that tie, 0 among them."""
    sets = rng.random((n, m)) < rng.choice([1.5 / m, 0.3, 1.0], size=(n, 1), p=[0.6, 0.3, 0.1])
    sets[np.arange(n), rng.integers(m, size=n)] = True
    neighbors = np.argsort(rng.random((n, n)), axis=1)[:, :k]
    return neighbors, rng.integers(0, 4, size=neighbors.shape) * int(rng.choice([1, 2**30])), sets


def same(found, expected):
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
@pytest.mark.parametrize("decision", ["set", "incumbent"])
def test_ranking_of_sets_matches_masks_after_any_answers(rule, decision, monkeypatch):
    @given(st.integers(0, 2**32), st.sampled_from([2, 7, 70, 130]))
    @settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
    def law(seed, m):
        rng = np.random.default_rng(seed)
        n, k = 14, 4
        neighbors, weights, sets = graph_of(rng, n, m, k)
        rankers = []
        warnings.simplefilter("ignore", RuntimeWarning)  # searches that run out, in both forms alike
        for few in (EVERY, 0):
            monkeypatch.setattr(near, "FEW_CLASSES", few)
            ranker = EffectRanker(rule, k, decision=decision, max_nodes=50)
            given_sets = sets if few else CandidateSets.of_mask(sets)
            rankers.append(ranker.fit_graph(neighbors, weights, given_sets, np.arange(n)))
        masks, lists = rankers
        assert isinstance(lists.votes_.masks, CandidateSets)
        assert isinstance(masks.votes_.masks, np.ndarray)
        for turn in range(6):
            same(lists.scores_, masks.scores_)
            assert (lists.settled_, lists.n_undecided_) == (masks.settled_, masks.n_undecided_)
            same(lists.votes_.votes, masks.votes_.votes)
            same(lists.votes_.most(np.arange(n)), masks.votes_.most(np.arange(n)))
            row = int(rng.integers(n))
            assert lists.explain(row) == masks.explain(row)
            same(lists.next(3, claimed=[row]), masks.next(3, claimed=[row]))
            new = rng.random(m) < (0.0 if turn == 3 else 2 / m)
            same(lists.update(row, new), masks.update(row, new))
            same(lists.candidates_, masks.candidates_)
        # Also equal to a fresh fit. A fit refuses rows without candidates.
        kept = np.asarray(lists.candidates_)
        if kept.any(axis=1).all():
            fresh = EffectRanker(rule, k, decision=decision, max_nodes=50)
            same(fresh.fit_graph(neighbors, weights, kept, np.arange(n)).scores_, lists.scores_)

    law()


@pytest.mark.parametrize("m", [3, 64, 65, 200, 700])
def test_label_sets_and_scores_of_sets_match_masks(m, in_form):
    neighbors, weights, sets = graph_of(np.random.default_rng(m), 60, m, 5)
    graph = neighbors, weights, sets
    for function in (winners, necessary_labels, lambda *g: possible_labels(*g, max_nodes=20)):
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # searches that run out
            same(in_form(0, lambda f=function: f(*graph)), in_form(EVERY, lambda f=function: f(*graph)))
    same(in_form(0, lambda: effect_scores(*graph)), in_form(EVERY, lambda: effect_scores(*graph)))


def test_target_gets_the_labels_of_its_neighbours_in_order(monkeypatch):
    monkeypatch.setattr(near, "FEW_CLASSES", 0)
    sets = np.zeros((3, 500), dtype=bool)
    sets[0, [7, 499]] = sets[1, [7, 300]] = sets[2, [0]] = True
    neighbors = np.array([[0, 1], [2, 2]], dtype=np.int32)
    weights = np.array([[2, 1], [1, 0]])
    kept = near.kept_form(sets)
    parts = list(near.near_graphs(np.array([1, 0]), neighbors, weights, kept, 500))
    assert len(parts) == 1
    places, graph = parts[0]
    assert places.tolist() == [0, 1]
    assert graph.names.tolist() == [[0, -1, -1], [7, 300, 499]]
    assert graph.masks.tolist() == [[1], [1], [0b101], [0b011]]
    assert graph.weights.tolist() == [[1, 0], [2, 1]]
    found = graph.by_class(np.array([[True, False, False], [False, True, True]]), 500)
    assert np.argwhere(found).tolist() == [[0, 0], [1, 300], [1, 499]]


def test_targets_of_equal_width_are_processed_in_bounded_parts(monkeypatch):
    monkeypatch.setattr(near, "MOST_WORDS", 64 * 3)
    rng = np.random.default_rng(0)
    sets = np.zeros((40, 1000), dtype=bool)
    sets[np.arange(40), rng.integers(1000, size=40)] = True
    sets[::10] = True
    neighbors = np.arange(40, dtype=np.int32)[:, None]
    kept = near.kept_form(sets)
    parts = list(near.near_graphs(np.arange(40), neighbors, np.ones((40, 1), dtype=np.int64), kept, 1000))
    assert sorted(np.concatenate([places for places, _ in parts]).tolist()) == list(range(40))
    assert {graph.n_classes for _, graph in parts} == {1, 1000}
    assert max(len(places) for places, _ in parts) == 3


def test_votes_of_some_targets_match_those_of_all(in_form):
    neighbors, weights, sets = graph_of(np.random.default_rng(1), 30, 90, 4)
    table = in_form(0, lambda: VoteTable(neighbors, weights, sets))
    votes = (weights[:, :, None] * sets[neighbors]).sum(axis=1)
    same(table.of(np.array([5, 0, 5])), votes[[5, 0, 5]])
    same(table.most(np.arange(30)), np.where(votes.any(axis=1), votes.argmax(axis=1), -1))
