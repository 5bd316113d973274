"""The bases of all classifiers of candidate sets: accuracy by labels and candidates, predictions by scores, tags."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from plcore.labels import CandidateError
from plcore.labels.training import CandidateScoreMixin, ScoreClassifier

NAMES = np.array(["emu", "robin", "wren"])
SCORES = np.array([[0.5, 0.5, -np.inf], [-3.0, -1.0, -np.inf], [0.0, 2.0, -np.inf], [1.0, 0.0, -np.inf]])


class Given(ScoreClassifier):
    """Its scores are its features, less what its parameter takes off the first class."""

    def __init__(self, less=0.0):
        self.less = less

    def fit(self, X, y):
        self.classes_ = NAMES[: X.shape[1]]
        return self

    def _scores(self, X):
        return X - np.eye(X.shape[1])[0] * self.less


class Borrowed(CandidateScoreMixin, DummyClassifier):
    """Of scikit-learn, but for its score."""


@pytest.fixture
def model():
    return Given().fit(SCORES, None)


def test_the_highest_score_predicts_and_ties_go_to_the_first_class(model):
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


def test_a_label_missing_from_a_list_is_not_scored_as_a_wrong_one(model):
    with pytest.raises(CandidateError, match="NaN, None or infinity in row 2 "):
        model.score(SCORES, ["emu", "emu", np.nan, "wren"])


def test_candidates_are_scored_by_what_is_inside(model):
    inside = np.array([[1, 0, 1], [1, 0, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
    for y in (inside, sparse.csr_matrix(inside), pd.DataFrame(inside, columns=NAMES)):
        assert model.score(SCORES, y) == 0.75
    assert model.score(SCORES, [set(NAMES[row]) for row in inside], sample_weight=[1, 0, 1, 1]) == 1


def test_a_search_selects_without_a_label():
    """Only the scores as they are fall inside all sets."""
    rows = np.tile(SCORES[1:3], (6, 1))
    inside = np.tile([[False, True, True]], (12, 1))
    search = GridSearchCV(Given(), {"less": [-9.0, 0.0, -5.0]}, cv=3).fit(rows, inside)
    assert search.best_params_ == {"less": 0.0}
    assert search.cv_results_["mean_test_score"].tolist() == [0, 1, 0]


def test_the_mixin_leaves_the_tags_and_the_base_announces_sparse_rows():
    assert get_tags(Given()).input_tags.sparse
    assert get_tags(Given()).estimator_type == "classifier"
    assert get_tags(Borrowed()).input_tags.sparse == get_tags(DummyClassifier()).input_tags.sparse


def test_the_mixin_gives_a_classifier_of_labels_candidates_too():
    model = Borrowed(strategy="constant", constant="robin").fit(SCORES, NAMES[[0, 1, 2, 1]])
    assert model.score(SCORES, NAMES[[0, 1, 2, 1]]) == 0.5
    assert model.score(SCORES, np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=bool)) == 0.75
