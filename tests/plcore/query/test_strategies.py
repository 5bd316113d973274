"""Strategies behind one interface: first questions, update == refit, undo, determinism."""

from __future__ import annotations

import doctest
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import minmax_scale

from plcore import PLSVC, CandidateError, PLKNeighborsClassifier
from plcore.evaluation import replay
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.votes import WEIGHT_UNIT
from plcore.query import (
    STRATEGIES,
    EffectRanker,
    FarthestFirst,
    LargestSet,
    LearnerScores,
    LearnerStrategy,
    MaxHerding,
    RandomOrder,
    SmallestMargin,
    learner_shares,
    make_strategy,
    uncertainty,
)
from plcore.query.herding import CONCERN_UNIT, nearness
from plcore.query.registry import BASELINES
from tests.plcore.random_sets import some_sets


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
    """Every strategy follows the protocol."""

    def test_order_follows_scores_and_only_open_rows_are_asked(self, name):
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

    def test_answered_and_excluded_rows_are_not_asked(self, name):
        X, sets, _ = problem(1)
        strategy = make_strategy(name).fit(X, sets)
        asked = []
        while len(best := strategy.next()):
            row = int(best[0])
            asked.append(row)
            answer = np.zeros(4, dtype=int)
            answer[sets[row].argmax()] = len(asked) % 3 > 0  # every third is excluded
            strategy.update(row, answer)
        assert sorted(asked) == np.flatnonzero(sets.sum(axis=1) >= 2).tolist()
        assert (strategy.scores_ == 0).all()

    def test_input_is_unchanged_and_runs_are_reproducible(self, name):
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
def test_update_equals_refit_and_undo(seed, n, picks, name, ties):
    """The baselines; those of EffectRanker are in test_ranker.py. Rows are excluded now and then."""
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


def test_random_order_is_a_fixed_permutation():
    X, sets, _ = problem(0, n=60)
    strategy = RandomOrder(random_state=5).fit(X, sets)
    whole = RandomOrder(random_state=5).fit(X, np.ones((60, 4), dtype=bool)).next(60).tolist()
    unclear = set(np.flatnonzero(sets.sum(axis=1) >= 2).tolist())
    assert strategy.next(60).tolist() == [row for row in whole if row in unclear]
    assert whole != sorted(whole)
    assert RandomOrder().fit(X, sets).next(60).tolist() == RandomOrder(random_state=0).fit(X, sets).next(60).tolist()
    first = [int(RandomOrder(random_state=seed).fit(X[:4], np.ones((4, 2))).next()[0]) for seed in range(400)]
    assert np.bincount(first).min() > 70  # each about 100 times


def test_largest_set_breaks_ties_by_row_number():
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
def test_farthest_first_matches_its_definition(seed):
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
def test_distances_after_updates_match_a_fresh_fit_bit_for_bit(d, form):
    rng = np.random.default_rng(d)
    X = form(rng.normal(size=(80, d)) * (rng.random((80, d)) < 0.7))
    sets = some_sets(rng, 80, 3, 0.4)
    strategy = FarthestFirst().fit(X, sets)
    for step in range(41):
        row = int(rng.integers(80))
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


def test_farthest_first_batch_equals_single_questions_in_turn():
    X, sets, _ = problem(11, n=30)
    for known in (sets, np.ones_like(sets)):
        batch = FarthestFirst().fit(X, known).next(12).tolist()
        single = FarthestFirst().fit(X, known)
        for row in batch:
            assert single.next().tolist() == [row]
            single.update(row, [1, 0, 0, 0])


def test_make_strategy_passes_options_on():
    ranker = make_strategy(
        "pl", n_neighbors=4, targets="fixed", decision="incumbent", weights="uniform", scaling=None,
        random_state=1, max_nodes=9,
    )  # fmt: skip
    assert isinstance(ranker, EffectRanker)
    assert vars(ranker) == vars(
        EffectRanker("pl", 4, "fixed", "incumbent", weights="uniform", scaling=None, random_state=1, max_nodes=9)
    )
    assert isinstance(make_strategy("random"), RandomOrder)
    assert isinstance(make_strategy("mp"), LargestSet)
    assert make_strategy("act", scaling="standard").scaling == "standard"
    with pytest.raises(ValueError, match="strategy must be one of 'apl', 'pl', 'mw', 'mp', 'act', 'random'"):
        make_strategy("RD")
    with pytest.raises(ValueError, match="scaling must be"):
        FarthestFirst(scaling="max").fit(np.zeros((2, 1)), np.ones((2, 2)))


def test_farthest_first_copies_its_features():
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


# Strategies that use a fitted learner: its margins, or any function of it.


