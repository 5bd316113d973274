"""RegISL: its objective, its graph, known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from plcore import RegISLClassifier
from plcore.baselines.regisl import laplacian, median_distance, similarities
from plcore.evaluation import contaminate


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, contaminate(y, "size", p=0.6, r=1, random_state=0), y


def written_out(model, X, candidates):
    """tr(F'LF) - bonus |F|^2 from the definition, all pairs at once, for features as they are."""
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    far = distances + np.diag(np.full(len(X), np.inf))
    nearest = np.zeros_like(distances, dtype=bool)
    np.put_along_axis(nearest, far.argsort(axis=1, kind="stable")[:, : model.n_neighbors], True, axis=1)
    W = np.where(nearest | nearest.T, np.exp(-(distances**2) / (2 * model.theta_**2)), 0)
    F = model.label_distributions_
    smooth = sum(W[i, j] * np.sum((F[i] - F[j]) ** 2) for i in range(len(X)) for j in range(len(X))) / 2
    return smooth - model.bonus * np.sum(F**2)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 2.0]), st.sampled_from(["auto", 0.1, 1.0, 10.0]))
def test_no_round_makes_the_objective_larger(seed, bonus, theta):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3))
    candidates = rng.random((20, 4)) < 0.5
    candidates[np.arange(20), rng.integers(4, size=20)] = True
    model = RegISLClassifier(theta, bonus, n_neighbors=4, scaling=None, max_iter=10).fit(X, candidates)
    start = candidates / candidates.sum(axis=1, keepdims=True)
    path = model.objective_
    assert (np.diff(path) <= 1e-12 * (1 + np.abs(path[:-1]))).all()
    assert path[-1] == pytest.approx(written_out(model, X, candidates), abs=1e-9)
    settled, model.label_distributions_ = model.label_distributions_, start
    assert path[0] <= written_out(model, X, candidates) + 1e-9
    assert (settled[~candidates] == 0).all()
    np.testing.assert_allclose(settled.sum(axis=1), 1)


def test_two_rows_by_hand():
    """Rows at distance 1 agree on the one class that both may have; the larger bonus decides the third row too."""
    X = np.array([[0.0], [1.0]])
    candidates = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    model = RegISLClassifier(1.0, scaling=None).fit(X, candidates)
    np.testing.assert_allclose(model.label_distributions_, [[0, 1, 0], [0, 1, 0]], atol=1e-3)
    assert model.transduction_.tolist() == [1, 1]
    assert model.objective_[-1] == pytest.approx(-0.01 * 2, abs=1e-4)
    np.testing.assert_allclose(model.decision_function([[0.3]])[0, :2], [0, 1], atol=1e-3)


def test_new_rows_are_the_mean_of_their_neighbours():
    X = np.array([[0.0], [1.0], [5.0]])
    candidates = np.eye(3, dtype=bool)
    model = RegISLClassifier(2.0, n_neighbors=2, scaling=None).fit(X, candidates)
    near, far = np.exp(-(0.2**2) / 8), np.exp(-(0.8**2) / 8)
    found = model.decision_function([[0.2], [5.0]])
    np.testing.assert_allclose(found[0], [near / (near + far), far / (near + far), 0], atol=1e-12)
    assert found[1].argmax() == 2
    np.testing.assert_allclose(model.predict_proba([[0.2], [5.0]]), found, atol=1e-12)


def test_a_width_at_which_nothing_is_similar(iris):
    """All similarities round to 0: nothing is learned of the sets, and new rows go by the nearest one."""
    X, first = np.unique(iris[0], axis=0, return_index=True)
    candidates = iris[1][first]
    even = candidates / candidates.sum(axis=1, keepdims=True)
    for theta in (1e-4, 1e-160, 1e-300):
        model = RegISLClassifier(theta, scaling=None).fit(X, candidates)
        np.testing.assert_allclose(model.label_distributions_, even, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(X + 1e-3), even, atol=1e-12)


def test_similarities():
    distances = np.array([[1.0, 1.0, 3.0], [0.0, 2.0, 2.0]])
    np.testing.assert_allclose(similarities(distances, 2.0), np.exp(-(distances**2) / 8))
    relative = similarities(distances, 2.0, distances[:, :1])
    np.testing.assert_allclose(relative, [[1, 1, np.exp(-1)], [1, np.exp(-0.5), np.exp(-0.5)]])


def test_the_width_by_itself(iris):
    X, candidates, _ = iris
    model = RegISLClassifier(n_neighbors=3, scaling=None).fit(X, candidates)
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 1:4]
    assert model.theta_ == pytest.approx(np.median(distances[distances > 0]))
    assert RegISLClassifier(0.7).fit(X, candidates).theta_ == 0.7
    assert median_distance(np.zeros((4, 2))) == 1.0
    assert median_distance(np.zeros((1, 0))) == 1.0


def test_the_laplacian():
    W = sparse.csr_matrix([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(laplacian(W).toarray(), [[2, -2, 0], [-2, 3, -1], [0, -1, 1]])


def test_the_bonus_makes_rows_sure(iris):
    X, candidates, _ = iris
    sure = [
        RegISLClassifier(bonus=bonus).fit(X, candidates).label_distributions_.max(axis=1).mean()
        for bonus in (0, 0.1, 1, 10)
    ]
    assert (np.diff(sure) >= -1e-6).all()
    assert sure[-1] > sure[0]


def test_sparse_rows_are_as_dense_ones(iris):
    X, candidates, _ = iris
    dense = RegISLClassifier(scaling=None).fit(X, candidates)
    thin = RegISLClassifier(scaling=None).fit(sparse.csr_matrix(X), candidates)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-9
    )


def test_few_rows_duplicates_and_rows_that_say_nothing(iris):
    one = RegISLClassifier().fit([[1.0, 2.0]], np.array([[True, True, False]]))
    np.testing.assert_allclose(one.label_distributions_, [[0.5, 0.5, 0]])
    assert one.predict([[3.0, 4.0]]).tolist() == [0]
    assert one.decision_function([[3.0, 4.0]])[0, 2] == -np.inf
    X, _, _ = iris
    nothing = RegISLClassifier().fit(X, np.ones((150, 3), dtype=bool))
    np.testing.assert_allclose(nothing.label_distributions_, 1 / 3, atol=1e-9)
    equal = RegISLClassifier().fit(np.ones((40, 2)), np.eye(2, dtype=bool)[[0] * 30 + [1] * 10])
    assert equal.theta_ == 1.0
    assert equal.label_distributions_[:30, 0].tolist() == [1.0] * 30
