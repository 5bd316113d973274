"""The parts of the kernel ridge compared with plain NumPy: leave-one-out scores, masses, rounds, points, effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.utils.validation import validate_data

from plcore import PLKernelRidge
from plcore.evaluation import contaminate
from plcore.kernel.features import KERNELS, KernelFeatures
from plcore.kernel.rounds import UPDATE_ROUNDS, Rounds, probability_temperature
from plcore.kernel.smoother import FactoredSmoother, Ridge, Smoother
from plcore.kernel.soft_labels import SoftLabelClassifier, fit_scaler, frequent_classes, scaled, softmax_inside
from plcore.labels.weights import ClassMasses, prior_labels
from tests.plcore.random_sets import some_sets


def plain_ridge(Z, Q, weights, alpha):
    """Coefficients and intercept of the weighted ridge regression, the intercept without a ridge."""
    A = np.hstack([Z, np.ones((len(Z), 1))])
    penalty = alpha * np.eye(A.shape[1])
    penalty[-1, -1] = 0
    return np.linalg.solve(A.T @ (weights[:, None] * A) + penalty, A.T @ (weights[:, None] * Q))


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    candidates = some_sets(rng, 40, 4, 0.4)
    return X, candidates, prior_labels(candidates)


class TestLeaveOneOut:
    @pytest.mark.parametrize("alpha", [0.02, 2.0])
    def test_leave_one_out_scores_equal_refits_without_each_row(self, data, alpha):
        X, _, Q = data
        weights = np.ones(40)
        Z = KernelFeatures("laplace", 25).fit(X, weights, np.random.RandomState(0))
        scores = Smoother(Z, weights).ridge(alpha).left_out_scores(Q)
        for row in range(40):
            others = np.arange(40) != row
            B = plain_ridge(Z[others], Q[others], weights[others], alpha)
            np.testing.assert_allclose(scores[row], np.append(Z[row], 1) @ B, rtol=1e-8, atol=1e-9)

    def test_one_copy_of_a_weighted_row_is_left_out(self, data):
        X, _, Q = data
        weights = np.tile([1.0, 3.0, 0.4, 0.0], 10)
        scores = Smoother(X, weights).ridge(0.5).left_out_scores(Q)
        for row in range(40):
            without = weights.copy()
            without[row] = max(weights[row] - 1, 0)
            B = plain_ridge(X, Q, without, 0.5)
            np.testing.assert_allclose(scores[row], np.append(X[row], 1) @ B, rtol=1e-8, atol=1e-9)

    def test_scores_of_new_rows_match_regression(self, data):
        X, _, Q = data
        smoother = Smoother(X, np.ones(40))
        outer, shift = smoother.weights_of(smoother.ridge(0.1), Q)
        B = plain_ridge(X, Q, np.ones(40), 0.1)
        np.testing.assert_allclose(np.vstack([outer, shift]), B, atol=1e-10)
        new = X[:7] + 1
        scores = smoother.ridge(0.1).scores(Q, smoother.turn(new))
        np.testing.assert_allclose(scores, new @ outer + shift, atol=1e-10)

    def test_sparse_features_give_the_same_scores(self, data):
        X, _, Q = data
        X = np.where(np.abs(X) < 0.7, 0, X)
        weights = np.linspace(0.5, 2, 40)
        both = [Smoother(form, weights) for form in (X, sparse.csr_matrix(X))]
        dense, thin = (one.ridge(0.1).left_out_scores(Q) for one in both)
        np.testing.assert_allclose(thin, dense, atol=1e-10)
        dense, thin = (one.weights_of(one.ridge(0.1), Q)[0] for one in both)
        np.testing.assert_allclose(thin, dense, atol=1e-10)

    def test_rounds_in_single_precision_match_double_precision(self, data, monkeypatch):
        X, _, Q = data
        Z = KernelFeatures("laplace", 40).fit(X, np.ones(40), np.random.RandomState(0))
        double = Smoother(Z, np.ones(40)).ridge(0.02).left_out_scores(Q)
        monkeypatch.setattr("plcore.kernel.smoother.SINGLE_FROM", 40)
        single = Smoother(Z, np.ones(40)).ridge(0.02)
        assert single.rows.dtype == np.float32
        np.testing.assert_allclose(single.left_out_scores(Q), double, atol=1e-4)


class TestFactor:
    """The Cholesky factor for one alpha gives the same results as the eigenvectors."""

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
    @pytest.mark.parametrize("alpha", [0.02, 2.0])
    def test_factor_gives_the_same_regression(self, data, form, alpha):
        X, _, Q = data
        weights = np.tile([1.0, 3.0, 0.4, 0.0], 10)
        whole, factored = Smoother(X, weights), FactoredSmoother(form(X), weights, alpha)
        ridge = whole.ridge(alpha)
        np.testing.assert_allclose(factored.ridge().left_out_scores(Q), ridge.left_out_scores(Q), rtol=1e-8, atol=1e-9)
        for found, expected in zip(factored.weights_of(factored.ridge(), Q), whole.weights_of(ridge, Q), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-9)
        new = X[:7] + 1
        np.testing.assert_allclose(
            factored.ridge().scores(Q, factored.turn(form(new))), ridge.scores(Q, whole.turn(new)), atol=1e-9
        )

    @pytest.mark.parametrize("kernel", ["rbf", "laplace"])
    def test_plain_features_with_their_penalty_equal_the_kernel(self, data, kernel):
        """With Z = K(x, points) and M the kernel of the points, Z M^-1 Z' equals the product of the other features."""
        X, _, Q = data
        ones = np.ones(40)
        plain, other = KernelFeatures(kernel, 40, plain=True), KernelFeatures(kernel, 40)
        K, Z = (features.fit(X, ones, np.random.RandomState(0)) for features in (plain, other))
        np.testing.assert_allclose(K @ np.linalg.solve(plain.penalty, K.T), Z @ Z.T, atol=1e-7)
        np.testing.assert_allclose(
            FactoredSmoother(K, ones, 0.1, plain.penalty).ridge().left_out_scores(Q),
            Smoother(Z, ones).ridge(0.1).left_out_scores(Q),
            atol=1e-7,
        )

    def test_rows_in_single_precision_match_double_precision(self, data, monkeypatch):
        X, _, Q = data
        features = KernelFeatures("laplace", 40, plain=True)
        K = features.fit(X, np.ones(40), np.random.RandomState(0))
        double = FactoredSmoother(K, np.ones(40), 0.02, features.penalty).ridge().left_out_scores(Q)
        monkeypatch.setattr("plcore.kernel.smoother.SINGLE_FROM", 40)
        monkeypatch.setattr("plcore.kernel.smoother.FACTOR_BLOCK", 7)
        monkeypatch.setattr("plcore.kernel.features.PLAIN_BLOCK", 7)
        again = features.transform(X)
        np.testing.assert_allclose(again, K, atol=1e-14)
        single = FactoredSmoother(again, np.ones(40), 0.02, features.penalty).ridge()
        assert single.rows.dtype == np.float32
        np.testing.assert_allclose(single.left_out_scores(Q), double, atol=1e-4)

    def test_double_precision_is_used_if_rounding_errors_would_grow(self, monkeypatch):
        """Two nearly equal features and a small ridge: the factor is small there."""
        monkeypatch.setattr("plcore.kernel.smoother.SINGLE_FROM", 40)
        rng = np.random.default_rng(0)
        Z, Q = rng.normal(size=(40, 5)), np.eye(40)[:, :3]
        for near, double in ((1.0, False), (1e-6, True)):
            Z[:, 4] = Z[:, 3] + near * rng.normal(size=40)
            smoother = FactoredSmoother(Z, np.ones(40), 1e-13)
            assert smoother.rows.dtype == np.float32
            assert smoother.turn(Z[:2]).dtype == np.float64
            monkeypatch.setattr("plcore.kernel.smoother.SINGLE_FROM", 41)
            exact = FactoredSmoother(Z, np.ones(40), 1e-13)
            monkeypatch.setattr("plcore.kernel.smoother.SINGLE_FROM", 40)
            np.testing.assert_allclose(smoother.rows, exact.rows, atol=1e-5)
            monkeypatch.setattr(smoother, "_exact", False)
            off = np.abs(smoother.turn(Z, np.float32) - exact.rows).max()
            assert (off > 1e-5) == double
            np.testing.assert_allclose(smoother.ridge().left_out_scores(Q), exact.ridge().left_out_scores(Q), atol=1e-4)

    def test_nearly_dependent_point_is_left_out(self):
        """Its penalty would drown in the rounding of the normal equations."""
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)
        X[1::2] += 5e-5 * rng.normal(size=(30, 3))
        plain, other = KernelFeatures("rbf", 60, plain=True), KernelFeatures("rbf", 60)
        K = plain.fit(X, np.ones(60), np.random.RandomState(0))
        Z = other.fit(X, np.ones(60), np.random.RandomState(0))
        assert K.shape[1] <= 30 < Z.shape[1]
        Q = np.eye(60)[:, :4]
        np.testing.assert_allclose(
            FactoredSmoother(K, np.ones(60), 0.1, plain.penalty).ridge().left_out_scores(Q),
            Smoother(Z, np.ones(60)).ridge(0.1).left_out_scores(Q),
            atol=1e-4,
        )

    def test_equal_rows_with_a_small_ridge_are_accepted(self):
        Z = np.ones((50, 4))
        scores = FactoredSmoother(Z, np.ones(50), 1e-12).ridge().left_out_scores(np.eye(50)[:, :3])
        assert np.isfinite(scores).all()


