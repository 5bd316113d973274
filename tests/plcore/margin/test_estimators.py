"""The margin learners as estimators: kernels, known answers, sparse and weighted data, selection, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from plcore import PLSVC, CandidateError, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.evaluation import contaminate
from plcore.margin import feature_maps, m3pl
from plcore.margin.feature_maps import KernelMap, default_gamma
from plcore.margin.m3pl import class_capacities, stage_shares

LEARNERS = [
    PLSVC(),
    PLSVC(solver="pegasos", max_iter=100),
    PLSVC(kernel="rbf"),
    CLPLClassifier(),
    LMPlaneClassifier(),
    LMPlaneClassifier(solver="mm", kernel="poly", degree=2),
    LMPlaneClassifier(init="zero"),
    M3PLClassifier(),
    M3PLClassifier(kernel="rbf"),
]


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X, contaminate(y, "size", p=0.8, r=1, random_state=0), y


def learners(choice=LEARNERS):
    return pytest.mark.parametrize("learner", [clone(one) for one in choice], ids=repr)


@learners()
def test_partial_labels_are_disambiguated(learner, data):
    X, candidates, y = data
    model = learner.fit(X, candidates)
    assert candidates[np.arange(150), model.transduction_].all()
    assert (model.predict(X) == y).mean() > 0.8
    assert model.n_iter_ >= 1
    assert len(model.objective_) >= 1


@learners([PLSVC(), LMPlaneClassifier(solver="mm"), LMPlaneClassifier(), CLPLClassifier()])
def test_reported_objective_matches_the_coefficients(learner, data):
    X, candidates, _ = data
    weights = np.random.default_rng(0).random(150)
    model = learner.fit(X, candidates, weights)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores)
    rows = np.arange(150)
    best = np.where(candidates, scores, -np.inf)
    free = np.where(candidates, -np.inf, scores)
    if isinstance(learner, LMPlaneClassifier):
        free = scores.copy()
        free[rows, best.argmax(axis=1)] = -np.inf
    losses = np.maximum(0, 1 - best.max(axis=1) + free.max(axis=1))
    if isinstance(learner, CLPLClassifier):
        mean = (scores * candidates).sum(axis=1) / candidates.sum(axis=1)
        losses = np.maximum(0, 1 - mean) ** 2 + (np.maximum(0, 1 + scores) ** 2 * ~candidates).sum(axis=1)
    square = (model.coef_**2).sum() + (model.intercept_**2).sum()
    F = square / 2 + learner.C * np.average(losses, weights=weights)
    np.testing.assert_allclose(model.objective_.min(), F, rtol=1e-9)


@learners([PLSVC(), PLSVC(solver="pegasos"), LMPlaneClassifier(), LMPlaneClassifier(solver="mm"), M3PLClassifier()])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_polynomial_of_degree_one_is_linear(learner, fit_intercept, data):
    X, candidates, _ = data
    linear = clone(learner).set_params(fit_intercept=fit_intercept).fit(X, candidates)
    poly = clone(linear).set_params(kernel="poly", degree=1).fit(X, candidates)
    np.testing.assert_allclose(poly.decision_function(X), linear.decision_function(X), rtol=0, atol=1e-10)


def test_pegasos_on_a_linear_kernel_matches_linear_pegasos(data, monkeypatch):
    X, candidates, _ = data
    linear = PLSVC(solver="pegasos", max_iter=250).fit(X, candidates)
    monkeypatch.setattr(PLSVC, "_make_map", lambda self: KernelMap("poly", 1, 1.0, 1.0))
    kernel = PLSVC(solver="pegasos", max_iter=250).fit(X, candidates)
    assert kernel.support_.shape == (5,)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=0, atol=1e-10)


@learners([PLSVC(tol=1e-8), LMPlaneClassifier(solver="mm", tol=1e-8)])
def test_kernel_learner_matches_linear_learner_on_explicit_features(learner, data):
    X, candidates, _ = data
    monomials = PolynomialFeatures(2).fit(X)
    # (x.x' + 1)^2: squares and the constant have weight 1, all others sqrt(2).
    factor = np.where((monomials.powers_.max(axis=1) == 2) | (monomials.powers_.sum(axis=1) == 0), 1, np.sqrt(2))
    explicit = monomials.transform(X) * factor
    linear = clone(learner).set_params(fit_intercept=False).fit(explicit, candidates)
    kernel = clone(learner).set_params(kernel="poly", degree=2).fit(X, candidates)
    assert len(kernel.support_) == explicit.shape[1]
    np.testing.assert_allclose(kernel.objective_[-1], linear.objective_[-1], rtol=1e-6)
    np.testing.assert_allclose(kernel.decision_function(X[::7]), linear.decision_function(explicit[::7]), atol=1e-2)


def test_feature_map_reproduces_the_kernel(data):
    X = data[0]
    for kind, degree, gamma, coef0 in (("poly", 3, 0.5, 1.0), ("rbf", 3, None, 0.0)):
        chosen = KernelMap(kind, degree, gamma, coef0)
        Z = chosen.fit(X)
        K = chosen._kernel(X, X)
        np.testing.assert_allclose(Z @ Z.T, K, atol=1e-9 * K.max())
        W = np.random.default_rng(0).normal(size=(3, Z.shape[1]))
        np.testing.assert_allclose(chosen.scores(X, W), Z @ W.T, rtol=1e-6, atol=1e-6)


def test_default_gamma_is_half_inverse_mean_squared_distance():
    X = np.random.default_rng(0).normal(size=(20, 3)) + 5
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)[~np.eye(20, dtype=bool)]
    np.testing.assert_allclose(default_gamma(X), 1 / (2 * squares.mean()))
    np.testing.assert_allclose(default_gamma(sparse.csr_matrix(X)), 1 / (2 * squares.mean()))
    assert default_gamma(np.full((5, 2), 3.1)) == 1.0
    assert default_gamma(np.ones((1, 2))) == 1.0
    weights = np.arange(20.0) % 4
    pairs = np.outer(weights, weights)[~np.eye(20, dtype=bool)]
    expected = 1 / (2 * np.average(squares, weights=pairs))
    np.testing.assert_allclose(default_gamma(X, weights), expected)
    np.testing.assert_allclose(default_gamma(sparse.csr_matrix(X), 1e-9 * weights), expected)
    assert default_gamma(X, np.eye(20)[3]) == 1.0


def test_too_many_rows_for_a_kernel_matrix_names_the_fix(data, monkeypatch):
    monkeypatch.setattr(feature_maps, "MAX_KERNEL_ROWS", 100)
    with pytest.raises(ValueError, match=r"150 x 150 kernel matrix .* Fix: .*Nystroem.*RBFSampler"):
        LMPlaneClassifier(kernel="rbf").fit(data[0], data[1])


@learners([PLSVC(), CLPLClassifier(), LMPlaneClassifier(), M3PLClassifier(), PLSVC(kernel="poly", degree=2)])
def test_sparse_equals_dense(learner, data):
    X, candidates, _ = data
    X = np.where(np.abs(X) < 0.5, 0, X)
    dense = clone(learner).fit(X, candidates)
    thin = clone(learner).fit(sparse.csr_matrix(X), candidates)
    np.testing.assert_allclose(
        thin.objective_.min(), dense.objective_.min(), rtol=5e-2 if learner.__class__ is M3PLClassifier else 5e-3
    )
    agree = thin.predict(sparse.csr_matrix(X)) == dense.predict(X)
    assert agree.mean() > 0.97


@learners([PLSVC(tol=1e-6), CLPLClassifier(tol=1e-8), LMPlaneClassifier(solver="mm", tol=1e-6), LMPlaneClassifier()])
def test_weight_of_two_equals_the_row_twice(learner, data):
    X, candidates, _ = data
    weights = np.random.default_rng(0).integers(0, 3, size=150)
    weighted = clone(learner).fit(X, candidates, weights)
    repeated = clone(learner).fit(np.repeat(X, weights, axis=0), np.repeat(candidates, weights, axis=0))
    np.testing.assert_allclose(weighted.objective_.min(), repeated.objective_.min(), rtol=1e-3)
    scaled = clone(learner).set_params(warm_start=True)
    scaled.fit(X, candidates, weights).fit(X, candidates, 5.0 * weights)
    np.testing.assert_allclose(scaled.objective_.min(), weighted.objective_.min(), rtol=2e-2)


@learners([PLSVC(), PLSVC(kernel="rbf"), CLPLClassifier(), LMPlaneClassifier(solver="mm")])
def test_warm_start_continues_the_previous_fit(learner, data):
    X, candidates, y = data
    model = clone(learner).set_params(warm_start=True).fit(X, candidates)
    end = model.objective_[-1]
    model.fit(X, candidates)
    np.testing.assert_allclose(model.objective_[0], end, rtol=1e-4)
    assert model.objective_[-1] <= end * 1.0001
    narrowed = candidates.copy()
    narrowed[:50] = np.eye(3, dtype=bool)[y[:50]]
    assert model.fit(X, narrowed).score(X, narrowed) > 0.85
    assert model.fit(X, y).classes_.tolist() == [0, 1, 2]
    assert model.fit(X[:, :2], candidates).n_features_in_ == 2


def test_m3pl_keeps_class_capacities(data):
    X, candidates, _ = data
    candidates = np.column_stack([candidates, np.zeros(150, dtype=bool)])
    model = M3PLClassifier(C_max=1.0).fit(X, candidates)
    np.testing.assert_array_equal(model.capacities_, class_capacities(candidates))
    np.testing.assert_array_equal(np.bincount(model.assignment_, minlength=4), model.capacities_)
    assert candidates[np.arange(150), model.assignment_].all()
    warm = M3PLClassifier(C_max=1.0, warm_start=True).fit(X, candidates).fit(X, candidates)
    assert warm.n_iter_ < model.n_iter_ / 4


def test_m3pl_raises_c_in_stages(data):
    X, candidates, _ = data
    shares = stage_shares()
    assert (shares[0], shares[-1]) == (1e-5, 1.0)
    np.testing.assert_allclose(shares[1:-1] / shares[:-2], 1.5)
    assert 1 < shares[-1] / shares[-2] <= 1.5
    told = []
    model = M3PLClassifier(C_max=1.0).fit(X, candidates, progress=lambda *one: told.append(one))
    assert [solved for solved, _ in told] == list(range(1, model.n_iter_ + 1))
    assert model.n_iter_ >= len(shares), "an SVM at least at each C"
    # All losses are at most 1 + a margin: at the first C the objective is next to nothing.
    assert told[0][1] < 1e-5 * 2 * len(X) < 1e-2 * told[-1][1]


@learners()
def test_progress_is_reported_and_can_end_the_fit(learner, data):
    X, candidates, _ = data
    told = []
    learner.fit(X, candidates, progress=lambda step, value: told.append((step, value)))
    assert told
    assert [step for step, _ in told] == sorted(step for step, _ in told)

    def cancel(step, value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clone(learner).fit(X, candidates, progress=cancel)


@learners()
def test_invalid_input_is_refused_and_unusual_input_accepted(learner, data):
    X, candidates, _ = data
    rng = np.random.default_rng(0)
    empty = candidates.copy()
    empty[3] = False
    with pytest.raises(CandidateError, match="row 3 "):
        clone(learner).fit(X, empty)
    broken = X.copy()
    broken[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(learner).fit(broken, candidates)
    name = "C_max" if isinstance(learner, M3PLClassifier) else "C"
    for wrong in (0, -1.0, "much"):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(learner).__name__}"):
            clone(learner).set_params(**{name: wrong}).fit(X, candidates)
    # One class only, as a label and as a matrix; constant features; more classes than rows; a single row.
    assert clone(learner).fit(X, ["a"] * 150).predict(X[:2]).tolist() == ["a", "a"]
    assert clone(learner).fit(X, np.ones((150, 1), dtype=bool)).decision_function(X).shape == (150, 1)
    assert clone(learner).fit(np.zeros((150, 2)), candidates).score(np.zeros((150, 2)), candidates) > 0
    assert clone(learner).fit(np.full((150, 2), 7.0), candidates).converged_ in (True, False)
    many = rng.random((6, 40)) < 0.2
    many[:, 0] = True
    few = clone(learner).fit(rng.normal(size=(6, 3)), many)
    assert many[np.arange(6), few.transduction_].all()
    assert clone(learner).fit(X[:1], candidates[:1]).predict(X[:1]).shape == (1,)
    everything = clone(learner).fit(X, np.ones((150, 3), dtype=bool))
    assert np.isfinite(everything.decision_function(X)).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_m3pl_warns_of_a_long_fit(data, form, monkeypatch):
    X, candidates, _ = data
    monkeypatch.setattr(m3pl, "LONG", 1e-5)

    def stop(solved, objective):
        raise KeyboardInterrupt

    with (
        pytest.warns(
            UserWarning, match=r"here of 150 rows, \d features and 3 classes: that takes .* Fix: take"
        ) as said,
        pytest.raises(KeyboardInterrupt),
    ):
        M3PLClassifier().fit(form(X), candidates, progress=stop)
    assert said[0].filename == __file__


@pytest.mark.parametrize(
    "learner",
    [pytest.param(clone(one), marks=pytest.mark.proof if repr(one) == "M3PLClassifier()" else ()) for one in LEARNERS],
    ids=repr,
)
def test_extreme_features_cause_no_numerical_warnings(learner, data):
    X, candidates, _ = data
    wide = X * np.array([1e9, 1e-9, 1.0, 0.0])
    wide = np.hstack([wide, wide])
    assert np.isfinite(clone(learner).fit(wide, candidates).decision_function(wide)).all()
    with pytest.raises(ValueError, match=r"at most 1e\+50 in size.*StandardScaler"):
        clone(learner).fit(X * 1e60, candidates)


def test_features_too_large_for_polynomial_are_refused(data):
    with pytest.raises(ValueError, match=r"too large\. Fix: scale"):
        PLSVC(kernel="poly", degree=5).fit(data[0] * 1e40, data[1])


@pytest.mark.public_data
def test_initial_planes_decide_the_accuracy_on_lost(data_folder):
    stored = np.load(data_folder / "lost.npz")
    X, candidates, y = stored["X"].astype(float), stored["S"].astype(bool), stored["y"]
    found = {"ridge": [], "zero": []}
    for train, test in list(KFold(10, shuffle=True, random_state=0).split(X))[:2]:
        for init, accuracy in found.items():
            model = make_pipeline(StandardScaler(), LMPlaneClassifier(init=init)).fit(X[train], candidates[train])
            accuracy.append((model.predict(X[test]) == y[test]).mean())
    assert np.mean(found["ridge"]) > 0.74
    assert np.mean(found["ridge"]) > np.mean(found["zero"]) + 0.05


@pytest.mark.parametrize("learner", [LMPlaneClassifier(kernel="rbf"), PLSVC()], ids=repr)
def test_memory_order_of_features_changes_nothing(learner, data):
    X, candidates, _ = data
    model = clone(learner).fit(X, candidates)
    frame = clone(learner).fit(np.asfortranarray(X), candidates)
    np.testing.assert_array_equal(model.decision_function(X), frame.decision_function(np.asfortranarray(X)))


@pytest.mark.parametrize(
    "learner", [PLSVC(C=5.0), PLSVC(kernel="rbf"), CLPLClassifier(), LMPlaneClassifier(solver="mm")], ids=repr
)
def test_rows_of_weight_zero_are_ignored(learner):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 1)) + np.repeat([5.0, 3.0], 10)[:, None]
    candidates = np.zeros((20, 3), dtype=bool)
    candidates[:3, 2] = candidates[3:10, 0] = candidates[10:, 1] = True
    weights = np.repeat([0.0, 1.0], [3, 17])
    model = clone(learner).fit(X, candidates, weights)
    absent = clone(learner).fit(X[3:], candidates[3:])
    far = rng.normal(size=(200, 1)) * 50
    assert 2 not in model.predict(far)  # only rows of weight 0 may have it
    np.testing.assert_array_equal(model.predict(far), absent.predict(far))
    np.testing.assert_allclose(model.decision_function(X), absent.decision_function(X), atol=1e-6)


def test_m3pl_weights_multiply_losses(data):
    X, candidates, y = data
    model = M3PLClassifier(C_max=0.5).fit(X, candidates, np.full(150, 2.0))
    doubled = M3PLClassifier(C_max=1.0).fit(X, candidates)
    np.testing.assert_allclose(model.objective_[-1], doubled.objective_[-1], rtol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), doubled.decision_function(X), atol=0.1)
    np.testing.assert_array_equal(model.assignment_, doubled.assignment_)
    # With exact labels, a weight of w equals w copies.
    weights = np.random.default_rng(0).integers(0, 4, size=150)
    weighted = M3PLClassifier(tol=1e-7).fit(X, y, weights)
    repeated = M3PLClassifier(tol=1e-7).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.objective_[-1], repeated.objective_[-1], rtol=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-2)
    scores = X @ weighted.coef_.T + weighted.intercept_
    rivals = np.where(np.eye(3, dtype=bool)[y], -np.inf, scores).max(axis=1)
    losses = np.maximum(0, 1 - scores[np.arange(150), y] + rivals)
    square = (weighted.coef_**2).sum() + (weighted.intercept_**2).sum()
    np.testing.assert_allclose(weighted.objective_[-1], square / 2 + 0.1 * weights @ losses, rtol=1e-6)


def test_m3pl_capacities_count_only_rows_with_weight(data):
    X, candidates, _ = data
    weights = np.where(np.arange(150) % 5 == 0, 0.0, np.random.default_rng(0).random(150) + 0.5)
    kept = weights > 0
    model = M3PLClassifier().fit(X, candidates, weights)
    absent = M3PLClassifier().fit(X[kept], candidates[kept], weights[kept])
    np.testing.assert_array_equal(model.capacities_, class_capacities(candidates[kept]))
    np.testing.assert_array_equal(model.decision_function(X), absent.decision_function(X))
    np.testing.assert_array_equal(model.assignment_[kept], absent.assignment_)
    np.testing.assert_array_equal(model.assignment_[~kept], model.transduction_[~kept])


@pytest.mark.parametrize(("classes", "taken"), [(100, "cp"), (101, "mm")])
def test_lm_plane_uses_another_solver_for_many_classes(classes, taken):
    rng = np.random.default_rng(0)
    y = np.arange(2 * classes) % classes
    X = rng.normal(size=(classes, 8))[y] + 0.1 * rng.normal(size=(2 * classes, 8))
    model = LMPlaneClassifier(max_iter=5).fit(X, y)
    assert model.solver_ == taken
    named = LMPlaneClassifier(solver=taken, max_iter=5).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))


@pytest.mark.parametrize("solver", ["cp", "mm"])
@pytest.mark.parametrize("init", ["ridge", "zero"])
def test_candidate_weights_shift_the_labels_of_lm_plane(solver, init, data):
    X, _, y = data
    candidates = contaminate(y, "size", r=1, random_state=0)
    weights = np.where(np.eye(3, dtype=bool)[y], 10.0, 0.1)
    model = LMPlaneClassifier(solver=solver, init=init)
    even = clone(model).fit(X, candidates, candidate_weights=np.full((150, 3), 7.0))
    np.testing.assert_array_equal(even.decision_function(X), clone(model).fit(X, candidates).decision_function(X))
    right = clone(model).fit(X, candidates, candidate_weights=weights)
    assert (right.transduction_ == y).mean() > max(0.9, (even.transduction_ == y).mean())
    # y = arg max of s + log q, by hand; and F is that of these labels.
    scores = X @ right.coef_.T + right.intercept_
    labels = np.where(candidates, scores + np.log(weights), -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(right.transduction_, labels)
    rivals = np.where(np.eye(3, dtype=bool)[labels], -np.inf, scores).max(axis=1)
    losses = np.maximum(0, 1 - scores[np.arange(150), labels] + rivals)
    F = ((right.coef_**2).sum() + (right.intercept_**2).sum()) / 2 + 10 * losses.mean()
    np.testing.assert_allclose(right.objective_.min(), F, rtol=1e-9)
    with pytest.raises(CandidateError, match="row 4 "):
        model.fit(X, candidates, candidate_weights=np.where(np.arange(150) == 4, -1.0, 1.0)[:, None] * weights)


def test_candidate_of_weight_zero_is_removed(data):
    X, candidates, y = data
    exact = LMPlaneClassifier(solver="mm", tol=1e-6).fit(X, y)
    model = LMPlaneClassifier(solver="mm", tol=1e-6).fit(X, candidates, candidate_weights=np.eye(3)[y])
    np.testing.assert_array_equal(model.transduction_, y)
    np.testing.assert_allclose(model.objective_[-1], exact.objective_[-1], rtol=1e-4)


class StopError(Exception):
    """Raised by the progress of a fit."""


@pytest.mark.parametrize(
    "learner", [PLSVC(warm_start=True), PLSVC(kernel="rbf", warm_start=True), M3PLClassifier(warm_start=True)], ids=repr
)
def test_stopped_fit_keeps_the_previous_model(learner, data):
    X, candidates, _ = data

    def stop(step, value):
        raise StopError

    model = clone(learner).fit(X, candidates)
    expected = model.predict(X)
    with pytest.raises(StopError):
        model.fit(X, pd.DataFrame(candidates, columns=["a", "b", "c"]), progress=stop)
    np.testing.assert_array_equal(model.predict(X), expected)
    with pytest.raises(StopError):
        model.fit(X[:, :2], candidates, progress=stop)
    # A model of four features cannot start a fit of two.
    fresh = clone(learner).fit(X[:, :2], candidates)
    again = model.fit(X[:, :2], candidates)
    np.testing.assert_array_equal(again.decision_function(X[:, :2]), fresh.decision_function(X[:, :2]))
