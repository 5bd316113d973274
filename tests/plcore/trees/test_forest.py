"""PLForest: soft labels by out-of-bag scores, deterministic, with scores of the file and with sources."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from plcore import CandidateError, PLForest, PLKernelRidge
from plcore.arrays.types import draw_seed
from plcore.evaluation import contaminate
from plcore.kernel.soft_labels import LEAST_SHARE
from tests.plcore.loop.fake_table import pictures


@pytest.fixture(scope="module")
def squares():
    """(X (240, 3), candidates (240, 4), y): the class is the corner of two features, which no linear rule splits."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(240, 3))
    y = 2 * (X[:, 0] * X[:, 1] > 0) + (X[:, 0] > 0)
    return X, contaminate(y, "size", p=0.8, r=2, random_state=1), y


def quick(**options):
    return PLForest(**{"n_estimators": 40, "random_state": 0, **options})


def test_rounds_find_labels_that_averaged_sets_do_not(squares):
    X, candidates, y = squares
    model = quick().fit(X[:160], candidates[:160])
    averaged = RandomForestRegressor(40, max_features="sqrt", random_state=0)
    averaged.fit(X[:160], candidates[:160] / candidates[:160].sum(axis=1, keepdims=True))
    right = (model.predict(X[160:]) == y[160:]).mean()
    assert right > (averaged.predict(X[160:]).argmax(axis=1) == y[160:]).mean()
    assert (model.transduction_ == y[:160]).mean() > 0.8
    assert 0.7 < model.candidate_accuracy_ < 1


def test_soft_labels_match_ridge_by_out_of_bag_shares(squares):
    X, candidates, _ = squares
    seed = draw_seed(0)
    start = PLKernelRidge(random_state=seed).fit(X, candidates).label_distributions_
    told = RandomForestClassifier(60, oob_score=True, random_state=seed)
    told.fit(X.astype(np.float32), start.argmax(axis=1))
    expected = np.maximum(told.oob_decision_function_, LEAST_SHARE) * start
    model = quick(n_estimators=60, max_iter=1).fit(X, candidates)
    np.testing.assert_allclose(model.label_distributions_, expected / expected.sum(axis=1, keepdims=True), atol=1e-6)


def test_row_in_every_sample_gets_even_shares():
    model = quick(n_estimators=1)
    model._possible = np.array([True, True, False])
    X = np.array([[0.0]], dtype=np.float32)
    forest = model._grow(X, np.array([[1.0, 0.0, 0.0]]), np.ones(1), 0)
    assert model._out_of_bag(forest, X, np.array([0])).tolist() == [[0.5, 0.5, 0.0]]


def test_rows_without_weight_are_in_no_tree_and_stay_in_their_source():
    table, _ = pictures()
    held = np.random.default_rng(0).random(len(table.X)) < 0.4
    given = {"groups": table.sources}
    model = quick().fit(table.X, table.candidates, (~held).astype(float), **given)
    for tree in model._forest.estimators_:
        assert tree.tree_.n_node_samples[0] <= (~held).sum()
    np.testing.assert_allclose(model.out_of_bag_[held], model.predict_proba(table.X[held]), atol=1e-9)
    alone = quick().fit(table.X[~held], table.candidates[~held], groups=table.sources[~held])
    assert (model.label_distributions_[~held] != alone.label_distributions_).any(), "members tell of the others"
    apart = np.where(held, np.nan, table.sources)
    without = quick().fit(table.X, table.candidates, (~held).astype(float), groups=apart)
    np.testing.assert_allclose(without.label_distributions_[~held], alone.label_distributions_, atol=1e-6)


def test_seed_decides_model(squares):
    X, candidates, _ = squares
    first, same = (quick(random_state=7).fit(X, candidates) for _ in range(2))
    other = quick(random_state=8).fit(X, candidates)
    np.testing.assert_array_equal(first.decision_function(X), same.decision_function(X))
    assert (first.decision_function(X) != other.decision_function(X)).any()


def test_sparse_rows_are_learned(squares):
    X, candidates, y = squares
    rows = sparse.csr_matrix(np.abs(X) * (1 + np.sign(X)))
    assert (quick().fit(rows, candidates).predict(rows) == y).mean() > 0.5


def test_candidate_weights_decide_if_features_say_nothing():
    X, candidates = np.zeros((60, 1)), np.ones((60, 2), dtype=bool)
    weights = np.where(np.arange(60)[:, None] < 30, [[0.99, 0.01]], [[0.01, 0.99]])
    model = quick().fit(X, candidates, candidate_weights=weights)
    assert (model.transduction_ == (np.arange(60) >= 30)).all()
    with pytest.raises(CandidateError, match="must be finite and at least 0"):
        quick().fit(X, candidates, candidate_weights=-weights)


def test_rows_of_source_share_its_candidates():
    """Two rows of a photo, both "either": one clearly like class 0 leaves class 1 to the other, which is unclear."""
    rng = np.random.default_rng(0)
    clear = np.repeat([[0.0], [1.0]], 40, axis=0) + rng.normal(scale=0.05, size=(80, 1))
    pairs = np.tile([[0.0], [0.5]], (20, 1)) + rng.normal(scale=0.02, size=(40, 1))
    X = np.vstack([clear, pairs])
    candidates = np.ones((120, 2), dtype=bool)
    candidates[:80] = np.repeat(np.eye(2, dtype=bool), 40, axis=0)
    sources = [None] * 80 + [f"photo {number // 2}" for number in range(40)]
    unclear = np.arange(81, 120, 2)
    assert quick().fit(X, candidates, groups=sources).transduction_[unclear].mean() == 1
    assert quick().fit(X, candidates).transduction_[unclear].mean() < 1
    with pytest.raises(ValueError, match="groups must name the source of each"):
        quick().fit(X, candidates, groups=sources[1:])


def test_progress_reports_rounds_and_can_end_them(squares):
    X, candidates, _ = squares
    told = []
    model = quick(max_iter=3).fit(X, candidates, progress=lambda step, change: told.append((step, change)))
    own = told[-model.n_iter_ :]  # the progress steps of the kernel ridge come first
    assert [step for step, _ in own] == list(range(1, model.n_iter_ + 1))
    assert [change for _, change in own] == model.objective_.tolist()

    def stop(step, change):
        raise InterruptedError(f"{step} {change}")

    with pytest.raises(InterruptedError, match="1 "):
        quick().fit(X, candidates, progress=stop)


def test_trees_are_grown_on_at_most_max_samples_rows(squares):
    X, candidates, _ = squares
    model = quick(max_samples=50).fit(X, candidates)
    assert {len(drawn) for drawn in model._forest.estimators_samples_} == {50}
