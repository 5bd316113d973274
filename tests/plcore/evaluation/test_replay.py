"""Replay against known truth, and errors of sets of winners under both readings of ties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler

from plcore import ActiveLearner, CandidateError, Entry, LearnerSettings, PLKernelRidge, PLKNeighborsClassifier
from plcore.evaluation import RandomOrderLine, Reach, ask_oracle, contaminate, error_rate, replay, wilson_interval
from plcore.evaluation.random_order import RandomRuns, by_carrying_on, by_replays, first_reached
from plcore.labels.candidates import check_candidates
from plcore.neighbors.graph import NeighborGraph
from plcore.query import (
    STRATEGIES,
    STRATEGY_ENTRIES,
    EffectRanker,
    LearnerScores,
    learner_shares,
    make_strategy,
    winners,
)
from tests.plcore.loop.fake_table import blobs

WINNERS = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]], dtype=bool)


def test_error_rate_matches_values_computed_by_hand():
    y = [0, 1, 2, 0, 0]
    assert error_rate(WINNERS, y) == pytest.approx(4 / 5)
    assert error_rate(WINNERS, y, "uniform") == pytest.approx(1 - (1 + 1 / 2 + 1 / 3) / 5)
    assert error_rate(WINNERS.astype(int), [7, 2, -1, 0, 2], "uniform") == pytest.approx(4 / 5)
    names = ["wren", "emu", "owl"]
    assert error_rate(WINNERS, [names[label] for label in y], classes=names) == pytest.approx(4 / 5)
    assert error_rate(np.eye(3), [0, 1, 2]) == error_rate(np.eye(3), [0, 1, 2], "uniform") == 0


def test_uniform_ties_equal_the_mean_over_random_draws():
    rng = np.random.default_rng(0)
    best = rng.random((50, 4)) < 0.5
    best[:, 0] |= ~best.any(axis=1)
    y = rng.integers(4, size=50)
    drawn = [
        np.mean([rng.choice(np.flatnonzero(row)) != label for row, label in zip(best, y, strict=True)])
        for _ in range(300)
    ]
    assert np.mean(drawn) == pytest.approx(error_rate(best, y, "uniform"), abs=0.02)
    assert error_rate(best, y, "error") >= error_rate(best, y, "uniform")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WINNERS, [0] * 5, "first"), "ties must be one of 'error', 'uniform'. Got 'first'"),
        ((WINNERS, [0] * 4), "5 labels"),
        ((WINNERS[:0], []), "at least one"),
        ((WINNERS * 2, [0] * 5), "winners must be True/False"),
        ((WINNERS[0], [0] * 3), "winners must be"),
    ],
)
def test_error_rate_refuses_invalid_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        error_rate(*arguments)
    with pytest.raises(ValueError, match="name the 3 columns"):
        error_rate(WINNERS, [0] * 5, classes=[1, 2])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    train, test = order[:100], order[100:]
    sets = contaminate(y[train], p=0.9, q=0.9, random_state=2)
    return X[train], sets, y[train], X[test], y[test]


@pytest.mark.parametrize("name", STRATEGIES)
def test_replay_matches_a_loop_by_hand(iris, name):
    X, sets, y, X_test, y_test = iris
    X, sets, y = X[:50], sets[:50], y[:50]
    knn = PLKNeighborsClassifier(3, weights="uniform")
    run = replay(X, sets, y, X_test, y_test, strategy=name, learner=knn, budget=0.2, every=4, random_state=4)
    assert run.answers.tolist() == [0, 4, 8, 10]
    strategy = make_strategy(name, n_neighbors=3, weights="uniform", random_state=4).fit(X, sets)
    rows, errors = [], []
    for step in range(11):
        if step in (0, 4, 8, 10):
            model = PLKNeighborsClassifier(3, weights="uniform").fit(X, strategy.candidates_)
            scores = model.decision_function(X_test)
            errors.append(error_rate(scores == scores.max(axis=1, keepdims=True), y_test))
        if step < 10:
            row = int(strategy.next()[0])
            rows.append(row)
            strategy.update(row, np.eye(3, dtype=bool)[y[row]])
    assert run.rows.tolist() == rows
    assert run.errors.tolist() == errors
    np.testing.assert_array_equal(run.candidates, strategy.candidates_)
    assert (run.candidates[run.rows].sum(axis=1) == 1).all()
    again = replay(X, sets, y, X_test, y_test, strategy=name, learner=knn, budget=10, random_state=4)
    assert again.rows.tolist() == rows
    assert again.errors.tolist() == [errors[0], errors[-1]]


def test_answers_reduce_the_error_and_effects_reduce_it_most(iris):
    errors = {
        name: replay(*iris, strategy=name, learner=PLKNeighborsClassifier(3), random_state=0, ties="uniform").errors
        for name in ("random", "apl")
    }
    assert errors["apl"][0] == errors["random"][0]
    assert errors["apl"][-1] < errors["random"][-1] < errors["random"][0]


def test_winners_by_the_paper_match_the_learner(iris):
    """Eq. 1 unweighted on a graph made once, as benchmarks/questions/runs.py does it, equals replay with PL-KNN."""
    X, sets, y, X_test, y_test = iris
    for ties in ("error", "uniform"):
        run = replay(
            X, sets, y, X_test, y_test, ties=ties, strategy=EffectRanker("apl", 3, "fixed"),
            learner=PLKNeighborsClassifier(3, weights="uniform"),
        )  # fmt: skip
        scaler = MinMaxScaler().fit(X)
        graph = NeighborGraph(scaler.transform(X), 3, "linear", None)
        fixed = np.flatnonzero(sets.sum(axis=1) >= 2)
        ranker = EffectRanker("apl", 3, "fixed").fit_graph(*graph.own_neighbors(fixed), sets, fixed)
        assert list(ask_oracle(ranker, y, 10)) == run.rows.tolist()
        neighbors, weights = graph.neighbors_of(scaler.transform(X_test))
        best = winners(neighbors, np.ones_like(weights), ranker.candidates_)
        assert error_rate(best, y_test, ties) == run.errors[-1]


class Refitted(ClassifierMixin, BaseEstimator):
    """A learner without `update` and with names as classes, fitted again after every answer."""

    def __init__(self, proba=True):
        self.proba = proba

    def __getattribute__(self, name):
        if name == "predict_proba" and not object.__getattribute__(self, "proba"):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def fit(self, X, candidates):
        known, self.classes_ = check_candidates(candidates)
        self.model = GaussianNB().fit(X, known.argmax(axis=1))
        return self

    def predict_proba(self, X):
        proba = np.zeros((len(X), len(self.classes_)))
        proba[:, self.model.classes_] = self.model.predict_proba(X)
        return proba

    def predict(self, X):
        return self.classes_[self.model.predict(X)]


def entropy(learner, X, candidates):
    """The rows whose shares are most even."""
    return scipy.stats.entropy(learner_shares(learner, X, candidates), axis=1)


@pytest.mark.parametrize("learner", [PLKNeighborsClassifier(5), Refitted()])
def test_custom_strategy_matches_a_loop_by_hand(iris, learner):
    X, sets, y, X_test, y_test = iris
    sets = sets[:, [2, 0, 1]]
    y, y_test = (y + 1) % 3, (y_test + 1) % 3
    run = replay(X, sets, y, X_test, y_test, strategy=entropy, learner=learner, budget=9, every=4)
    assert run.answers.tolist() == [0, 4, 8, 9]
    now, rows, errors = sets.copy(), [], []
    for step in range(10):
        model = clone(learner).fit(X, now)
        if step in run.answers:
            scores = getattr(model, "decision_function", model.predict_proba)(X_test)
            errors.append(error_rate(scores == scores.max(axis=1, keepdims=True), y_test))
        spread = np.where(now.sum(axis=1) > 1, entropy(model, X, now), -1)
        rows.append(int(spread.argmax()))
        now[rows[-1]] = np.eye(3, dtype=bool)[y[rows[-1]]]
    assert run.rows.tolist() == rows[:9]
    assert run.errors.tolist() == errors
    same = replay(X, sets, y, X_test, y_test, strategy=LearnerScores(entropy), learner=learner, budget=9)
    assert same.rows.tolist() == rows[:9]


def test_learner_is_refitted_every_learn_every_answers(iris):
    """Even if it has no `update` and is measured at other times."""
    fits = []

    class Counted(Refitted):
        def fit(self, X, candidates):
            fits.append(int((check_candidates(candidates)[0].sum(axis=1) == 1).sum()))
            return super().fit(X, candidates)

    begun = int((iris[1].sum(axis=1) == 1).sum())
    replay(*iris, strategy="margin", learner=Counted(), budget=7, every=4, learn_every=3)
    assert fits == [begun + answered for answered in (0, 3, 4, 6, 7)]
    fits.clear()
    replay(*iris, strategy="margin", learner=Counted(), budget=3)
    assert fits == [begun + answered for answered in (0, 1, 2, 3)]
    fits.clear()
    replay(*iris, strategy="mp", learner=Counted(), budget=3)
    assert fits == [begun, begun + 3]  # a strategy that does not use the learner does not need it fitted


def test_effect_scores_of_the_learner_can_be_a_strategy(iris):
    X, sets, y, X_test, y_test = iris
    ridge = PLKernelRidge("rbf", alpha=0.1, class_mass=0.5)
    asked = []

    def moves(learner, features, candidates):
        assert features is X
        assert (candidates[asked].sum(axis=1) == 1).all()
        scores = learner.effect_scores()
        asked.append(int(np.where(candidates.sum(axis=1) > 1, scores, -1).argmax()))
        return scores

    run = replay(X, sets, y, X_test, y_test, strategy=moves, learner=ridge, budget=12)
    assert run.rows.tolist() == asked[:12]
    assert run.errors[-1] <= run.errors[0]


@pytest.mark.parametrize("name", [name for name in STRATEGY_ENTRIES if name not in STRATEGIES])
def test_every_strategy_of_learner_can_be_replayed_by_name(iris, name):
    learner = PLKernelRidge("rbf", alpha=0.1, class_mass=0.5)
    runs = [replay(*iris, strategy=name, learner=learner, budget=5, random_state=seed) for seed in (0, 0, None)]
    assert len(runs[0].rows) == 5
    assert runs[0].rows.tolist() == runs[1].rows.tolist()
    with pytest.raises(ValueError, match="The learner must have"):
        replay(*iris, strategy=name, learner=Refitted(proba=False), budget=5)


@pytest.mark.parametrize("proba", [True, False])
def test_any_learner_and_class_names_are_accepted(iris, proba):
    X, sets, y, X_test, y_test = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    frame = pd.DataFrame(sets, columns=names)
    run = replay(X, frame, names[y], X_test, names[y_test], strategy="mp", learner=Refitted(proba), budget=50, every=20)
    assert run.answers.tolist() == [0, 20, 40, 50]
    last = Refitted().fit(X, pd.DataFrame(run.candidates, columns=names))
    assert run.errors[-1] == pytest.approx(np.mean(last.predict(X_test) != names[y_test]))
    assert run.errors[-1] < run.errors[0]


def test_two_classes_and_default_learner():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    X[:, 0] += 3 * y
    sets = np.ones((40, 2), dtype=bool)
    run = replay(X[:40], sets, y[:40], X[40:], y[40:], budget=100, every=100)
    assert run.answers.tolist() == [0, 40]  # nothing left to ask
    assert run.errors[0] == 1.0  # everything ties
    assert run.errors[1] < 0.3
    assert sorted(run.rows.tolist()) == list(range(40))
    assert replay(X[:40], sets, y[:40], X[40:], y[40:], ties="uniform", budget=0).errors.tolist() == [0.5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1}, "budget must be an int of at least 0"),
        ({"budget": 1.5}, "budget"),
        ({"budget": True}, "budget"),
        ({"every": 0}, "every must be"),
        ({"learn_every": 0}, "learn_every must be an int of at least 1"),
        ({"learn_every": None}, "learn_every must be an int of at least 1"),
        ({"ties": "no"}, "ties must be"),
        ({"strategy": "best"}, "strategy must be one of"),
    ],
)
def test_wrong_options_are_refused(iris, options, message):
    with pytest.raises(ValueError, match=message):
        replay(*iris, **options)


def test_wrong_labels_are_refused(iris):
    X, sets, y, X_test, y_test = iris
    with pytest.raises(ValueError, match="100 labels"):
        replay(X, sets, y[:50], X_test, y_test)
    with pytest.raises(CandidateError, match="Got 3 in row 0"):
        replay(X, sets, y + 3 - y[0], X_test, y_test)


@pytest.mark.parametrize("name", [*STRATEGIES, "margin"])
def test_replay_asks_the_same_questions_as_a_live_learner(name):
    table, y = blobs(90, m=4, seed=1)
    options = LearnerSettings(n_neighbors=4, strategy=name, seed=3)
    learner = ActiveLearner(table, options)
    train, test = np.flatnonzero(~learner.test_rows), np.flatnonzero(learner.test_rows)
    live, accuracy = [], [learner.progress().accuracy]
    for seq in range(1, 16):
        row = learner.next_question("ann").row
        live.append(row)
        learner.apply(Entry(seq, "is", row, "ann", (learner.classes[y[row]],)))
        accuracy.append(learner.progress().accuracy)
    run = replay(
        table.X[train], table.candidates[train], y[train], table.X[test], y[test],
        strategy="margin" if name == "margin" else
        make_strategy(name, n_neighbors=4, random_state=3 if name == "random" else None),
        learner=PLKNeighborsClassifier(4), budget=15, every=1, ties="uniform",
    )  # fmt: skip
    assert train[run.rows].tolist() == live
    np.testing.assert_allclose(1 - run.errors, accuracy, atol=0.1)  # the learner gives ties to the first class


# The random-order baseline: from complete runs, and from short ones that are extrapolated.


def runs(
    seed: int,
    answers: np.ndarray,
    true: np.ndarray,
    now: float,
    *,
    rows: int = 200,
    orders: int = 5,
    given: int | None = None,
    apart: float = 0.02,
) -> RandomRuns:
    """Rows that come right as `true` rises, in each order a little sooner or later.

    now : share of all rows that the project has right
    """
    rng = np.random.default_rng(seed)
    hard = rng.random(rows)
    shift = rng.normal(0, apart, orders)
    right = hard < (true + shift[:, None])[:, :, None]
    return RandomRuns(answers, right, np.full(rows, 1 / rows), hard < now, int(answers[-1]) if given is None else given)


def test_line_is_the_mean_of_runs_with_the_interval_of_a_single_run() -> None:
    answers = np.array([0, 50, 100])
    same = runs(0, answers, np.array([0.4, 0.6, 0.7]), 0.6, apart=0.0)
    line = by_replays(same)
    assert line.answers == (0.0, 50.0, 100.0)
    assert line.value == pytest.approx(same.accuracy.mean(axis=0))
    low, high = wilson_interval(np.array(line.value), same.measured)
    assert line.low == pytest.approx(low, abs=0.01), "orders that do not differ leave the rows alone"
    assert line.high == pytest.approx(high, abs=0.01)
    apart = by_replays(runs(0, answers, np.array([0.4, 0.6, 0.7]), 0.6, apart=0.08))
    assert np.mean(np.array(apart.high) - apart.low) > np.mean(high - low) + 0.05


def test_answers_needed_are_those_to_reach_the_accuracy_of_the_project() -> None:
    answers = np.arange(0, 401, 50)
    found = by_replays(runs(1, answers, 0.4 + answers / 1000, 0.6, apart=0.005, given=100))
    assert found.needed.low <= 200 <= found.needed.high
    assert found.needed.value == pytest.approx(200, abs=15)
    never = by_replays(runs(1, answers, 0.4 + answers / 1000, 0.95, given=100))
    assert never.needed == Reach(np.inf, np.inf, np.inf)


def test_two_orders_are_too_few_for_an_interval() -> None:
    with pytest.raises(ValueError, match="3 random orders"):
        by_replays(runs(0, np.array([0, 9]), np.array([0.4, 0.6]), 0.5, orders=2))


def test_first_reached_interpolates_a_monotone_curve() -> None:
    assert first_reached([0, 10, 20], [0.4, 0.6, 0.8], 0.7) == pytest.approx(15)
    assert first_reached([0, 10, 20], [0.4, 0.6, 0.8], 0.3) == 0
    assert first_reached([0, 10, 20], [0.4, 0.6, 0.8], 0.81) == np.inf
    assert first_reached([0, 10, 20], [0.4, 0.8, 0.6], 0.7) == 10, "made to rise: 0.4, 0.7, 0.7"


def test_uneven_weights_reduce_the_effective_number_of_checks() -> None:
    some = runs(0, np.array([0, 9]), np.array([0.4, 0.6]), 0.5, rows=4)
    uneven = RandomRuns(some.answers, some.right, np.array([0.7, 0.1, 0.1, 0.1]), some.right_now, 9)
    assert (some.measured, uneven.measured) == (pytest.approx(4), pytest.approx(1 / 0.52))


def test_line_is_extrapolated_only_so_far() -> None:
    answers = np.linspace(0, 70, 8).round().astype(int)
    true = 0.9 - 0.4 / (1 + answers / 40)
    line = by_carrying_on(runs(2, answers, true, 0.85, rows=2000, given=140))
    assert (line.answers[0], line.answers[-1]) == (0.0, 140.0)
    assert line.low[-1] <= 0.9 - 0.4 / (1 + 140 / 40) <= line.high[-1]
    assert line.needed.low <= 280 <= line.needed.high  # 0.85 = 0.9 - 0.4 / (1 + t / 40) at t = 280
    far = by_carrying_on(runs(2, answers, true, 0.85, rows=2000, given=5000))
    assert far.answers[-1] == 210.0
    assert by_carrying_on(runs(2, answers[:3], true[:3], 0.85)) is None
    assert by_carrying_on(runs(2, answers, true, 0.85, rows=20)) is None


def test_line_round_trips_through_json() -> None:
    line = RandomOrderLine((0.0, 9.0), (0.4, 0.5), (0.3, 0.4), (0.5, 0.6), Reach(20.0, 9.0, np.inf))
    assert line.to_json()["needed"] == [20.0, 9.0, None]
    assert RandomOrderLine.from_json(line.to_json()) == line


@pytest.mark.parametrize("projects", [20, pytest.param(60, marks=pytest.mark.proof)])
def test_intervals_cover_another_random_order(projects: int) -> None:
    """The end of the line, and the answers that one more order needs."""
    lines, needs = [], []
    answers = np.arange(0, 501, 50)
    true = 0.9 - 0.4 / (1 + answers / 100)
    for seed in range(projects):
        rng = np.random.default_rng([seed, 4])
        shift, now = rng.normal(0, 0.02), rng.uniform(0.65, 0.8)
        found = by_replays(runs(seed, answers, true, now))
        lines.append(found.low[-1] <= true[-1] + shift <= found.high[-1])
        at = first_reached(answers, true + shift, now)
        needs.append(found.needed.low <= at <= found.needed.high)
    assert np.mean(lines) >= 0.9
    assert np.mean(needs) >= 0.9
