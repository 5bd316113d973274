"""Properties of every baseline: it approximates many rows, supports grid search, refuses what is wrong,
and learns Lost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import KFold, ParameterGrid

import plcore.kernel
from plcore import PARAMETER_GRIDS, CandidateError, baselines
from plcore.baselines import (
    LSBCMMClassifier,
    PLAdaptiveNeighborsClassifier,
    PLAGGDClassifier,
    PLCLClassifier,
    PLGPClassifier,
    RegISLClassifier,
    SUREClassifier,
    regression,
)
from tests.conftest import DATA

FAST = [SUREClassifier(), PLAGGDClassifier(max_iter=2), PLCLClassifier(max_iter=2), RegISLClassifier()]


@pytest.fixture(params=FAST, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param)


@pytest.fixture(params=FAST[:3], ids=lambda model: type(model).__name__)
def ridge(request):
    """Baselines that regress on kernels."""
    return clone(request.param)


def test_every_baseline_is_public_and_has_a_small_grid():
    for name in baselines.__all__:
        learner = getattr(plcore, name)
        assert issubclass(learner, ClassifierMixin)
        assert getattr(plcore.baselines, name) is learner
        assert name in PARAMETER_GRIDS
        assert len(ParameterGrid(PARAMETER_GRIDS[name])) <= 12


@pytest.mark.parametrize("scaling", ["standard", "minmax", None])
def test_every_baseline_learns_iris(half_iris, model, scaling):
    X, candidates, y = half_iris
    train, test = next(KFold(3, shuffle=True, random_state=0).split(X))
    model.set_params(scaling=scaling).fit(X[train], candidates[train])
    assert model.score(X[test], y[test]) >= (0.85 if isinstance(model, RegISLClassifier) else 0.9)
    assert (model.transduction_ == y[train]).mean() > 0.9
    assert model.score(X[train], candidates[train]) > 0.9


def test_scores_do_not_depend_on_the_order_of_classes(half_iris, model):
    """Only ties depend on the order of the classes."""
    X, candidates, _ = half_iris
    scores = model.fit(X, candidates).decision_function(X)
    turned = model.fit(X, candidates[:, [2, 0, 1]]).decision_function(X)
    np.testing.assert_allclose(turned, scores[:, [2, 0, 1]], atol=1e-6)


def test_feature_scale_matters_only_without_scaling(half_iris, model):
    X, candidates, _ = half_iris
    scores = model.fit(X, candidates).decision_function(X)
    scaled = X * [1, 10, 100, 1e5] + 7
    np.testing.assert_allclose(model.fit(scaled, candidates).decision_function(scaled), scores, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
def test_many_rows_use_a_sample_of_points(half_iris, ridge, kernel, monkeypatch):
    X, candidates, y = half_iris
    ridge.set_params(kernel=kernel)
    exact = ridge.fit(X, candidates).decision_function(X)
    monkeypatch.setattr(regression, "EXACT_ROWS", 60)
    through = ridge.fit(X, candidates).decision_function(X)
    np.testing.assert_allclose(through, exact, atol=1e-5)  # every row is a point
    ridge.set_params(n_components=20).fit(X, candidates)
    assert (ridge.predict(X) == y).mean() > 0.85


@pytest.mark.parametrize(
    ("learner", "said", "atol"),
    [
        (SUREClassifier(kernel="rbf", scaling=None), "decision_function", 1e-6),
        (SUREClassifier(kernel="linear", scaling=None), "decision_function", 1e-6),
        (PLAGGDClassifier(scaling=None, n_neighbors=3), "decision_function", 1e-5),
        (PLCLClassifier(scaling=None, n_neighbors=3), "decision_function", 1e-5),
        (RegISLClassifier(scaling=None), "decision_function", 1e-9),
        (LSBCMMClassifier(max_iter=10), "predict_proba", 1e-8),  # without scaling where rows are sparse
        (PLGPClassifier(length_scale=1.0, variance=10.0), "predict_proba", 1e-2),
        (PLAdaptiveNeighborsClassifier(scaling=None), "decision_function", 0),
        (PLAdaptiveNeighborsClassifier(scaling=None), "neighbors_needed", 0),
    ],
)
def test_sparse_rows_give_the_same_model_as_dense_rows(iris, learner, said, atol):
    X, candidates, _ = iris
    stored = sparse.csr_matrix(X)
    dense = clone(learner).set_params(scaling=None).fit(X, candidates)
    thin = clone(learner).fit(stored, candidates)
    for rows in (X, stored):
        np.testing.assert_allclose(getattr(thin, said)(rows), getattr(dense, said)(X), atol=atol)


def test_the_same_seed_gives_the_same_points(half_iris, monkeypatch):
    X, candidates, _ = half_iris
    monkeypatch.setattr(regression, "EXACT_ROWS", 60)
    found = [
        SUREClassifier(n_components=10, random_state=seed).fit(X, candidates).decision_function(X)
        for seed in (0, 0, np.random.RandomState(0), 1)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert np.abs(found[0] - found[3]).max() > 1e-3


@pytest.mark.parametrize(
    ("learner", "wrong"),
    [
        (SUREClassifier, {"alpha": 0, "bonus": -1, "width": 0, "kernel": "poly", "scaling": "z"}),
        (PLAGGDClassifier, {"n_neighbors": 0, "label_weight": 0, "feature_weight": -1, "alpha": 0}),
        (PLCLClassifier, {"complement_weight": 0, "agreement": -1}),
        (RegISLClassifier, {"theta": 0, "bonus": -1, "n_neighbors": 0, "max_iter": 0}),
        (RegISLClassifier, {"theta": "mean"}),
    ],
)
def test_wrong_input_is_refused(half_iris, learner, wrong):
    X, candidates, _ = half_iris
    with pytest.raises(CandidateError, match="at least one candidate"):
        learner().fit(X, np.zeros_like(candidates))
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            learner(**{name: value}).fit(X, candidates)


@pytest.mark.public_data
@pytest.mark.parametrize(
    ("learner", "new", "trained"),
    [
        (SUREClassifier, 0.7, 0.8),  # 0.794 over ten folds
        (PLAGGDClassifier, 0.68, 0.82),  # 0.783
        (PLCLClassifier, 0.68, 0.82),  # 0.776
        (RegISLClassifier, 0.3, 0.6),  # 0.415: behind PL-SVM and the ridges, level with PL-KNN
    ],
)
def test_lost_without_clean_label(learner, new, trained):
    """One fold of ten: the accuracy on new rows and on training rows."""
    stored = np.load(DATA / "lost.npz")
    X, candidates, y = stored["X"].astype(float), stored["S"].astype(bool), stored["y"]
    train, test = next(KFold(10, shuffle=True, random_state=0).split(X))
    model = learner().fit(X[train], candidates[train])
    assert (model.predict(X[test]) == y[test]).mean() > new
    assert (model.transduction_ == y[train]).mean() > trained
