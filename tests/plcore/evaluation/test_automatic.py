"""AutoPLClassifier: it becomes the learner that the comparison chose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from plcore import AutoPLClassifier, PLKernelRidge, PLKNeighborsClassifier
from plcore.evaluation import compare_learners
from plcore.evaluation.learners import LEARNER_ENTRIES, last_step
from plcore.labels.candidates import CandidateError
from tests.plcore.evaluation.told import Told, Weighed

FAST = ["plknn", "clpl"]
REPORT = ["learner", "parameters", "consistency", "kappa", "accuracy", "seconds", "chosen", "note"]


def chosen(model):
    [row] = model.report_[model.report_["chosen"]].to_dict("records")
    return row


def test_report_is_the_comparison_table(blobs):
    X, candidates, y = blobs
    model = AutoPLClassifier(FAST).fit(X, candidates, y_true=y)
    table = compare_learners(X, candidates, FAST, 3, y, 0)
    assert model.report_.columns.tolist() == REPORT
    expected = table.rename(columns={"candidate_accuracy": "consistency"}).drop(columns="seconds")
    pd.testing.assert_frame_equal(model.report_.drop(columns="seconds"), expected)


def test_chosen_learner_is_fitted_on_all_rows(blobs):
    X, candidates, _ = blobs
    model = AutoPLClassifier(FAST).fit(X, candidates)
    row = chosen(model)
    alone = LEARNER_ENTRIES[row["learner"]].make(row["parameters"], X).fit(X, candidates)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_array_equal(model.transduction_, last_step(alone).transduction_)
    assert last_step(model.estimator_).get_params() == last_step(alone).get_params()


def test_fitted_model_finds_the_classes(blobs):
    X, candidates, y = blobs
    model = AutoPLClassifier(["plknn", "kernelridge", "clpl"]).fit(X, candidates)
    assert model.score(X, y) > 0.85
    assert (model.transduction_ == y).mean() > 0.85


@pytest.mark.parametrize("learner", [PLKernelRidge("rbf", 0.1, 0.5), PLKNeighborsClassifier(), Told(0)], ids=repr)
def test_fitted_model_has_the_attributes_of_the_chosen_learner(blobs, learner):
    _, candidates, y = blobs
    X = np.column_stack([y, blobs[0]])
    model = AutoPLClassifier({"only": learner}).fit(X, candidates)
    alone = clone(learner).fit(X, candidates)
    for method in ("predict", "decision_function", "predict_proba"):
        assert hasattr(model, method) is hasattr(alone, method)
        if hasattr(alone, method):
            np.testing.assert_array_equal(getattr(model, method)(X), getattr(alone, method)(X))
    for name in ("transduction_", "label_distributions_"):
        assert hasattr(model, name) is hasattr(alone, name)
        if hasattr(alone, name):
            np.testing.assert_array_equal(getattr(model, name), getattr(alone, name))
    assert hasattr(model, "predict_proba") is not isinstance(learner, Told)


def test_refit_forgets_the_earlier_fit(blobs):
    _, candidates, y = blobs
    model = AutoPLClassifier({"only": PLKNeighborsClassifier()}).fit(blobs[0], candidates)
    model.set_params(learners={"only": Told(0)}).fit(y[:, None], candidates)
    assert not hasattr(model, "label_distributions_")
    assert not hasattr(model, "predict_proba")
    assert model.score(y[:, None], y) == 1


def test_unfitted_model_raises_not_fitted(blobs):
    for method in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(AutoPLClassifier(["plknn", "kernelridge"]), method)(blobs[0])


def test_unfitted_model_has_the_methods_that_all_learners_share():
    assert hasattr(AutoPLClassifier({"plknn": PLKNeighborsClassifier()}), "predict_proba")
    assert not hasattr(AutoPLClassifier({"plknn": PLKNeighborsClassifier(), "told": Told()}), "predict_proba")


@pytest.mark.parametrize("form", ["matrix", "names", "labels", "sparse"])
def test_predictions_are_class_names(blobs, form):
    X, candidates, y = blobs
    names = np.array(["ant", "bee", "cat"])
    given, classes = {
        "matrix": (candidates, [0, 1, 2]),
        "names": (pd.DataFrame(candidates, columns=names), names.tolist()),
        "labels": (names[y], names.tolist()),
        "sparse": (sparse.csr_matrix(candidates), [0, 1, 2]),
    }[form]
    truth = np.array(classes, dtype=object)[y]
    model = AutoPLClassifier(FAST).fit(X, given, y_true=truth)
    assert model.classes_.tolist() == classes
    assert model.estimator_.classes_.tolist() == classes
    assert set(model.predict(X)) == set(model.transduction_) == set(classes)
    assert (model.report_["accuracy"] > 0.8).all()


def test_true_labels_affect_only_the_choice():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=80)
    X = np.column_stack([np.where(rng.random(80) < 0.9, y, (y + 2) % 4), (y + 1) % 4])
    candidates = np.eye(4, dtype=bool)[y] | np.eye(4, dtype=bool)[X[:, 1]]
    learners = {"good": Told(0), "suited": Told(1)}
    assert chosen(AutoPLClassifier(learners).fit(X, candidates))["learner"] == "suited"
    assert chosen(AutoPLClassifier(learners).fit(X, candidates, y_true=y))["learner"] == "good"


def test_candidate_weights_reach_the_folds_and_the_final_fit(blobs):
    X, candidates, _ = blobs
    weights = candidates * np.array([1.0, 2.0, 5.0])
    Weighed.seen.clear()
    columns = np.column_stack([X[:, 0] * 0, X])
    AutoPLClassifier({"weighed": Weighed(0)}, cv=KFold(2)).fit(columns, candidates, candidate_weights=weights)
    assert len(Weighed.seen) == 3
    np.testing.assert_array_equal(Weighed.seen[2], weights)


def test_imported_sets_reach_the_folds_and_the_final_fit(blobs):
    X, imported, y = blobs
    candidates = imported.copy()
    candidates[y == 0] = np.eye(3, dtype=bool)[0]
    learners = {"only": PLKernelRidge("rbf", 0.1, 1.0)}
    model = AutoPLClassifier(learners).fit(X, candidates, imported=imported)
    alone, without = (
        clone(learners["only"]).fit(X, candidates, imported=one).label_distributions_ for one in (imported, None)
    )
    assert not np.allclose(alone, without)
    np.testing.assert_array_equal(model.label_distributions_, alone)
    table = compare_learners(X, candidates, learners, 3, None, 0, imported=imported)
    assert chosen(model)["kappa"] == table["kappa"].item()
    with pytest.raises(CandidateError, match="imported must have the shape"):
        model.fit(X, candidates, imported=imported[:9])


@pytest.mark.parametrize(("learners", "taken"), [(FAST, "plknn"), (["clpl", "kernelridge"], "kernelridge")])
def test_fewer_rows_than_folds_are_not_compared(blobs, learners, taken):
    X, candidates, _ = blobs
    model = AutoPLClassifier(learners).fit(X[:2], candidates[:2])
    row = chosen(model)
    assert row["learner"] == taken
    assert row["note"] == "used without a comparison; left out: 2 rows are fewer than 3 folds"
    assert model.report_.columns.tolist() == REPORT
    assert model.report_[["consistency", "kappa", "accuracy"]].isna().all(axis=None)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_kernel_ridge_is_the_fallback_without_measurements(blobs):
    X, candidates, _ = blobs
    model = AutoPLClassifier(["clpl", "kernelridge"], budget=1e-9).fit(X, candidates)
    assert chosen(model)["learner"] == "kernelridge"
    assert chosen(model)["note"].startswith("used without a comparison; left out: the time budget of 1e-09 s")
    assert isinstance(model.estimator_, PLKernelRidge)


def test_error_of_the_only_learner_is_raised(blobs):
    X, candidates, _ = blobs
    with pytest.raises(ValueError, match="no good at all"):
        AutoPLClassifier({"one": Told(0, ValueError("no good at all"))}).fit(X, candidates)


def test_progress_is_reported_and_can_end_the_fit(blobs):
    X, candidates, _ = blobs
    calls = []
    AutoPLClassifier(FAST).fit(X, candidates, progress=lambda *call: calls.append(call))
    assert calls[0] == (0, 12, "plknn")
    assert calls[-1] == (12, 12, "clpl")
    model = AutoPLClassifier(FAST)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, candidates, progress=lambda done, *_: 1 / (done - 5))
    assert not hasattr(model, "estimator_")


def test_chosen_learner_warns_of_a_class_in_every_set(blobs):
    X, candidates, _ = blobs
    everywhere = np.column_stack([np.ones(90, dtype=bool), candidates])
    model = AutoPLClassifier({"kernelridge": PLKernelRidge("rbf", 0.1, 0.5)})
    with pytest.warns(UserWarning, match="More than 97%") as warned:
        model.fit(X, everywhere)
    assert len(warned) == 1
    assert chosen(model)["note"].startswith("warned: More than 97%")


def test_wrong_parameters_are_refused(blobs):
    X, candidates, _ = blobs
    for wrong in ({"budget": 0}, {"budget": "much"}, {"cv": "three"}, {"learners": 7}, {"random_state": "x"}):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter of AutoPLClassifier"):
            AutoPLClassifier(**wrong).fit(X, candidates)
    with pytest.raises(ValueError, match="There is no learner 'orchard'"):
        AutoPLClassifier(["orchard"]).fit(X, candidates)
    with pytest.raises(ValueError, match=r"must be an int in the range \[2, inf\)"):
        AutoPLClassifier(FAST, cv=1).fit(X, candidates)
