"""Probabilities of the margin learners: a temperature by hand, sums, order, and what they are calibrated on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from plcore import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.evaluation import contaminate
from plcore.margin.base import probabilities, split_rows

LEARNERS = [
    PLSVC(probability=True),
    PLSVC(kernel="rbf", probability=True),
    CLPLClassifier(probability=True),
    LMPlaneClassifier(probability=True),
    M3PLClassifier(probability=True),
]
learners = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=600)
    X = rng.normal(size=(600, 6)) + 1.2 * rng.normal(size=(4, 6))[y]
    return X, contaminate(y, "size", p=0.7, r=1, random_state=0), y


def test_rows_are_split_once_without_rows_of_weight_zero():
    weights = np.arange(100.0) % 4
    rows, held = split_rows(weights)
    assert (len(rows), len(held)) == (50, 25)
    assert sorted([*rows, *held]) == np.flatnonzero(weights).tolist()
    np.testing.assert_array_equal(split_rows(weights)[1], held)


def test_impossible_classes_have_probability_zero():
    scores = np.array([[2.0, 0.0, -np.inf], [0.0, 1.0, -np.inf]])
    p = probabilities(scores, 0.5, np.array([True, True, False]))
    first = 1 / (1 + np.exp([-4.0, 2.0]))
    np.testing.assert_allclose(p, np.column_stack([first, 1 - first, [0, 0]]))


@learners
def test_probabilities_agree_with_predictions(learner, data):
    X, candidates, _ = data
    candidates = np.column_stack([candidates, np.zeros(600, dtype=bool)])
    model = clone(learner).fit(X[:400], candidates[:400])
    proba = model.predict_proba(X[400:])
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba[:, 4] == 0).all()
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[400:]))
    scores = model.decision_function(X[400:])[:, :4] / model.temperature_
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(proba[:, :4], expected / expected.sum(axis=1, keepdims=True), atol=1e-12)
    plain = clone(learner).set_params(probability=False).fit(X[:400], candidates[:400])
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))


@learners
def test_probabilities_are_calibrated_on_unseen_rows(learner, data):
    """The mean probability of predictions is near the accuracy, although training rows are fitted better."""
    X, candidates, y = data
    model = clone(learner).fit(X[:400], candidates[:400])
    proba = model.predict_proba(X[400:])
    assert abs(proba.max(axis=1).mean() - model.score(X[400:], y[400:])) < 0.13
    within = (proba * candidates[400:]).sum(axis=1).mean()
    assert abs(within - model.score(X[400:], candidates[400:])) < 0.1


def test_missing_probability_parameter_names_the_fix(data):
    X, candidates, _ = data
    model = PLSVC().fit(X, candidates)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "PLSVC(probability=True), set before fit" in str(caught.value.__cause__)
    with pytest.raises(NotFittedError):
        model.set_params(probability=True).predict_proba(X)
    model.fit(X, candidates)
    assert model.temperature_ > 0
    assert not hasattr(model.set_params(probability=False).fit(X, candidates), "temperature_")


def test_probabilities_work_for_one_class_two_classes_and_few_rows():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    two = PLSVC(probability=True).fit(X, [0, 0, 1, 1])
    assert two.predict_proba(X).shape == (4, 2)
    np.testing.assert_array_equal(two.predict_proba(X)[:, 1] > 0.5, two.decision_function(X) > 0)
    assert (PLSVC(probability=True).fit(X, ["a"] * 4).predict_proba(X) == 1).all()
    assert PLSVC(probability=True).fit(X[:1], [[True, True]]).temperature_ == 1.0


def test_sample_and_candidate_weights_are_split_with_their_rows(data):
    X, candidates, _ = data
    weights = np.where(np.arange(600) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    model = LMPlaneClassifier(probability=True)
    prior = np.random.default_rng(0).random(candidates.shape)
    some = clone(model).fit(X, candidates, weights, candidate_weights=prior)
    alone = clone(model).fit(X[kept], candidates[kept], candidate_weights=prior[kept])
    assert some.temperature_ > 0
    assert alone.temperature_ == pytest.approx(some.temperature_, rel=0.3)  # another third is held out


def test_scikit_learn_uses_the_probabilities(data):
    X, _, y = data
    votes = VotingClassifier([("a", PLSVC(probability=True)), ("b", CLPLClassifier(probability=True))], voting="soft")
    assert votes.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.6
    outer = CalibratedClassifierCV(PLSVC(), cv=3, ensemble=False).fit(X[:400], y[:400])
    np.testing.assert_allclose(outer.predict_proba(X[400:]).sum(axis=1), 1)


REASON = "which rows are held out depends on how many there are"
FAILURES = {f"check_sample_weight_equivalence_on_{kind}_data": REASON for kind in ("dense", "sparse")}


@parametrize_with_checks([CLPLClassifier(probability=True)], expected_failed_checks=lambda _: FAILURES)
def test_learners_with_probabilities_pass_scikit_learn_checks(estimator, check):
    if getattr(check, "func", check).__name__ != "check_array_api_input":  # a check that would only skip itself
        check(estimator)
