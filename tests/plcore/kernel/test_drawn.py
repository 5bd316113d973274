"""More rows than fit in memory: the model learns from a sample, and the other rows get scores from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from plcore import PLKernelRidge
from plcore.evaluation import contaminate
from plcore.kernel import ridge
from plcore.kernel.choice import Rows
from plcore.kernel.ridge import draw
from plcore.kernel.soft_labels import softmax_inside
from plcore.labels.weights import ClassMasses, prior_labels

GIVEN = {"kernel": "rbf", "alpha": 0.1, "class_mass": 0.5, "random_state": 3}


@pytest.fixture
def few(monkeypatch):
    """Limit memory to 200 rows, of which 150 are drawn."""
    monkeypatch.setattr(ridge, "MOST_RESIDENT", 200)
    monkeypatch.setattr(ridge, "DRAWN", 150)
    monkeypatch.setattr(ridge, "FEW", 2)
    monkeypatch.setattr(ridge, "BLOCK", 64)


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(400, 4, centers=5, cluster_std=1.5, random_state=0)
    return X, contaminate(y, "random", p=0.8, q=0.4, random_state=0), y


def rows_of(candidates, weights=None, sources=None):
    prior = prior_labels(candidates)
    weights = np.ones(len(candidates)) if weights is None else weights
    return Rows(np.zeros((len(candidates), 1)), candidates, prior, prior, weights, sources)


def test_sources_are_drawn_as_a_whole(few):
    sources = np.random.default_rng(0).permutation(np.repeat(np.arange(100), 5))
    rows = draw(rows_of(np.ones((500, 2), dtype=bool), sources=sources), 0)
    assert len(rows) == 150
    assert set(np.bincount(sources[rows])) == {0, 5}


def test_rows_of_weight_zero_are_drawn_with_their_source_unless_too_many(few):
    sources = np.random.default_rng(0).permutation(np.repeat(np.arange(100), 5))
    absent = np.arange(500) % 4 == 0
    candidates = np.ones((500, 2), dtype=bool)
    rows = draw(rows_of(candidates, 1.0 - absent, sources), 0)
    assert (~absent[rows]).sum() <= 150
    assert set(np.bincount(sources[rows])) == {0, 5}
    rows = draw(rows_of(candidates, (np.arange(500) < 10).astype(float), np.arange(500) // 100), 0)
    assert rows.tolist() == list(range(10)), "members would be nine times as many"


def test_rows_of_rare_classes_are_drawn_with_their_source(few):
    candidates, sources = np.ones((500, 3), dtype=bool), np.repeat(np.arange(100), 5)
    candidates[:, 1] = False
    candidates[[7, 400], 1] = True
    drawn = draw(rows_of(candidates, sources=sources), 0)
    inside = np.bincount(sources[drawn], minlength=100)
    assert inside[[1, 80]].tolist() == [5, 5]
    assert set(inside) == {0, 5}


def test_few_rows_are_all_used_for_training(few):
    assert draw(rows_of(np.ones((200, 2), dtype=bool)), 0) is None
    rows = draw(rows_of(np.ones((201, 2), dtype=bool)), 0)
    assert len(rows) == 150
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, draw(rows_of(np.ones((201, 2), dtype=bool)), 0))


def test_all_rows_of_rare_classes_but_none_of_weight_zero_are_drawn(few):
    candidates = np.zeros((5000, 3), dtype=bool)
    candidates[:, 0] = True
    candidates[[17, 4321], 1] = True
    candidates[99, 2] = True
    weights = np.ones(5000)
    weights[99] = 0
    rows = draw(rows_of(candidates, weights), 0)
    assert {17, 4321} <= set(rows.tolist())
    assert 99 not in rows
    assert len(draw(rows_of(candidates, np.where(np.arange(5000) < 60, 1.0, 0.0)), 0)) == 60


def test_model_is_the_fit_of_the_drawn_rows(few, data):
    X, candidates, y = data
    model = PLKernelRidge(**GIVEN).fit(X, candidates)
    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    part = draw(rows_of(candidates), seed)
    alone = PLKernelRidge(**GIVEN).fit(X[part], candidates[part])
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(model.label_distributions_[part], alone.label_distributions_)
    others = np.setdiff1d(np.arange(400), part)
    prior = prior_labels(candidates[others])
    soft = softmax_inside(alone.decision_function(X[others]), 0.05, prior)
    pulled = ClassMasses.of(prior, np.ones(len(others))).pull(soft, 0.5)
    np.testing.assert_allclose(model.label_distributions_[others], pulled, atol=1e-12)
    assert candidates[np.arange(400), model.transduction_].all()
    assert (model.transduction_ == y).mean() > 0.9
    assert (model.predict(X) == y).mean() > 0.85


def test_drawn_rows_accept_frames_sparse_rows_and_weights(few, data):
    X, candidates, _ = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    plain = PLKernelRidge(**GIVEN).fit(X, candidates)
    named = PLKernelRidge(**GIVEN).fit(frame, candidates)
    np.testing.assert_array_equal(named.label_distributions_, plain.label_distributions_)
    scaled = StandardScaler().fit_transform(X)
    options = GIVEN | {"scaling": None}
    dense = PLKernelRidge(**options).fit(scaled, candidates)
    thin = PLKernelRidge(**options).fit(sparse.csr_matrix(scaled), candidates)
    np.testing.assert_allclose(thin.label_distributions_, dense.label_distributions_, atol=1e-6)
    half = np.where(np.arange(400) % 2, 1.0, 0.0)
    weighted = PLKernelRidge(**GIVEN).fit(X, candidates, half)
    assert weighted.label_distributions_.shape == (400, 5)
    np.testing.assert_allclose(weighted.label_distributions_.sum(axis=1), 1.0)


def test_rows_outside_the_draw_can_have_weight_zero(few, data):
    """Then all rows with weight are drawn, and the others have no masses of their own."""
    X, candidates, _ = data
    weights = np.where(np.arange(400) < 120, 1.0, 0.0)
    model = PLKernelRidge(**GIVEN).fit(X, candidates, sample_weight=weights)
    alone = PLKernelRidge(**GIVEN).fit(X[:120], candidates[:120])
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert (model.label_distributions_[~candidates] == 0).all()


def test_operations_that_need_all_features_are_refused(few, data):
    X, candidates, _ = data
    model = PLKernelRidge(**GIVEN).fit(X, candidates)
    for call in (lambda: model.update(0, candidates[0]), lambda: model.relabel(candidates), model.effect_scores):
        with pytest.raises(ValueError, match=r"Got 400 rows\. Fix: refit\."):
            call()
