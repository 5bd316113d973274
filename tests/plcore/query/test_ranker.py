"""EffectRanker: its graph, update == refit, settled targets, and the order of questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from plcore.arrays.candidate_sets import CandidateSets
from plcore.blocks.processes import Inline
from plcore.neighbors.graph import NeighborGraph, neighbor_weights
from plcore.neighbors.near import kept_form
from plcore.neighbors.search.parts import find_parts, scale_rows
from plcore.query import EffectRanker, effect_scores, necessary_labels, possible_labels, score_parts
from plcore.query.score_parts import ambiguous_of, first_ranking, kept_of
from tests.plcore.neighbors.search.parts.staged import by_row, stage, stage_candidates, surface
from tests.plcore.query import enumeration
from tests.plcore.random_sets import some_sets


def problem(seed, n=40, m=4, d=2):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, size=(n, d)).astype(float), some_sets(rng, n, m), rng


def same(one, other):
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.candidates_, other.candidates_)
    np.testing.assert_array_equal(one.next(99), other.next(99))


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
@pytest.mark.parametrize("targets", ["ambiguous", "fixed"])
@pytest.mark.parametrize("k", [1, 3, 100])
def test_scores_match_effect_scores_on_the_graph_it_builds(rule, targets, k):
    X, sets, _ = problem(0)
    ranker = EffectRanker(rule, k, targets).fit(X, sets)
    ambiguous = np.flatnonzero(sets.sum(axis=1) >= 2)
    neighbors, weights = NeighborGraph(X, k, "linear", "minmax").own_neighbors(ambiguous)
    assert neighbors.shape[1] == min(k, 40)
    assert neighbors[:, 0].tolist() == ambiguous.tolist()
    np.testing.assert_array_equal(ranker.scores_, effect_scores(neighbors, weights, sets, rule=rule))
    assert (ranker.scores_[sets.sum(axis=1) == 1] == 0).all()


def test_targets_outside_the_rows_are_accepted():
    X, sets, rng = problem(1)
    points = rng.random((15, 2)) * 5
    neighbors, weights = NeighborGraph(X, 3, "linear", "minmax").neighbors_of(points)
    ranker = EffectRanker(targets=points).fit(X, sets)
    assert ranker.n_targets_ == 15
    np.testing.assert_array_equal(ranker.scores_, effect_scores(neighbors, weights, sets))
    necessary = necessary_labels(neighbors, weights, sets)
    possible = possible_labels(neighbors, weights, sets)
    assert ranker.settled_ == (necessary.any(axis=1) & (necessary == possible).all(axis=1)).mean()
    same(ranker, EffectRanker().fit_graph(neighbors, weights, sets))
    nothing = EffectRanker(targets=np.zeros((0, 2))).fit(X, sets)
    assert nothing.scores_.tolist() == [0] * 40
    assert nothing.settled_ == 1.0
    same(EffectRanker(targets=sparse.csr_matrix(points), scaling=None).fit(sparse.csr_matrix(X), sets),
         EffectRanker(targets=points, scaling=None).fit(X, sets))  # fmt: skip


def test_set_and_incumbent_decisions_match_their_definitions():
    rng = np.random.default_rng(2)
    for _ in range(200):
        graph = enumeration.random_graph(rng)
        _, changes = enumeration.enumerated(*graph)
        for decision in ("set", "incumbent"):
            ranker = EffectRanker("pl", decision=decision).fit_graph(*graph)
            expected = enumeration.scores(*graph, changes, "pl", decision)
            np.testing.assert_array_equal(ranker.scores_, expected)


@st.composite
def answer_sequences(draw):
    seed, m = draw(st.integers(0, 10**6)), draw(st.integers(2, 4))
    n = draw(st.integers(1, 16))
    return seed, n, m, draw(st.lists(st.integers(0, n - 1), max_size=8)), draw(st.integers(1, 6))


@given(answer_sequences(), st.sampled_from(["mw", "apl", "pl"]), st.sampled_from(["set", "incumbent"]))
def test_update_equals_refit_and_undo(case, rule, decision):
    seed, n, m, rows, k = case
    X, sets, rng = problem(seed, n, m)
    ranker = EffectRanker(rule, k, decision=decision).fit(X, sets)
    history = [(ranker.scores_, ranker.settled_)]
    steps = []
    for row in rows:
        steps.append((row, ranker.candidates_[row].copy()))
        ranker.update(row, some_sets(rng, 1, m)[0])
        same(ranker, EffectRanker(rule, k, decision=decision).fit(X, ranker.candidates_))
        history.append((ranker.scores_, ranker.settled_))
    for row, old in reversed(steps):
        assert ranker.settled_ == history[-1][1]
        np.testing.assert_array_equal(ranker.scores_, history.pop()[0])
        ranker.update(row, old)
    same(ranker, EffectRanker(rule, k, decision=decision).fit(X, sets))
    assert ranker.settled_ == history[0][1]


@given(answer_sequences(), st.sampled_from(["mw", "apl"]))
def test_fixed_targets_do_not_change_with_answers(case, rule):
    seed, n, m, rows, k = case
    X, sets, rng = problem(seed, n, m)
    ranker = EffectRanker(rule, k, "fixed").fit(X, sets)
    first = np.flatnonzero(sets.sum(axis=1) >= 2)
    neighbors, weights = NeighborGraph(X, k, "linear", "minmax").own_neighbors(first)
    for row in rows:
        ranker.update(row, some_sets(rng, 1, m)[0])
        np.testing.assert_array_equal(ranker.scores_, effect_scores(neighbors, weights, ranker.candidates_, rule=rule))


def test_excluded_row_casts_no_vote():
    X, sets, _ = problem(3)
    ranker = EffectRanker().fit(X, sets)
    row = int(ranker.next()[0])
    before = ranker.scores_
    targets = ranker.update(row, np.zeros(4, dtype=bool))
    assert ranker.scores_[row] == 0
    assert row not in ranker.next(99)
    for target in targets.tolist():
        rows = [r for r in ranker.votes_.neighbors[target].tolist() if ranker.candidates_[r].any()]
        votes = sum(
            weight * ranker.candidates_[r].astype(int)
            for r, weight in zip(ranker.votes_.neighbors[target], ranker.votes_.weights[target], strict=True)
            if r in rows
        )
        np.testing.assert_array_equal(ranker.votes_.votes[target], votes)
    for other in range(40):  # also works without any voter left
        ranker.update(other, np.zeros(4, dtype=bool))
    assert ranker.scores_.tolist() == [0] * 40
    assert len(ranker.next(5)) == 0
    for other in range(40):
        ranker.update(other, sets[other])
    np.testing.assert_array_equal(ranker.scores_, before)


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_external_graphs_are_accepted(rule):
    """Repeated neighbours, zero weights, and targets that are not among their own neighbours."""
    rng = np.random.default_rng(8)
    sets = some_sets(rng, 9, 3)
    neighbors = rng.integers(0, 9, size=(6, 5))
    weights = rng.integers(0, 4, size=(6, 5))
    rows = rng.permutation(9)[:6]
    ranker = EffectRanker(rule).fit_graph(neighbors, weights, sets, rows)
    settled = ranker.settled_
    first = ranker.candidates_.copy()
    for row in [*range(9), *range(9)]:
        ranker.update(row, some_sets(rng, 1, 3)[0])
        same(ranker, EffectRanker(rule).fit_graph(neighbors, weights, ranker.candidates_, rows))
    for row in range(9):
        ranker.update(row, first[row])
    same(ranker, EffectRanker(rule).fit_graph(neighbors, weights, sets, rows))
    assert ranker.settled_ == settled
    np.testing.assert_array_equal(sets, first)


def test_settled_share_matches_a_recount():
    X, sets, _ = problem(4)
    ranker = EffectRanker().fit(X, sets)
    first = np.flatnonzero(sets.sum(axis=1) >= 2)
    graph = NeighborGraph(X, 3, "linear", "minmax").own_neighbors(first)
    seen = []
    while len(row := ranker.next()):
        necessary = necessary_labels(*graph, ranker.candidates_)
        possible = possible_labels(*graph, ranker.candidates_, exact=False)
        settled = necessary.any(axis=1) & (necessary == possible).all(axis=1)
        settled |= ranker.candidates_[first].sum(axis=1) == 1
        assert ranker.settled_ == settled.mean()
        seen.append(ranker.settled_)
        answer = np.zeros(4, dtype=bool)
        answer[np.flatnonzero(ranker.candidates_[row[0]])[-1]] = True
        ranker.update(int(row[0]), answer)
    assert ranker.settled_ == 1.0
    assert seen[0] < 1
    assert EffectRanker().fit(X, np.eye(4, dtype=bool)[sets.argmax(axis=1)]).settled_ == 1.0


def test_next_returns_ordered_open_rows_only():
    X, sets, _ = problem(5, n=60)
    ranker = EffectRanker("mw", 3).fit(X, sets)
    ambiguous = np.flatnonzero(sets.sum(axis=1) >= 2)
    rows = ranker.top()
    assert sorted(rows.tolist()) == ambiguous.tolist()
    keys = [(-ranker.scores_[row], row) for row in rows]
    assert keys == sorted(keys)
    for n in (0, 1, 2, 7):
        assert ranker.top(n).tolist() == rows[:n].tolist()
        assert len(ranker.next(n)) == n
        assert ranker.next(n)[:1].tolist() == rows[: min(n, 1)].tolist()
    assert sorted(ranker.next(1000).tolist()) == ambiguous.tolist()
    among = np.zeros(60, dtype=bool)
    among[rows[3:5]] = True
    assert ranker.top(9, among).tolist() == rows[3:5].tolist()
    assert sorted(ranker.next(9, among)) == sorted(rows[3:5])
    assert ranker.next(1, among).tolist() == rows[3:4].tolist()
    with pytest.raises(ValueError, match="Got -1"):
        ranker.next(-1)


def test_rows_with_zero_score_are_still_asked():
    sets = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1]], dtype=bool)
    ranker = EffectRanker().fit_graph(np.arange(5)[None], [[4, 5, 3, 2, 5]], sets)
    assert ranker.scores_.tolist() == [0] * 5
    assert ranker.settled_ == 0.0
    assert ranker.next(9).tolist() == [0, 1, 2, 4]


def test_random_tie_breaking_is_seeded():
    X, sets = np.zeros((30, 1)), np.ones((30, 2), dtype=bool)
    plain = EffectRanker("mw", 30).fit(X, sets)
    assert plain.next(30).tolist() == list(range(30))
    mixed = EffectRanker("mw", 30, random_state=7).fit(X, sets)
    assert mixed.next(30).tolist() != list(range(30))
    assert sorted(mixed.next(30).tolist()) == list(range(30))
    assert mixed.next(30).tolist() == EffectRanker("mw", 30, random_state=7).fit(X, sets).next(30).tolist()
    assert mixed.next().tolist() == mixed.next(30)[:1].tolist()


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_explanation_lists_the_effects_of_each_answer(rule):
    X, sets, _ = problem(6)
    ranker = EffectRanker(rule).fit(X, sets)
    for row in range(40):
        why = ranker.explain(row)
        assert why.score == ranker.scores_[row]
        assert why.candidates == sets[row].sum()
        assert set(why.changes) <= set(why.targets)
        if rule != "mw":
            assert bool(why.changes) == (why.score > 0)
        for target in why.targets:
            assert row in ranker.votes_.neighbors[target]
            assert sets[target].sum() >= 2  # a target with an effect
    assert ranker.explain(0).undecided == ranker.n_undecided_ > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "ap"}, "rule must be one of 'mw', 'apl', 'pl'. Got 'ap'"),
        ({"decision": "both"}, "decision must be"),
        ({"targets": "all"}, "targets must be one of 'ambiguous', 'fixed'"),
        ({"weights": "none"}, "weights must be"),
        ({"scaling": "max"}, "scaling must be"),
        ({"n_neighbors": 0}, "n_neighbors must be an int of at least 1. Got 0"),
        ({"n_neighbors": 1.5}, "n_neighbors"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"targets": np.zeros((3, 5))}, "2 features of X. Got 5"),
        ({"random_state": "a"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"damping": None}, "damping must be"),
    ],
)
def test_wrong_parameters_are_refused_in_fit(parameters, message):
    X, sets, _ = problem(0)
    ranker = EffectRanker(**parameters)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, sets)


def test_ranker_methods_refuse_wrong_input():
    """The rest is in test_strategies.py."""
    with pytest.raises(NotFittedError, match="call fit"):
        _ = EffectRanker().settled_
    assert not hasattr(EffectRanker(), "scores_")
    X, sets, _ = problem(0)
    ranker = EffectRanker().fit(X, pd.DataFrame(sets, columns=list("abcd")))
    same(ranker, EffectRanker().fit(X, sets))
    for row in (-1, 40, 1.0):
        with pytest.raises(ValueError, match=r"0\.\.39"):
            ranker.explain(row)
    for target_rows in ([0, 0], [0], [0, 40], [0.0, 1.0]):
        with pytest.raises(ValueError, match="target_rows"):
            EffectRanker().fit_graph([[0, 1], [1, 0]], [[1, 1], [1, 1]], sets, target_rows)


@pytest.mark.parametrize("rule", ["mw", "apl"])
@pytest.mark.parametrize("seed", range(4))
def test_ranker_fitted_on_the_current_state_equals_the_updated_one(rule, seed):
    rng = np.random.default_rng(seed)
    first = some_sets(rng, 12, 3, 0.6)
    neighbors = np.array([[row, *rng.permutation(np.delete(np.arange(12), row))[:2]] for row in range(12)])
    weights = rng.integers(1, 9, (12, 3))
    lived = EffectRanker(rule, 3).fit_graph(neighbors, weights, first, np.arange(12))
    now = first.copy()
    for row in rng.integers(12, size=8).tolist():
        now[row] = rng.random(3) < 0.5  # also an excluded item, without any candidate
        lived.update(row, now[row])
    begun = EffectRanker(rule, 3).fit_graph(neighbors, weights, first, np.arange(12), now.copy())
    for _ in range(2):
        np.testing.assert_array_equal(begun.scores_, lived.scores_)
        assert (begun.settled_, begun.n_undecided_) == (lived.settled_, lived.n_undecided_)
        np.testing.assert_array_equal(begun.next(3), lived.next(3))
        for ranker in (begun, lived):
            ranker.update(2, first[2])


# Initial scores and the queue computed in parts, compared with the ranker in one process.


N, K = 600, 7


def candidates(n_classes: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    sets = rng.random((N, n_classes)) < 2.5 / n_classes
    sets[np.arange(N), rng.integers(n_classes, size=N)] = True
    return sets


@pytest.mark.parametrize(
    ("n_classes", "search", "weights"),
    [
        (2, "exact", "linear"),
        (8, "approximate", "uniform"),
        (11, "exact", "uniform"),
        (70, "approximate", "linear"),
        (130, "exact", "uniform"),
    ],
)
def test_scores_and_order_in_parts_match_the_ranker_bit_for_bit(
    tmp_path: Path, n_classes: int, search: str, weights: str
) -> None:
    sets = candidates(n_classes)
    rows = scale_rows(Inline(), stage(tmp_path, surface(N), 140))
    found = find_parts(Inline(), rows, K, search=search, recall=0.5)
    packed = stage_candidates(tmp_path, sets)
    first, scores = first_ranking(Inline(), found, packed, n_classes, N, weights)

    mine = by_row(tmp_path, found.names)
    neighbors = np.hstack([np.arange(N)[:, None], mine["neighbors"]])
    distances = np.hstack([np.zeros((N, 1)), np.sqrt(mine["squared"])])
    ranker = EffectRanker("apl", K + 1).fit_graph(neighbors, neighbor_weights(distances, weights), sets, np.arange(N))
    np.testing.assert_array_equal(first, ranker.top())
    np.testing.assert_array_equal(scores, ranker.scores_[first])
    assert scores[0] > 0
    few, best = first_ranking(Inline(), found, packed, n_classes, 10, weights)
    np.testing.assert_array_equal(few, first[:10])
    np.testing.assert_array_equal(best, scores[:10])


@pytest.mark.parametrize("n_classes", [1, 5, 8, 64, 65, 130, 1_000])
def test_packed_candidates_have_the_layout_of_the_compiled_loops(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_parts, "FEW_CELLS", 700)
    sets = np.random.default_rng(0).random((40, n_classes)) < 0.3
    packed = np.packbits(sets, axis=1, bitorder="little")
    kept, expected = kept_of(packed, n_classes), kept_form(sets)
    if n_classes <= 64:
        np.testing.assert_array_equal(kept, expected)
    else:
        assert isinstance(kept, CandidateSets)
        np.testing.assert_array_equal(np.asarray(kept), sets)
    np.testing.assert_array_equal(ambiguous_of(packed), sets.sum(axis=1) >= 2)
