"""Neighbour weights and the labels derived from them, compared with an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from plcore.baselines import base
from plcore.baselines.base import (
    Reconstruction,
    as_matrix,
    difference_products,
    eigenvalue_bound,
    minimise,
    own_neighbors,
    reconstruction_weights,
)
from tests.plcore.random_sets import some_sets


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(25, 8))


def even(neighbors):
    return np.full(neighbors.shape, 1 / neighbors.shape[1])


def solved_weights(G):
    k = len(G)
    return minimize(
        lambda w: w @ G @ w,
        np.full(k, 1 / k),
        jac=lambda w: 2 * G @ w,
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 500},
    ).x


def test_neighbours_are_the_nearest_other_rows(rows):
    neighbors, distances = own_neighbors(rows, 4)
    all_distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    np.fill_diagonal(all_distances, np.inf)
    np.testing.assert_array_equal(neighbors, all_distances.argsort(axis=1)[:, :4])
    np.testing.assert_allclose(distances, np.sort(all_distances, axis=1)[:, :4])
    assert own_neighbors(rows[:3], 10)[0].shape == (3, 2)
    assert own_neighbors(rows[:1], 10)[0].shape == (1, 0)


def test_difference_products_match_plain_numpy(rows):
    neighbors, _ = own_neighbors(rows, 3)
    found = difference_products(rows, neighbors)
    for row in range(25):
        away = rows[row] - rows[neighbors[row]]
        np.testing.assert_allclose(found[row], away @ away.T, atol=1e-12)
    thin = difference_products(sparse.csr_matrix(rows), neighbors)
    np.testing.assert_allclose(thin, found, atol=1e-12)


def test_weights_solve_the_quadratic_program_of_each_row(rows, monkeypatch):
    neighbors, _ = own_neighbors(rows, 5)
    G = difference_products(rows, neighbors)
    rough = reconstruction_weights(G, even(neighbors))
    monkeypatch.setattr(base, "STEPS", 2000)
    monkeypatch.setattr(base, "TOLERANCE", 1e-8)
    found = reconstruction_weights(G, rough)
    np.testing.assert_allclose(rough, found, atol=2e-3)
    expected = np.array([solved_weights(one) for one in G])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(
        np.einsum("ia,iab,ib->i", found, G, found), np.einsum("ia,iab,ib->i", expected, G, expected), rtol=1e-8
    )
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()


def test_weights_are_optimal_if_the_optimum_is_not_unique():
    """More neighbours than features: many weights are best, and any of them will do."""
    rows = np.random.default_rng(1).normal(size=(30, 2))
    neighbors, _ = own_neighbors(rows, 6)
    G = difference_products(rows, neighbors)
    found = reconstruction_weights(G, even(neighbors))
    best = np.array([w @ one @ w for one, w in ((one, solved_weights(one)) for one in G)])
    size = np.linalg.norm(G, axis=(1, 2))
    assert (np.einsum("ia,iab,ib->i", found, G, found) <= best + 1e-3 * size).all()


def test_weights_match_values_computed_by_hand():
    """A point between two others, three quarters of the way; then one that equals both its neighbours."""
    rows = np.array([[0.75], [1.0], [0.0]])
    G = difference_products(rows, np.array([[1, 2], [0, 2], [0, 1]]))
    found = reconstruction_weights(G, np.full((3, 2), 0.5))
    np.testing.assert_allclose(found, [[0.75, 0.25], [1, 0], [1, 0]], atol=1e-3)
    same = reconstruction_weights(np.zeros((1, 2, 2)), np.array([[0.3, 0.7]]))
    np.testing.assert_allclose(same, [[0.3, 0.7]])


def test_weights_become_a_sparse_matrix():
    neighbors, weights = np.array([[1, 2], [2, 0], [0, 1]]), np.arange(1.0, 7).reshape(3, 2)
    np.testing.assert_array_equal(as_matrix(neighbors, weights).toarray(), [[0, 1, 2], [4, 0, 3], [5, 6, 0]])
    assert as_matrix(np.zeros((1, 0), dtype=int), np.zeros((1, 0))).toarray() == [[0]]


@pytest.mark.parametrize("nearness", [0.0, 1.5])
def test_labels_solve_the_joint_quadratic_program(nearness):
    rng = np.random.default_rng(3)
    neighbors, _ = own_neighbors(rng.normal(size=(6, 3)), 2)
    W = as_matrix(neighbors, rng.dirichlet([1, 1], size=6)).toarray()
    graph = Reconstruction(neighbors, np.take_along_axis(W, neighbors, axis=1))
    inside = some_sets(rng, 6, 3, 0.7)
    target = rng.normal(size=(6, 3))

    def value(Y):
        return 2.0 * np.sum((Y - W @ Y) ** 2) + nearness * np.sum((Y - target) ** 2)

    start = inside / inside.sum(axis=1, keepdims=True)
    found = graph.labels(inside, start, 2.0, target, nearness)
    sums = np.kron(np.eye(6), np.ones(3))
    solved = minimize(
        lambda y: value(y.reshape(6, 3)),
        start.ravel(),
        bounds=[(0, 1 if one else 0) for one in inside.ravel()],
        constraints={"type": "eq", "fun": lambda y: sums @ y - 1, "jac": lambda _: sums},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert value(found) == pytest.approx(solved.fun, abs=1e-3)
    assert graph.loss(found) == pytest.approx(np.sum((found - W @ found) ** 2))


# Quadratics over simplices compared with an independent solver, and the bound on eigenvalues.


def random_case(seed, n=4, m=3, rank=4):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(rank, n))
    inside = some_sets(rng, n, m, 0.6)
    return root.T @ root, rng.normal(size=(n, m)), inside, inside / inside.sum(axis=1, keepdims=True)


def value(Q, C, Y):
    return 0.5 * np.sum(Y * (Q @ Y)) - np.sum(C * Y)


@pytest.mark.parametrize("seed", range(6))
def test_minimiser_matches_a_quadratic_program(seed):
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
def test_minimiser_never_raises_the_objective(seed, rank, steps):
    Q, C, inside, start = random_case(seed, rank=rank)
    found = minimise(lambda Y: Q @ Y, C, eigenvalue_bound(Q) or 1.0, inside, start, steps, 0.0)
    assert value(Q, C, found) <= value(Q, C, start) + 1e-12


def test_minimiser_stays_at_a_minimum():
    inside = np.ones((2, 3), dtype=bool)
    start = np.array([[0.2, 0.3, 0.5], [1, 0, 0]])
    found = minimise(lambda Y: Y, start, 1.0, inside, start, 100, 1e-9)
    np.testing.assert_allclose(found, start, atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_eigenvalue_bound_is_valid_and_tight(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        root = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.4)
        Q = root @ root.T
        for matrix in (Q, sparse.csr_matrix(Q)):
            bound = eigenvalue_bound(matrix)
            assert bound >= np.linalg.eigvalsh(Q)[-1] - 1e-9
            assert bound <= 1.2 * np.linalg.eigvalsh(np.abs(Q))[-1] + 0.5
    assert eigenvalue_bound(np.zeros((3, 3))) == 0
