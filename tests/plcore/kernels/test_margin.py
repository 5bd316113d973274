"""The compiled loops of the margin learners against plain NumPy, SciPy's linear programs and its SLSQP."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from plcore.kernels.margin import best_candidates, hard_rows, simplex_quadratic, smooth_rows
from plcore.margin.m3pl import all_losses, outside_last
from plcore.margin.transport import assign, class_capacities


def random_rows(seed, n=40, m=5, ties=False):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, m))
    if ties:
        scores = np.round(scores)
    candidates = rng.random((n, m)) < 0.4
    candidates[np.arange(n), rng.integers(m, size=n)] = True
    candidates[0] = True
    weights = rng.random(n)
    labels = np.where(candidates, scores, -np.inf).argmax(axis=1)
    return scores, candidates, weights, labels


def rivals(candidates, labels, all_others):
    if not all_others:
        return ~candidates
    others = np.ones(candidates.shape, dtype=bool)
    others[np.arange(len(labels)), labels] = False
    return others


def project(point):
    """On the simplex, by sorting (Held, Wolfe and Crowder 1974)."""
    ordered = np.sort(point)[::-1]
    shifts = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - shifts[np.flatnonzero(ordered > shifts)[-1]], 0)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("all_others", [False, True])
def test_hard_rows(ties, all_others):
    scores, candidates, weights, labels = random_rows(0, ties=ties)
    found = np.empty(len(labels), dtype=np.int64)
    best_candidates(scores, candidates, found)
    np.testing.assert_array_equal(found, labels)
    slope, active = np.empty(scores.shape), np.empty(len(labels), dtype=bool)
    loss, weight = hard_rows(scores, candidates, labels, weights, all_others, slope, active)
    rows = np.arange(len(labels))
    free = np.where(rivals(candidates, labels, all_others), scores, -np.inf)
    rival = free.argmax(axis=1)
    hinge = np.maximum(0, 1 - scores[rows, labels] + free.max(axis=1))
    expected = np.zeros(scores.shape)
    expected[rows, rival] += weights * (hinge > 0)
    expected[rows, labels] -= weights * (hinge > 0)
    np.testing.assert_allclose(loss, weights @ hinge)
    np.testing.assert_allclose(weight, weights[hinge > 0].sum())
    np.testing.assert_array_equal(active, hinge > 0)
    np.testing.assert_array_equal(slope, expected)


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("all_others", [False, True])
@pytest.mark.parametrize("mu", [1.0, 0.03])
def test_smooth_rows(with_prior, all_others, mu):
    scores, candidates, weights, labels = random_rows(1)
    n, m = scores.shape
    free = rivals(candidates, labels, all_others)
    prior = np.zeros((n, m + 1))
    if with_prior:
        raw = np.random.default_rng(2).random((n, m + 1)) * np.column_stack([free, np.ones(n)])
        prior = raw / raw.sum(axis=1, keepdims=True)
    given = prior if with_prior else np.zeros((0, 0))
    slope, active, store = np.empty((n, m)), np.empty(n, dtype=bool), np.empty((n, m + 1))
    sums = smooth_rows(scores, candidates, labels, weights, all_others, mu, given, slope, active, store)
    smooth = hinge = linear = 0.0
    for i in range(n):
        allowed = np.append(free[i], True)
        u = np.append(1 - scores[i, labels[i]] + scores[i], 0.0)[allowed]
        a = np.zeros(m + 1)
        a[allowed] = project(prior[i, allowed] + u / mu)
        np.testing.assert_allclose(store[i], a, atol=1e-12)
        smooth += weights[i] * (a[allowed] @ u - mu / 2 * ((a - prior[i]) ** 2).sum())
        hinge += weights[i] * u.max()
        linear += weights[i] * a[:m].sum()
        expected = weights[i] * a[:m]
        expected[labels[i]] -= weights[i] * a[:m].sum()
        np.testing.assert_allclose(slope[i], expected, atol=1e-12)
        assert active[i] == (a[:m].sum() > 0)
    np.testing.assert_allclose(sums, (smooth, hinge, linear))


def test_simplex_quadratic_against_slsqp():
    rng = np.random.default_rng(3)
    planes = rng.normal(size=(8, 5))
    planes[0] = 0
    hessian, linear = planes @ planes.T, rng.random(8)
    linear[0] = 0
    point = np.zeros(8)
    point[0] = 3.0
    slack = linear - hessian @ point
    simplex_quadratic(hessian, linear, point, slack, 1e-12, 100_000)
    np.testing.assert_allclose(point.sum(), 3)
    np.testing.assert_allclose(slack, linear - hessian @ point, atol=1e-10)
    found = optimize.minimize(
        lambda a: a @ hessian @ a / 2 - linear @ a,
        np.full(8, 3 / 8),
        jac=lambda a: hessian @ a - linear,
        bounds=[(0, None)] * 8,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 3},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    np.testing.assert_allclose(linear @ point - point @ hessian @ point / 2, -found.fun, rtol=1e-9)


def linear_program(costs, capacities):
    """The transportation problem's optimum by HiGHS."""
    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    bounds = np.append(np.ones(n), capacities)
    found = optimize.linprog(costs.ravel(), A_eq=np.vstack([rows, columns]), b_eq=bounds, method="highs")
    return found.fun


@pytest.mark.parametrize("seed", range(12))
def test_assignment_is_the_linear_programs_optimum(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 60)), int(rng.integers(1, 7))
    scores, candidates, _, _ = random_rows(seed, n, m, ties=seed % 3 == 0)
    costs = all_losses(scores) if seed % 2 else rng.normal(size=(n, m))
    if seed % 4 == 1:
        costs = outside_last(costs, candidates)
    capacities = class_capacities(candidates) if seed % 4 < 2 else rng.multinomial(n, np.ones(m) / m)
    labels = assign(costs, capacities)
    np.testing.assert_array_equal(np.bincount(labels, minlength=m), capacities)
    np.testing.assert_allclose(
        costs[np.arange(n), labels].sum(), linear_program(costs, capacities), rtol=1e-12, atol=1e-12
    )


def test_assignment_by_hand():
    costs = np.array([[0.0, 5.0], [0.0, 1.0], [0.0, 3.0]])
    assert assign(costs, np.array([2, 1])).tolist() == [0, 1, 0]
    assert assign(costs, np.array([0, 3])).tolist() == [1, 1, 1]


def test_a_label_outside_of_the_candidates_is_the_last_resort():
    """Two rows that move inside cost 20; the third beside its candidates would save both, were it not forbidden."""
    candidates = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
    costs = outside_last(np.array([[0.0, 10.0, 0.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0]]), candidates)
    assert assign(costs, np.array([1, 1, 1])).tolist() == [1, 2, 0]
    # Where it cannot be avoided, as few rows as possible are outside.
    labels = assign(costs, np.array([0, 1, 2]))
    assert candidates[np.arange(3), labels].sum() == 2


def test_capacities_by_hand():
    # Expected counts 1 + 1/3, 1/2 + 1/3, 1/2 + 1/3: floors 1, 0, 0; two units go to the larger fractions.
    candidates = np.array([[1, 0, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    assert class_capacities(candidates).tolist() == [1, 1, 1]
    assert class_capacities(np.ones((3, 3), dtype=bool)).tolist() == [1, 1, 1]
    assert class_capacities(np.ones((4, 3), dtype=bool)).tolist() == [2, 1, 1]
