"""Laws of the inference: the bound never falls, Woodbury, closed form, dual = primal, and Gibbs sampling agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import digamma, gammaln

from plcore.sensing.bml_cs import HoleTraining
from plcore.sensing.noise import Noise, find_noise
from plcore.sensing.projection import Projection
from plcore.sensing.regression import Regression, make_kernel
from plcore.sensing.rows import RowInference

NOISES = [Noise(0.2, 1.0, 0.5), Noise(0.01, 3.0, 0.1), Noise(2.0, 0.3, 0.9)]


def linear(X, intercept=False):
    return make_kernel("linear", X, None, 3, 0.0, intercept)


def small(seed, n=9, d=3, L=6, K=4, missing=0.4):
    """X (n, d), values and known (n, L), a projection; some rows fully known, some unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    known = rng.random((n, L)) >= missing
    known[0] = True
    if missing:
        known[1] = False
    values = np.where(known, rng.random((n, L)) < 0.3, 0).astype(float)
    return X, values, known, Projection(rng.normal(size=(K, L)) / np.sqrt(K))


def dense_bound(training):
    """The bound of spec equation by equation, with every covariance as a full matrix."""
    rows, noise = training.rows, training.noise
    X = training.regression.rows
    n, d = X.shape
    Phi = rows.projection.Phi
    K = len(Phi)
    s2, c2, tau2 = noise.regression, noise.projection, noise.prior
    v = 1 / (1 / s2 + 1 / c2)
    S_W = np.linalg.inv(X.T @ X / s2 + np.eye(d) / tau2)
    W = X.T @ training.coefficients if training.regression.dual else training.coefficients
    total = -0.5 * K * (np.trace(S_W) / tau2 - d + d * np.log(tau2) - np.linalg.slogdet(S_W)[1])
    total -= 0.5 * (W**2).sum() / tau2
    a, a0, b0 = rows.shape, rows.a0, rows.b0
    for i in range(n):
        z, y, u = rows.latent[i], rows.mean[i], ~rows.known[i]
        S = training.covariances[i]
        f = W.T @ X[i]
        total -= (((f - z) ** 2).sum() + K * X[i] @ S_W @ X[i] + K * v) / (2 * s2)
        total -= (((Phi @ y - z) ** 2).sum() + np.trace(Phi[:, u] @ S @ Phi[:, u].T) + K * v) / (2 * c2)
        total -= 0.5 * K * (np.log(2 * np.pi * s2) + np.log(2 * np.pi * c2))
        total += 0.5 * K * (1 + np.log(2 * np.pi * v))
        second = y**2
        second[u] += np.diag(S)
        for j in range(len(y)):
            b = rows.rate[i, j]
            log_alpha, alpha = digamma(a) - np.log(b), a / b
            total += 0.5 * (log_alpha - np.log(2 * np.pi) - alpha * second[j])
            total += a0 * np.log(b0) - gammaln(a0) + (a0 - 1) * log_alpha - b0 * alpha
            total += a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
        total += 0.5 * (np.linalg.slogdet(S)[1] + u.sum() * (1 + np.log(2 * np.pi))) if u.any() else 0.0
    return total


def keep_covariances(training):
    """S of every row for the current precisions; call it with each update of q(y)."""
    Phi, c2 = training.rows.projection.Phi, training.noise.projection
    gamma = training.rows.gamma
    training.covariances = [
        np.linalg.inv(np.diag(1 / gamma[i][u]) + Phi[:, u].T @ Phi[:, u] / c2)
        for i, u in enumerate(~training.rows.known)
    ]


