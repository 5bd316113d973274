"""The kernel ridge regression that the baselines share, checked against its equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris

from plcore import PLAGGDClassifier, PLCLClassifier, RegISLClassifier, SUREClassifier
from plcore.baselines import regression as module
from plcore.baselines.base import (
    Complement,
    Reconstruction,
    as_matrix,
    difference_products,
    own_neighbors,
    reconstruction_weights,
)
from plcore.baselines.regisl import laplacian, median_distance, similarities
from plcore.baselines.regression import KernelRegression, ScaledKernel
from plcore.baselines.sure import confident_labels
from plcore.evaluation import contaminate
from tests.plcore.random_sets import some_sets


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    labels = rng.random((40, 3))
    return rng.normal(size=(40, 5)), labels / labels.sum(axis=1, keepdims=True), rng.random(40) + 0.2


def regress(kernel, X, weights, alpha=0.3, n_components=2000, width=1.0):
    scaled = ScaledKernel(kernel, n_components, width)
    return KernelRegression(scaled, alpha, X, weights, np.random.RandomState(0))


def kernel_matrix(kernel, X, width):
    if kernel == "linear":
        return X @ X.T / width**2
    if kernel == "laplace":
        return np.exp(-np.abs(X[:, None] - X).sum(axis=2) / width)
    return np.exp(-np.square(X[:, None] - X).sum(axis=2) / (2 * width**2))


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear"])
def test_gradient_of_the_solution_is_zero(problem, kernel):
    """In A: K (S (F - P) + alpha A) = 0; in b: the weighted residuals sum to 0."""
    X, labels, weights = problem
    found = regress(kernel, X, weights)
    fitted = found.solve(labels)
    K = kernel_matrix(kernel, X, found.kernel.width)
    residuals = weights[:, None] * (fitted.scores - labels)
    A = -residuals / 0.3  # A by the first equation if K is regular
    np.testing.assert_allclose(K @ A + fitted.shift, fitted.scores, atol=1e-10)
    np.testing.assert_allclose(residuals.sum(axis=0), 0, atol=1e-10)
    assert fitted.penalty == pytest.approx(0.3 * np.trace(A.T @ K @ A))
    again = found.kernel.values_of(X) @ fitted.coefficients + fitted.shift
    np.testing.assert_allclose(again, fitted.scores, atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
def test_points_at_all_rows_match_the_kernel_matrix(problem, kernel, monkeypatch):
    X, labels, weights = problem
    exact = regress(kernel, X, weights)
    assert exact.kernel.exact
    monkeypatch.setattr(module, "EXACT_ROWS", 39)
    through = regress(kernel, X, weights)
    assert not through.kernel.exact
    one, other = exact.solve(labels), through.solve(labels)
    np.testing.assert_allclose(other.scores, one.scores, atol=1e-8)
    assert other.penalty == pytest.approx(one.penalty, rel=1e-7)
    new = np.random.default_rng(1).normal(size=(7, 5))
    np.testing.assert_allclose(
        through.kernel.values_of(new) @ other.coefficients + other.shift,
        exact.kernel.values_of(new) @ one.coefficients + one.shift,
        atol=1e-8,
    )


def test_linear_kernel_of_many_features_is_exact_too(problem):
    X, labels, weights = problem
    few = regress("linear", X, weights).solve(labels)
    many = regress("linear", X, weights, n_components=2)  # more features than components, few rows
    assert many.kernel.exact
    np.testing.assert_allclose(many.solve(labels).scores, few.scores, atol=1e-9)


def test_many_rows_use_an_approximation_through_points(problem, monkeypatch):
    X, labels, weights = problem
    monkeypatch.setattr(module, "EXACT_ROWS", 20)
    few = regress("rbf", X, weights, n_components=8)
    assert few.kernel.values_of(X).shape == (40, 8)
    assert few.solve(labels).coefficients.shape == (8, 3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_sparse_rows_match_dense_rows(problem, kernel):
    X, labels, weights = problem
    X = np.where(np.abs(X) < 0.7, 0, X)
    dense = regress(kernel, X, weights).solve(labels)
    thin = regress(kernel, sparse.csr_matrix(X), weights).solve(labels)
    np.testing.assert_allclose(thin.scores, dense.scores, atol=1e-7)


def test_width_is_measured_in_mean_distances(problem):
    X, _, weights = problem
    one, half = (regress("rbf", X, weights, width=width).kernel.width for width in (1.0, 0.5))
    shares = weights / weights.sum()
    mean = shares @ np.linalg.norm(X[:, None] - X, axis=2) @ shares
    assert one == pytest.approx(mean)
    assert half == pytest.approx(mean / 2)


def test_equal_rows_are_accepted():
    X = np.zeros((6, 2))
    labels = np.eye(2)[[0, 0, 0, 0, 1, 1]]
    fitted = regress("rbf", X, np.ones(6)).solve(labels)
    np.testing.assert_allclose(fitted.scores, np.tile([2 / 3, 1 / 3], (6, 1)), atol=1e-9)


def test_ridge_too_small_for_rounding_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 2)).repeat(4, axis=0)
    with pytest.raises(ValueError, match=r"alpha=1e-30 is too small .* Fix: take a larger alpha"):
        regress("rbf", X, np.ones(120), alpha=1e-30)


# SURE: the row step against the paper's quadratic program, the objective, weights, known answers.


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, contaminate(y, "size", p=0.8, r=1, random_state=0), y


def solved_program(scores, candidates, bonus):
    """The paper's program for one row: |p - f|^2 - bonus p_k, p_j <= p_k, p in the simplex of S, k the best of S."""
    top = int(np.where(candidates, scores, -np.inf).argmax())
    others = [c for c in range(len(scores)) if c != top]
    order = np.zeros((len(others), len(scores)))
    order[np.arange(len(others)), others] = -1
    order[:, top] = 1
    unit = np.eye(len(scores))[top]
    constraints = [{"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like}]
    if others:
        constraints.append({"type": "ineq", "fun": lambda p: order @ p, "jac": lambda _: order})
    return minimize(
        lambda p: np.sum((p - scores) ** 2) - bonus * p[top],
        candidates / candidates.sum(),
        jac=lambda p: 2 * (p - scores) - bonus * unit,
        bounds=[(0, 1 if one else 0) for one in candidates],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 1000},
    ).x


@pytest.mark.parametrize("bonus", [0.0, 0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("spread", [0.05, 0.4, 2.0])
def test_row_step_solves_the_quadratic_program_of_the_paper(bonus, spread):
    rng = np.random.default_rng(int(100 * bonus + 10 * spread))
    scores = 0.3 + spread * rng.normal(size=(12, 6))
    candidates = some_sets(rng, 12, 6)
    candidates[0] = True
    found = confident_labels(scores, candidates, bonus)
    expected = [solved_program(f, s, bonus) for f, s in zip(scores, candidates, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_row_step_by_hand():
    scores = np.array([[0.4, 0.4, 0.2], [0.1, 0.6, 0.9], [0.5, 0.5, 0.5]])
    candidates = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    found = confident_labels(scores, candidates, 0.3)
    # Row 0: the tie goes to the first, (0.55, 0.4, 0.2) less 0.05 each; row 1: (0.1, 0.75) and 0.075 more each.
    np.testing.assert_allclose(found[:2], [[0.5, 0.35, 0.15], [0.175, 0.825, 0]], atol=1e-15)
    np.testing.assert_allclose(found[2], [0, 0.575, 0.425])
    np.testing.assert_array_equal(scores[2], 0.5)


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "linear"])
def test_sure_objective_never_grows(iris, kernel):
    X, candidates, _ = iris
    weights = np.random.default_rng(0).random(150) + 0.1
    model = SUREClassifier(kernel=kernel).fit(X, candidates, sample_weight=weights)
    assert len(model.objective_) == model.n_iter_ > 3
    assert model.converged_
    assert (np.diff(model.objective_) <= 1e-9 * np.abs(model.objective_[:-1])).all()


def test_reported_objective_matches_its_formula(iris):
    """After one round: |F - p|^2 - bonus max p + alpha tr(A'KA), all from the kernel matrix by hand."""
    X, candidates, _ = iris
    model = SUREClassifier(max_iter=1, alpha=0.2, bonus=0.4, width=0.5).fit(X, candidates)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = np.linalg.norm(Z[:, None] - Z, axis=2)
    K = np.exp(-((distances / (0.5 * distances.mean())) ** 2) / 2)
    start = candidates / candidates.sum(axis=1, keepdims=True)
    inverse = np.linalg.inv(K + 0.2 * np.eye(150))
    b = inverse.sum(axis=0) @ start / inverse.sum()
    A = inverse @ (start - b)
    F = K @ A + b
    P = confident_labels(F, candidates, 0.4)
    np.testing.assert_allclose(model.label_distributions_, P, atol=1e-9)
    value = np.sum((F - P) ** 2) - 0.4 * P.max(axis=1).sum() + 0.2 * np.trace(A.T @ K @ A)
    assert model.objective_[0] == pytest.approx(value, rel=1e-9)
    assert not model.converged_
    b = inverse.sum(axis=0) @ P / inverse.sum()
    np.testing.assert_allclose(model.decision_function(X), K @ (inverse @ (P - b)) + b, atol=1e-8)


def test_sure_bonus_makes_rows_more_confident(iris):
    X, candidates, _ = iris
    sure = [
        SUREClassifier(bonus=bonus).fit(X, candidates).label_distributions_.max(axis=1).mean()
        for bonus in (0, 0.1, 0.3, 1)
    ]
    assert (np.diff(sure) > 0).all()


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_weights_equal_repeated_rows(iris, kernel):
    X, candidates, _ = iris
    weights = np.arange(150) % 4
    rows = np.repeat(np.arange(150), weights)
    weighted = SUREClassifier(kernel=kernel).fit(X, candidates, sample_weight=weights)
    repeated = SUREClassifier(kernel=kernel).fit(X[rows], candidates[rows])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(weighted.label_distributions_[rows], repeated.label_distributions_, atol=1e-7)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_)
    absent = weights == 0
    expected = confident_labels(weighted.decision_function(X[absent]), candidates[absent], 0.3)
    np.testing.assert_allclose(weighted.label_distributions_[absent], expected)


def test_duplicates_and_rows_with_all_candidates_are_accepted(iris):
    X, candidates, y = iris
    silent = candidates.copy()
    silent[::4] = True
    model = SUREClassifier().fit(np.repeat(X, 3, axis=0), np.repeat(silent, 3, axis=0))
    assert (model.predict(X) == y).mean() > 0.9
    nothing = SUREClassifier().fit(X, np.ones((150, 3), dtype=bool))
    np.testing.assert_allclose(nothing.label_distributions_.sum(axis=1), 1)
    assert set(nothing.predict(X)) == {0}  # ties to the first class


# PL-AGGD and PL-CL: objectives, steps against the equations, known answers.


BOTH = pytest.mark.parametrize("learner", [PLAGGDClassifier, PLCLClassifier])


@BOTH
@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.0, 5.0), (3.0, 0.2)])
def test_aggd_objective_never_grows(half_iris, learner, weights):
    X, candidates, _ = half_iris
    feature_weight, label_weight = weights
    model = learner(max_iter=12, feature_weight=feature_weight, label_weight=label_weight, n_neighbors=5)
    model.fit(X, candidates)
    assert len(model.objective_) == model.n_iter_ >= 2
    assert (np.diff(model.objective_) <= 1e-9 * np.abs(model.objective_[:-1])).all()
    assert model.objective_[-1] > 0