X = np.arange(5.0)[:, None]
SETS = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]], dtype=bool)
PROBA = np.array([[0.5, 0.3, 0.2], [1, 0, 0], [0.1, 0.1, 0.8], [0.4, 0.2, 0.4], [1.0, 0, 0]])


def says(**what):
    return SimpleNamespace(**{name: lambda X, value=value: np.array(value) for name, value in what.items()})


def test_learner_shares_are_normalised_inside_candidates():
    shares = learner_shares(says(predict_proba=PROBA), X, SETS)
    np.testing.assert_allclose(shares, [[5 / 8, 3 / 8, 0], [0, 1, 0], [0.1, 0.1, 0.8], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    scores = np.log(np.maximum(PROBA, 1e-300))
    np.testing.assert_allclose(learner_shares(says(decision_function=scores), X, SETS)[:4], shares[:4])
    two = learner_shares(says(decision_function=[0.0, 3.0, -1.0, 2.0, 2.0]), X, SETS[:, :2] | [[0, 1]])
    np.testing.assert_allclose(two[:, 1], [0.5, 1, 1 / (1 + np.e), 1 / (1 + np.exp(-2)), 1])
    with pytest.raises(ValueError, match=r"must have label_distributions_.*Got SimpleNamespace.*Fix"):
        learner_shares(says(predict=[0]), X, SETS)


def test_label_distributions_of_training_rows_are_preferred():
    model = PLKNeighborsClassifier(2).fit(X, SETS)
    shares = learner_shares(model, X, SETS)
    np.testing.assert_array_equal(shares, model.label_distributions_)
    model.update(0, [1, 0, 0])
    assert not np.array_equal(shares, model.label_distributions_)  # a copy
    margin = PLSVC(max_iter=5, tol=1.0).fit(X, SETS)
    np.testing.assert_allclose(learner_shares(margin, X, SETS).sum(axis=1), 1)


def test_smallest_margin_is_asked_first():
    strategy: LearnerStrategy = SmallestMargin().fit(X, SETS)
    with pytest.raises(NotFittedError, match="SmallestMargin knows no learner yet"):
        strategy.next(1)
    strategy.learner_changed(says(predict_proba=PROBA), X)
    np.testing.assert_allclose(strategy.scores_, [0.75, 0, 0.3, 1.0, 1.0])
    assert strategy.next(3).tolist() == [3, 4, 0]
    strategy.update(3, [1, 0, 0])
    assert strategy.next(3).tolist() == [4, 0, 2]
    strategy.learner_changed(says(predict_proba=PROBA[::-1]), X)
    np.testing.assert_allclose(strategy.scores_, [0, 0, 0.3, 0, 0.8], atol=1e-12)
    given = SmallestMargin(lambda rows: rows / 10.0).fit(X, SETS)
    np.testing.assert_allclose(given.scores_, [1, 0, 0.8, 0.7, 0.6])
    assert SmallestMargin(lambda rows: rows * 0.0, random_state=1).fit(X, SETS).next(4).tolist() != [
        0, 2, 3, 4,
    ]  # fmt: skip


def test_any_function_of_a_learner_can_be_a_strategy():
    calls = []

    def widest(learner, features, candidates):
        calls.append((learner, features))
        candidates[:] = False  # it gets its own copy
        return learner.widths

    strategy = LearnerScores(widest).fit(X, SETS)
    with pytest.raises(NotFittedError, match="LearnerScores knows no learner yet"):
        strategy.score_of(0)
    learner = SimpleNamespace(widths=[3, 9, 1, 4, 4])
    strategy.learner_changed(learner, X)
    assert calls == [(learner, X)]
    assert strategy.scores_.tolist() == [3, 0, 1, 4, 4]  # row 1 has one candidate
    assert strategy.next(9).tolist() == [3, 4, 0, 2]
    assert strategy.next(2, among=np.array([1, 1, 1, 0, 0], dtype=bool)).tolist() == [0, 2]
    strategy.update(4, [0, 0, 1])
    assert strategy.next(1).tolist() == [3]
    assert len(calls) == 1
    assert strategy.score_of(3) == 4
    orders = set()
    for seed in range(9):  # ties of rows 3 and 4
        drawn = LearnerScores(widest, random_state=seed).fit(X, SETS)
        drawn.learner_changed(learner, X)
        orders.add(tuple(drawn.next(4).tolist()))
    assert orders == {(3, 4, 0, 2), (4, 3, 0, 2)}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], r"5 finite numbers, one for each row. Got shape \(2,\)\."),
        (np.ones((5, 3)), r"Got shape \(5, 3\)\."),
        ([1, 2, np.nan, 3, 4], r"Got shape \(5,\), some of them NaN or infinite"),
        ([1, 2, np.inf, 3, 4], "NaN or infinite"),
    ],
)
def test_invalid_scores_are_refused(scores, message):
    strategy = LearnerScores(lambda learner, X, candidates: scores).fit(X, SETS)
    with pytest.raises(ValueError, match=message):
        strategy.learner_changed(None, X)


