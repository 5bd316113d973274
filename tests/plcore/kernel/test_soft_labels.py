"""What learners with soft labels share: scores, ties, classes that nobody has, scaling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from plcore.kernel.soft_labels import SoftLabelClassifier, fit_scaler, scaled


class Given(SoftLabelClassifier):
    """Its scores are its features."""

    def fit(self, X, y, scaler=None):
        X = validate_data(self, X)
        labels = y / y.sum(axis=1, keepdims=True)
        classes = np.array(["a", "b", "c"])[: y.shape[1]]
        self._finish(classes, labels, y.any(axis=0), scaler, [2.0, 1.0], True)
        return self

    def _score_rows(self, X):
        return X.copy()


@pytest.fixture
def model():
    return Given().fit(np.eye(3), np.array([[1, 1, 0], [0, 1, 0], [1, 1, 0]], dtype=bool))


def test_what_a_fit_ends_in(model):
    assert model.transduction_.tolist() == ["a", "b", "a"]  # ties go to the first class
    assert model.objective_.tolist() == [2, 1]
    assert model.n_iter_ == 2
    assert model.converged_


def test_scores_and_predictions(model):
    X = np.array([[0.4, 0.4, 9], [0.1, 0.7, 9], [-3, -2, 9]])
    np.testing.assert_array_equal(
        model.decision_function(X), [[0.4, 0.4, -np.inf], [0.1, 0.7, -np.inf], [-3, -2, -np.inf]]
    )
    assert model.predict(X).tolist() == ["a", "b", "b"]
    np.testing.assert_allclose(model.predict_proba(X), [[0.5, 0.5, 0], [0.2, 0.8, 0], [0, 1, 0]], atol=1e-12)
    assert X[0, 2] == 9
    assert model.score(X, np.array(["a", "a", "b"])) == pytest.approx(2 / 3)


def test_new_rows_are_checked_and_scaled(model):
    with pytest.raises(NotFittedError):
        Given().predict(np.eye(3))
    with pytest.raises(ValueError, match="features"):
        model.predict(np.eye(4))
    training = np.array([[0.0, 0, 0], [2, 4, 8]])
    scaler = fit_scaler("minmax", training, np.ones(2))
    scaled = Given().fit(training, np.ones((2, 3), dtype=bool), scaler)
    np.testing.assert_allclose(scaled.decision_function([[1.0, 3, 2]]), [[0.5, 0.75, 0.25]])


def test_scalers():
    X, weights = np.array([[0.0, 1.0], [2.0, 1.0], [10.0, 1.0]]), np.array([3.0, 1.0, 1.0])
    repeated = X[[0, 0, 0, 1, 2]]
    np.testing.assert_allclose(
        fit_scaler("standard", X, weights).transform(X),
        (X - repeated.mean(axis=0)) / np.where(repeated.std(axis=0) > 0, repeated.std(axis=0), 1),
    )
    np.testing.assert_allclose(fit_scaler("minmax", X, weights).transform(X)[:, 0], [0, 0.2, 1])
    assert fit_scaler(None, X, weights) is None
    for scaling in ("standard", "minmax"):
        thin = fit_scaler(scaling, sparse.csr_matrix(X), weights).transform(sparse.csr_matrix(X))
        assert sparse.issparse(thin)
        assert thin.nnz == 5  # nothing is shifted


def test_auto_scales_dense_rows_alone():
    X, weights = np.array([[0.0, 1.0], [2.0, 1.0], [10.0, 1.0]]), np.array([3.0, 1.0, 1.0])
    standard = fit_scaler("standard", X, weights)
    np.testing.assert_array_equal(scaled(fit_scaler("auto", X, weights), X), standard.transform(X))
    thin = sparse.csr_matrix(X)
    assert fit_scaler("auto", thin, weights) is None
    assert scaled(None, thin) is thin
    np.testing.assert_array_equal(
        scaled(standard, thin), standard.transform(X)
    )  # rows as they were in the fit
