"""Voting, bagging and calibration for candidate sets: by hand, against scikit-learn on labels, under its checks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from plcore import PLSVC, CandidateError, CLPLClassifier, PLKernelRidge, PLKNeighborsClassifier
from plcore.evaluation import (
    PartialKFold,
    PLBaggingClassifier,
    PLCalibratedClassifier,
    PLVotingClassifier,
    candidate_accuracy,
    contaminate,
)
from plcore.labels.temperature import fit_temperature
from tests.plcore.test_common import variants_in_proofs

NAMES = np.array(["emu", "robin", "wren"])
RIDGE = PLKernelRidge("rbf", alpha=0.1, class_mass=0.5)
LEARNERS = [PLKNeighborsClassifier(5), RIDGE]
ENSEMBLES = {
    "voting": lambda learner: PLVotingClassifier([("a", learner), ("b", clone(learner))], voting="soft"),
    "bagging": lambda learner: PLBaggingClassifier(learner, n_estimators=3, random_state=0),
    "calibration": lambda learner: PLCalibratedClassifier(learner, cv=3),
}


@pytest.fixture(scope="module")
def birds():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 3)) + 2 * np.eye(3)[y]
    return X, contaminate(y, "size", p=0.6, r=1, random_state=1), y


@pytest.mark.parametrize("made", ENSEMBLES.values(), ids=ENSEMBLES)
@pytest.mark.parametrize("learner", LEARNERS, ids=["knn", "ridge"])
class TestEveryKindOfCandidates:
    def test_matrix_frame_and_sets_give_the_same_model(self, birds, made, learner):
        X, candidates, _ = birds
        frame = pd.DataFrame(candidates, columns=NAMES)
        sets = [set(NAMES[row]) for row in candidates]
        expected = made(learner).fit(X, candidates)
        assert expected.classes_.tolist() == [0, 1, 2]
        for y in (frame, sets, [sorted(names) for names in sets], pd.Series(sets)):
            model = made(learner).fit(X, y)
            assert model.classes_.tolist() == NAMES.tolist()
            np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
            np.testing.assert_array_equal(model.predict(X), NAMES[expected.predict(X)])
            assert model.score(X, y) == expected.score(X, candidates) == candidate_accuracy(y, model.predict(X))
        thin = made(learner).fit(X, sparse.csr_matrix(candidates))
        np.testing.assert_array_equal(thin.predict_proba(X), expected.predict_proba(X))
        np.testing.assert_allclose(expected.predict_proba(X).sum(axis=1), 1)

    def test_ensembles_learn_from_candidates_and_from_labels(self, birds, made, learner):
        X, candidates, y = birds
        model = made(learner).fit(X[:60], candidates[:60])
        assert model.score(X[60:], y[60:]) > 0.7
        assert made(learner).fit(X[:60], y[:60]).score(X[60:], y[60:]) > 0.75

    def test_wrong_input_is_refused(self, birds, made, learner):
        X, candidates, _ = birds
        empty = candidates.copy()
        empty[[3, 5]] = False
        with pytest.raises(CandidateError, match="none in rows 3, 5"):
            made(learner).fit(X, empty)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            made(learner).fit(X, candidates[:9])
        with pytest.raises(ValueError, match="requires y to be passed"):
            made(learner).fit(X, None)


@variants_in_proofs(
    parametrize_with_checks(
        [
            PLVotingClassifier([("a", PLKNeighborsClassifier()), ("b", PLKNeighborsClassifier(3))]),
            PLBaggingClassifier(n_estimators=2),
            PLCalibratedClassifier(cv=2),
        ],
        expected_failed_checks=lambda estimator: {
            f"check_sample_weight_equivalence_on_{kind}_data": "the learner is PL-KNN, see test_common"
            for kind in ("dense", "sparse")
            if not isinstance(estimator, PLCalibratedClassifier)
        },
    )
)
def test_ensembles_pass_scikit_learn_checks(estimator, check):
    if getattr(check, "func", check).__name__ != "check_array_api_input":
        check(estimator)


# voting


def test_weighted_votes_match_values_computed_by_hand(birds):
    X, candidates, _ = birds
    models = [clone(learner).fit(X, candidates) for learner in (*LEARNERS, PLKNeighborsClassifier(1))]
    named = [(f"m{number}", clone(model)) for number, model in enumerate(models)]
    soft = PLVotingClassifier(named, voting="soft", weights=[1, 2, 5]).fit(X, candidates)
    expected = np.average([model.predict_proba(X) for model in models], axis=0, weights=[1, 2, 5])
    np.testing.assert_allclose(soft.predict_proba(X), expected)
    np.testing.assert_array_equal(soft.predict(X), expected.argmax(axis=1))
    hard = PLVotingClassifier(named).fit(X, pd.DataFrame(candidates, columns=NAMES))
    said = np.array([model.predict(X) for model in models])
    counts = (said[:, :, None] == np.arange(3)).sum(axis=0)
    np.testing.assert_array_equal(hard.predict(X), NAMES[counts.argmax(axis=1)])
    assert not hasattr(hard, "predict_proba")
    assert set(hard.named_estimators_) == {"m0", "m1", "m2"}
    dropped = clone(hard).set_params(m0="drop").fit(X, candidates)
    assert len(dropped.estimators_) == 2
    with pytest.raises(ValueError, match="voting"):
        clone(hard).set_params(voting="loud").fit(X, candidates)


def test_voting_passes_sample_weights_on(birds):
    X, candidates, _ = birds
    weights = np.random.default_rng(0).random(90)
    model = ENSEMBLES["voting"](PLKNeighborsClassifier(5)).fit(X, candidates, sample_weight=weights)
    alone = PLKNeighborsClassifier(5).fit(X, candidates, sample_weight=weights)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_grid_search_reaches_nested_parameters(birds):
    X, candidates, _ = birds
    sets = [set(NAMES[row]) for row in candidates]
    grid = {"a__n_neighbors": [1, 9]}
    search = GridSearchCV(ENSEMBLES["voting"](PLKNeighborsClassifier()), grid, cv=3, error_score="raise").fit(X, sets)
    assert search.best_score_ > 0.8


# bagging


def test_bagging_matches_scikit_learn_on_labels(birds):
    """On labels, because both can be fitted to them; also with features drawn for each learner."""
    X, _, y = birds
    for options in ({}, {"max_features": 2, "bootstrap": False, "max_samples": 0.5}):
        theirs = BaggingClassifier(PLKNeighborsClassifier(5), 4, random_state=3, **options).fit(X, NAMES[y])
        ours = PLBaggingClassifier(PLKNeighborsClassifier(5), 4, random_state=3, **options).fit(X, NAMES[y])
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_out_of_bag_rows_are_scored_by_their_candidates(birds):
    X, candidates, _ = birds
    model = PLBaggingClassifier(n_estimators=25, oob_score=True, random_state=0)
    model.fit(X, pd.DataFrame(candidates, columns=NAMES))
    shares = np.zeros((90, 3))
    for one, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(90), rows)
        shares[out] += one.predict_proba(X[out])
    np.testing.assert_allclose(model.oob_decision_function_, shares / shares.sum(axis=1, keepdims=True))
    assert model.oob_score_ == pytest.approx(candidates[np.arange(90), shares.argmax(axis=1)].mean())


def test_learners_without_weights_or_probabilities_are_bagged(birds):
    X, candidates, y = birds

    class Plain(PLKNeighborsClassifier):
        predict_proba = property(doc="It has none.")

        def fit(self, X, y):
            return super().fit(X, y)

    assert not hasattr(Plain(), "predict_proba")
    model = PLBaggingClassifier(Plain(), n_estimators=5, random_state=0).fit(X, candidates)
    votes = np.array([one.predict(X) for one in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X), (votes[:, :, None] == np.arange(3)).mean(axis=0))
    assert model.score(X, y) > 0.8


# calibration


@pytest.mark.parametrize("learner", [*LEARNERS, PLSVC(max_iter=20, tol=1e-2)], ids=["knn", "ridge", "svc"])
def test_calibration_matches_its_steps_by_hand(birds, learner):
    X, candidates, _ = birds
    folds = KFold(3, shuffle=True, random_state=2)
    model = PLCalibratedClassifier(learner, cv=folds).fit(X, candidates)
    scores = np.empty((90, 3))
    for train, test in folds.split(X):
        scores[test] = clone(learner).fit(X[train], candidates[train]).decision_function(X[test])
    assert model.temperature_ == pytest.approx(fit_temperature(scores, candidates), rel=1e-6)
    shares = np.exp(scores / model.temperature_)
    inside = (shares * candidates).sum(axis=1) / shares.sum(axis=1)
    assert model.candidate_likelihood_ == pytest.approx(inside.mean())
    alone = clone(learner).fit(X, candidates)
    shares = np.exp(alone.decision_function(X) / model.temperature_)
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


def test_calibrated_probabilities_have_lower_log_loss(birds):
    """PL-KNN's vote shares are far too low if the sets are large."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=400)
    X = rng.normal(size=(400, 3)) + 2.5 * np.eye(3)[y]
    candidates = contaminate(y, p=1.0, q=0.5, random_state=1)
    models = [PLKNeighborsClassifier(), PLCalibratedClassifier(cv=PartialKFold(4, random_state=0))]
    loss = []
    for model in models:
        p = model.fit(X[:250], candidates[:250]).predict_proba(X[250:])
        loss.append(-np.log(np.maximum(p[np.arange(150), y[250:]], 1e-9)).mean())
    assert loss[1] < 0.75 * loss[0]