@BOTH
def test_fit_ends_by_convergence(half_iris, learner):
    X, candidates, _ = half_iris
    model = learner(max_iter=100).fit(X, candidates)
    assert model.converged_
    assert model.n_iter_ < 100
    assert not learner(max_iter=1).fit(X, candidates).converged_


def test_one_round_matches_the_equations(half_iris):
    """PL-AGGD with the pieces put together by hand, the objective written out with dense matrices."""
    X, candidates, _ = half_iris
    X, candidates = X[::2][:36], candidates[::2][:36]
    model = PLAGGDClassifier(0.2, 4, feature_weight=0.7, label_weight=1.3, max_iter=1).fit(X, candidates)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    neighbors, _ = own_neighbors(unit, 4)
    features = 0.7 * difference_products(unit, neighbors)
    first = reconstruction_weights(features, np.full((36, 4), 0.25))
    even = candidates / candidates.sum(axis=1, keepdims=True)
    Y = Reconstruction(neighbors, first).labels(candidates, even, 1.0)
    regression = KernelRegression(ScaledKernel("rbf", 2000, 1.0), 0.2, Z, np.ones(36), np.random.RandomState(0))
    weights = reconstruction_weights(features + 1.3 * difference_products(Y, neighbors), first)
    target = regression.solve(Y).scores
    Y = Reconstruction(neighbors, weights).labels(candidates, Y, 1.3, target, 1.0)
    np.testing.assert_allclose(model.label_distributions_, Y, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), regression.solve(Y).scores, atol=1e-7)
    W, fitted = as_matrix(neighbors, weights).toarray(), regression.solve(Y)
    value = 0.7 * np.sum((unit - W @ unit) ** 2) + 1.3 * np.sum((Y - W @ Y) ** 2)
    value += np.sum((Y - fitted.scores) ** 2) + fitted.penalty
    assert model.objective_[0] == pytest.approx(value, rel=1e-9)


