"""The margin solvers: gradients, known answers, independent convex solvers, and the laws of MM and of the planes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_iris

from plcore import PLSVC
from plcore.evaluation import contaminate
from plcore.labels.weights import prior_labels
from plcore.margin.clpl import convex_objective
from plcore.margin.clpl import minimise as minimise_clpl
from plcore.margin.lmplane import cutting_planes, most_violated
from plcore.margin.majorise import NEAR, ConvexStep, descend_from, majorise, metric_at
from plcore.margin.plsvm import pegasos
from plcore.margin.problem import WIDEST, HingeProblem, gram_matrix, principal_axes, ridge_start, row_axes
from tests.plcore.random_sets import some_sets


def iris():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.hstack([X, np.ones((len(X), 1))]), y


def partial(seed=0, share=0.8, extra=1):
    X, y = iris()
    return X, contaminate(y, "size", p=share, r=extra, random_state=seed), y


def problem_of(X, candidates, C, all_others=False, weights=None):
    weights = np.ones(len(candidates)) if weights is None else weights
    return HingeProblem(X, candidates, weights, C / weights.sum(), all_others, gram_matrix(X, weights))


def ridge(problem):
    return ridge_start(problem.X, prior_labels(problem.candidates), problem.weights, problem.gram)


def plain_objective(X, candidates, C, W, all_others, weights=None):
    """F by the formula."""
    scores = X @ W.T
    best = np.where(candidates, scores, -np.inf)
    labels = best.argmax(axis=1)
    rows = np.arange(len(X))
    free = np.where(candidates, -np.inf, scores)
    if all_others:
        free = scores.copy()
        free[rows, labels] = -np.inf
    losses = np.maximum(0, 1 - best.max(axis=1) + free.max(axis=1))
    return (W**2).sum() / 2 + C * np.average(losses, weights=weights)


def crammer_singer(X, y, C, classes):
    """The least F with exact labels, by SLSQP on the primal problem with slack variables."""
    n, d = X.shape
    size = classes * d
    rows, others = [], []
    for i in range(n):
        for k in range(classes):
            if k != y[i]:
                row = np.zeros(size + n)
                row[y[i] * d : (y[i] + 1) * d] = X[i]
                row[k * d : (k + 1) * d] -= X[i]
                row[size + i] = 1
                rows.append(row)
                others.append(k)
    A = np.array(rows)
    found = optimize.minimize(
        lambda v: v[:size] @ v[:size] / (2 * C) + v[size:].sum() / n,
        np.append(np.zeros(size), np.ones(n)),
        jac=lambda v: np.append(v[:size] / C, np.full(n, 1 / n)),
        bounds=[(None, None)] * size + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success
    return C * found.fun


@pytest.mark.parametrize("all_others", [False, True])
def test_objective_matches_its_formula(all_others):
    X, candidates, _ = partial()
    weights = np.random.default_rng(0).random(len(X))
    W = np.random.default_rng(1).normal(size=(3, 5))
    problem = problem_of(X, candidates, 7.0, all_others, weights)
    expected = plain_objective(X, candidates, 7.0, W, all_others, weights)
    np.testing.assert_allclose(problem.objective(W), expected)
    np.testing.assert_allclose(problem.smooth(W, 0.1).objective, expected)
    sparse_problem = problem_of(sparse.csr_matrix(X), candidates, 7.0, all_others, weights)
    np.testing.assert_allclose(sparse_problem.hard(W)[1], problem.hard(W)[1], atol=1e-12)
    np.testing.assert_allclose(sparse_problem.gram, problem.gram)


@pytest.mark.parametrize("all_others", [False, True])
def test_smoothed_gradient_matches_finite_differences_and_bounds(all_others):
    X, candidates, _ = partial()
    problem = problem_of(X, candidates, 5.0, all_others)
    W = np.random.default_rng(1).normal(size=(3, 5))
    labels = problem.labels(W)
    prior = np.column_stack([~candidates, np.ones(len(X))]) * 0.25
    found = problem.smooth(W, 0.2, labels)
    assert found.objective - 0.1 * 5 <= found.value <= found.objective
    assert found.dual <= found.objective
    for given in (None, prior):
        error = optimize.check_grad(
            lambda w, p=given: problem.smooth(w.reshape(3, 5), 0.2, labels, p).value,
            lambda w, p=given: problem.smooth(w.reshape(3, 5), 0.2, labels, p).gradient.ravel(),
            W.ravel(),
        )
        assert error < 1e-4


def test_clpl_gradient_and_minimum_match_independent_results():
    X, candidates, _ = partial()
    problem = problem_of(X, candidates, 5.0)
    W = np.random.default_rng(1).normal(size=(3, 5))

    def value(w):
        return convex_objective(problem, w.reshape(3, 5))[0]

    def slope(w):
        return convex_objective(problem, w.reshape(3, 5))[1].ravel()

    assert optimize.check_grad(value, slope, W.ravel()) < 1e-4
    found = minimise_clpl(problem, ridge(problem), 1e-12, 500)
    theirs = optimize.minimize(value, W.ravel(), jac=slope, method="BFGS", options={"gtol": 1e-7})
    assert found.converged
    np.testing.assert_allclose(value(found.W.ravel()), theirs.fun, rtol=1e-9)
    # The formula, on one row by hand: mean of two scores is 0.3, one other score is -0.4.
    one = HingeProblem(np.eye(1), np.array([[True, True, False]]), np.ones(1), 1.0)
    by_hand = 0.5 * (0.1**2 + 0.5**2 + 0.4**2) + 0.7**2 + 0.6**2
    np.testing.assert_allclose(convex_objective(one, np.array([[0.1], [0.5], [-0.4]]))[0], by_hand)


def test_lbfgs_finds_minimum_of_quadratic():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    b = rng.normal(size=6)
    found = descend_from(lambda x: (x @ A @ x / 2 - b @ x, A @ x - b), np.zeros(6), 200, 0.0, lambda _: False)
    np.testing.assert_allclose(found.point, np.linalg.solve(A, b), atol=1e-6)
    assert found.settled


@pytest.mark.parametrize("all_others", [False, True])
def test_two_separable_classes_match_a_solution_by_hand(all_others):
    # Rows -1 and 1: W = (-1/2, 1/2) has margins of exactly 1, and F = 1/4.
    X = np.array([[-1.0], [1.0]])
    problem = problem_of(X, np.eye(2, dtype=bool), 100.0, all_others)
    for found in (majorise(problem, ridge(problem), 1e-9, 50), cutting_planes(problem, ridge(problem), 1e-7, 500)):
        np.testing.assert_allclose(found.W, [[-0.5], [0.5]], atol=1e-4)
        np.testing.assert_allclose(problem.objective(found.W), 0.25, atol=1e-6)
        assert found.converged


@pytest.mark.parametrize("C", [1.0, 30.0, 300.0])
def test_exact_labels_give_the_crammer_singer_svm(C):
    X, y = iris()
    rows = np.arange(0, 150, 5)
    X, y = X[rows], y[rows]
    exact = crammer_singer(X, y, C, 3)
    for all_others in (False, True):
        problem = problem_of(X, np.eye(3, dtype=bool)[y], C, all_others)
        found = majorise(problem, ridge(problem), 1e-8, 100)
        np.testing.assert_allclose(problem.objective(found.W), exact, rtol=1e-6)
        assert found.converged
    found = cutting_planes(problem, ridge(problem), 1e-6, 2000)
    np.testing.assert_allclose(min(found.objective), exact, rtol=2e-4)


@pytest.mark.parametrize("all_others", [False, True])
@pytest.mark.parametrize("C", [1.0, 100.0, 10_000.0])
def test_majorisation_never_raises_the_objective(C, all_others):
    for seed in range(5):
        X, candidates, _ = partial(seed)
        problem = problem_of(X, candidates, C, all_others)
        found = majorise(problem, ridge(problem), 1e-4, 100)
        assert (np.diff(found.objective) <= 0).all()
        np.testing.assert_allclose(found.objective[-1], plain_objective(X, candidates, C, found.W, all_others))


def test_metric_is_reused_while_it_is_a_good_approximation():
    X, candidates, _ = partial()
    problem = problem_of(X, candidates, 10.0)
    first = metric_at(problem, 0.1)
    assert metric_at(problem, 0.1 / NEAR) is first
    assert metric_at(problem, 0.1 * NEAR) is first
    problem.rescale(problem.scale * 2 * NEAR)
    later = metric_at(problem, 0.1)
    assert later is not first
    W = np.arange(float(np.prod(problem.shape))).reshape(problem.shape)
    np.testing.assert_allclose(later.outward(later.inward(W)), W, atol=1e-12)


def test_converged_means_a_small_duality_gap():
    X, candidates, _ = partial()
    problem = problem_of(X, candidates, 100.0)
    assert majorise(problem, ridge(problem), 1e-4, 100).converged
    beyond = majorise(problem, ridge(problem), 1e-17, 100)  # finer than double precision
    assert beyond.n_iter < 100, "the labels have come to rest"
    assert not beyond.converged


@pytest.mark.parametrize("all_others", [False, True])
def test_duality_gap_bounds_the_remaining_improvement(all_others):
    X, candidates, _ = partial()
    problem = problem_of(X, candidates, 100.0, all_others)
    labels = problem.labels(ridge(problem))
    rough, fine = ConvexStep(problem, labels), ConvexStep(problem, labels)
    W = rough.solve(ridge(problem), 0.05)
    best = problem.hard(fine.solve(W, 1e-8), labels)[0]
    assert rough.gap <= 0.05 * problem.hard(W, labels)[0]
    assert fine.gap <= 1e-8 * best
    assert problem.hard(W, labels)[0] - best <= rough.gap


def test_pegasos_matches_the_printed_algorithm():
    X, candidates, _ = partial()
    C, n = 20.0, len(X)
    lam = 1 / C
    W = np.zeros((3, 5))
    for t in range(1, 41):
        scores = X @ W.T
        best = np.where(candidates, scores, -np.inf)
        worst = np.where(candidates, -np.inf, scores)
        violated = best.max(axis=1) - worst.max(axis=1) < 1
        step = np.zeros((3, 5))
        np.add.at(step, best.argmax(axis=1)[violated], X[violated])
        np.subtract.at(step, worst.argmax(axis=1)[violated], X[violated])
        W = (1 - 1 / t) * W + step / (lam * t * n)
        W *= min(1, 1 / np.sqrt(lam) / np.linalg.norm(W))
    found = pegasos(problem_of(X, candidates, C), np.zeros((3, 5)), 40)
    np.testing.assert_allclose(found.W, W, atol=1e-12)
    assert len(found.objective) == 41
    many = pegasos(problem_of(X, candidates, C), np.zeros((3, 5)), 2000)
    best = majorise(problem_of(X, candidates, C), found.W, 1e-4, 50).objective[-1]
    np.testing.assert_allclose(many.objective[-1], best, rtol=0.02)


@pytest.mark.parametrize("C", [1.0, 30.0, 300.0])
@pytest.mark.parametrize("zero", [False, True])
def test_cutting_planes_satisfy_their_laws(C, zero):
    for seed in range(4):
        X, candidates, _ = partial(seed)
        problem = problem_of(X, candidates, C, all_others=True)
        start = np.zeros((3, 5)) if zero else ridge(problem)
        found = cutting_planes(problem, start, 1e-4, 500)
        assert (np.diff(found.program_values) >= 0).all()
        np.testing.assert_allclose(problem.objective(found.W), min(found.objective))
        if found.converged:
            assert found.objective[-1] <= found.program_values[-1] + C * 1e-4 * 1.01


def test_cutting_planes_stopped_early_keep_the_best_iterate():
    X, candidates, _ = partial()
    problem = problem_of(X, candidates, 300.0, all_others=True)
    rose = 0
    for most in range(1, 13):
        found = cutting_planes(problem, ridge(problem), 1e-4, most)
        assert not found.converged
        assert problem.objective(found.W) == pytest.approx(min(found.objective))
        rose += found.objective[-1] > min(found.objective)
    assert rose >= 3, "F falls unsteadily, or the last iterate would do"


def test_most_violated_pair_never_stops_but_algorithm_2_does():
    """Theorem 1: at a perfect solution the pair of least margin is still violated; Algorithm 2's is not."""
    X, candidates, y = partial(share=1.0)
    keep = y != 2  # two of the species and a third label without rows: separable
    X, candidates = X[keep], candidates[keep]
    exact = problem_of(X, np.eye(3, dtype=bool)[y[keep]], 1e4, all_others=True)
    W = majorise(exact, ridge(exact), 1e-6, 50).W * 1.01
    problem = problem_of(X, candidates, 1e4, all_others=True)
    _, plane, violation = most_violated(problem, W)
    assert np.vdot(W, plane) >= violation - 1e-4
    scores = X @ W.T
    rows = np.arange(len(X))
    least = np.where(candidates, scores, np.inf).argmin(axis=1)
    others = scores.copy()
    others[rows, least] = -np.inf
    rival = others.argmax(axis=1)
    plain = np.zeros((3, 5))
    np.add.at(plain, least, X / len(X))
    np.subtract.at(plain, rival, X / len(X))
    assert np.vdot(W, plain) < 1 - 1e-4