def test_docstring_example_runs():
    found = doctest.DocTestFinder().find(LearnerScores, "LearnerScores", globs=vars(uncertainty).copy())
    assert [doctest.DocTestRunner().run(one).failed for one in found if one.examples] == [0]


def test_moves_strategy_requires_a_learner_with_effect_scores():
    X, candidates = np.eye(3), np.ones((3, 3), dtype=bool)
    with pytest.raises(ValueError, match=r"must have effect_scores.* Got PLKNeighborsClassifier\. Fix: take"):
        replay(X, candidates, np.arange(3), X, np.arange(3), strategy="moves", budget=1)


# MaxHerding: gains compared with a plain version, laws of coverage, updates versus fresh fits, and its end.


SEEDS = st.integers(0, 2**32)
UNIT = WEIGHT_UNIT * CONCERN_UNIT


def drawn(seed, n=20, m=4):
    """Features and candidates of some rows, one candidate for about a third."""
    rng = np.random.default_rng(seed)
    sets = rng.random((n, m)) < rng.choice([0.1, 0.5, 0.9])
    sets[np.arange(n), rng.integers(m, size=n)] = True
    return rng.normal(size=(n, 2)).round(1), sets


def plain_gains(X, sets, concern, k=10):
    """The gains by the formula, row by row and in integers."""
    neighbors, weights = NeighborGraph(X, k, "linear", "minmax").own_neighbors()
    near = nearness(weights)
    kernel = [dict(zip(*pair, strict=True)) for pair in zip(neighbors.tolist(), near.tolist(), strict=True)]
    labelled = np.flatnonzero(sets.sum(axis=1) == 1).tolist()
    gains = [0] * len(X)
    for row, own in enumerate(kernel):
        covered = max((own.get(one, 0) for one in labelled), default=0)
        for other, value in own.items():
            gains[other] += int(concern[row]) * max(0, value - covered)
    return np.array(gains)


def even(sets):
    """Weights of rows without a model."""
    sizes = sets.sum(axis=1)
    return np.rint((1 - 1 / np.maximum(sizes, 1)) * CONCERN_UNIT)


@given(SEEDS, st.integers(1, 12))
def test_gains_match_the_plain_version(seed, k):
    X, sets = drawn(seed)
    found = MaxHerding(n_neighbors=k).fit(X, sets)
    expected = plain_gains(X, sets, even(sets), k)
    np.testing.assert_array_equal(found.scores_ * UNIT, np.where(sets.sum(axis=1) >= 2, expected, 0))
    rows = np.lexsort((np.arange(len(X)), -expected))
    rows = [row for row in rows.tolist() if sets[row].sum() >= 2]
    assert found.next(1).tolist() == rows[:1]


def test_nearness_matches_known_distances():
    far = np.array([[0, 1, 2, 3.0], [0, 0, 0, 0], [0, 0, 0, 4]])
    weights = np.rint((1 - far / np.maximum(far.sum(axis=1, keepdims=True), 1)) * WEIGHT_UNIT).astype(np.int64)
    near = nearness(weights) / WEIGHT_UNIT
    np.testing.assert_allclose(near[0], np.exp([0, -1 / 8, -1 / 2, -9 / 8]), atol=1e-6)
    assert near[1].tolist() == [1, 1, 1, 1]  # the same row four times
    assert near[2].tolist() == [1, 1, 1, 0]  # compared with two identical rows, any other row is far
    assert (nearness(np.full((3, 4), WEIGHT_UNIT)) == WEIGHT_UNIT).all()  # uniform votes
    assert (nearness(np.full((3, 1), WEIGHT_UNIT)) == WEIGHT_UNIT).all()


@given(SEEDS, st.lists(st.integers(0, 19), max_size=12))
def test_gains_never_grow_while_rows_are_labelled(seed, rows):
    """The sum is submodular: a row never adds more to a larger set."""
    X, sets = drawn(seed)
    concern = even(sets)
    strategy = MaxHerding().fit(X, sets)
    gains = plain_gains(X, strategy.candidates_, concern)
    for row in rows:
        strategy.update(row, np.eye(4, dtype=bool)[0])
        now = plain_gains(X, strategy.candidates_, concern)
        assert (now <= gains).all()
        gains = now


@given(SEEDS)
def test_greedy_choice_covers_nearly_as_much_as_the_optimum(seed):
    X, sets = drawn(seed, n=9, m=3)
    sets[:] = True
    fresh = MaxHerding(n_neighbors=4).fit(X, sets)
    neighbors, weights = NeighborGraph(X, 4, "linear", "minmax").own_neighbors()
    kernel = np.zeros((9, 9))
    np.put_along_axis(kernel, neighbors, nearness(weights) / WEIGHT_UNIT, axis=1)
    covered = {three: kernel[:, three].max(axis=1).sum() for three in combinations(range(9), 3)}
    chosen = tuple(sorted(fresh.next(3).tolist()))
    assert covered[chosen] >= (1 - 1 / np.e) * max(covered.values())