@given(
    seed=st.integers(0, 10_000),
    noise=st.sampled_from(NOISES),
    schedule=st.sampled_from(["paper", "block"]),
    missing=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    prior=st.sampled_from([(1e-6, 1e-6), (1.0, 1.0), (0.5, 2.0)]),
    dual=st.booleans(),
)
def test_bound_never_falls_and_matches_the_dense_formula(seed, noise, schedule, missing, prior, dual):
    X, values, known, projection = small(seed, missing=missing)
    training = HoleTraining(Regression(linear(X), X, dual), projection, noise, values, known, *prior)
    rows = training.rows
    keep_covariances(training)
    rows.update_labels()
    last = training.bound()
    scale = max(1.0, abs(last))
    assert last == pytest.approx(dense_bound(training), rel=1e-9, abs=1e-8)
    paper = [rows.update_labels, rows.update_precisions, rows.update_latent, training.update_weights]
    block = [rows.update_labels_and_latent, rows.update_precisions, training.update_weights_and_latent]
    for _ in range(6):
        for step in paper if schedule == "paper" else block:
            if "labels" in step.__name__:
                keep_covariances(training)
            step()
            bound = training.bound()
            assert bound >= last - 1e-10 * scale, step.__name__
            last = bound
    assert last == pytest.approx(dense_bound(training), rel=1e-9, abs=1e-8)


@given(seed=st.integers(0, 10_000), c=st.floats(1e-3, 10), K=st.integers(1, 7), L=st.integers(1, 9))
def test_woodbury_equals_direct_inverse(seed, c, K, L):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(K, L)) / np.sqrt(K)
    gamma = rng.gamma(0.7, size=(5, L)) + 1e-6
    gamma[rng.random((5, L)) < 0.3] = 0
    gamma[0] = 0
    noise = c * rng.uniform(0.5, 2, size=5)
    residual = rng.normal(size=(5, K))
    projection = Projection(Phi)
    found = projection.posterior(gamma, residual, noise)
    wider = projection.posterior(gamma, residual, noise, 3 * noise)
    np.testing.assert_array_equal(wider.variance, found.variance)
    for i, g in enumerate(gamma):
        u = g > 0
        S = np.linalg.inv(np.diag(1 / g[u]) + Phi[:, u].T @ Phi[:, u] / noise[i])
        T = np.linalg.inv(np.diag(1 / g[u]) + Phi[:, u].T @ Phi[:, u] / (3 * noise[i]))
        np.testing.assert_allclose(found.mean[i, u], S @ Phi[:, u].T @ residual[i] / noise[i], atol=1e-10)
        np.testing.assert_allclose(wider.mean[i, u], T @ Phi[:, u].T @ residual[i] / (3 * noise[i]), atol=1e-10)
        np.testing.assert_allclose(found.variance[i, u], S.diagonal(), atol=1e-10)
        assert not found.mean[i, ~u].any()
        assert not found.variance[i, ~u].any()
        assert found.trace[i] == pytest.approx(np.trace(Phi[:, u] @ S @ Phi[:, u].T), abs=1e-10)
        logdet = np.log(g[u]).sum() - found.logdet[i] + K * np.log(noise[i])
        assert logdet == pytest.approx(np.linalg.slogdet(S)[1] if u.any() else 0.0, abs=1e-9)


def test_rows_with_equal_precisions_share_one_factor():
    rng = np.random.default_rng(0)
    projection = Projection(rng.normal(size=(4, 7)) / 2)
    gamma, residual = np.tile(rng.gamma(1, size=7), (6, 1)), rng.normal(size=(6, 4))
    together = projection.posterior(gamma, residual, 0.3, 0.5)
    one_by_one = [projection.posterior(gamma[[i]], residual[[i]], 0.3, 0.5) for i in range(6)]
    for name in ("mean", "variance", "trace", "logdet"):
        separate = np.concatenate([getattr(one, name) for one in one_by_one])
        np.testing.assert_allclose(getattr(together, name), separate, atol=1e-12)


@pytest.mark.parametrize("noise", NOISES[::2])
@pytest.mark.parametrize("dual", [False, True])
def test_iteration_without_missing_cells_reaches_the_closed_form(noise, dual):
    X, values, known, projection = small(3, missing=0.0)
    training = HoleTraining(Regression(linear(X), X, dual), projection, noise, values, known, 1e-6, 1e-6)
    start = training.rows.fitted.copy()
    training.rows.latent = np.zeros_like(training.rows.latent)  # far from it
    for _ in range(400):
        training.update_weights()
        training.rows.update_latent()
    ridge = np.linalg.solve(X.T @ X + noise.ridge * np.eye(3), X.T @ values) @ projection.Phi.T
    np.testing.assert_allclose(training.rows.fitted, X @ ridge, atol=1e-10)
    np.testing.assert_allclose(start, X @ ridge, atol=1e-10)