def test_ridge_start_is_equal_for_both_formulas():
    X, candidates, _ = partial()
    weights = np.random.default_rng(0).random(150)
    targets = prior_labels(candidates)
    expected = np.linalg.solve(X.T @ (X * weights[:, None]) + np.eye(5), X.T @ (targets * weights[:, None])).T
    np.testing.assert_allclose(ridge_start(X, targets, weights, gram_matrix(X, weights)), expected)
    np.testing.assert_allclose(ridge_start(sparse.csr_matrix(X), targets, weights, None), expected, atol=1e-5)


class TestManyClasses:
    """Scores of many classes use single precision, within the requested tolerance of the solver."""

    @pytest.fixture
    def many(self):
        rng = np.random.default_rng(0)
        y = np.arange(160) % 80
        X = rng.normal(size=(80, 12))[y] + 0.3 * rng.normal(size=(160, 12))
        return X, contaminate(y, "size", r=3, random_state=0)

    def problem(self, X, candidates, tol, all_others=True):
        weights = np.ones(len(candidates))
        return HingeProblem(
            X, candidates, weights, 10 / len(candidates), all_others, gram_matrix(X, weights), None, tol
        )

    @pytest.mark.parametrize("mu", [3.0, 0.1, 0.01])
    @pytest.mark.parametrize("all_others", [False, True])
    def test_values_and_gradients_match_double_precision(self, many, mu, all_others):
        W = np.random.default_rng(1).normal(size=(80, 12))
        single, double = (self.problem(*many, tol, all_others) for tol in (1e-3, 0.0))
        found, exact = (problem.smooth(W, mu) for problem in (single, double))
        for name in ("value", "objective", "dual"):
            assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=1e-5)
            assert getattr(found, name) != getattr(exact, name)
        np.testing.assert_allclose(found.gradient, exact.gradient, atol=1e-4)
        value, gradient, weight = single.hard(W, single=True)
        expected = double.hard(W)
        assert value == pytest.approx(expected[0], rel=1e-6)
        np.testing.assert_allclose(gradient, expected[1], atol=1e-9)  # the same baselines
        assert weight == expected[2]

    def test_final_results_use_double_precision(self, many):
        W = np.random.default_rng(1).normal(size=(80, 12))
        single, double = self.problem(*many, 1e-3), self.problem(*many, 0.0)
        assert single.objective(W) == double.objective(W)
        np.testing.assert_array_equal(single.labels(W), double.labels(W))
        np.testing.assert_array_equal(single.candidate_losses(W), double.candidate_losses(W))

    def test_double_precision_is_used_if_more_accuracy_is_needed(self, many):
        """Small tolerances, little smoothing, few classes, sparse rows."""
        X, candidates = many
        W = np.random.default_rng(1).normal(size=(80, 12))
        exact = self.problem(X, candidates, 0.0)
        for problem, mu in (
            (self.problem(X, candidates, 1e-6), 1.0),
            (self.problem(X, candidates, 1e-3), 1e-3),
            (self.problem(sparse.csr_matrix(X), candidates, 1e-3), 1.0),
        ):
            assert problem.smooth(W, mu).value == pytest.approx(exact.smooth(W, mu).value, rel=1e-13)
        few = candidates[:20, :63] | np.eye(63, dtype=bool)[:20]
        pair = [self.problem(X[:20], few, tol).smooth(W[:63], 1.0).value for tol in (1e-3, 0.0)]
        assert pair[0] == pair[1]

    @pytest.mark.parametrize("solver", [majorise, cutting_planes])
    def test_solvers_reach_the_same_objective_in_single_precision(self, many, solver):
        ends = []
        for tol in (1e-4, 0.0):
            problem = self.problem(*many, tol)
            found = solver(problem, ridge(problem), 1e-4, 300)
            assert found.converged
            assert problem.objective(found.W) == pytest.approx(min(found.objective), rel=1e-6)
            ends.append(problem.objective(found.W))
        assert ends[0] == pytest.approx(ends[1], rel=2e-3)


