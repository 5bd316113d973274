"""PLProgressiveClassifier: the wrapped classifier on exact labels; soft labels in sets, by weights or drawn rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plcore import CandidateError, PLProgressiveClassifier
from plcore.evaluation import contaminate

FEW = HistGradientBoostingClassifier(max_iter=10)
WRAPPED = [FEW, KNeighborsClassifier(), make_pipeline(StandardScaler(), LogisticRegression())]


@pytest.fixture(scope="module")
def clouds():
    """(X (150, 2), y (150,)) around three corners."""
    y = np.arange(150) % 3
    return np.random.default_rng(0).normal(size=(150, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


@pytest.mark.parametrize("wrapped", [None, *WRAPPED], ids=lambda one: type(one).__name__)
def test_exact_labels_give_the_wrapped_classifier(clouds, wrapped):
    X, y = clouds
    names = np.array(["ash", "elm", "oak"])[y]
    model = PLProgressiveClassifier(wrapped).fit(X[::2], names[::2])
    alone = HistGradientBoostingClassifier(random_state=0) if wrapped is None else wrapped
    expected = alone.fit(X[::2], names[::2])
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-12)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert (model.transduction_ == names[::2]).all()
    assert (model.n_iter_, model.converged_, model.objective_.tolist()) == (1, True, [0.0])


@pytest.mark.parametrize("wrapped", WRAPPED, ids=lambda one: type(one).__name__)
def test_soft_labels_stay_inside_sets_and_beat_a_random_pick(clouds, wrapped):
    X, y = clouds
    candidates = contaminate(y, "size", p=1.0, r=1, random_state=0)  # two candidates a row: a random pick has half
    model = PLProgressiveClassifier(wrapped).fit(X, candidates)
    assert (model.label_distributions_[~candidates] == 0).all()
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert (model.transduction_ == y).mean() > 0.8
    assert model.score(X, y) > 0.8
    assert model.candidate_accuracy_ > 0.8
    assert model.out_of_bag_.shape == (150, 3)
    np.testing.assert_allclose(model.out_of_bag_.sum(axis=1), 1)


def test_one_round_follows_the_formula_by_hand():
    """A wrapped classifier that predicts the class shares of its training rows, whatever the row."""
    candidates = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
    model = PLProgressiveClassifier(DummyClassifier(), max_iter=1, n_folds=4).fit(np.zeros((4, 1)), candidates)
    prior = candidates / candidates.sum(axis=1, keepdims=True)
    shares = np.array([np.delete(prior, row, axis=0).mean(axis=0) for row in range(4)])
    np.testing.assert_allclose(model.out_of_bag_, shares)
    expected = np.maximum(shares, 0.01) * prior
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, expected)
    np.testing.assert_allclose(model.objective_, [np.abs(expected - prior).sum(axis=1).mean()])
    np.testing.assert_allclose(model.predict_proba([[7.0]]), [expected.mean(axis=0)])


def test_candidate_weights_are_the_start(clouds):
    X, y = clouds
    every, sure = np.ones((150, 3), dtype=bool), np.where(np.eye(3, dtype=bool)[y], 8.0, 1.0)
    told = PLProgressiveClassifier(GaussianNB()).fit(X, every, candidate_weights=sure)
    even = PLProgressiveClassifier(GaussianNB()).fit(X, every)
    assert (told.transduction_ == y).mean() > 0.95
    assert (even.transduction_ == y).mean() < 0.5
    with pytest.raises(CandidateError, match="candidate_weights must be finite"):
        PLProgressiveClassifier(GaussianNB()).fit(X, every, candidate_weights=-sure)


def test_rows_without_weight_are_in_no_fit(clouds):
    X, y = clouds
    candidates = contaminate(y, "size", p=1.0, r=1, random_state=0)
    weights = np.repeat([1.0, 0.0], [100, 50])
    wrong = np.where(weights[:, None] > 0, X, 1e6)
    for wrapped in (FEW, KNeighborsClassifier()):
        model = PLProgressiveClassifier(wrapped).fit(wrong, candidates, weights)
        expected = PLProgressiveClassifier(wrapped).fit(X[:100], candidates[:100])
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        np.testing.assert_array_equal(model.label_distributions_[:100], expected.label_distributions_)


def test_classifier_without_weights_draws_rows_by_weight_and_seed(clouds):
    X, y = clouds
    weights = np.where(y == 1, 0.0, 1.0) + np.where(y == 2, 99.0, 0.0)
    candidates = np.ones((150, 3), dtype=bool)
    candidates[y != 1] = np.eye(3, dtype=bool)[y[y != 1]]
    model = PLProgressiveClassifier(KNeighborsClassifier()).fit(X, candidates, weights)
    assert (model.predict(X) == 2).mean() > 0.4, "rows of weight 100 outnumber their neighbours"
    assert not (model.predict(X) == 1).any()
    two = contaminate(y, "size", p=1.0, r=1, random_state=0)
    runs = [PLProgressiveClassifier(KNeighborsClassifier(), random_state=seed).fit(X, two) for seed in (1, 1, 2)]
    first, again, other = (one.label_distributions_ for one in runs)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_sparse_rows_become_dense_only_for_classifiers_that_need_it(clouds):
    X, y = clouds
    for wrapped in (FEW, LogisticRegression()):
        dense = PLProgressiveClassifier(wrapped).fit(X, y)
        model = PLProgressiveClassifier(wrapped).fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(model.predict_proba(X), dense.predict_proba(X), atol=1e-6)


def test_progress_ends_the_fit_and_seeds_reach_inner_steps(clouds):
    X, y = clouds
    candidates, seen = contaminate(y, "size", p=1.0, r=1, random_state=0), []

    def stop(step, change):
        seen.append((step, change))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PLProgressiveClassifier(GaussianNB()).fit(X, candidates, progress=stop)
    assert seen[0][0] == 1
    assert 0 < seen[0][1] <= 2
    own = LogisticRegression(random_state=5)
    assert PLProgressiveClassifier(own).fit(X, y).estimator_.random_state == 5
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    seeds = [PLProgressiveClassifier(inner, random_state=s).fit(X, y).estimator_[-1].random_state for s in (7, 7, 8)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_classifier_without_probabilities_is_refused(clouds):
    with pytest.raises(ValueError, match="'estimator' parameter of PLProgressiveClassifier must be"):
        PLProgressiveClassifier(StandardScaler()).fit(*clouds)
    assert PLProgressiveClassifier().fit([[1.0]], ["only"]).predict([[2.0]]).tolist() == ["only"]