@pytest.fixture
def complement(half_iris):
    X, candidates, _ = half_iris
    regression = KernelRegression(ScaledKernel("rbf", 2000, 1.0), 0.06, X, np.ones(75), np.random.RandomState(0))
    return regression, candidates, Complement(regression, candidates, 0.5, 0.8)


def test_complement_step_is_optimal(complement):
    """No other q between 1 - S and 1 lowers the complement's part of the objective further."""
    regression, candidates, part = complement
    start = regression.solve((~candidates).astype(float)).scores
    labels = candidates / candidates.sum(axis=1, keepdims=True)
    part.aim(start, labels)
    q = part._confidences

    def value(q):
        return 0.5 * np.sum((q - start) ** 2) + 0.8 * np.sum((1 - labels - q) ** 2)

    assert (q >= ~candidates).all()
    assert (q <= 1).all()
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1):
        other = np.clip(q + size * rng.normal(size=q.shape), ~candidates, 1)
        assert value(other) > value(q)


def test_complement_target_equals_its_two_quadratic_terms(complement):
    """w |Y - T|^2 and |Y - F|^2 + b |Y - (1 - q)|^2 differ by a constant."""
    regression, candidates, part = complement
    labels = candidates / candidates.sum(axis=1, keepdims=True)
    scores = regression.solve(labels).scores
    target, nearness = part.aim(scores, labels)
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(3):
        Y = rng.random(labels.shape)
        whole = np.sum((Y - scores) ** 2) + 0.8 * np.sum((Y - (1 - part._confidences)) ** 2)
        differences.append(whole - nearness * np.sum((Y - target) ** 2))
    np.testing.assert_allclose(differences, differences[0])
    apart = np.sum((1 - labels - part._confidences) ** 2)
    own = regression.solve(part._confidences)
    cost = 0.5 * (np.sum((part._confidences - own.scores) ** 2) + own.penalty) + 0.8 * apart
    assert part.cost(labels) == pytest.approx(cost)


