"""PLKNeighborsClassifier: known answers, the contract for candidates, and update == refit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from plcore import CandidateError, PLKNeighborsClassifier
from plcore.evaluation import contaminate
from plcore.query import winners
from tests.plcore.random_sets import some_sets

LINE = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
SETS = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0]], dtype=bool)


def test_votes_match_values_computed_by_hand():
    model = PLKNeighborsClassifier(n_neighbors=3, weights="uniform", scaling=None).fit(LINE, SETS)
    # Neighbours of 1.1: rows 1, 2, 0 vote {1}, {1, 2}, {0, 1}.
    assert model.predict_proba([[1.1]])[0].tolist() == [0.2, 0.6, 0.2]
    assert model.decision_function([[1.1]])[0].tolist() == [1 / 3, 1.0, 1 / 3]
    assert model.predict([[1.1]]).tolist() == [1]
    # Neighbours of row 3: itself, 2 and 1: votes 1, 2, 2 of which {0, 2} are its own candidates.
    assert model.label_distributions_[3].tolist() == [1 / 3, 0.0, 2 / 3]
    assert model.transduction_.tolist() == [1, 1, 1, 2, 0]


def test_linear_weights_match_values_computed_by_hand():
    model = PLKNeighborsClassifier(n_neighbors=2, scaling=None).fit([[0.0], [4.0]], [[1, 0], [1, 1]])
    # Distances 1 and 3: weights 3/4 and 1/4.
    assert model.decision_function([[1.0]]).tolist() == [-0.75]
    assert model.predict_proba([[1.0]])[0].tolist() == [0.8, 0.2]


def test_ties_go_to_the_first_class():
    model = PLKNeighborsClassifier(n_neighbors=2, weights="uniform").fit([[0.0], [1.0]], ["b", "a"])
    assert model.predict([[0.9], [0.1]]).tolist() == ["a", "a"]
    assert model.decision_function([[0.5]]).tolist() == [0.0]


def test_predictions_are_the_classes_with_most_votes():
    rng = np.random.default_rng(0)
    X, queries = rng.random((80, 3)), rng.random((30, 3))
    sets = rng.random((80, 5)) < 0.4
    sets[:, 4] |= ~sets.any(axis=1)
    model = PLKNeighborsClassifier(n_neighbors=6).fit(X, sets)
    won = winners(*model._graph.neighbors_of(queries), sets)
    np.testing.assert_array_equal(model.predict(queries), won.argmax(axis=1))


def test_exact_labels_agree_with_scikit_learn():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    train = np.zeros(len(X), dtype=bool)
    train[rng.permutation(len(X))[:100]] = True
    ours = PLKNeighborsClassifier(n_neighbors=5, weights="uniform", scaling=None).fit(X[train], y[train])
    theirs = KNeighborsClassifier(n_neighbors=5).fit(X[train], y[train])
    assert (ours.predict(X[~train]) == theirs.predict(X[~train])).mean() >= 0.98  # ties may differ
    np.testing.assert_array_equal(ours.transduction_, y[train])
    assert ours.score(X[~train], y[~train]) > 0.9


def test_partial_labels_are_disambiguated():
    X, y = load_iris(return_X_y=True)
    sets = contaminate(y, p=0.8, q=0.4, random_state=0)
    model = PLKNeighborsClassifier().fit(X, sets)
    assert sets[np.arange(150), model.transduction_].all()
    assert (model.transduction_ == y).mean() > 0.93


def test_distributions_stay_inside_candidates():
    rng = np.random.default_rng(1)
    sets = rng.random((50, 6)) < 0.3
    sets[:, 0] |= ~sets.any(axis=1)
    model = PLKNeighborsClassifier(n_neighbors=4).fit(rng.random((50, 2)), sets)
    assert (model.label_distributions_[~sets] == 0).all()
    assert (model.label_distributions_[sets] > 0).all()  # the row itself votes for each of its candidates
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)


def test_single_class_is_accepted():
    for y in (np.ones((5, 1), dtype=bool), pd.DataFrame({"a": [1] * 5}), ["a"] * 5):
        model = PLKNeighborsClassifier(n_neighbors=2).fit(LINE, y)
        assert len(model.classes_) == 1
        assert (model.predict(LINE) == model.classes_[0]).all()
        assert model.decision_function(LINE).shape == (5, 1)
        assert (model.label_distributions_ == 1).all()


def test_sparse_features_give_what_dense_ones_give():
    rng = np.random.default_rng(2)
    X = rng.random((60, 30)) * (rng.random((60, 30)) < 0.2)
    y = rng.integers(0, 3, 60)
    # All features are zero somewhere and positive elsewhere: min-max and max-abs are the same.
    dense = PLKNeighborsClassifier(n_neighbors=5).fit(X, y)
    thin = PLKNeighborsClassifier(n_neighbors=5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(thin.label_distributions_, dense.label_distributions_)
    np.testing.assert_array_equal(thin.predict_proba(sparse.csr_matrix(X[:9])), dense.predict_proba(X[:9]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors.*Got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors.*Got 2.5"),
        ({"weights": "distance"}, "weights.*Got 'distance'"),
        ({"scaling": "robust"}, "scaling.*Got 'robust'"),
    ],
)
def test_parameters_are_checked_in_fit(parameters, message):
    model = PLKNeighborsClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(LINE, SETS)


def test_score_uses_sample_weights():
    model = PLKNeighborsClassifier(n_neighbors=1).fit(LINE, SETS)
    only = np.zeros((5, 3), dtype=bool)
    only[:, 0] = True
    assert model.predict(LINE).tolist() == [0, 1, 1, 0, 0]
    assert model.score(LINE, only) == 3 / 5
    assert model.score(LINE, only, sample_weight=[0, 1, 0, 0, 3]) == 3 / 4
    assert model.score(LINE, [0] * 5, sample_weight=[0, 1, 0, 0, 3]) == 3 / 4


# update


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    np.testing.assert_array_equal(one.candidates_, other.candidates_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@st.composite
def updates(draw):
    n, m = draw(st.integers(1, 14)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, 4, size=(n, 2)).astype(float)  # duplicates and ties
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True)
    return X, m, rng, draw(st.integers(1, 16)), draw(st.lists(rows, max_size=5))


@given(updates())
def test_update_equals_refit(case):
    X, m, rng, k, changes = case
    sets = some_sets(rng, len(X), m)
    model = PLKNeighborsClassifier(n_neighbors=k).fit(X, sets)
    for rows in changes:
        before = model.label_distributions_.copy()
        new = some_sets(rng, len(rows), m)
        sets[rows] = new
        changed = model.update(rows, new)
        assert_same_model(model, PLKNeighborsClassifier(n_neighbors=k).fit(X, sets), X)
        expected = np.flatnonzero((model.label_distributions_ != before).any(axis=1))
        assert changed.tolist() == expected.tolist()


def test_undoing_an_update_restores_the_model():
    model = PLKNeighborsClassifier(n_neighbors=3).fit(LINE, SETS)
    fresh = PLKNeighborsClassifier(n_neighbors=3).fit(LINE, SETS)
    changed = model.update(3, [False, False, True])
    assert 3 in changed.tolist()
    assert model.transduction_[3] == 2
    assert model.update(3, [0, 0, 1]).tolist() == []
    np.testing.assert_array_equal(model.update([3], SETS[[3]]), changed)
    assert_same_model(model, fresh, LINE)
    assert model.update([], np.zeros((0, 3), dtype=bool)).tolist() == []
    model.update([0, 1], sparse.csr_matrix(SETS[[0, 1]]))
    assert_same_model(model, fresh, LINE)


def test_update_does_not_change_the_arrays_given_to_fit():
    sets = SETS.copy()
    PLKNeighborsClassifier().fit(LINE, sets).update(0, [0, 0, 1])
    np.testing.assert_array_equal(sets, SETS)


@pytest.mark.parametrize(
    ("rows", "candidates", "error", "message"),
    [
        ([5], [[1, 0, 0]], ValueError, r"0\.\.4. Got \[5\]"),
        ([-1], [[1, 0, 0]], ValueError, r"0\.\.4"),
        ([1, 1], [[1, 0, 0]] * 2, ValueError, "distinct"),
        ([1.0], [[1, 0, 0]], ValueError, "row numbers"),
        ([1], [[1, 0]], CandidateError, r"shape \(1, 3\). Got \(1, 2\)"),
        ([1, 2], [1, 0, 0], CandidateError, r"shape \(2, 3\)"),
        ([1], [[0, 0, 0]], CandidateError, "at least one candidate"),
        ([1], [[2, 0, 0]], CandidateError, "Got"),
        ([1], pd.DataFrame([[1, 0, 0]], columns=list("abc")), CandidateError, "classes"),
    ],
)
def test_wrong_updates_change_nothing(rows, candidates, error, message):
    model = PLKNeighborsClassifier(n_neighbors=3).fit(LINE, SETS)
    with pytest.raises(error, match=message):
        model.update(rows, candidates)
    assert_same_model(model, PLKNeighborsClassifier(n_neighbors=3).fit(LINE, SETS), LINE)


def test_update_requires_fit():
    with pytest.raises(NotFittedError):
        PLKNeighborsClassifier().update([0], [[True]])


def test_approximate_search_is_reproducible_and_update_equals_refit():
    """It is seeded, independent of batches, and an update equals a fresh fit."""
    rng = np.random.default_rng(8)
    X, sets = rng.normal(size=(900, 12)), rng.random((900, 4)) < 0.5
    sets[np.arange(900), rng.integers(4, size=900)] = True
    model = PLKNeighborsClassifier(n_neighbors=6, search="approximate").fit(X, sets)
    assert 0.9 < model.neighbor_recall_ <= 1.0
    assert PLKNeighborsClassifier(n_neighbors=6).fit(X, sets).neighbor_recall_ == 1.0
    together = model.predict_proba(X + 0.1)
    np.testing.assert_array_equal(together[5:6], model.predict_proba(X[5:6] + 0.1))
    sets[3] = [True, False, False, False]
    model.update(3, sets[3])
    fresh = PLKNeighborsClassifier(n_neighbors=6, search="approximate").fit(X, sets)
    np.testing.assert_array_equal(model.label_distributions_, fresh.label_distributions_)
