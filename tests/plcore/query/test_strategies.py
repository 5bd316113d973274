"""Strategies behind one interface: what each asks first, update == refit, undo, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import minmax_scale

from plcore import CandidateError
from plcore.query import STRATEGIES, EffectRanker, FarthestFirst, LargestSet, RandomOrder, make_strategy
from plcore.query.registry import BASELINES


def some_sets(rng, n, m, share=0.5):
    sets = rng.random((n, m)) < share
    sets[np.arange(n), rng.integers(m, size=n)] = True
    return sets


def problem(seed, n=40, m=4, d=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, size=(n, d)).astype(float), some_sets(rng, n, m), rng


def same(one, other):
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.candidates_, other.candidates_)
    assert one.next().tolist() == other.next().tolist()
    assert one.next(99).tolist() == other.next(99).tolist()


@pytest.mark.parametrize("name", STRATEGIES)
class TestInterface:
    """Every strategy keeps what the protocol says."""

    def test_order_scores_and_who_is_asked(self, name):
        X, sets, _ = problem(0)
        strategy = make_strategy(name)
        assert strategy.fit(X, sets) is strategy
        unclear = sets.sum(axis=1) >= 2
        scores = strategy.scores_
        assert scores.dtype == float
        assert (scores[~unclear] == 0).all()
        assert (scores >= 0).all()
        best = strategy.next()
        assert scores[best[0]] == scores[unclear].max()
        assert best[0] == np.flatnonzero(unclear & (scores == scores[unclear].max()))[0]
        everyone = strategy.next(1000)
        assert sorted(everyone.tolist()) == np.flatnonzero(unclear).tolist()
        assert everyone[0] == best[0]
        assert strategy.next(0).tolist() == []
        among = np.zeros(40, dtype=bool)
        among[np.flatnonzero(unclear)[3:5]] = True
        among[~unclear] = True
        assert sorted(strategy.next(9, among=among).tolist()) == np.flatnonzero(unclear)[3:5].tolist()
        assert len(strategy.next(1, among=~unclear)) == 0
        scores[:] = 7
        assert strategy.scores_.max() != 7 or name == "mp"

    def test_answered_rows_and_rows_taken_out_are_not_asked(self, name):
        X, sets, _ = problem(1)
        strategy = make_strategy(name).fit(X, sets)
        asked = []
        while len(best := strategy.next()):
            row = int(best[0])
            asked.append(row)
            answer = np.zeros(4, dtype=int)
            answer[sets[row].argmax()] = len(asked) % 3 > 0  # every third is taken out
            strategy.update(row, answer)
        assert sorted(asked) == np.flatnonzero(sets.sum(axis=1) >= 2).tolist()
        assert (strategy.scores_ == 0).all()

    def test_input_is_kept_and_runs_repeat(self, name):
        X, sets, _ = problem(2)
        before = X.copy(), sets.copy()
        runs = []
        for seed in (3, 3, 4):
            strategy = make_strategy(name, random_state=seed).fit(X, sets)
            run = []
            for _ in range(10):
                row = int(strategy.next()[0])
                run.append(row)
                strategy.update(row, np.eye(4)[sets[row].argmax()])
            runs.append(run)
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(sets, before[1])
        assert runs[0] == runs[1]
        if name in ("random", "mp"):
            assert runs[0] != runs[2]

    def test_sparse_equals_dense(self, name):
        X, sets, _ = problem(5)
        dense = make_strategy(name, scaling=None).fit(X, sets)
        stored = make_strategy(name, scaling=None).fit(sparse.csr_matrix(X), sets)
        np.testing.assert_allclose(stored.scores_, dense.scores_, atol=1e-12)
        for row in range(0, 40, 3):
            for strategy in (dense, stored):
                strategy.update(row, np.eye(4)[row % 4])
        np.testing.assert_allclose(stored.scores_, dense.scores_, atol=1e-12)

    def test_wrong_input_is_refused(self, name):
        X, sets, _ = problem(0)
        strategy = make_strategy(name)
        for call in (lambda: strategy.scores_, strategy.next, lambda: strategy.update(0, [1])):
            with pytest.raises(NotFittedError, match="fit"):
                call()
        with pytest.raises(CandidateError, match="row 3 "):
            strategy.fit(X, sets & (np.arange(40) != 3)[:, None])
        with pytest.raises(ValueError, match="inconsistent"):
            strategy.fit(X[:5], sets)
        strategy.fit(X, sets)
        start = make_strategy(name).fit(X, sets)
        for row in (-1, 40, 1.0):
            with pytest.raises(ValueError, match=r"0\.\.39"):
                strategy.update(row, sets[0])
        for wrong in ([1, 0], [[1, 0, 0, 0]], [1, 0, 0, 2], [1, 0, 0, np.nan]):
            with pytest.raises(CandidateError, match="4 values"):
                strategy.update(0, wrong)
        with pytest.raises(ValueError, match="Got -1"):
            strategy.next(-1)
        same(strategy, start)


@given(
    st.integers(0, 10**6),
    st.integers(1, 14),
    st.lists(st.integers(0, 10**6), max_size=12),
    st.sampled_from(BASELINES),
    st.sampled_from([None, 1]),
)
@settings(max_examples=150)
def test_update_equals_refit_and_undo(seed, n, picks, name, ties):
    """The baselines; those of EffectRanker are in test_ranker.py. Rows are taken out now and then."""
    X, sets, rng = problem(seed, n, 3, 2)
    strategy = make_strategy(name, random_state=ties).fit(X, sets)
    steps = []
    for pick in picks:
        row = pick % n
        steps.append((row, strategy.candidates_[row].copy(), strategy.scores_))
        new = some_sets(rng, 1, 3, 0.3)[0] & (pick % 5 > 0)
        strategy.update(row, new)
        now = strategy.candidates_
        if now.any(axis=1).all():  # a fresh fit takes no rows without candidates
            same(strategy, make_strategy(name, random_state=ties).fit(X, now))
    for row, old, scores in reversed(steps):
        strategy.update(row, old)
        np.testing.assert_array_equal(strategy.scores_, scores)
    same(strategy, make_strategy(name, random_state=ties).fit(X, sets))


def test_random_order_is_a_permutation_kept_for_life():
    X, sets, _ = problem(0, n=60)
    strategy = RandomOrder(random_state=5).fit(X, sets)
    whole = RandomOrder(random_state=5).fit(X, np.ones((60, 4), dtype=bool)).next(60).tolist()
    unclear = set(np.flatnonzero(sets.sum(axis=1) >= 2).tolist())
    assert strategy.next(60).tolist() == [row for row in whole if row in unclear]
    assert whole != sorted(whole)
    assert (
        RandomOrder().fit(X, sets).next(60).tolist()
        == RandomOrder(random_state=0).fit(X, sets).next(60).tolist()
    )
    first = [int(RandomOrder(random_state=seed).fit(X[:4], np.ones((4, 2))).next()[0]) for seed in range(400)]
    assert np.bincount(first).min() > 70  # each about 100 times


def test_largest_set_ties():
    sets = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    strategy = LargestSet().fit(np.zeros((5, 1)), sets)
    assert strategy.next(9).tolist() == [1, 3, 0, 4]
    assert strategy.scores_.tolist() == [2, 3, 0, 3, 2]
    strategy.update(1, [0, 1, 1])
    assert strategy.next(9).tolist() == [3, 0, 1, 4]
    orders = {tuple(LargestSet(random_state=seed).fit(np.zeros((5, 1)), sets).next(2)) for seed in range(20)}
    assert orders == {(1, 3), (3, 1)}


def brute_force_distances(X, sets, scaling="minmax"):
    """Distance of each unclear row to the nearest row with one candidate, or to the mean when there is none."""
    X = minmax_scale(X) if scaling else X
    sizes = sets.sum(axis=1)
    points = X[sizes == 1] if (sizes == 1).any() else X.mean(axis=0)[None]
    nearest = np.sqrt(((X[:, None] - points[None]) ** 2).sum(axis=2)).min(axis=1)
    return np.where(sizes >= 2, nearest, 0)


@pytest.mark.parametrize("seed", range(8))
def test_farthest_first_by_definition(seed):
    X, sets, _ = problem(seed, n=50, d=5)
    if seed % 2:
        sets[sets.sum(axis=1) == 1] = True  # nothing labelled
    strategy = FarthestFirst().fit(X, sets)
    for _ in range(15):
        np.testing.assert_allclose(strategy.scores_, brute_force_distances(X, sets))
        row = int(strategy.next()[0])
        sets[row] = np.eye(4)[sets[row].argmax()]
        strategy.update(row, sets[row])


@pytest.mark.parametrize("d", [3, 20])  # kd-tree, blocks
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_distances_after_updates_are_those_of_a_fresh_fit_bit_for_bit(d, form):
    rng = np.random.default_rng(d)
    X = form(rng.normal(size=(120, d)) * (rng.random((120, d)) < 0.7))
    sets = some_sets(rng, 120, 3, 0.4)
    strategy = FarthestFirst().fit(X, sets)
    for step in range(60):
        row = int(rng.integers(120))
        strategy.update(row, some_sets(rng, 1, 3, 0.3)[0])
        if step % 10 == 0:
            same(strategy, FarthestFirst().fit(X, strategy.candidates_))


def test_farthest_first_starts_far_from_the_mean_and_spreads():
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    strategy = FarthestFirst(scaling=None).fit(X, np.ones((5, 2), dtype=bool))
    assert strategy.next().tolist() == [4]  # the mean is 4.4
    assert strategy.next(5).tolist() == [4, 0, 2, 1, 3]  # a batch is spread as if answered one by one
    strategy.update(4, [1, 0])
    assert strategy.next().tolist() == [0]
    assert strategy.scores_.tolist() == [10, 9, 8, 1, 0]
    strategy.update(0, [0, 1])
    assert strategy.next(9).tolist() == [2, 1, 3]


def test_a_batch_of_farthest_first_is_the_sequence_of_single_questions():
    X, sets, _ = problem(11, n=30)
    for known in (sets, np.ones_like(sets)):
        batch = FarthestFirst().fit(X, known).next(12).tolist()
        single = FarthestFirst().fit(X, known)
        for row in batch:
            assert single.next().tolist() == [row]
            single.update(row, [1, 0, 0, 0])


def test_make_strategy_hands_its_options_on():
    ranker = make_strategy(
        "pl", n_neighbors=4, targets="fixed", decision="incumbent", weights="uniform", scaling=None,
        random_state=1, max_nodes=9,
    )  # fmt: skip
    assert isinstance(ranker, EffectRanker)
    assert vars(ranker) == vars(
        EffectRanker(
            "pl", 4, "fixed", "incumbent", weights="uniform", scaling=None, random_state=1, max_nodes=9
        )
    )
    assert isinstance(make_strategy("random"), RandomOrder)
    assert isinstance(make_strategy("mp"), LargestSet)
    assert make_strategy("act", scaling="standard").scaling == "standard"
    with pytest.raises(ValueError, match="strategy must be one of 'apl', 'pl', 'mw', 'mp', 'act', 'random'"):
        make_strategy("RD")
    with pytest.raises(ValueError, match="scaling must be"):
        FarthestFirst(scaling="max").fit(np.zeros((2, 1)), np.ones((2, 2)))


def test_act_keeps_features_of_its_own():
    rng = np.random.default_rng(3)
    X, sets = rng.normal(size=(20, 3)), np.ones((20, 2), dtype=bool)
    expected = FarthestFirst(scaling=None).fit(X.copy(), sets)
    stored = sparse.csr_matrix(X[:, ::-1])
    stored.indices = (2 - stored.indices).astype(stored.indices.dtype)  # each row backwards
    stored.has_sorted_indices = stored.has_canonical_format = False
    indices = stored.indices.copy()
    dense, thin = FarthestFirst(scaling=None).fit(X, sets), FarthestFirst(scaling=None).fit(stored, sets)
    np.testing.assert_array_equal(stored.indices, indices)
    X[:] = stored.data[:] = 0
    for row in (4, 7, 11):
        for strategy in (expected, dense, thin):
            strategy.update(row, [True, False])
    np.testing.assert_array_equal(dense.scores_, expected.scores_)
    np.testing.assert_allclose(thin.scores_, expected.scores_)