class TestPrincipalAxes:
    """Features rotated to their principal axes: the same problem with a diagonal metric."""

    def test_rotation_makes_the_gram_matrix_diagonal_and_keeps_the_steps(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(60, 12)) @ rng.normal(size=(12, 12))
        candidates = some_sets(rng, 60, 4, 0.4)
        weights = rng.random(60) + 0.5
        gram = gram_matrix(X, weights)
        values, axes = principal_axes(X, gram)
        Z = axes.coordinates(X)
        np.testing.assert_allclose(gram_matrix(Z, weights), np.diag(values), atol=1e-9 * values.max())
        found = []
        for features, matrix in ((X, gram), (Z, values)):
            problem = HingeProblem(features, candidates, weights, 10 / 60, False, matrix)
            start = ridge_start(features, prior_labels(candidates), weights, matrix)
            found.append((start, majorise(problem, start, 1e-6, 50)))
        (start, plain), (turned_start, turned) = found
        np.testing.assert_allclose(axes.features(turned_start), start, atol=1e-10)
        assert turned.objective[-1] == pytest.approx(plain.objective[-1], rel=1e-6)
        np.testing.assert_allclose(axes.features(turned.W), plain.W, atol=1e-3)

    def test_sparse_features_and_many_rows_are_not_rotated(self):
        X = np.random.default_rng(0).normal(size=(41, 5))
        ones = np.ones(41)
        assert principal_axes(X, gram_matrix(X, ones)) is None  # more than 8 rows for each feature
        assert principal_axes(X[:40], gram_matrix(X[:40], ones[:40])) is not None
        assert principal_axes(X[:40], None) is None
        assert principal_axes(sparse.csr_matrix(X[:40]), gram_matrix(X[:40], ones[:40])) is None

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
    @pytest.mark.parametrize("d", [60, 2100])
    def test_few_rows_of_many_features_give_the_same_solution_in_their_axes(self, make, d):
        """One row has no weight, and is not in the span of the others; two are equal."""
        rng = np.random.default_rng(4)
        X = rng.normal(size=(24, d)) * (rng.random((24, d)) < 0.5)
        X[1] = X[0]
        candidates, weights = some_sets(rng, 24, 4, 0.4), np.append(rng.random(23) + 0.5, 0.0)
        X = make(X)
        values, axes = row_axes(X, weights)
        Z, gram = axes.coordinates(X), gram_matrix(X, weights)
        assert Z.shape == (24, 22)
        assert (values is None) == (gram is None) == (d > WIDEST)
        np.testing.assert_allclose(axes.coordinates(axes.features(np.eye(22))), np.eye(22), atol=1e-10)
        products = (X @ X.T).toarray() if sparse.issparse(X) else X @ X.T
        np.testing.assert_allclose(Z[:23] @ Z[:23].T, products[:23, :23], atol=1e-9)
        found = []
        for features, matrix in ((X, gram), (Z, values)):
            problem = HingeProblem(features, candidates, weights, 10 / weights.sum(), False, matrix)
            start = ridge_start(features, prior_labels(candidates), weights, matrix)
            found.append(majorise(problem, start, 1e-6, 50))
        plain, turned = found
        assert turned.objective[-1] == pytest.approx(plain.objective[-1], rel=1e-4)
        np.testing.assert_allclose(axes.features(turned.W), plain.W, atol=1e-3)

    def test_axes_of_rows_are_made_only_if_they_save_work(self):
        X, ones = np.random.default_rng(0).normal(size=(30, 20)), np.ones(30)
        assert row_axes(X, ones) is None
        assert row_axes(X, ones * (np.arange(30) < 19)) is not None
        assert row_axes(np.zeros((3, 20)), ones[:3]) is None
        wide = sparse.random(400, 3000, 0.01, format="csr", random_state=0)  # 12,000 entries
        assert row_axes(wide[:100], np.ones(100)) is not None
        assert row_axes(wide, np.ones(400)) is None

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_learned_coefficients_are_for_the_original_features(self, monkeypatch, kernel):
        rng = np.random.default_rng(1)
        X, candidates = rng.normal(size=(30, 6)), rng.random((30, 3)) < 0.4
        candidates[np.arange(30), rng.integers(3, size=30)] = True
        options = {"kernel": kernel, "tol": 1e-8, "warm_start": True}
        turned = PLSVC(**options).fit(X, candidates)
        again = PLSVC(**options).fit(X, candidates).fit(X, candidates)  # from its own solution
        monkeypatch.setattr("plcore.margin.problem.TURNED", 0)
        plain = PLSVC(**options).fit(X, candidates)
        for other in (plain, again):
            np.testing.assert_allclose(turned.decision_function(X), other.decision_function(X), atol=1e-3)
        assert turned.objective_[-1] == pytest.approx(plain.objective_[-1], rel=1e-6)
        if kernel == "linear":
            np.testing.assert_allclose(turned.decision_function(X), X @ turned.coef_.T + turned.intercept_)
