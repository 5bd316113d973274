"""The bases of all classifiers of candidate sets: accuracy by labels and candidates, predictions by scores, tags."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from plcore import PLSVC
from plcore.evaluation import contaminate
from plcore.kernels import softmax_rows
from plcore.labels import CandidateError, fit_temperature, log_shares, tempered
from plcore.labels.training import CandidateScoreMixin, ScoreClassifier, check_features, check_training
from plcore.labels.weights import score_columns

NAMES = np.array(["emu", "robin", "wren"])
SCORES = np.array([[0.5, 0.5, -np.inf], [-3.0, -1.0, -np.inf], [0.0, 2.0, -np.inf], [1.0, 0.0, -np.inf]])


class Given(ScoreClassifier):
    """Its scores are its features; its parameter lowers the score of the first class."""

    def __init__(self, less=0.0):
        self.less = less

    def fit(self, X, y):
        self.classes_ = NAMES[: X.shape[1]]
        return self

    def _scores(self, X):
        return X - np.eye(X.shape[1])[0] * self.less


class Borrowed(CandidateScoreMixin, DummyClassifier):
    """A scikit-learn classifier with our `score`."""


@pytest.fixture
def model():
    return Given().fit(SCORES, None)


def test_highest_score_wins_and_ties_go_to_the_first_class(model):
    np.testing.assert_array_equal(model.decision_function(SCORES), SCORES)
    assert model.predict(SCORES).tolist() == ["emu", "robin", "robin", "emu"]


def test_two_classes_have_one_score():
    two = Given().fit(SCORES[:, :2], None)
    np.testing.assert_array_equal(two.decision_function(SCORES[:, :2]), [0, 2, 2, -1])
    assert two.predict(SCORES[:, :2]).tolist() == ["emu", "robin", "robin", "emu"]


def test_labels_are_scored_by_accuracy(model):
    labels = np.array(["emu", "emu", "robin", "wren"])
    assert model.score(SCORES, labels) == 0.5
    assert model.score(SCORES, labels, sample_weight=[1, 1, 5, 1]) == 0.75


def test_missing_label_is_refused_and_not_scored_as_wrong(model):
    with pytest.raises(CandidateError, match="NaN, None or infinity in row 2 "):
        model.score(SCORES, ["emu", "emu", np.nan, "wren"])


def test_candidates_are_scored_by_predictions_inside_the_sets(model):
    inside = np.array([[1, 0, 1], [1, 0, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
    for y in (inside, sparse.csr_matrix(inside), pd.DataFrame(inside, columns=NAMES)):
        assert model.score(SCORES, y) == 0.75
    assert model.score(SCORES, [set(NAMES[row]) for row in inside], sample_weight=[1, 0, 1, 1]) == 1


def test_grid_search_selects_without_labels():
    """Only the unchanged scores give predictions inside all sets."""
    rows = np.tile(SCORES[1:3], (6, 1))
    inside = np.tile([[False, True, True]], (12, 1))
    search = GridSearchCV(Given(), {"less": [-9.0, 0.0, -5.0]}, cv=3).fit(rows, inside)
    assert search.best_params_ == {"less": 0.0}
    assert search.cv_results_["mean_test_score"].tolist() == [0, 1, 0]


def test_mixin_keeps_tags_and_base_supports_sparse_rows():
    assert get_tags(Given()).input_tags.sparse
    assert get_tags(Given()).estimator_type == "classifier"
    assert get_tags(Borrowed()).input_tags.sparse == get_tags(DummyClassifier()).input_tags.sparse


def test_mixin_adds_candidates_to_a_classifier_of_labels():
    model = Borrowed(strategy="constant", constant="robin").fit(SCORES, NAMES[[0, 1, 2, 1]])
    assert model.score(SCORES, NAMES[[0, 1, 2, 1]]) == 0.5
    assert model.score(SCORES, np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=bool)) == 0.75


# Scores of two classes as two columns.


def test_scores_of_several_classes_are_returned_unchanged():
    scores = np.array([[1.0, -np.inf, 2.0]])
    assert score_columns(scores) is scores


def test_score_of_two_classes_becomes_two_columns():
    columns = score_columns(np.array([3.0, -1.0, 0.0]))
    np.testing.assert_array_equal(columns, [[-1.5, 1.5], [0.5, -0.5], [0, 0]])


def test_impossible_class_has_no_share():
    shares = softmax_rows(score_columns(np.array([np.inf, -np.inf])), np.ones((2, 2), dtype=bool))
    np.testing.assert_array_equal(shares, [[0, 1], [1, 0]])


# Refusals of training data: which value is missing, and the fix.


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return X, np.eye(3, dtype=bool)[rng.integers(3, size=30)]


def test_missing_value_names_its_column(data):
    X, candidates = data
    frame = pd.DataFrame(X, columns=["age", "height", "weight", "dose"])
    frame.loc[4, "dose"] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 1 cell, the first in row 4, column 3 'dose'"):
        PLSVC().fit(frame, candidates)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_reported_as_infinity(value, data):
    X, candidates = data
    X[2, 0] = value
    with pytest.raises(ValueError, match=r"contains infinity in 1 cell, the first in row 2, column 0 .*Fix: write"):
        PLSVC().fit(X, candidates)


def test_large_finite_values_are_not_reported_as_infinity():
    X = np.full((3, 2), 1e308)
    assert check_features(PLSVC(), X, reset=True) is not None
    with pytest.raises(ValueError, match=r"must be at most 1e\+50 in size"):
        PLSVC().fit(X, [0, 1, 1])


def test_check_training_returns_checked_data(data):
    X, candidates = data
    estimator = PLSVC()
    found, sets, classes, weights = check_training(estimator, X, candidates, None)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(sets, candidates)
    assert classes.tolist() == [0, 1, 2]
    assert (weights == 1).all()
    assert estimator.n_features_in_ == 4
    with pytest.raises(ValueError, match="requires y to be passed"):
        check_training(estimator, X, None, None)
    with pytest.raises(CandidateError, match="row 3"):
        check_training(estimator, X, candidates & (np.arange(30) != 3)[:, None], None)
    with pytest.raises(ValueError, match="Negative"):
        check_training(estimator, X, candidates, np.full(30, -1.0))


# The temperature: by hand, by a search over many, and for uninformative scores or sets.


def softmax(scores, temperature):
    p = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return p / p.sum(axis=1, keepdims=True)


def lack(scores, candidates, temperature, weights=None, smoothed=False):
    """Objective of T, by its formula."""
    weights = np.ones(len(scores)) if weights is None else weights
    told = candidates.any(axis=1) & ~candidates.all(axis=1)
    s, p, inside = weights[told], softmax(scores[told], temperature), candidates[told]
    q, rest = (np.maximum(p.sum(axis=1, where=part), 1e-300) for part in (inside, ~inside))
    t = (s.sum() + 1) / (s.sum() + 2) if smoothed else 1.0
    return -s @ (t * np.log(q) + (1 - t) * np.log(rest))


def test_smoothed_temperature_is_positive_if_all_sets_are_hit():
    scores = np.tile([1.0, 0.0], (9, 1))
    found = fit_temperature(scores, scores > 0, smoothed=True)
    np.testing.assert_allclose(softmax(scores, found)[0], [10 / 11, 1 / 11], atol=1e-4)
    assert fit_temperature(scores, scores > 0) < found / 10


def test_temperature_of_one_kind_of_row_matches_a_value_by_hand():
    """Two classes, scores 1 and 0, the first in three sets of four: 1 / T is the logit of 3/4. Smoothed they count as
    5/6 each: (3 * 5/6 + 1/6) / 4 is 2/3, and T = 1 / log 2."""
    scores = np.tile([1.0, 0.0], (4, 1))
    candidates = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=bool)
    np.testing.assert_allclose(fit_temperature(scores, candidates), 1 / np.log(3), rtol=1e-4)
    found = fit_temperature(scores, candidates, smoothed=True)
    np.testing.assert_allclose(found, 1 / np.log(2), rtol=1e-4)
    weighted = fit_temperature(scores[2:], candidates[2:], np.array([3.0, 1.0]), smoothed=True)
    np.testing.assert_allclose(weighted, found, rtol=1e-4)
    np.testing.assert_allclose(fit_temperature(8 * scores, candidates, smoothed=True), 8 * found, rtol=1e-4)


@pytest.mark.parametrize("smoothed", [False, True])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1e-3, 1.0, 1e3]))
def test_no_other_temperature_is_likelier(smoothed, seed, size):
    rng = np.random.default_rng(seed)
    scores, candidates = rng.normal(size=(80, 5)), rng.random((80, 5)) < 0.4
    candidates[np.arange(80), (scores + rng.normal(size=(80, 5))).argmax(axis=1)] = True
    scores, weights = scores * size, rng.random(80)
    found = fit_temperature(scores, candidates, weights, smoothed=smoothed)
    tried = np.geomspace(found / 20, found * 20, 60)
    least = min(lack(scores, candidates, one, weights, smoothed) for one in tried)
    assert lack(scores, candidates, found, weights, smoothed) <= least + 1e-6


@pytest.mark.parametrize("true_temperature", [0.02, 1.0, 40.0])
def test_true_temperature_is_recovered(true_temperature):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4000, 4)) * 2
    y = (softmax(scores, 1.0).cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    candidates = contaminate(y, p=0.5, q=0.3, classes=range(4), random_state=0)
    scores *= true_temperature
    exact = fit_temperature(scores, np.eye(4, dtype=bool)[y])
    assert exact == pytest.approx(true_temperature, rel=0.1)
    assert fit_temperature(scores, candidates) == pytest.approx(true_temperature, rel=0.25)


@pytest.mark.parametrize("smoothed", [False, True])
def test_uninformative_rows_do_not_affect_the_temperature(smoothed):
    scores = np.array([[2.0, 0.0, -np.inf], [0.0, 1.0, -np.inf], [3.0, 1.0, -np.inf], [0.0, 1.0, -np.inf]])
    sets = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=bool)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    alone = fit_temperature(scores[:2], sets[:2], weights[:2], smoothed=smoothed)
    assert fit_temperature(scores, sets, weights, smoothed=smoothed) == alone
    assert alone != 1.0
    assert fit_temperature(scores[2:], sets[2:], smoothed=smoothed) == 1.0
    assert fit_temperature(np.zeros((2, 3)), sets[:2], smoothed=smoothed) == 1.0


def test_shares_are_tempered_inside_candidates():
    shares, inside = (
        np.array([[0.8, 0.2, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
        np.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool),
    )
    scores = log_shares(shares, inside, 0.03)
    assert np.isneginf(scores[~inside]).all()
    np.testing.assert_allclose(np.exp(scores[0, :3]), [0.786, 0.204, 0.01])
    np.testing.assert_allclose(tempered(shares, inside, 0.03, 1.0), np.exp(scores))
    roots = np.sqrt([0.985, 0.015])
    np.testing.assert_allclose(tempered(shares, inside, 0.03, 2.0)[1, :2], roots / roots.sum())
    even = tempered(shares, inside, 0.03, 1e9)
    np.testing.assert_allclose(even, inside / inside.sum(axis=1, keepdims=True), atol=1e-6)


def test_doubt_allows_for_a_share_of_zero_to_be_wrong():
    """In one of ten rows the model gives the truth a share of zero: T limits its confidence in all."""
    shares, inside = np.tile([1.0, 0.0], (10, 1)), np.ones((10, 2), dtype=bool)
    truth = np.tile([True, False], (10, 1))
    truth[0] = [False, True]
    temperature = fit_temperature(log_shares(shares, inside, 0.02), truth, smoothed=True)
    assert tempered(shares, inside, 0.02, temperature)[0, 0] == pytest.approx(0.9, abs=0.08)