def test_pl_cl_with_zero_agreement_is_pl_aggd(half_iris):
    X, candidates, _ = half_iris
    alone = PLAGGDClassifier(0.05, max_iter=4).fit(X, candidates)
    beside = PLCLClassifier(0.05, max_iter=4, agreement=0.0).fit(X, candidates)
    np.testing.assert_allclose(beside.label_distributions_, alone.label_distributions_, atol=1e-9)
    assert (beside.objective_ > alone.objective_).all()


@BOTH
def test_aggd_and_cl_accept_duplicates_and_rows_with_all_candidates(half_iris, learner):
    X, candidates, y = half_iris
    silent = candidates.copy()
    silent[::5] = True
    model = learner(max_iter=3).fit(np.repeat(X, 2, axis=0), np.repeat(silent, 2, axis=0))
    assert (model.predict(X) == y).mean() > 0.85
    equal = learner(max_iter=2).fit(np.ones((8, 2)), np.eye(2, dtype=bool)[[0, 0, 0, 0, 0, 1, 1, 1]])
    assert equal.predict(np.ones((1, 2))).tolist() == [0]
    nothing = learner(max_iter=2).fit(X, np.ones((75, 3), dtype=bool))
    np.testing.assert_allclose(nothing.label_distributions_, 1 / 3, atol=1e-6)


