"""The kernel ridge regression that the rivals share, beside the equations it solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from plcore.baselines import regression as module
from plcore.baselines.regression import KernelRegression, ScaledKernel


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
def test_its_gradient_is_zero(problem, kernel):
    """In A: K (S (F - P) + alpha A) = 0; in b: the weighted residuals sum to 0."""
    X, labels, weights = problem
    found = regress(kernel, X, weights)
    fitted = found.solve(labels)
    K = kernel_matrix(kernel, X, found.kernel.width)
    residuals = weights[:, None] * (fitted.scores - labels)
    A = -residuals / 0.3  # what the first equation says of A where K is regular
    np.testing.assert_allclose(K @ A + fitted.shift, fitted.scores, atol=1e-10)
    np.testing.assert_allclose(residuals.sum(axis=0), 0, atol=1e-10)
    assert fitted.penalty == pytest.approx(0.3 * np.trace(A.T @ K @ A))
    again = found.kernel.values_of(X) @ fitted.coefficients + fitted.shift
    np.testing.assert_allclose(again, fitted.scores, atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
def test_features_of_all_rows_and_the_kernel_matrix_agree(problem, kernel, monkeypatch):
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


def test_a_linear_kernel_of_many_features_is_exact_too(problem):
    X, labels, weights = problem
    few = regress("linear", X, weights).solve(labels)
    many = regress("linear", X, weights, n_components=2)  # more features than components, few rows
    assert many.kernel.exact
    np.testing.assert_allclose(many.solve(labels).scores, few.scores, atol=1e-9)


def test_of_many_rows_the_kernel_goes_through_points(problem, monkeypatch):
    X, labels, weights = problem
    monkeypatch.setattr(module, "EXACT_ROWS", 20)
    few = regress("rbf", X, weights, n_components=8)
    assert few.kernel.values_of(X).shape == (40, 8)
    assert few.solve(labels).coefficients.shape == (8, 3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_sparse_rows(problem, kernel):
    X, labels, weights = problem
    X = np.where(np.abs(X) < 0.7, 0, X)
    dense = regress(kernel, X, weights).solve(labels)
    thin = regress(kernel, sparse.csr_matrix(X), weights).solve(labels)
    np.testing.assert_allclose(thin.scores, dense.scores, atol=1e-7)


def test_the_width_is_in_mean_distances(problem):
    X, _, weights = problem
    one, half = (regress("rbf", X, weights, width=width).kernel.width for width in (1.0, 0.5))
    shares = weights / weights.sum()
    mean = shares @ np.linalg.norm(X[:, None] - X, axis=2) @ shares
    assert one == pytest.approx(mean)
    assert half == pytest.approx(mean / 2)


def test_equal_rows_are_no_trouble():
    X = np.zeros((6, 2))
    labels = np.eye(2)[[0, 0, 0, 0, 1, 1]]
    fitted = regress("rbf", X, np.ones(6)).solve(labels)
    np.testing.assert_allclose(fitted.scores, np.tile([2 / 3, 1 / 3], (6, 1)), atol=1e-9)


def test_a_ridge_that_rounding_swallows_is_named():
    X = np.random.default_rng(0).normal(size=(30, 2)).repeat(4, axis=0)
    with pytest.raises(ValueError, match=r"alpha=1e-30 is too small .* Fix: take a larger alpha"):
        regress("rbf", X, np.ones(120), alpha=1e-30)
