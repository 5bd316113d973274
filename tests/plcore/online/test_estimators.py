"""The online learners as estimators: chunks and their classes, refusals, and no partial updates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import DataConversionWarning, NotFittedError

from plcore import CandidateError, PLPegasos, PLPerceptron
from plcore.evaluation import contaminate

LEARNERS = [PLPerceptron(), PLPerceptron("max", average=True), PLPegasos(alpha=0.01), PLPegasos("max", alpha=0.01)]
learners = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


@pytest.fixture(scope="module")
def data():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, contaminate(y[:600], "size", r=2, random_state=0), y[:600]


@learners
def test_partial_labels_are_disambiguated(learner, data):
    X, candidates, y = data
    model = clone(learner).fit(X, candidates)
    assert candidates[np.arange(600), model.transduction_].all()
    assert (model.transduction_ == y).mean() > 0.85
    assert model.score(X, y) > 0.7
    assert (model.disambiguate(X, candidates) == model.transduction_).all()
    assert model.objective_.shape == (5,)
    assert model.objective_[-1] < model.objective_[0]
    assert (model.n_iter_, model.rounds_) == (5, 3000)
    assert model.rounds_ >= model.updates_ >= model.mistakes_ > 0
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    model.partial_fit(X[:5], candidates[:5])
    for name in ("transduction_", "objective_", "n_iter_", "converged_"):
        assert not hasattr(model, name)  # they would describe an older model


def test_mean_of_iterates_is_better_if_rows_have_many_candidates(data):
    X, _, y = data
    candidates = contaminate(y, "size", r=5, random_state=0)
    last = PLPerceptron("average").fit(X, candidates).score(X, y)
    assert PLPerceptron("average", average=True).fit(X, candidates).score(X, y) > last + 0.05


@learners
def test_seed_and_row_order_determine_the_model(learner, data):
    X, candidates, _ = data
    model = clone(learner)
    np.testing.assert_array_equal(
        model.fit(X, candidates).coef_, clone(learner).set_params(random_state=0).fit(X, candidates).coef_
    )
    other = clone(learner).set_params(random_state=1).fit(X, candidates)
    assert (other.coef_ != model.coef_).any()
    in_order = clone(learner).set_params(shuffle=False, max_iter=1).fit(X, candidates)
    np.testing.assert_array_equal(in_order.coef_, clone(learner).partial_fit(X, candidates).coef_)
    again = model.coef_
    np.testing.assert_array_equal(model.fit(X, candidates).coef_, again)  # fit forgets earlier learning


def test_converged_means_a_pass_without_updates(data):
    X, _, y = data
    rough, long = (PLPerceptron(max_iter=passes).fit(X, y) for passes in (1, 200))
    assert not rough.converged_
    assert long.converged_
    assert long.objective_[-1] == 0


@learners
def test_progress_is_reported_and_can_end_the_fit(learner, data):
    X, candidates, _ = data
    told = []
    model = clone(learner).fit(X, candidates, progress=lambda step, value: told.append((step, value)))
    assert told == list(zip(range(1, 6), model.objective_, strict=True))

    def cancel(step, value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clone(learner).fit(X, candidates, progress=cancel)


class TestClassesOfChunks:
    def test_labels_need_classes_in_the_first_call_only(self, data):
        X, _, y = data
        with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
            PLPerceptron().partial_fit(X, y)
        model = PLPerceptron().partial_fit(X[:3], y[:3], classes=range(10)).partial_fit(X[3:], y[3:])
        same = PLPerceptron().partial_fit(X, np.eye(10, dtype=bool)[y])
        np.testing.assert_array_equal(model.coef_, same.coef_)
        assert model.classes_.tolist() == list(range(10))

    def test_class_names_keep_their_order(self, data):
        X, candidates, y = data
        names = list("jihgfedcba")
        model = PLPerceptron().partial_fit(X[:300], pd.DataFrame(candidates[:300], columns=names))
        model.partial_fit(X[300:], np.array(names)[y[300:]])
        assert model.classes_.tolist() == names
        by_number = PLPerceptron().partial_fit(X[:300], candidates[:300]).partial_fit(X[300:], y[300:])
        np.testing.assert_array_equal(model.coef_, by_number.coef_)

    def test_other_classes_are_refused(self, data):
        X, candidates, y = data
        names = list("abcdefghij")
        model = PLPerceptron().partial_fit(X, candidates, classes=names)
        frame = pd.DataFrame(candidates, columns=names)
        before = model.coef_
        for wrong, message in (
            (frame[names[::-1]], "columns of y must be the classes, in their order"),
            (candidates[:, :9], "a column for each of the 10 classes. Got 9"),
            (np.where(y == 3, "z", "a"), r"Labels must be classes.*Got 'z' in rows 3, "),
            (["a"] * 599 + ["Z"], r"Got 'Z' in row 599 \(counted from 0\)"),
        ):
            with pytest.raises(CandidateError, match=message):
                model.partial_fit(X, wrong)
        with pytest.raises(ValueError, match="classes must be those of the first call"):
            model.partial_fit(X, frame, classes=names[::-1])
        with pytest.raises(CandidateError, match="different class names"):
            PLPerceptron().partial_fit(X, y, classes=[1, 1, 2])
        with pytest.raises(CandidateError, match="a column for each of the 3 classes"):
            PLPerceptron().partial_fit(X, candidates, classes=[1, 2, 3])
        np.testing.assert_array_equal(model.coef_, before)
        model.partial_fit(X, frame, classes=names)
        with pytest.warns(DataConversionWarning):
            model.partial_fit(X[:2], np.array([["a"], ["b"]]))

    def test_class_without_rows_so_far_is_never_predicted(self, data):
        X, _, y = data
        model = PLPegasos().partial_fit(X[y < 5], y[y < 5], classes=range(10))
        assert (model.decision_function(X)[:, 5:] == -np.inf).all()
        assert set(model.predict(-100 * X)) <= set(range(5))
        assert set(model.predict_then_learn(X, y)) <= set(range(10))
        assert np.isfinite(model.decision_function(X)).all()


class TestBadInput:
    """A chunk with any error changes nothing."""

    @learners
    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
    @pytest.mark.parametrize("row", [0, 40])
    def test_invalid_row_is_refused_and_nothing_is_learned(self, learner, kind, row, data):
        X, candidates, _ = data
        model = clone(learner).partial_fit(kind(X[:30]), candidates[:30])
        before = model.get_state()
        for value, message in (
            (np.nan, "contains NaN"),
            (-np.inf, "contains infinity"),
            (1e60, rf"at most 1e\+50 in size, got 1e\+60 in row {row} .*StandardScaler"),
        ):
            broken = X[:50].copy()
            broken[row, 7] = value
            with pytest.raises(ValueError, match=message):
                model.partial_fit(kind(broken), candidates[:50])
            with pytest.raises(ValueError, match=message):
                clone(learner).fit(kind(broken), candidates[:50])
            first = clone(learner)
            with pytest.raises(ValueError, match=message):
                first.partial_fit(kind(broken), candidates[:50])
            with pytest.raises(NotFittedError):
                first.predict(X)
            first.partial_fit(X[:, :3], candidates)  # an unfitted model can still begin with other features
        for name, value in model.get_state().items():
            np.testing.assert_array_equal(value, before[name])

    @learners
    def test_invalid_candidates_and_shapes_are_refused(self, learner, data):
        X, candidates, _ = data
        model = clone(learner).partial_fit(X, candidates)
        empty = candidates.copy()
        empty[3] = False
        with pytest.raises(CandidateError, match="row 3 "):
            model.partial_fit(X, empty)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.partial_fit(X[:3], candidates[:4])
        with pytest.raises(ValueError, match=r"63 features.* expecting 64"):
            model.partial_fit(X[:, 1:], candidates)
        with pytest.raises(ValueError, match="requires y to be passed"):
            model.partial_fit(X, None)
        assert model.rounds_ == 600

    @pytest.mark.parametrize(
        ("learner", "name"),
        [
            (PLPerceptron(eta0=0), "eta0"),
            (PLPerceptron(loss="median"), "loss"),
            (PLPegasos(alpha=0.0), "alpha"),
            (PLPegasos(decay_always="yes"), "decay_always"),
            (PLPegasos(max_iter=0), "max_iter"),
        ],
    )
    def test_invalid_parameters_are_refused(self, learner, name, data):
        X, candidates, _ = data
        for learn in (learner.fit, learner.partial_fit, learner.predict_then_learn):
            with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(learner).__name__} must be"):
                learn(X, candidates)

    @learners
    def test_unfitted_model_has_no_learned_attributes(self, learner, data):
        model = clone(learner)
        for name in ("coef_", "intercept_", "rounds_", "updates_", "mistakes_", "classes_"):
            assert not hasattr(model, name)
        for call in (model.get_state, lambda: model.predict(data[0]), lambda: model.disambiguate(*data[:2])):
            with pytest.raises(NotFittedError):
                call()


@learners
def test_long_and_short_rows_stay_finite(learner, data):
    X, candidates, _ = data
    wide = X * np.geomspace(1e-30, 1e30, 64)
    model = clone(learner).fit(wide, candidates)
    assert np.isfinite(model.decision_function(wide)).all()
    assert np.isfinite(model.objective_).all()
    assert np.isfinite(clone(learner).fit(np.zeros_like(X), candidates).decision_function(X)).all()


def test_repeated_sparse_cells_are_summed(data):
    X, candidates, _ = data
    whole = sparse.csr_matrix(X)
    halves = sparse.csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), shape=X.shape
    )
    expected = PLPegasos().partial_fit(whole, candidates)
    model = PLPegasos().partial_fit(halves, candidates)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert halves.nnz == 2 * whole.nnz


def test_float32_features_are_not_converted(data):
    X, candidates, _ = data
    exact = X.astype(np.float32)  # sixteenths: no digit is lost
    for learner in LEARNERS:
        np.testing.assert_allclose(
            clone(learner).fit(exact, candidates).coef_, clone(learner).fit(X, candidates).coef_, atol=1e-9
        )
