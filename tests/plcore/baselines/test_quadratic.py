"""Quadratics over simplices beside a solver of its own, and the bound of eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from plcore.baselines.base import eigenvalue_bound, minimise


def random_case(seed, n=4, m=3, rank=4):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(rank, n))
    inside = rng.random((n, m)) < 0.6
    inside[np.arange(n), rng.integers(m, size=n)] = True
    return root.T @ root, rng.normal(size=(n, m)), inside, inside / inside.sum(axis=1, keepdims=True)


def value(Q, C, Y):
    return 0.5 * np.sum(Y * (Q @ Y)) - np.sum(C * Y)


@pytest.mark.parametrize("seed", range(6))
def test_beside_a_quadratic_program(seed):
    Q, C, inside, start = random_case(seed)
    curvature = np.linalg.eigvalsh(Q)[-1]
    found = minimise(lambda Y: Q @ Y, C, curvature, inside, start, 5000, 1e-12)
    sums = np.kron(np.eye(4), np.ones(3))
    solved = minimize(
        lambda y: value(Q, C, y.reshape(4, 3)),
        start.ravel(),
        jac=lambda y: (Q @ y.reshape(4, 3) - C).ravel(),
        bounds=[(0, 1 if one else 0) for one in inside.ravel()],
        constraints={"type": "eq", "fun": lambda y: sums @ y - 1, "jac": lambda _: sums},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert value(Q, C, found) == pytest.approx(solved.fun, abs=1e-8)
    assert (found[~inside] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(0, 12))
def test_it_never_ends_worse_than_it_began(seed, rank, steps):
    Q, C, inside, start = random_case(seed, rank=rank)
    found = minimise(lambda Y: Q @ Y, C, eigenvalue_bound(Q) or 1.0, inside, start, steps, 0.0)
    assert value(Q, C, found) <= value(Q, C, start) + 1e-12


def test_at_the_minimum_it_stays():
    inside = np.ones((2, 3), dtype=bool)
    start = np.array([[0.2, 0.3, 0.5], [1, 0, 0]])
    found = minimise(lambda Y: Y, start, 1.0, inside, start, 100, 1e-9)
    np.testing.assert_allclose(found, start, atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_the_bound_is_one_and_near(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        root = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.4)
        Q = root @ root.T
        for matrix in (Q, sparse.csr_matrix(Q)):
            bound = eigenvalue_bound(matrix)
            assert bound >= np.linalg.eigvalsh(Q)[-1] - 1e-9
            assert bound <= 1.2 * np.linalg.eigvalsh(np.abs(Q))[-1] + 0.5
    assert eigenvalue_bound(np.zeros((3, 3))) == 0
