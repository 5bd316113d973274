"""Rows given to classes with room for so many each, against SciPy's linear programs and by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from plcore.margin.m3pl import Assignment, class_capacities


def sets_of(rng, n, m, share=0.4):
    candidates = rng.random((n, m)) < share
    candidates[np.arange(n), rng.integers(m, size=n)] = True
    return candidates


def with_last_resort(costs, candidates):
    """The same costs with entries outside of the candidates dearer than everything inside together."""
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


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 50),
    m=st.integers(1, 8),
    everywhere=st.booleans(),
    ties=st.booleans(),
    own=st.booleans(),
)
def test_it_is_the_linear_programs_optimum_from_cold_and_from_warm(seed, n, m, everywhere, ties, own):
    rng = np.random.default_rng(seed)
    candidates = sets_of(rng, n, m, 1.0 if everywhere else 0.4)
    capacities = class_capacities(candidates) if own else rng.multinomial(n, np.ones(m) / m)
    assignment = Assignment(candidates, capacities)
    costs = 3 * rng.random((n, m))
    for change in (0.0, 0.01, 3.0):  # the second and third from the prices of the one before
        costs = costs + change * rng.random((n, m))
        given_costs = np.round(costs) if ties else costs
        assert_least(assignment, given_costs, candidates, capacities)


def test_many_classes():
    rng = np.random.default_rng(0)
    candidates = sets_of(rng, 400, 150, 0.02)
    capacities = class_capacities(candidates)
    assert_least(Assignment(candidates, capacities), rng.random((400, 150)), candidates, capacities)


def test_the_same_costs_again_leave_everything_where_it_is():
    rng = np.random.default_rng(1)
    candidates = sets_of(rng, 200, 12)
    assignment = Assignment(candidates, class_capacities(candidates))
    costs = np.round(2 * rng.random((200, 12)))[candidates]
    labels = assignment.solve(costs)
    np.testing.assert_array_equal(assignment.solve(costs), labels)


def test_by_hand():
    costs = np.array([[0.0, 5.0], [0.0, 1.0], [0.0, 3.0]])
    everywhere = np.ones((3, 2), dtype=bool)
    assert Assignment(everywhere, np.array([2, 1])).solve(costs.ravel()).tolist() == [0, 1, 0]
    assert Assignment(everywhere, np.array([0, 3])).solve(costs.ravel()).tolist() == [1, 1, 1]


def test_a_label_outside_of_the_candidates_is_the_last_resort():
    """Two rows that move inside cost 20; the third beside its candidates would save both, were it not forbidden."""
    candidates = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
    costs = np.array([[0.0, 10.0, 0.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0]])[candidates]
    assert Assignment(candidates, np.array([1, 1, 1])).solve(costs).tolist() == [1, 2, 0]
    # Where it cannot be avoided, as few rows as possible are outside.
    labels = Assignment(candidates, np.array([0, 1, 2])).solve(costs)
    assert candidates[np.arange(3), labels].sum() == 2
    nowhere = Assignment(candidates, np.array([0, 0, 3])).solve(costs)
    assert nowhere.tolist() == [2, 2, 2]


def test_capacities_by_hand():
    # Expected counts 1 + 1/3, 1/2 + 1/3, 1/2 + 1/3: floors 1, 0, 0; two units go to the larger fractions.
    candidates = np.array([[1, 0, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    assert class_capacities(candidates).tolist() == [1, 1, 1]
    assert class_capacities(np.ones((3, 3), dtype=bool)).tolist() == [1, 1, 1]
    assert class_capacities(np.ones((4, 3), dtype=bool)).tolist() == [2, 1, 1]
