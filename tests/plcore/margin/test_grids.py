"""The grids of the papers, through scikit-learn's own search, without clean labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plcore import PARAMETER_GRIDS, PLSVC, PRECISE_GRID, LMPlaneClassifier, precise_folds
from plcore.evaluation import contaminate


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), contaminate(y, "size", p=0.7, r=1, random_state=0), y


def test_grid_search_scores_by_candidate_consistency(data):
    X, candidates, y = data
    grid = {f"lmplaneclassifier__{name}": values for name, values in PARAMETER_GRIDS["LMPlaneClassifier"].items()}
    model = make_pipeline(StandardScaler(), LMPlaneClassifier(max_iter=10))
    search = GridSearchCV(model, grid, cv=KFold(5, shuffle=True, random_state=0)).fit(X, candidates)
    # Scores are shares of predictions inside the candidates of held-out rows: no truth is used.
    train, test = next(KFold(5, shuffle=True, random_state=0).split(X))
    first = make_pipeline(StandardScaler(), LMPlaneClassifier(C=1.0, max_iter=10)).fit(X[train], candidates[train])
    inside = candidates[test, first.predict(X[test])].mean()
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(inside)
    assert search.best_params_["lmplaneclassifier__C"] in PARAMETER_GRIDS["LMPlaneClassifier"]["C"]
    assert (search.predict(X) == y).mean() > 0.9


def test_search_on_precise_rows_refits_on_all_rows(data):
    X, candidates, y = data
    folds = precise_folds(candidates, random_state=0)
    assert len(ParameterGrid(PRECISE_GRID)) == 35
    few = {**PRECISE_GRID, "C": PRECISE_GRID["C"][2:4], "degree": PRECISE_GRID["degree"][:2]}
    search = GridSearchCV(PLSVC(fit_intercept=False), few, cv=folds).fit(X, candidates)
    train, test = folds[0]
    best = PLSVC(fit_intercept=False, **search.best_params_).fit(X[train], candidates[train])
    score = search.cv_results_["split0_test_score"][search.best_index_]
    assert score == pytest.approx(best.score(X[test], y[test]))  # on precise rows this is the accuracy
    again = PLSVC(fit_intercept=False, **search.best_params_).fit(X, candidates)
    assert np.array_equal(search.best_estimator_.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("partial", [True, False])
def test_precise_folds_test_each_precise_row_once(data, partial):
    _, candidates, y = data
    precise = np.flatnonzero(candidates.sum(axis=1) == 1)
    others = np.flatnonzero(candidates.sum(axis=1) > 1)
    for n_folds in (2, 5):
        folds = precise_folds(candidates, n_folds, partial=partial, random_state=1)
        assert len(folds) == n_folds
        assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), precise)
        for train, test in folds:
            seen = np.concatenate([train, test] if partial else [train, test, others])
            assert np.array_equal(np.sort(seen), np.arange(len(y)))
    assert sum(len(test) for _, test in precise_folds(y, partial=partial)) == len(y)  # labels are precise


def test_too_few_precise_rows_name_the_fix():
    candidates = np.array([[True, True], [True, False], [True, True]])
    with pytest.raises(ValueError, match=r"2 folds need at least 2 rows with one candidate\. Got 1 of 3 .*KFold\(5"):
        precise_folds(candidates)