@BOTH
def test_aggd_and_cl_accept_few_rows(learner):
    one = learner().fit([[1.0, 2.0]], np.array([[True, True, False]]))
    np.testing.assert_allclose(one.label_distributions_, [[0.5, 0.5, 0]])
    assert one.predict([[3.0, 4.0]]).tolist() == [0]
    three = learner().fit([[0.0], [0.1], [5.0]], np.array([[1, 1], [1, 0], [0, 1]], dtype=bool))
    assert three.transduction_.tolist() == [0, 0, 1]


# RegISL: its objective, its graph, known answers.


@pytest.fixture(scope="module")
def iris_of_regisl():
    X, y = load_iris(return_X_y=True)
    return X, contaminate(y, "size", p=0.6, r=1, random_state=0), y


def written_out(model, X, candidates):
    """tr(F'LF) - bonus |F|^2 by the definition over all pairs, for unscaled features."""
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    far = distances + np.diag(np.full(len(X), np.inf))
    nearest = np.zeros_like(distances, dtype=bool)
    np.put_along_axis(nearest, far.argsort(axis=1, kind="stable")[:, : model.n_neighbors], True, axis=1)
    W = np.where(nearest | nearest.T, np.exp(-(distances**2) / (2 * model.theta_**2)), 0)
    F = model.label_distributions_
    smooth = sum(W[i, j] * np.sum((F[i] - F[j]) ** 2) for i in range(len(X)) for j in range(len(X))) / 2
    return smooth - model.bonus * np.sum(F**2)


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 2.0]), st.sampled_from(["auto", 0.1, 1.0, 10.0]))
def test_regisl_objective_never_grows(seed, bonus, theta):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3))
    candidates = some_sets(rng, 20, 4)
    model = RegISLClassifier(theta, bonus, n_neighbors=4, scaling=None, max_iter=10).fit(X, candidates)
    start = candidates / candidates.sum(axis=1, keepdims=True)
    path = model.objective_
    assert (np.diff(path) <= 1e-12 * (1 + np.abs(path[:-1]))).all()
    assert path[-1] == pytest.approx(written_out(model, X, candidates), abs=1e-9)
    settled, model.label_distributions_ = model.label_distributions_, start
    assert path[0] <= written_out(model, X, candidates) + 1e-9
    assert (settled[~candidates] == 0).all()
    np.testing.assert_allclose(settled.sum(axis=1), 1)


def test_two_rows_match_values_computed_by_hand():
    """Rows at distance 1 agree on the class they share; the larger bonus decides the third row too."""
    X = np.array([[0.0], [1.0]])
    candidates = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    model = RegISLClassifier(1.0, scaling=None).fit(X, candidates)
    np.testing.assert_allclose(model.label_distributions_, [[0, 1, 0], [0, 1, 0]], atol=1e-3)
    assert model.transduction_.tolist() == [1, 1]
    assert model.objective_[-1] == pytest.approx(-0.01 * 2, abs=1e-4)
    np.testing.assert_allclose(model.decision_function([[0.3]])[0, :2], [0, 1], atol=1e-3)


