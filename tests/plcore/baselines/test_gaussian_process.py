"""PLGP: its gradient, its mode against other solvers in other coordinates, what it chooses, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from plcore import PLGPClassifier
from plcore.baselines import gaussian_process
from plcore.baselines.gaussian_process import LogPosterior, find_mode

SET = {"length_scale": 1.0, "variance": 10.0}  # nothing left to choose
CLOSE = {"tol": 0, "max_iter": 5000}


def problem(seed, n=14, m=3, singles=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(m, size=n)
    X = rng.normal(size=(n, 2)) + 2 * np.eye(m)[y][:, :2]
    candidates = np.zeros((n, m), dtype=bool) if singles else rng.random((n, m)) < 0.3
    candidates[np.arange(n), y] = True
    K = rbf_kernel(X, gamma=0.3)
    return X, candidates, rng.uniform(0.5, 2.0, size=n), K, np.linalg.cholesky(K + 1e-10 * np.eye(n))


class TestPosterior:
    @given(
        seed=st.integers(0, 10**6), variance=st.sampled_from([0.1, 1.0, 50.0]), size=st.sampled_from([0.0, 0.1, 1.0])
    )
    def test_gradient_matches_finite_differences(self, seed, variance, size):
        _, candidates, weights, _, Z = problem(seed)
        posterior = LogPosterior(Z, candidates, weights, variance)
        point = size * np.random.default_rng(seed).normal(size=Z.shape[1] * 3)
        gap = optimize.check_grad(lambda b: posterior(b)[0], lambda b: posterior(b)[1], point)
        assert gap <= 1e-5 * (1 + np.linalg.norm(posterior(point)[1]))

    def test_log_posterior_matches_its_formula(self):
        _, candidates, weights, K, Z = problem(1)
        alpha = np.random.default_rng(0).normal(size=(14, 3))
        f = K @ alpha
        inside = np.where(candidates, f, -np.inf)
        loss = weights @ (logsumexp(f, axis=1) - logsumexp(inside, axis=1))
        expected = loss + np.trace(alpha.T @ K @ alpha) / (2 * 7.0)
        posterior = LogPosterior(Z, candidates, weights, 7.0)
        assert posterior((Z.T @ alpha).ravel())[0] == pytest.approx(expected, rel=1e-7)

    def test_candidates_far_below_the_others_do_not_overflow(self):
        posterior = LogPosterior(np.ones((1, 1)), np.array([[True, False]]), np.ones(1), 1e12)
        value, gradient = posterior(np.array([-2000.0, 2000.0]))
        assert value == pytest.approx(4000.0, rel=1e-3)
        np.testing.assert_allclose(gradient, [-1.0, 1.0], rtol=1e-6)

    @pytest.mark.parametrize("rho", [0.5, 4.0])
    def test_rho_scales_the_variance(self, rho):
        """The mode for any rho, found by another solver, equals that for rho = 1 with rho times the variance."""
        _, candidates, _, _, Z = problem(2, n=7)

        def with_rho(b):
            f = rho * (Z @ b.reshape(-1, 3))
            inside = np.where(candidates, f, -np.inf)
            return (logsumexp(f, axis=1) - logsumexp(inside, axis=1)).sum() / rho + b @ b / (2 * 3.0)

        other = optimize.minimize(with_rho, np.zeros(Z.shape[1] * 3), method="BFGS", options={"gtol": 1e-6})
        mode = find_mode(LogPosterior(Z, candidates, np.ones(7), 3.0 * rho), 5000, 0)
        np.testing.assert_allclose(mode.coordinates.ravel(), rho * other.x, atol=2e-4)


class TestMode:
    @pytest.mark.parametrize("seed", range(3))
    def test_newton_in_alpha_finds_the_same_mode(self, seed):
        """f = K alpha; the Hessian from finite differences of the gradient, in the trust region of SciPy."""
        _, candidates, weights, K, Z = problem(seed)

        def value(flat):
            f = K @ flat.reshape(-1, 3)
            inside = np.where(candidates, f, -np.inf)
            loss = weights @ (logsumexp(f, axis=1) - logsumexp(inside, axis=1))
            return loss + np.sum(flat.reshape(-1, 3) * f) / (2 * 4.0)

        def gradient(flat):
            alpha = flat.reshape(-1, 3)
            f = K @ alpha
            shares = softmax(f, axis=1) - softmax(np.where(candidates, f, -np.inf), axis=1)
            return (K @ (weights[:, None] * shares + alpha / 4.0)).ravel()

        def hessian(flat):
            step = 1e-5 * np.eye(len(flat))
            rows = [(gradient(flat + e) - gradient(flat - e)) / 2e-5 for e in step]
            return (np.array(rows) + np.array(rows).T) / 2

        other = optimize.minimize(
            value, np.zeros(candidates.size), jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-9}
        )
        mode = find_mode(LogPosterior(Z, candidates, weights, 4.0), 5000, 0)
        assert mode.values[-1] == pytest.approx(other.fun, rel=1e-6)
        np.testing.assert_allclose(Z @ mode.coordinates, K @ other.x.reshape(-1, 3), atol=1e-3)

    def test_exact_labels_match_scikit_learn_multinomial_regression(self):
        _, labels, weights, _, Z = problem(3, singles=True)
        mode = find_mode(LogPosterior(Z, labels, weights, 5.0), 5000, 0)
        other = LogisticRegression(C=5.0, fit_intercept=False, tol=1e-8, max_iter=5000)
        other.fit(Z, labels.argmax(axis=1), weights)
        np.testing.assert_allclose(mode.coordinates, other.coef_.T, atol=1e-3)

    def test_search_descends_until_the_gradient_vanishes(self):
        _, candidates, weights, _, Z = problem(4)
        posterior = LogPosterior(Z, candidates, weights, 2.0)
        mode = find_mode(posterior, 5000, 0)
        assert (np.diff(mode.values) <= 0).all()
        assert mode.values[0] == pytest.approx(posterior(np.zeros(Z.shape[1] * 3))[0])
        assert mode.values[-1] == pytest.approx(posterior(mode.coordinates.ravel())[0])
        assert np.abs(posterior(mode.coordinates.ravel())[1]).max() < 1e-4
        short = find_mode(posterior, 3, 0)
        assert len(short.values) == 4
        assert not short.converged


class TestClassifier:
    def test_iris_with_a_second_candidate_in_each_row(self, iris):
        X, candidates, y = iris
        train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
        model = PLGPClassifier().fit(X[train], candidates[train])
        assert model.score(X[test], y[test]) >= 0.92
        assert (model.transduction_ == y[train]).mean() >= 0.92
        assert candidates[train][np.arange(100), model.transduction_].all()
        assert (model.length_scale_, model.variance_) in [
            (scale, variance) for scale in gaussian_process.LENGTH_SCALES for variance in gaussian_process.VARIANCES
        ]
        assert model.n_iter_ == len(model.objective_)
        assert (np.diff(model.objective_) <= 0).all()

    def test_settings_are_chosen_by_held_out_consistency(self, iris):
        """The same folds by hand."""
        X, candidates, _ = iris
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = PLGPClassifier(scaling=None, max_iter=20).fit(X, candidates)
        seed = int(np.random.RandomState(0).randint(2**31 - 1))
        fold = gaussian_process.deal(candidates, 3, np.random.RandomState(seed))
        shares = {}
        for scale in (1.0, 0.5, 2.0):
            for variance in (10.0, 100.0):
                hits = 0
                for number in range(3):
                    part = PLGPClassifier(scale, variance, scaling=None, max_iter=20)
                    part.fit(X[fold != number], candidates[fold != number])
                    hits += part.score(X[fold == number], candidates[fold == number]) * (fold == number).sum()
                shares[scale, variance] = round(hits)
        best = max(shares.values())
        first = next(setting for setting, hits in shares.items() if hits == best)
        assert (model.length_scale_, model.variance_) == first

    def test_given_settings_are_not_searched(self, iris, monkeypatch):
        X, candidates, _ = iris
        half = PLGPClassifier(variance=3.0).fit(X, candidates)
        assert half.variance_ == 3.0
        monkeypatch.setattr(gaussian_process, "deal", None)  # no folds are needed
        model = PLGPClassifier(0.7, 3.0).fit(X, candidates)
        assert (model.length_scale_, model.variance_) == (0.7, 3.0)
        few = PLGPClassifier().fit(X[::40], candidates[::40])
        assert (few.length_scale_, few.variance_) == (1.0, 10.0)

    def test_scores_and_soft_labels_match_mode(self, iris):
        X, candidates, _ = iris
        model = PLGPClassifier(**SET).fit(X, candidates)
        f = model.decision_function(X)
        np.testing.assert_allclose(model.predict_proba(X), softmax(f, axis=1))
        inside = softmax(np.where(candidates, f, -np.inf), axis=1)
        np.testing.assert_allclose(model.label_distributions_, inside, atol=1e-6)

    def test_wider_kernels_and_smaller_variances_are_smoother(self, iris):
        X, candidates, _ = iris
        sizes = [
            np.abs(PLGPClassifier(1.0, variance).fit(X, candidates).decision_function(X)).mean()
            for variance in (0.1, 1.0, 10.0)
        ]
        assert sizes == sorted(sizes)
        between = np.linspace(X[0], X[149], 40)
        bends = [
            np.abs(np.diff(PLGPClassifier(s, 10.0).fit(X, candidates).decision_function(between), 2, axis=0))
            for s in (0.2, 3.0)
        ]
        assert bends[0].max() > bends[1].max()

    def test_many_rows_use_randomly_drawn_components(self, iris, monkeypatch):
        X, candidates, y = iris
        monkeypatch.setattr(gaussian_process, "EXACT_ROWS", 100)
        monkeypatch.setattr(gaussian_process, "CHOICE_ROWS", 60)
        model = PLGPClassifier(n_components=20).fit(X, candidates)
        assert model._coordinates.shape == (20, 3)
        assert model.score(X, y) > 0.9
        again = PLGPClassifier(n_components=20, random_state=np.random.RandomState(0)).fit(X, candidates)
        np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))

    def test_weights_equal_repeated_rows(self, iris):
        X, candidates, _ = iris
        weights = np.random.default_rng(0).integers(0, 4, size=150)
        rows = np.repeat(np.arange(150), weights)
        weighted = PLGPClassifier(**SET, **CLOSE).fit(X, candidates, weights)
        repeated = PLGPClassifier(**SET, **CLOSE).fit(X[rows], candidates[rows])
        assert weighted.objective_[-1] == pytest.approx(repeated.objective_[-1], rel=1e-7)
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=2e-3)