def test_both_schedules_reach_the_same_means_for_fixed_precisions():
    _, values, known, projection = small(5)
    fitted = np.random.default_rng(0).normal(size=(9, 4))
    paper = RowInference(projection, NOISES[0], values, known, fitted)
    for _ in range(2000):
        paper.update_labels()
        paper.update_latent()
    block = RowInference(projection, NOISES[0], values, known, fitted)
    block.update_labels_and_latent()
    np.testing.assert_allclose(paper.mean, block.mean, atol=1e-10)
    np.testing.assert_allclose(paper.variance, block.variance, atol=1e-12)


@pytest.mark.parametrize("shape", [(12, 4), (5, 9)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
def test_dual_equals_primal(shape, make, intercept):
    rng = np.random.default_rng(1)
    dense, new, T = rng.normal(size=shape), rng.normal(size=(6, shape[1])), rng.normal(size=(shape[0], 3))
    X, X_new = make(dense), make(new)
    kernel = linear(X, intercept)
    primal = Regression(kernel, X, dual=False).at(0.7)
    dual = Regression(kernel, X, dual=True).at(0.7)
    full = np.hstack([dense, np.ones((shape[0], 1))]) if intercept else dense
    W = np.linalg.solve(full.T @ full + 0.7 * np.eye(full.shape[1]), full.T @ T)
    for at in (primal, dual):
        coefficients = at.coefficients(T)
        np.testing.assert_allclose(at.fitted(T), full @ W, atol=1e-12)
        assert at.squared_norm(coefficients) == pytest.approx((W**2).sum(), rel=1e-10)
        np.testing.assert_allclose(at.predict(X, coefficients), full @ W, atol=1e-12)
    np.testing.assert_allclose(
        dual.predict(X_new, dual.coefficients(T)), primal.predict(X_new, primal.coefficients(T)), atol=1e-12
    )
    np.testing.assert_allclose(dual.spread(X_new), primal.spread(X_new), atol=1e-12)
    np.testing.assert_allclose(dual.spread(), primal.spread(), atol=1e-12)
    assert dual.covariance_cost() == pytest.approx(primal.covariance_cost(), rel=1e-10)


def test_polynomial_kernel_of_degree_one_equals_the_linear_one():
    rng = np.random.default_rng(2)
    X, new, T = rng.normal(size=(11, 4)), rng.normal(size=(3, 4)), rng.normal(size=(11, 2))
    poly = Regression(make_kernel("poly", X, 1.0, 1, 0.0, True), X).at(0.4)
    plain = Regression(linear(X, True), X).at(0.4)
    assert poly.parent.dual
    assert not plain.parent.dual
    np.testing.assert_allclose(
        poly.predict(new, poly.coefficients(T)), plain.predict(new, plain.coefficients(T)), atol=1e-12
    )
    np.testing.assert_allclose(poly.spread(new), plain.spread(new), atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 5), (20, 30)])
def test_noise_search_finds_the_best_likelihood_of_a_grid(shape):
    rng = np.random.default_rng(4)
    n, d = shape
    X = rng.normal(size=shape)
    T = X @ rng.normal(size=(d, 8)) * 0.5 + rng.normal(size=(n, 8)) * 1.5
    kernel = linear(X, True)
    found = find_noise(kernel, X, T, 0.5, None, None, rng)
    gram = X @ X.T + 1

    def evidence(noise, prior):
        covariance = prior * gram + noise * np.eye(n)
        return -0.5 * (8 * np.linalg.slogdet(covariance)[1] + np.trace(T.T @ np.linalg.solve(covariance, T)))

    best = max(evidence(noise, prior) for noise in np.geomspace(0.1, 20, 40) for prior in np.geomspace(0.01, 5, 40))
    assert evidence(found.total, found.prior) >= best - 1e-6
    assert found.regression + found.projection == pytest.approx(found.total)
    fixed = find_noise(kernel, X, T, 0.5, 2.0, None, rng)
    best = max(evidence(2.0, prior) for prior in np.geomspace(0.01, 5, 400))
    assert fixed.total == pytest.approx(2.0)
    assert evidence(2.0, fixed.prior) >= best - 1e-6