def test_scores_of_new_rows_are_the_mean_of_their_neighbours():
    X = np.array([[0.0], [1.0], [5.0]])
    candidates = np.eye(3, dtype=bool)
    model = RegISLClassifier(2.0, n_neighbors=2, scaling=None).fit(X, candidates)
    near, far = np.exp(-(0.2**2) / 8), np.exp(-(0.8**2) / 8)
    found = model.decision_function([[0.2], [5.0]])
    np.testing.assert_allclose(found[0], [near / (near + far), far / (near + far), 0], atol=1e-12)
    assert found[1].argmax() == 2
    np.testing.assert_allclose(model.predict_proba([[0.2], [5.0]]), found, atol=1e-12)


def test_tiny_width_learns_nothing(iris_of_regisl):
    """All similarities round to 0: nothing is learnt from the sets, and new rows use the nearest one."""
    X, first = np.unique(iris_of_regisl[0], axis=0, return_index=True)
    candidates = iris_of_regisl[1][first]
    even = candidates / candidates.sum(axis=1, keepdims=True)
    for theta in (1e-4, 1e-160, 1e-300):
        model = RegISLClassifier(theta, scaling=None).fit(X, candidates)
        np.testing.assert_allclose(model.label_distributions_, even, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(X + 1e-3), even, atol=1e-12)


def test_similarities():
    distances = np.array([[1.0, 1.0, 3.0], [0.0, 2.0, 2.0]])
    np.testing.assert_allclose(similarities(distances, 2.0), np.exp(-(distances**2) / 8))
    relative = similarities(distances, 2.0, distances[:, :1])
    np.testing.assert_allclose(relative, [[1, 1, np.exp(-1)], [1, np.exp(-0.5), np.exp(-0.5)]])


def test_default_width_is_the_median_neighbour_distance(iris_of_regisl):
    X, candidates, _ = iris_of_regisl
    model = RegISLClassifier(n_neighbors=3, scaling=None).fit(X, candidates)
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 1:4]
    assert model.theta_ == pytest.approx(np.median(distances[distances > 0]))
    assert RegISLClassifier(0.7).fit(X, candidates).theta_ == 0.7
    assert median_distance(np.zeros((4, 2))) == 1.0
    assert median_distance(np.zeros((1, 0))) == 1.0


def test_laplacian():
    W = sparse.csr_matrix([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(laplacian(W).toarray(), [[2, -2, 0], [-2, 3, -1], [0, -1, 1]])


def test_regisl_bonus_makes_rows_more_confident(iris_of_regisl):
    X, candidates, _ = iris_of_regisl
    sure = [
        RegISLClassifier(bonus=bonus).fit(X, candidates).label_distributions_.max(axis=1).mean()
        for bonus in (0, 0.1, 1, 10)
    ]
    assert (np.diff(sure) >= -1e-6).all()
    assert sure[-1] > sure[0]


def test_regisl_accepts_few_rows_duplicates_and_rows_with_all_candidates(iris_of_regisl):
    one = RegISLClassifier().fit([[1.0, 2.0]], np.array([[True, True, False]]))
    np.testing.assert_allclose(one.label_distributions_, [[0.5, 0.5, 0]])
    assert one.predict([[3.0, 4.0]]).tolist() == [0]
    assert one.decision_function([[3.0, 4.0]])[0, 2] == -np.inf
    X, _, _ = iris_of_regisl
    nothing = RegISLClassifier().fit(X, np.ones((150, 3), dtype=bool))
    np.testing.assert_allclose(nothing.label_distributions_, 1 / 3, atol=1e-9)
    equal = RegISLClassifier().fit(np.ones((40, 2)), np.eye(2, dtype=bool)[[0] * 30 + [1] * 10])
    assert equal.theta_ == 1.0
    assert equal.label_distributions_[:30, 0].tolist() == [1.0] * 30