STEPS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 15), st.booleans()), max_size=15)


@given(SEEDS, STEPS)
def test_updated_strategy_equals_a_fresh_one(seed, steps):
    """Rows are narrowed, widened and excluded, with gains read in between or not."""
    X, sets = drawn(seed)
    shares = np.random.default_rng(seed).random(20)
    strategy = MaxHerding(lambda rows: shares[rows]).fit(X, sets)
    for row, mask, read in steps:
        strategy.update(row, [bool(mask >> label & 1) for label in range(4)])
        if read:
            assert len(strategy.scores_) == 20
    kept = strategy.candidates_.any(axis=1)
    fresh = MaxHerding(lambda rows: shares[rows]).fit(X, np.where(kept[:, None], strategy.candidates_, True))
    for row in np.flatnonzero(~kept).tolist():
        fresh.update(row, [False] * 4)
    np.testing.assert_array_equal(strategy.scores_, fresh.scores_)
    np.testing.assert_array_equal(strategy.next(20), fresh.next(20))
    assert strategy.scores_.tolist() == [strategy.score_of(row) for row in range(20)]


@given(SEEDS, st.integers(0, 20))
def test_batch_matches_single_questions_and_rows_claimed_by_others(seed, n):
    X, sets = drawn(seed)
    shares = np.random.default_rng(seed).random(20)

    def unsure(rows):  # for answered rows too, as if the model had not learnt the answers yet
        return shares[rows]

    batch = MaxHerding(unsure).fit(X, sets).next(n)
    strategy = MaxHerding(unsure).fit(X, sets)
    for place, row in enumerate(batch.tolist()):
        assert strategy.next(1, claimed=batch[:place].tolist()).tolist() == [row]
    among = np.arange(20) % 2 == 0
    assert (strategy.next(n, among=among) % 2 == 0).all()
    assert not np.isin(batch, strategy.next(20, claimed=batch.tolist())).any()


def test_uncertain_rows_weigh_more():
    X = np.r_[np.zeros((5, 1)), np.ones((5, 1))] + np.linspace(0, 0.01, 10)[:, None]
    sets = np.ones((10, 2), dtype=bool)
    learner = SimpleNamespace(label_distributions_=np.repeat([[0.5, 0.5], [1.0, 0.0]], 5, axis=0))
    strategy = MaxHerding(n_neighbors=5).fit(X, sets)
    strategy.learner_changed(learner, X)
    assert strategy.next(1)[0] < 5
    assert (strategy.scores_[5:] == 0).all()  # decided rows need no coverage
    learner.label_distributions_ = learner.label_distributions_[::-1]
    strategy.learner_changed(learner, X)
    assert strategy.next(1)[0] >= 5


def test_coverage_ends_after_two_answers_per_class_or_little_gain():
    X, sets = drawn(3, n=60, m=3)
    sets[:] = True
    strategy = MaxHerding(n_neighbors=8).fit(X, sets)
    assert [strategy.lasts(answered) for answered in (0, 5, 6, 7)] == [True, True, False, False]
    strategy.figures = lambda rows: np.full(len(rows), 0.002)  # a three-hundredth of 2/3
    strategy.model_changed()
    assert not strategy.lasts(0)
    strategy.figures = lambda rows: np.full(len(rows), 0.02)
    strategy.model_changed()
    assert strategy.lasts(0)
    for row in range(60):
        strategy.update(row, [True, False, False])
    assert not strategy.lasts(0)
    assert not MaxHerding().fit(X, sets[:, :1]).lasts(0)  # nothing was ever open


def test_invalid_input_of_coverage_is_refused():
    X, sets = drawn(0)
    with pytest.raises(NotFittedError, match="MaxHerding is not fitted yet"):
        MaxHerding().next(1)
    with pytest.raises(NotFittedError, match="MaxHerding is not fitted yet"):
        MaxHerding().lasts(0)
    with pytest.raises(CandidateError):
        MaxHerding().fit(X, np.zeros_like(sets))
    with pytest.raises(ValueError, match="n_neighbors"):
        MaxHerding(n_neighbors=0).fit(X, sets)
    neighbors, weights = NeighborGraph(X, 3, "linear", None).own_neighbors()
    with pytest.raises(ValueError, match="each its own first neighbour"):
        MaxHerding().fit_graph(neighbors[::-1].copy(), weights, sets)
    with pytest.raises(ValueError, match="n must be an int"):
        MaxHerding().fit(X, sets).next(-1)
