"""The compiled loops of the margin learners against plain NumPy, SciPy's SLSQP."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from plcore.kernels import largest_change
from plcore.kernels.margin import (
    add_rows,
    best_candidates,
    candidate_losses,
    hard_rows,
    simplex_quadratic,
    smooth_rows,
    spread,
)
from plcore.margin.m3pl import Assignment, class_capacities
from tests.plcore.random_sets import some_sets


def random_rows(seed, n=40, m=5, ties=False):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, m))
    if ties:
        scores = np.round(scores)
    candidates = some_sets(rng, n, m, 0.4)
    candidates[0] = True
    weights = rng.random(n)
    labels = np.where(candidates, scores, -np.inf).argmax(axis=1)
    return scores, candidates, weights, labels


def lists(candidates):
    """Offsets of the candidates of each row, and the candidates of all rows."""
    return np.append(0, candidates.sum(axis=1).cumsum()), np.nonzero(candidates)[1]


def room(n, m):
    """Storage for the derivative, and a function that returns it as a full matrix."""
    rows = np.empty(n + 1, dtype=np.int64), np.empty(n * (m + 1), dtype=np.int64), np.empty(n * (m + 1))

    def whole():
        slope = np.empty((n, m))
        spread(*rows, slope)
        return slope

    return rows, whole


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
def test_best_candidates_and_hard_losses_match_plain_numpy(ties, all_others):
    scores, candidates, weights, labels = random_rows(0, ties=ties)
    found = np.empty(len(labels), dtype=np.int64)
    favours = np.zeros(candidates.sum())
    best_candidates(scores, *lists(candidates), favours, found)
    np.testing.assert_array_equal(found, labels)
    favours[np.random.default_rng(0).random(len(favours)) < 0.3] = -0.7
    favours[np.random.default_rng(1).random(len(favours)) < 0.3] = -np.inf
    best_candidates(scores, *lists(candidates), favours, found)
    favoured = np.full(scores.shape, -np.inf)
    favoured[candidates] = scores[candidates] + favours
    some = (favoured > -np.inf).any(axis=1)
    np.testing.assert_array_equal(found[some], favoured.argmax(axis=1)[some])
    slopes, whole = room(*scores.shape)
    loss, weight = hard_rows(scores.copy(), *lists(candidates), labels, weights, all_others, *slopes)
    rows = np.arange(len(labels))
    free = np.where(rivals(candidates, labels, all_others), scores, -np.inf)
    rival = free.argmax(axis=1)
    hinge = np.maximum(0, 1 - scores[rows, labels] + free.max(axis=1))
    expected = np.zeros(scores.shape)
    expected[rows, rival] += weights * (hinge > 0)
    expected[rows, labels] -= weights * (hinge > 0)
    np.testing.assert_allclose(loss, weights @ hinge)
    np.testing.assert_allclose(weight, weights[hinge > 0].sum())
    np.testing.assert_array_equal(np.diff(slopes[0]), 2 * (hinge > 0))
    np.testing.assert_array_equal(whole(), expected)
    X, total = np.random.default_rng(1).normal(size=(len(labels), 3)), np.ones((scores.shape[1], 3))
    add_rows(*slopes, X, total)
    np.testing.assert_allclose(total, 1 + expected.T @ X)


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("all_others", [False, True])
@pytest.mark.parametrize("mu", [30.0, 1.0, 0.03])
@pytest.mark.parametrize("m", [1, 5, 60])
def test_smoothed_losses_match_plain_numpy(with_prior, all_others, mu, m):
    scores, candidates, weights, labels = random_rows(1, m=m)
    n, m = scores.shape
    free = rivals(candidates, labels, all_others)
    prior = np.zeros((n, m + 1))
    if with_prior:
        raw = np.random.default_rng(2).random((n, m + 1)) * np.column_stack([free, np.ones(n)])
        prior = raw / raw.sum(axis=1, keepdims=True)
    given = prior if with_prior else np.zeros((0, 0))
    store = np.empty((n, m + 1))
    slopes, whole = room(n, m)
    sums = smooth_rows(scores.copy(), *lists(candidates), labels, weights, all_others, mu, given, store, *slopes)
    slope = whole()
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
        assert (slopes[0][i + 1] > slopes[0][i]) == (a[:m].sum() > 0)
    np.testing.assert_allclose(sums, (smooth, hinge, linear))


def test_simplex_quadratic_matches_slsqp():
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


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("m", [1, 5])
def test_candidate_losses_match_plain_numpy(ties, m):
    scores, candidates, _, _ = random_rows(4, m=m, ties=ties)
    losses = np.empty(candidates.sum())
    before = scores.copy()
    candidate_losses(scores, *lists(candidates), losses)
    np.testing.assert_array_equal(scores, before)
    expected = []
    for row, sets in zip(scores, candidates, strict=True):
        for k in np.flatnonzero(sets):
            rival = np.delete(row, k).max(initial=-np.inf)
            expected.append(max(0.0, 1 - (row[k] - rival)))
    np.testing.assert_array_equal(losses, expected)


# The compiled loops over soft labels compared with plain NumPy.


def soft_labels(seed: int, n: int, m: int) -> np.ndarray:
    """(n, m) shares, a third of them 0, some rows all of them."""
    rng = np.random.default_rng(seed)
    shares = rng.random((n, m)) * (rng.random((n, m)) > 0.3)
    return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)


@given(seed=st.integers(0, 10**6), n=st.integers(0, 30), m=st.integers(1, 6))
def test_largest_change_considers_only_rows_with_weight(seed, n, m):
    before, after = soft_labels(seed, n, m), soft_labels(seed + 1, n, m)
    weights = np.random.default_rng(seed).integers(0, 2, size=n).astype(float)
    changes = np.abs(after - before).sum(axis=1)[weights > 0]
    np.testing.assert_allclose(largest_change(before, after, weights), changes.max(initial=0.0), rtol=1e-14)


# Assignment of rows to classes with capacities, against SciPy's linear programs and by hand.


def with_last_resort(costs, candidates):
    """The same costs, with each entry outside of the candidates costlier than all inside together."""
    inside = float(np.abs(costs[candidates]).max(initial=0.0))
    return np.where(candidates, costs, (1.0 + inside) * (len(costs) + 1.0))


def linear_program(costs, capacities):
    """The transportation problem's optimum by HiGHS."""
    n, m = costs.shape
    rows = sparse.kron(sparse.eye(n), np.ones((1, m)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye(m))
    found = optimize.linprog(
        costs.ravel(),
        A_eq=sparse.vstack([rows, columns]).tocsr(),
        b_eq=np.append(np.ones(n), capacities),
        method="highs",
    )
    return found.fun


def assert_least(assignment, costs, candidates, capacities):
    labels = assignment.solve(costs[candidates])
    np.testing.assert_array_equal(np.bincount(labels, minlength=len(capacities)), capacities)
    whole = with_last_resort(costs, candidates)
    np.testing.assert_allclose(
        whole[np.arange(len(costs)), labels].sum(), linear_program(whole, capacities), rtol=1e-10, atol=1e-10
    )


@settings(max_examples=settings().max_examples * 2 // 5)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 50),
    m=st.integers(1, 8),
    everywhere=st.booleans(),
    ties=st.booleans(),
    own=st.booleans(),
)
def test_assignment_is_optimal_from_a_cold_and_a_warm_start(seed, n, m, everywhere, ties, own):
    rng = np.random.default_rng(seed)
    candidates = some_sets(rng, n, m, 1.0 if everywhere else 0.4)
    capacities = class_capacities(candidates) if own else rng.multinomial(n, np.ones(m) / m)
    assignment = Assignment(candidates, capacities)
    costs = 3 * rng.random((n, m))
    for change in (0.0, 0.01, 3.0):  # the second and third start from the prices of the previous one
        costs = costs + change * rng.random((n, m))
        given_costs = np.round(costs) if ties else costs
        assert_least(assignment, given_costs, candidates, capacities)


def test_assignment_with_many_classes_is_optimal():
    rng = np.random.default_rng(0)
    candidates = some_sets(rng, 400, 150, 0.02)
    capacities = class_capacities(candidates)
    assert_least(Assignment(candidates, capacities), rng.random((400, 150)), candidates, capacities)


def test_equal_costs_give_the_same_assignment_again():
    rng = np.random.default_rng(1)
    candidates = some_sets(rng, 200, 12, 0.4)
    assignment = Assignment(candidates, class_capacities(candidates))
    costs = np.round(2 * rng.random((200, 12)))[candidates]
    labels = assignment.solve(costs)
    np.testing.assert_array_equal(assignment.solve(costs), labels)


def test_assignment_matches_values_computed_by_hand():
    costs = np.array([[0.0, 5.0], [0.0, 1.0], [0.0, 3.0]])
    everywhere = np.ones((3, 2), dtype=bool)
    assert Assignment(everywhere, np.array([2, 1])).solve(costs.ravel()).tolist() == [0, 1, 0]
    assert Assignment(everywhere, np.array([0, 3])).solve(costs.ravel()).tolist() == [1, 1, 1]


def test_label_outside_the_candidates_is_the_last_resort():
    """Two rows that move inside cost 20; the third next to its candidates would save both, were it not forbidden."""
    candidates = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
    costs = np.array([[0.0, 10.0, 0.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0]])[candidates]
    assert Assignment(candidates, np.array([1, 1, 1])).solve(costs).tolist() == [1, 2, 0]
    # If it cannot be avoided, as few rows as possible are outside.
    labels = Assignment(candidates, np.array([0, 1, 2])).solve(costs)
    assert candidates[np.arange(3), labels].sum() == 2
    nowhere = Assignment(candidates, np.array([0, 0, 3])).solve(costs)
    assert nowhere.tolist() == [2, 2, 2]


def test_class_capacities_match_values_computed_by_hand():
    # Expected counts 1 + 1/3, 1/2 + 1/3, 1/2 + 1/3: floors 1, 0, 0; two units go to the larger fractions.
    candidates = np.array([[1, 0, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    assert class_capacities(candidates).tolist() == [1, 1, 1]
    assert class_capacities(np.ones((3, 3), dtype=bool)).tolist() == [1, 1, 1]
    assert class_capacities(np.ones((4, 3), dtype=bool)).tolist() == [2, 1, 1]