def test_ridge_has_a_lower_bound():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(10, 400))
    found = find_noise(linear(X), X, X @ rng.normal(size=(400, 3)), 0.5, None, None, rng)
    assert found.ridge == pytest.approx(0.1 * (X**2).sum(axis=1).mean(), rel=1e-3)


def gibbs(X, values, known, Phi, noise, a0, b0, chains=200, sweeps=500, burn=150, seed=0):
    """Mean of W (d, K), its sd, and the mean of y (n, L), by blocked sampling of the exact model in many chains."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    K, L = Phi.shape
    s2, c2 = noise.regression, noise.projection
    v = 1 / (1 / s2 + 1 / c2)
    S_W = np.linalg.inv(X.T @ X / s2 + np.eye(d) / noise.prior)
    root = np.linalg.cholesky(S_W)
    y = np.broadcast_to(values, (chains, n, L)).copy()
    W = np.zeros((chains, d, K))
    sums = np.zeros((d, K)), np.zeros((d, K)), np.zeros((n, L))
    for sweep in range(sweeps):
        alpha = rng.gamma(a0 + 0.5, 1 / (b0 + 0.5 * y**2))
        z = v * (X @ W / s2 + y @ Phi.T / c2) + np.sqrt(v) * rng.normal(size=(chains, n, K))
        W = S_W @ X.T @ z / s2 + root @ rng.normal(size=(chains, d, K))
        for i in range(n):
            u = np.flatnonzero(~known[i])
            if not len(u):
                continue
            precision = Phi[:, u].T @ Phi[:, u] / c2 + np.einsum("cj,jk->cjk", alpha[:, i, u], np.eye(len(u)))
            lower = np.linalg.cholesky(precision)
            right = (z[:, i] - values[i] @ Phi.T) @ Phi[:, u] / c2
            mean = np.linalg.solve(precision, right[:, :, None])
            draw = np.linalg.solve(lower.transpose(0, 2, 1), rng.normal(size=(chains, len(u), 1)))
            y[:, i, u] = (mean + draw)[:, :, 0]
        if sweep >= burn:
            sums[0][:] += W.mean(axis=0)
            sums[1][:] += (W**2).mean(axis=0)
            sums[2][:] += y.mean(axis=0)
    kept = sweeps - burn
    mean = sums[0] / kept
    return mean, np.sqrt(sums[1] / kept - mean**2), sums[2] / kept


def test_gibbs_sampling_agrees_on_tiny_problem():
    rng = np.random.default_rng(11)
    n, d, L, K = 12, 2, 4, 3
    X = rng.normal(size=(n, d))
    truth = (X @ rng.normal(size=(d, L)) * 2 > 0.8).astype(float)
    known = rng.random((n, L)) < 0.5
    projection = Projection(rng.normal(size=(K, L)) / np.sqrt(K))
    noise = Noise(0.3, 1.0, 0.5)
    training = HoleTraining(Regression(linear(X), X), projection, noise, truth * known, known, 1.0, 1.0)
    for _ in range(300):
        training.round("block")
    mean, deviation, labels = gibbs(X, truth * known, known, projection.Phi, noise, 1.0, 1.0)
    assert (np.abs(training.coefficients - mean) / deviation).max() < 0.15
    missing = ~known
    assert np.corrcoef(training.rows.mean[missing], labels[missing])[0, 1] >= 0.98
    # Check the sampler itself: with everything known it must give the closed form.
    full = np.ones_like(known)
    mean, deviation, _ = gibbs(X, truth, full, projection.Phi, noise, 1.0, 1.0, chains=400, sweeps=200, burn=100)
    exact = np.linalg.solve(X.T @ X + noise.ridge * np.eye(d), X.T @ truth) @ projection.Phi.T
    assert (np.abs(exact - mean) / deviation).max() < 0.05