def test_calibration_accepts_two_classes_and_learners_without_scores(birds):
    X, candidates, y = birds
    two = candidates[:, :2] | (y == 2)[:, None]

    class Shares(PLKNeighborsClassifier):
        decision_function = property(doc="It has none.")

    model = PLCalibratedClassifier(PLKNeighborsClassifier(5), cv=2).fit(X, two)
    assert model.predict_proba(X).shape == (90, 2)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    other = PLCalibratedClassifier(Shares(5), cv=2).fit(X, two)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(other.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="cv"):
        PLCalibratedClassifier(cv=1).fit(X, two)


@pytest.mark.parametrize("made", [VotingClassifier, BaggingClassifier, CalibratedClassifierCV])
def test_scikit_learn_ensembles_accept_no_candidates(birds, made):
    """If scikit-learn's ensembles ever accept candidates, ours can be removed."""
    X, candidates, _ = birds
    learner = PLKNeighborsClassifier()
    ensemble = made([("a", learner)]) if made is VotingClassifier else made(learner)
    for y in (candidates, pd.DataFrame(candidates), [set(NAMES[row]) for row in candidates]):
        with pytest.raises((ValueError, NotImplementedError, TypeError)):
            ensemble.fit(X, y)


def test_class_that_no_row_may_have_gets_probability_zero():
    """With two classes, the learner returns +inf for the other one."""
    X, candidates = np.random.default_rng(0).normal(size=(12, 2)), np.array([[False, True]] * 12)
    model = PLCalibratedClassifier(CLPLClassifier(), cv=2).fit(X, candidates)
    np.testing.assert_array_equal(model.predict_proba(X), [[0.0, 1.0]] * 12)
    assert model.candidate_likelihood_ == 1