class TestFeatures:
    def test_width_is_the_weighted_mean_distance(self, data):
        X, weights = data[0].copy(), np.tile([1.0, 3.0, 0.4, 0.0], 10)
        X[1::4] = X[0::4]  # some rows are equal
        shares = weights / weights.sum()
        for kernel, norm in (("rbf", 2), ("laplace", 1)):
            features = KernelFeatures(kernel, 100)
            features.fit(X, weights, np.random.RandomState(0))
            distances = np.linalg.norm(X[:, None] - X, ord=norm, axis=2)
            assert features.width == pytest.approx(shares @ distances @ shares, rel=1e-8)
            features.fit(X[:2], np.ones(2), np.random.RandomState(0))
            assert features.width == 1.0  # there is no width if all rows are equal

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_products_of_features_equal_the_kernel(self, data, kernel):
        X = fit_scaler("standard", data[0], np.ones(40)).transform(data[0])
        features = KernelFeatures(kernel, 100)
        Z = features.fit(X, np.ones(40), np.random.RandomState(0))
        s = features.width
        distances = np.linalg.norm(X[:, None] - X, axis=2), np.abs(X[:, None] - X).sum(axis=2)
        expected = {
            "rbf": lambda: rbf_kernel(X, gamma=1 / (2 * distances[0].mean() ** 2)),
            "laplace": lambda: laplacian_kernel(X, gamma=1 / distances[1].mean()),
            "linear": lambda: X @ X.T / s**2,
        }[kernel]()
        np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-8)
        np.testing.assert_allclose(features.transform(X[:3]), Z[:3], atol=1e-12)
        if kernel == "linear":
            assert s**2 == pytest.approx((X**2).sum(axis=1).mean())

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_duplicate_rows_add_no_points(self, kernel):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(10, 30))[np.arange(50) % 10]
        Z = KernelFeatures(kernel, 20).fit(X, np.ones(50), np.random.RandomState(0))
        assert Z.shape[1] <= 10
        np.testing.assert_allclose(Z[:10], Z[40:], atol=1e-10)
        assert np.isfinite(Smoother(Z, np.ones(50)).ridge(0.02).left_out_scores(np.eye(50)[:, :3])).all()

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_sparse_rows_stay_sparse_and_give_the_same_kernel(self, data, kernel):
        X = np.where(np.abs(data[0]) < 0.7, 0, data[0])
        thin, dense = KernelFeatures(kernel, 100), KernelFeatures(kernel, 100)
        Z = thin.fit(sparse.csr_matrix(X), np.ones(40), np.random.RandomState(0))
        expected = dense.fit(X, np.ones(40), np.random.RandomState(0))
        assert sparse.issparse(Z) == (kernel == "linear")
        np.testing.assert_allclose(np.asarray((Z @ Z.T).todense() if sparse.issparse(Z) else Z @ Z.T),
                                   expected @ expected.T, atol=1e-8)  # fmt: skip

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_points_are_limited_to_n_components(self, kernel):
        X = np.random.default_rng(0).normal(size=(300, 60))
        features = KernelFeatures(kernel, 20)
        Z = features.fit(X, np.ones(300), np.random.RandomState(0))
        assert Z.shape == (300, 20)
        assert features.points.shape == (20, 60)

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_plain_features_use_fewer_points(self, kernel):
        X = np.random.default_rng(0).normal(size=(300, 60))
        features = KernelFeatures(kernel, 50, plain=True)
        Z = features.fit(X, np.ones(300), np.random.RandomState(0))
        assert Z.shape == (300, 35)
        assert features.penalty.shape == (35, 35)
        np.testing.assert_allclose(features.transform(features.points), features.penalty, atol=1e-14)
        every = KernelFeatures(kernel, 300, plain=True)  # all rows can be points, or all features are used
        Z = every.fit(X, np.ones(300), np.random.RandomState(0))
        assert Z.shape == ((300, 60) if kernel == "linear" else (300, 300))
        assert (every.penalty is None) == (kernel == "linear")

    def test_laplace_points_are_cluster_centres(self):
        rng = np.random.default_rng(0)
        X = np.repeat(np.eye(6) * 50, 50, axis=0) + rng.normal(size=(300, 6))
        centres = KernelFeatures("laplace", 30)
        centres.fit(X, np.ones(300), np.random.RandomState(0))
        drawn = KernelFeatures("rbf", 30)
        drawn.fit(X, np.ones(300), np.random.RandomState(0))

        def error(points):
            return ((X[:, None] - points) ** 2).sum(axis=2).min(axis=1).mean()

        assert error(centres.points) < 0.9 * error(drawn.points)


