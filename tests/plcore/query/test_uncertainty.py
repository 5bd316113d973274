"""Strategies that go by a fitted learner: its margins, or any function of it."""

from __future__ import annotations

import doctest
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from plcore import PLSVC, PLKNeighborsClassifier
from plcore.evaluation import replay
from plcore.query import LearnerScores, LearnerStrategy, SmallestMargin, learner_shares, uncertainty

X = np.arange(5.0)[:, None]
SETS = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]], dtype=bool)
PROBA = np.array([[0.5, 0.3, 0.2], [1, 0, 0], [0.1, 0.1, 0.8], [0.4, 0.2, 0.4], [1.0, 0, 0]])


def says(**what):
    return SimpleNamespace(**{name: lambda X, value=value: np.array(value) for name, value in what.items()})


def test_shares_are_inside_the_candidates():
    shares = learner_shares(says(predict_proba=PROBA), X, SETS)
    np.testing.assert_allclose(
        shares, [[5 / 8, 3 / 8, 0], [0, 1, 0], [0.1, 0.1, 0.8], [0.5, 0, 0.5], [0, 0.5, 0.5]]
    )
    scores = np.log(np.maximum(PROBA, 1e-300))
    np.testing.assert_allclose(learner_shares(says(decision_function=scores), X, SETS)[:4], shares[:4])
    two = learner_shares(says(decision_function=[0.0, 3.0, -1.0, 2.0, 2.0]), X, SETS[:, :2] | [[0, 1]])
    np.testing.assert_allclose(two[:, 1], [0.5, 1, 1 / (1 + np.e), 1 / (1 + np.exp(-2)), 1])
    with pytest.raises(ValueError, match=r"must have label_distributions_.*Got SimpleNamespace.*Fix"):
        learner_shares(says(predict=[0]), X, SETS)


def test_what_a_learner_says_of_its_own_rows_comes_first():
    model = PLKNeighborsClassifier(2).fit(X, SETS)
    shares = learner_shares(model, X, SETS)
    np.testing.assert_array_equal(shares, model.label_distributions_)
    model.update(0, [1, 0, 0])
    assert not np.array_equal(shares, model.label_distributions_)  # a copy
    margin = PLSVC(max_iter=5, tol=1.0).fit(X, SETS)
    np.testing.assert_allclose(learner_shares(margin, X, SETS).sum(axis=1), 1)


def test_the_smallest_margin_is_asked_first():
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
        0,
        2,
        3,
        4,
    ]


def test_any_function_of_the_learner_is_a_strategy():
    calls = []

    def widest(learner, features, candidates):
        calls.append((learner, features))
        candidates[:] = False  # what it is given is its own
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
def test_scores_that_are_none_are_refused(scores, message):
    strategy = LearnerScores(lambda learner, X, candidates: scores).fit(X, SETS)
    with pytest.raises(ValueError, match=message):
        strategy.learner_changed(None, X)


def test_the_example_of_the_docstring_runs():
    found = doctest.DocTestFinder().find(LearnerScores, "LearnerScores", globs=vars(uncertainty).copy())
    assert [doctest.DocTestRunner().run(one).failed for one in found if one.examples] == [0]


def test_moves_need_a_learner_that_has_effects():
    X, candidates = np.eye(3), np.ones((3, 3), dtype=bool)
    with pytest.raises(ValueError, match=r"must have effect_scores.* Got PLKNeighborsClassifier\. Fix: take"):
        replay(X, candidates, np.arange(3), X, np.arange(3), strategy="moves", budget=1)
