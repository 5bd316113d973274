"""Folds of candidate matrices: every row held out once, classes spread evenly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from plcore import CandidateError, PLKNeighborsClassifier
from plcore.evaluation import PartialKFold, contaminate
from plcore.labels.accuracy import deal, deal_whole


def soft(candidates):
    return candidates / candidates.sum(axis=1, keepdims=True)


def unevenness(folds, candidates):
    """The largest difference of a class's mass in a fold from its share, over the classes."""
    masses = np.array([soft(candidates)[test].sum(axis=0) for _, test in folds])
    return np.abs(masses - masses.mean(axis=0)).max()


@pytest.fixture
def candidates():
    rng = np.random.default_rng(0)
    y = rng.choice(8, size=500, p=[0.4, 0.2, 0.15, 0.1, 0.08, 0.04, 0.02, 0.01])
    return contaminate(y, "random", p=0.8, q=0.3, random_state=1)


def test_every_row_is_held_out_once_and_sizes_differ_by_one(candidates):
    for n, n_splits in ((500, 5), (499, 3), (7, 7), (12, 5)):
        folds = list(PartialKFold(n_splits, random_state=0).split(np.zeros((n, 1)), candidates[:n]))
        assert len(folds) == n_splits == PartialKFold(n_splits).get_n_splits()
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n))
        for train, test in folds:
            np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        sizes = [len(test) for _, test in folds]
        assert max(sizes) - min(sizes) <= 1


def test_classes_are_spread_evenly(candidates):
    X = np.zeros((len(candidates), 1))
    for seed in range(3):
        own = unevenness(list(PartialKFold(5, random_state=seed).split(X, candidates)), candidates)
        plain = unevenness(list(KFold(5, shuffle=True, random_state=seed).split(X)), candidates)
        assert own < 1 < plain


def test_labels_are_stratified():
    y = np.repeat(["a", "b", "c"], [50, 23, 7])
    for _, test in PartialKFold(5, random_state=0).split(np.zeros((80, 1)), y):
        counts = pd.Series(y[test]).value_counts()
        assert counts["a"] == 10
        assert counts["b"] in (4, 5)
        assert counts["c"] in (1, 2)


def test_order_is_seeded(candidates):
    X = np.zeros((len(candidates), 1))

    def tests(**parameters):
        return np.concatenate([test for _, test in PartialKFold(3, **parameters).split(X, candidates)]).tolist()

    assert tests(random_state=0) == tests(random_state=0)
    assert tests(random_state=0) != tests(random_state=1)
    assert tests(shuffle=False) == tests(shuffle=False)


def test_every_form_of_candidates_gives_equal_folds(candidates):
    X = np.zeros((len(candidates), 1))
    forms = (candidates, candidates.astype(int), pd.DataFrame(candidates), sparse.csr_matrix(candidates))
    first, *others = [[test.tolist() for _, test in PartialKFold(4, random_state=0).split(X, y)] for y in forms]
    assert all(other == first for other in others)


def test_scikit_learn_accepts_the_folds(candidates):
    X = np.random.default_rng(2).normal(size=(len(candidates), 3))
    folds = PartialKFold(3, random_state=0)
    assert cross_val_score(PLKNeighborsClassifier(), X, candidates, cv=folds).shape == (3,)
    search = GridSearchCV(PLKNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=folds).fit(X, candidates)
    assert search.best_params_["n_neighbors"] in (1, 5)


def test_invalid_arguments_are_refused(candidates):
    X = np.zeros((len(candidates), 1))
    with pytest.raises(ValueError, match="y must be a label vector"):
        next(PartialKFold().split(X))
    empty = candidates.copy()
    empty[3] = False
    with pytest.raises(CandidateError, match="row 3"):
        next(PartialKFold().split(X, empty))
    with pytest.raises(ValueError, match="greater than the number of samples"):
        next(PartialKFold(5).split(X[:4], candidates[:4]))
    with pytest.raises(ValueError, match="n_splits=1"):
        PartialKFold(1)


def test_sources_are_held_out_whole_unless_one_is_larger_than_fold(candidates):
    def dealt(sources):
        return deal_whole(candidates, sources, 5, np.random.RandomState(0))

    even = np.arange(500) // 4
    for source in range(125):
        assert len(set(dealt(even)[even == source])) == 1
    large = np.where(np.arange(500) < 101, 0, np.arange(500))
    np.testing.assert_array_equal(dealt(large), deal(candidates, 5, np.random.RandomState(0)))
    assert len(set(dealt(np.where(np.arange(500) < 100, 0, np.arange(500)))[:100])) == 1
