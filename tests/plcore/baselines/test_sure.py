"""SURE: its row step beside the paper's quadratic program, its objective, weights, known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris

from plcore import SUREClassifier
from plcore.baselines.sure import confident_labels
from plcore.evaluation import contaminate


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, contaminate(y, "size", p=0.8, r=1, random_state=0), y


def solved_program(scores, candidates, bonus):
    """The paper's program for one row: |p - f|^2 - bonus p_k, p_j <= p_k, p in the simplex of S, k the best of S."""
    top = int(np.where(candidates, scores, -np.inf).argmax())
    others = [c for c in range(len(scores)) if c != top]
    order = np.zeros((len(others), len(scores)))
    order[np.arange(len(others)), others] = -1
    order[:, top] = 1
    unit = np.eye(len(scores))[top]
    constraints = [{"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like}]
    if others:
        constraints.append({"type": "ineq", "fun": lambda p: order @ p, "jac": lambda _: order})
    return minimize(
        lambda p: np.sum((p - scores) ** 2) - bonus * p[top],
        candidates / candidates.sum(),
        jac=lambda p: 2 * (p - scores) - bonus * unit,
        bounds=[(0, 1 if one else 0) for one in candidates],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 1000},
    ).x


@pytest.mark.parametrize("bonus", [0.0, 0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("spread", [0.05, 0.4, 2.0])
def test_the_row_step_solves_the_program_of_the_paper(bonus, spread):
    rng = np.random.default_rng(int(100 * bonus + 10 * spread))
    scores = 0.3 + spread * rng.normal(size=(12, 6))
    candidates = rng.random((12, 6)) < 0.5
    candidates[np.arange(12), rng.integers(6, size=12)] = True
    candidates[0] = True
    found = confident_labels(scores, candidates, bonus)
    expected = [solved_program(f, s, bonus) for f, s in zip(scores, candidates, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_row_step_by_hand():
    scores = np.array([[0.4, 0.4, 0.2], [0.1, 0.6, 0.9], [0.5, 0.5, 0.5]])
    candidates = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    found = confident_labels(scores, candidates, 0.3)
    # Row 0: the tie goes to the first, (.55, .4, .2) less .05 each; row 1: (.1, .75) and .075 more each.
    np.testing.assert_allclose(found[:2], [[0.5, 0.35, 0.15], [0.175, 0.825, 0]], atol=1e-15)
    np.testing.assert_allclose(found[2], [0, 0.575, 0.425])
    np.testing.assert_array_equal(scores[2], 0.5)


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear"])
def test_no_round_makes_the_objective_larger(iris, kernel):
    X, candidates, _ = iris
    weights = np.random.default_rng(0).random(150) + 0.1
    model = SUREClassifier(kernel=kernel).fit(X, candidates, sample_weight=weights)
    assert len(model.objective_) == model.n_iter_ > 3
    assert model.converged_
    assert (np.diff(model.objective_) <= 1e-9 * np.abs(model.objective_[:-1])).all()


def test_the_objective_is_the_one_that_is_written_down(iris):
    """After one round: |F - p|^2 - bonus max p + alpha tr(A'KA), all from the kernel matrix by hand."""
    X, candidates, _ = iris
    model = SUREClassifier(max_iter=1, alpha=0.2, bonus=0.4, width=0.5).fit(X, candidates)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = np.linalg.norm(Z[:, None] - Z, axis=2)
    K = np.exp(-((distances / (0.5 * distances.mean())) ** 2) / 2)
    start = candidates / candidates.sum(axis=1, keepdims=True)
    inverse = np.linalg.inv(K + 0.2 * np.eye(150))
    b = inverse.sum(axis=0) @ start / inverse.sum()
    A = inverse @ (start - b)
    F = K @ A + b
    P = confident_labels(F, candidates, 0.4)
    np.testing.assert_allclose(model.label_distributions_, P, atol=1e-9)
    value = np.sum((F - P) ** 2) - 0.4 * P.max(axis=1).sum() + 0.2 * np.trace(A.T @ K @ A)
    assert model.objective_[0] == pytest.approx(value, rel=1e-9)
    assert not model.converged_
    b = inverse.sum(axis=0) @ P / inverse.sum()
    np.testing.assert_allclose(model.decision_function(X), K @ (inverse @ (P - b)) + b, atol=1e-8)


def test_the_bonus_makes_rows_sure(iris):
    X, candidates, _ = iris
    sure = [
        SUREClassifier(bonus=bonus).fit(X, candidates).label_distributions_.max(axis=1).mean()
        for bonus in (0, 0.1, 0.3, 1)
    ]
    assert (np.diff(sure) > 0).all()


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_weights_are_repetition(iris, kernel):
    X, candidates, _ = iris
    weights = np.arange(150) % 4
    rows = np.repeat(np.arange(150), weights)
    weighted = SUREClassifier(kernel=kernel).fit(X, candidates, sample_weight=weights)
    repeated = SUREClassifier(kernel=kernel).fit(X[rows], candidates[rows])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(weighted.label_distributions_[rows], repeated.label_distributions_, atol=1e-7)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_)
    absent = weights == 0
    expected = confident_labels(weighted.decision_function(X[absent]), candidates[absent], 0.3)
    np.testing.assert_allclose(weighted.label_distributions_[absent], expected)


def test_a_class_that_only_rows_without_weight_may_have_is_never_predicted(iris):
    X, candidates, _ = iris
    wide = np.hstack([candidates, np.zeros((150, 2), dtype=bool)])
    wide[0, 3] = True
    weights = np.ones(150)
    weights[0] = 0
    model = SUREClassifier().fit(X, wide, sample_weight=weights)
    assert (model.decision_function(X)[:, 3:] == -np.inf).all()
    assert (model.predict_proba(X)[:, 3:] == 0).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.isfinite(model.label_distributions_).all()


def test_duplicates_and_rows_that_may_be_anything(iris):
    X, candidates, y = iris
    silent = candidates.copy()
    silent[::4] = True
    model = SUREClassifier().fit(np.repeat(X, 3, axis=0), np.repeat(silent, 3, axis=0))
    assert (model.predict(X) == y).mean() > 0.9
    nothing = SUREClassifier().fit(X, np.ones((150, 3), dtype=bool))
    np.testing.assert_allclose(nothing.label_distributions_.sum(axis=1), 1)
    assert set(nothing.predict(X)) == {0}  # ties to the first class


def test_sparse_rows_are_as_dense_ones(iris):
    X, candidates, _ = iris
    for kernel in ("rbf", "linear"):
        dense = SUREClassifier(kernel=kernel, scaling=None).fit(X, candidates)
        thin = SUREClassifier(kernel=kernel, scaling=None).fit(sparse.csr_matrix(X), candidates)
        found = thin.decision_function(sparse.csr_matrix(X))
        np.testing.assert_allclose(found, dense.decision_function(X), atol=1e-6)