class TestMasses:
    def test_labels_that_meet_the_masses_stay_unchanged(self, data):
        _, candidates, prior = data
        masses = ClassMasses(np.ones(40), prior.sum(axis=0))
        np.testing.assert_allclose(masses.pull(prior, 1.0), prior, atol=1e-12)
        labels = softmax_inside(np.random.default_rng(1).normal(size=(40, 4)), 0.3, prior)
        before = np.abs(labels.sum(axis=0) - masses.targets).max()
        for _ in range(40):
            labels = masses.pull(labels, 1.0)
        np.testing.assert_allclose(labels.sum(axis=0), masses.targets, rtol=1e-6)  # the fixed point
        np.testing.assert_allclose(masses.pull(labels, 1.0), labels, atol=1e-6)
        assert before > 0.1
        assert (labels[~candidates] == 0).all()
        np.testing.assert_allclose(labels.sum(axis=1), 1)

    def test_one_pull_equals_three_power_steps(self, data):
        _, _, prior = data
        labels = softmax_inside(np.random.default_rng(1).normal(size=(40, 4)), 0.3, prior)
        masses = ClassMasses(np.ones(40), prior.sum(axis=0))
        expected = labels
        for _ in range(3):
            expected = expected * (prior.sum(axis=0) / expected.sum(axis=0)) ** 0.5
            expected = expected / expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(masses.pull(labels, 0.5), expected)
        assert masses.pull(labels, 0.0) is labels

    def test_rows_with_all_candidates_do_not_count_for_masses(self):
        candidates = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0], [0, 1, 0, 0]], dtype=bool)
        masses = ClassMasses.of(prior_labels(candidates), np.array([1.0, 2.0, 5.0, 1.0]))
        np.testing.assert_allclose(masses.weights, [1, 2, 0, 1])  # no row has the last class
        np.testing.assert_allclose(masses.targets, [0.5, 2.5, 1, 0])
        uneven = ClassMasses.of(prior_labels(candidates, [[1, 1, 1, 1]] * 2 + [[8, 1, 1, 1]] * 2), np.ones(4))
        np.testing.assert_allclose(uneven.targets, [1.3, 2.1, 0.6, 0])  # with weights they count

    def test_class_missing_from_informative_sets_is_not_pulled(self):
        """An answer may name a class that no row had, or only rows with all candidates."""
        imported = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]], dtype=bool)
        answered = imported.copy()
        answered[0] = answered[2] = [0, 0, 1]
        masses = ClassMasses.of(prior_labels(imported), np.ones(4))
        assert masses.targets[2] == 0
        labels = softmax_inside(np.array([[0, 0, 1.0]] * 4), 0.3, prior_labels(answered))
        pulled = masses.pull(labels, 1.0)
        np.testing.assert_array_equal(pulled[[0, 2]], answered[[0, 2]])
        assert pulled[3, 2] > 0.5

    def test_rows_of_weight_zero_do_not_count_for_masses(self):
        candidates = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
        masses = ClassMasses.of(prior_labels(candidates), np.array([1.0, 1.0, 0.0]))
        np.testing.assert_array_equal(masses.weights, [0, 1, 0])  # two classes are left, and row 0 may be both
        np.testing.assert_array_equal(masses.targets, [1, 0, 0])

    def test_all_rows_can_have_all_candidates(self):
        prior = prior_labels(np.ones((5, 3), dtype=bool))
        labels = softmax_inside(np.arange(15.0).reshape(5, 3) % 4, 1.0, prior)
        np.testing.assert_allclose(ClassMasses.of(prior, np.ones(5)).pull(labels, 1.0), labels)

    def test_class_in_nearly_every_set_is_frequent(self):
        candidates = np.eye(5, dtype=bool)[np.arange(100) % 5]
        assert not frequent_classes(candidates).any()
        assert not frequent_classes(np.eye(2, dtype=bool)[np.zeros(50, dtype=int)]).any()  # exact labels do not count
        candidates[:, 0] = True
        assert frequent_classes(candidates).tolist() == [True, False, False, False, False]
        assert not frequent_classes(np.ones((9, 3), dtype=bool)).any()


