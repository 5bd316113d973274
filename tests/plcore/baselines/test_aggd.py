"""PL-AGGD and PL-CL: what they minimise, steps beside the equations, known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from plcore import PLAGGDClassifier, PLCLClassifier
from plcore.baselines.base import (
    Complement,
    Reconstruction,
    as_matrix,
    difference_products,
    own_neighbors,
    reconstruction_weights,
)
from plcore.baselines.regression import KernelRegression, ScaledKernel
from plcore.evaluation import contaminate

BOTH = pytest.mark.parametrize("learner", [PLAGGDClassifier, PLCLClassifier])


@pytest.fixture(scope="module")
def iris():
    X, y = (part[::2] for part in load_iris(return_X_y=True))
    return X, contaminate(y, "size", p=0.8, r=1, random_state=0), y


@BOTH
@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.0, 5.0), (3.0, 0.2)])
def test_no_round_makes_the_objective_larger(iris, learner, weights):
    X, candidates, _ = iris
    feature_weight, label_weight = weights
    model = learner(max_iter=12, feature_weight=feature_weight, label_weight=label_weight, n_neighbors=5)
    model.fit(X, candidates)
    assert len(model.objective_) == model.n_iter_ >= 2
    assert (np.diff(model.objective_) <= 1e-9 * np.abs(model.objective_[:-1])).all()
    assert model.objective_[-1] > 0


@BOTH
def test_it_ends_by_itself(iris, learner):
    X, candidates, _ = iris
    model = learner(max_iter=100).fit(X, candidates)
    assert model.converged_
    assert model.n_iter_ < 100
    assert not learner(max_iter=1).fit(X, candidates).converged_


def test_one_round_by_the_equations(iris):
    """PL-AGGD with the pieces put together by hand, the objective written out with dense matrices."""
    X, candidates, _ = iris
    X, candidates = X[::2][:36], candidates[::2][:36]
    model = PLAGGDClassifier(0.2, 4, feature_weight=0.7, label_weight=1.3, max_iter=1).fit(X, candidates)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    neighbors, _ = own_neighbors(unit, 4)
    features = 0.7 * difference_products(unit, neighbors)
    first = reconstruction_weights(features, np.full((36, 4), 0.25))
    even = candidates / candidates.sum(axis=1, keepdims=True)
    Y = Reconstruction(neighbors, first).labels(candidates, even, 1.0)
    regression = KernelRegression(
        ScaledKernel("rbf", 2000, 1.0), 0.2, Z, np.ones(36), np.random.RandomState(0)
    )
    weights = reconstruction_weights(features + 1.3 * difference_products(Y, neighbors), first)
    target = regression.solve(Y).scores
    Y = Reconstruction(neighbors, weights).labels(candidates, Y, 1.3, target, 1.0)
    np.testing.assert_allclose(model.label_distributions_, Y, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), regression.solve(Y).scores, atol=1e-7)
    W, fitted = as_matrix(neighbors, weights).toarray(), regression.solve(Y)
    value = 0.7 * np.sum((unit - W @ unit) ** 2) + 1.3 * np.sum((Y - W @ Y) ** 2)
    value += np.sum((Y - fitted.scores) ** 2) + fitted.penalty
    assert model.objective_[0] == pytest.approx(value, rel=1e-9)


@pytest.fixture
def complement(iris):
    X, candidates, _ = iris
    regression = KernelRegression(
        ScaledKernel("rbf", 2000, 1.0), 0.06, X, np.ones(75), np.random.RandomState(0)
    )
    return regression, candidates, Complement(regression, candidates, 0.5, 0.8)


def test_the_step_of_the_complement_is_the_best(complement):
    """No other q between 1 - S and 1 brings its part of the objective further down."""
    regression, candidates, part = complement
    start = regression.solve((~candidates).astype(float)).scores
    labels = candidates / candidates.sum(axis=1, keepdims=True)
    part.aim(start, labels)
    q = part._confidences

    def value(q):
        return 0.5 * np.sum((q - start) ** 2) + 0.8 * np.sum((1 - labels - q) ** 2)

    assert (q >= ~candidates).all()
    assert (q <= 1).all()
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1):
        other = np.clip(q + size * rng.normal(size=q.shape), ~candidates, 1)
        assert value(other) > value(q)


def test_what_the_complement_aims_at(complement):
    """w |Y - T|^2 and |Y - F|^2 + b |Y - (1 - q)|^2 differ by a constant."""
    regression, candidates, part = complement
    labels = candidates / candidates.sum(axis=1, keepdims=True)
    scores = regression.solve(labels).scores
    target, nearness = part.aim(scores, labels)
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(3):
        Y = rng.random(labels.shape)
        whole = np.sum((Y - scores) ** 2) + 0.8 * np.sum((Y - (1 - part._confidences)) ** 2)
        differences.append(whole - nearness * np.sum((Y - target) ** 2))
    np.testing.assert_allclose(differences, differences[0])
    apart = np.sum((1 - labels - part._confidences) ** 2)
    own = regression.solve(part._confidences)
    cost = 0.5 * (np.sum((part._confidences - own.scores) ** 2) + own.penalty) + 0.8 * apart
    assert part.cost(labels) == pytest.approx(cost)


def test_a_complement_that_agrees_with_nothing_is_pl_aggd(iris):
    X, candidates, _ = iris
    alone = PLAGGDClassifier(0.05, max_iter=4).fit(X, candidates)
    beside = PLCLClassifier(0.05, max_iter=4, agreement=0.0).fit(X, candidates)
    np.testing.assert_allclose(beside.label_distributions_, alone.label_distributions_, atol=1e-9)
    assert (beside.objective_ > alone.objective_).all()


@BOTH
def test_sparse_rows_are_as_dense_ones(iris, learner):
    X, candidates, _ = iris
    dense = learner(scaling=None, n_neighbors=3).fit(X, candidates)
    thin = learner(scaling=None, n_neighbors=3).fit(sparse.csr_matrix(X), candidates)
    found = thin.decision_function(sparse.csr_matrix(X))
    np.testing.assert_allclose(found, dense.decision_function(X), atol=1e-5)


@BOTH
def test_rows_that_say_nothing_duplicates_and_a_class_that_nobody_has(iris, learner):
    X, candidates, y = iris
    wide = np.hstack([candidates, np.zeros((75, 1), dtype=bool)])
    wide[::5, :3] = True
    model = learner(max_iter=3).fit(np.repeat(X, 2, axis=0), np.repeat(wide, 2, axis=0))
    assert (model.predict(X) == y).mean() > 0.85
    assert (model.decision_function(X)[:, 3] == -np.inf).all()
    equal = learner(max_iter=2).fit(np.ones((8, 2)), np.eye(2, dtype=bool)[[0, 0, 0, 0, 0, 1, 1, 1]])
    assert equal.predict(np.ones((1, 2))).tolist() == [0]
    nothing = learner(max_iter=2).fit(X, np.ones((75, 3), dtype=bool))
    np.testing.assert_allclose(nothing.label_distributions_, 1 / 3, atol=1e-6)


@BOTH
def test_few_rows(learner):
    one = learner().fit([[1.0, 2.0]], np.array([[True, True, False]]))
    np.testing.assert_allclose(one.label_distributions_, [[0.5, 0.5, 0]])
    assert one.predict([[3.0, 4.0]]).tolist() == [0]
    three = learner().fit([[0.0], [0.1], [5.0]], np.array([[1, 1], [1, 0], [0, 1]], dtype=bool))
    assert three.transduction_.tolist() == [0, 0, 1]