class TestRounds:
    def test_rounds_match_plain_numpy(self, data):
        X, candidates, prior = data
        n, T, alpha, mass = 40, 0.05, 0.1, 0.5
        Z = X - X.mean(axis=0)
        H = Z @ np.linalg.inv(Z.T @ Z + alpha * np.eye(5)) @ Z.T + 1 / n
        h, Q, M = np.diag(H)[:, None], prior, prior[~candidates.all(axis=1)].sum(axis=0)
        for _ in range(2):
            F = (H @ Q - h * Q) / (1 - h)
            Q = np.where(candidates, np.exp(F / T), 0)
            Q /= Q.sum(axis=1, keepdims=True)
            for _ in range(3):
                Q = Q * (M / Q[~candidates.all(axis=1)].sum(axis=0)) ** mass
                Q /= Q.sum(axis=1, keepdims=True)
        ridge = Smoother(X, np.ones(n)).ridge(alpha)
        found = Rounds(ridge, ClassMasses.of(prior, np.ones(n)), mass, T).settle(prior, max_iter=2)
        np.testing.assert_allclose(found.labels, Q, atol=1e-9)

    def test_one_answer_moves_scores_by_its_smoother_column(self, data):
        """Exactly, while its own leave-one-out score stays: nothing else changes in a first round."""
        X, _, prior = data
        weights = np.linspace(0.5, 2, 40)
        ridge = Smoother(X, weights).ridge(0.1)
        H, own = ridge.scores(np.eye(40), ridge.rows), ridge.own[:, None]
        row = int(np.flatnonzero((prior > 0).sum(axis=1) > 1)[0])
        after = prior.copy()
        after[row] = np.eye(4)[prior[row].argmax()]
        moved = ridge.left_out_scores(after) - ridge.left_out_scores(prior)
        expected = H[:, [row]] * (after[row] - prior[row]) / (1 - own)
        expected[row] = (H[row, row] - own[row]) * (after[row] - prior[row]) / (1 - own[row])
        np.testing.assert_allclose(moved, expected, atol=1e-12)
        one = Smoother(X, np.ones(40)).ridge(0.1)
        same = one.left_out_scores(after)[row] - one.left_out_scores(prior)[row]
        np.testing.assert_allclose(same, 0, atol=1e-12)

    @given(seed=st.integers(0, 10**6), mass=st.sampled_from([0.0, 0.5, 1.0]), count=st.integers(1, 4))
    def test_update_runs_the_same_rounds_as_a_refit(self, seed, mass, count):
        """Answers before the first round: the update's rounds are those of a refit, bit for bit, the first one too.
        After it they are the same rounds from where the labels were."""
        rng = np.random.default_rng(seed)
        X, candidates = rng.normal(size=(30, 4)), rng.random((30, 5)) < 0.5
        candidates[np.arange(30), rng.integers(5, size=30)] = True
        prior = prior_labels(candidates)
        rounds = Rounds(Smoother(X, np.ones(30)).ridge(0.1), ClassMasses.of(prior, np.ones(30)), mass, 0.05)
        rows = rng.permutation(30)[:count]
        answered = candidates.copy()
        answered[rows] = np.eye(5, dtype=bool)[candidates[rows].argmax(axis=1)]
        after = prior_labels(answered)
        at_once, refit = rounds.update(prior, rows, after), rounds.settle(after, UPDATE_ROUNDS)
        np.testing.assert_array_equal(at_once.labels, refit.labels)
        assert at_once.changes == refit.changes

        before = rounds.settle(prior, 25).labels
        start = before.copy()
        start[rows] = answered[rows]
        later = rounds.update(before, rows, after)
        np.testing.assert_array_equal(later.labels, rounds.settle(after, UPDATE_ROUNDS, start).labels)
        np.testing.assert_array_equal(later.labels[rows], answered[rows])
        back = rounds.update(
            later.labels, rows, prior
        )  # a withdrawn answer leaves no trace of the candidates it removed
        assert ((back.labels > 0) <= candidates).all()

    @pytest.mark.parametrize("mass", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("told", [False, True])
    def test_class_scores_are_the_logarithms_of_the_next_round(self, data, mass, told):
        X, candidates, prior = data
        weights = np.random.default_rng(1).random((40, 4)) if told else None
        prior = prior_labels(candidates, weights)
        rounds = Rounds(Smoother(X, np.ones(40)).ridge(0.1), ClassMasses.of(prior, np.ones(40)), mass, 0.05)
        labels = rounds.settle(prior, 3).labels
        scores = rounds.class_scores(labels, prior)
        assert np.isfinite(scores).all()
        inside = softmax_inside(scores, 1.0, candidates / candidates.sum(axis=1, keepdims=True))
        np.testing.assert_allclose(inside, rounds.settle(prior, 1, labels).labels, atol=1e-9)

    def test_cycle_is_damped(self):
        """A regression that scores every row against its labels: undamped rounds alternate between two states."""
        even = np.full((2, 2), 0.5)
        start = np.array([[0.6, 0.4], [0.3, 0.7]])
        labels = start
        for _ in range(30):
            new = softmax_inside(_Against().left_out_scores(labels), 0.05, even)
            change = np.abs(new - labels).sum(axis=1).max()
            labels = new
        assert change > 1.5
        masses = ClassMasses(np.ones(2), np.ones(2))
        found = Rounds(_Against(), masses, 0.0, 0.05).settle(even, 25, start)
        assert found.converged
        np.testing.assert_allclose(found.labels, even, atol=0.01)

    def test_rounds_stop_when_the_largest_change_is_small(self, data):
        X, _, prior = data
        ridge = Smoother(X, np.ones(40)).ridge(5.0)
        rounds = Rounds(ridge, ClassMasses.of(prior, np.ones(40)), 0.0, 1.0)
        found = rounds.settle(prior, 100)
        assert found.converged
        assert found.changes[-1] < 0.01 <= found.changes[-2]
        short = rounds.settle(prior, 1)
        assert len(short.changes) == 1
        assert not short.converged


class _Against(Ridge):
    """Returns scores that contradict the labels."""

    def __init__(self) -> None:
        super().__init__(np.zeros((2, 0)), np.ones(2), np.ones(0))

    def left_out_scores(self, labels):
        return -0.2 * labels


@pytest.mark.parametrize("seed", range(5))
def test_masses_of_power_one_converge_to_the_sinkhorn_solution(seed):
    """If the counts can be met, P = diag(u) G diag(v) with rows of 1 and columns of M is unique (Cuturi, 2013)."""
    rng = np.random.default_rng(seed)
    n, m = 60, 5
    sets = some_sets(rng, n, m, 0.6)
    feasible = sets * rng.random((n, m))
    feasible /= feasible.sum(axis=1, keepdims=True)
    counts = feasible.sum(axis=0)
    gains = np.where(sets, np.exp(rng.normal(size=(n, m)) / 0.5), 0.0)
    v = np.ones(m)
    for _ in range(4_000):
        u = 1 / (gains @ v)
        v = counts / (gains.T @ u)
    transport = u[:, None] * gains * v
    np.testing.assert_allclose(transport.sum(axis=0), counts, rtol=1e-9)
    labels = gains / gains.sum(axis=1, keepdims=True)
    for _ in range(2_000):
        labels = ClassMasses(np.ones(n), counts).pull(labels, 1.0)
    np.testing.assert_allclose(labels, transport, atol=1e-9)
    assert np.abs(labels - gains / gains.sum(axis=1, keepdims=True)).max() > 0.05, "the masses say something"


# Code shared by learners with soft labels: scores, ties, classes without rows, scaling.


class Given(SoftLabelClassifier):
    """Its scores are its features."""

    def fit(self, X, y, scaler=None):
        X = validate_data(self, X)
        labels = y / y.sum(axis=1, keepdims=True)
        classes = np.array(["a", "b", "c"])[: y.shape[1]]
        self._finish(classes, labels, y.any(axis=0), scaler, [2.0, 1.0], True)
        return self

    def _score_rows(self, X):
        return X.copy()


@pytest.fixture
def model():
    return Given().fit(np.eye(3), np.array([[1, 1, 0], [0, 1, 0], [1, 1, 0]], dtype=bool))


def test_fit_sets_labels_objective_and_convergence(model):
    assert model.transduction_.tolist() == ["a", "b", "a"]  # ties go to the first class
    assert model.objective_.tolist() == [2, 1]
    assert model.n_iter_ == 2
    assert model.converged_


def test_absent_class_is_never_predicted(model):
    X = np.array([[0.4, 0.4, 9], [0.1, 0.7, 9], [-3, -2, 9]])
    np.testing.assert_array_equal(
        model.decision_function(X), [[0.4, 0.4, -np.inf], [0.1, 0.7, -np.inf], [-3, -2, -np.inf]]
    )
    assert model.predict(X).tolist() == ["a", "b", "b"]
    np.testing.assert_allclose(model.predict_proba(X), [[0.5, 0.5, 0], [0.2, 0.8, 0], [0, 1, 0]], atol=1e-12)
    assert X[0, 2] == 9
    assert model.score(X, np.array(["a", "a", "b"])) == pytest.approx(2 / 3)


def test_new_rows_are_checked_and_scaled(model):
    with pytest.raises(NotFittedError):
        Given().predict(np.eye(3))
    with pytest.raises(ValueError, match="features"):
        model.predict(np.eye(4))
    training = np.array([[0.0, 0, 0], [2, 4, 8]])
    scaler = fit_scaler("minmax", training, np.ones(2))
    scaled = Given().fit(training, np.ones((2, 3), dtype=bool), scaler)
    np.testing.assert_allclose(scaled.decision_function([[1.0, 3, 2]]), [[0.5, 0.75, 0.25]])


def test_scalers_match_known_values():
    X, weights = np.array([[0.0, 1.0], [2.0, 1.0], [10.0, 1.0]]), np.array([3.0, 1.0, 1.0])
    repeated = X[[0, 0, 0, 1, 2]]
    np.testing.assert_allclose(
        fit_scaler("standard", X, weights).transform(X),
        (X - repeated.mean(axis=0)) / np.where(repeated.std(axis=0) > 0, repeated.std(axis=0), 1),
    )
    np.testing.assert_allclose(fit_scaler("minmax", X, weights).transform(X)[:, 0], [0, 0.2, 1])
    assert fit_scaler(None, X, weights) is None
    for scaling in ("standard", "minmax"):
        thin = fit_scaler(scaling, sparse.csr_matrix(X), weights).transform(sparse.csr_matrix(X))
        assert sparse.issparse(thin)
        assert thin.nnz == 5  # nothing is shifted


def test_auto_scaling_applies_to_dense_rows_only():
    X, weights = np.array([[0.0, 1.0], [2.0, 1.0], [10.0, 1.0]]), np.array([3.0, 1.0, 1.0])
    standard = fit_scaler("standard", X, weights)
    np.testing.assert_array_equal(scaled(fit_scaler("auto", X, weights), X), standard.transform(X))
    thin = sparse.csr_matrix(X)
    assert fit_scaler("auto", thin, weights) is None
    assert scaled(None, thin) is thin
    np.testing.assert_array_equal(scaled(standard, thin), standard.transform(X))  # scaled as dense rows were in the fit


class TestProbabilities:
    @pytest.fixture
    def drawn(self, monkeypatch):
        """Leave-one-out scores, the truth drawn from them at temperature 0.3, and the generator."""
        rng = np.random.default_rng(0)
        scores = rng.normal(size=(4000, 4))
        chances = np.exp(scores / 0.3)
        chances /= chances.sum(axis=1, keepdims=True)
        y = (chances.cumsum(axis=1) > rng.random((4000, 1))).argmax(axis=1)
        monkeypatch.setattr(Ridge, "left_out_scores", lambda *_: scores.copy())
        return Ridge(np.zeros((4000, 1)), np.ones(4000), np.zeros(1)), y, rng

    @pytest.mark.parametrize("false", [0.0, 0.4])
    def test_temperature_maximises_the_likelihood_of_the_sets(self, drawn, false):
        ridge, y, rng = drawn
        sets = (rng.random((4000, 4)) < false) | np.eye(4, dtype=bool)[y]
        assert probability_temperature(ridge, sets / 1.0, sets, 7.0) == pytest.approx(0.3, rel=0.1)

    def test_weightless_rows_and_full_sets_do_not_affect_the_temperature(self, drawn):
        ridge, y, rng = drawn
        sets = np.eye(4, dtype=bool)[y]
        wrong = rng.random(4000) < 0.5
        sets[wrong] = np.eye(4, dtype=bool)[(y[wrong] + 1) % 4]
        weighted = replace(ridge, weights=np.where(wrong, 0.0, 1.0))
        assert probability_temperature(weighted, sets / 1.0, sets, 7.0) == pytest.approx(0.3, rel=0.1)
        free = np.ones((4000, 4), dtype=bool)
        assert probability_temperature(ridge, free / 4.0, free, 7.0) == 7.0

    def test_predict_proba_uses_the_temperature(self):
        X, y = load_digits(return_X_y=True)
        sets = contaminate(y, "size", p=1.0, r=3, random_state=0)
        model = PLKernelRidge("rbf", alpha=0.1, class_mass=0.5).fit(X[:600], sets[:600])
        scores = model.decision_function(X[600:]) / model.probability_temperature_
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X[600:]), shares, atol=1e-9)
        right = shares.argmax(axis=1) == y[600:]
        sharp = np.exp((scores - scores.max(axis=1, keepdims=True)) * model.probability_temperature_ / 0.05)
        sharp = sharp.max(axis=1) / sharp.sum(axis=1)
        off = abs(shares.max(axis=1).mean() - right.mean())
        assert off < 0.03
        assert off < abs(sharp.mean() - right.mean())
