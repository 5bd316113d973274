"""The projection on the simplices of candidate sets: known answers, an independent solver, laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from plcore.labels.weights import project_rows
from tests.plcore.random_sets import some_sets


def points_and_sets():
    shapes = st.tuples(st.integers(1, 6), st.integers(1, 7))
    numbers = st.floats(-1e3, 1e3) | st.integers(-2, 2).map(float)

    def both(shape):
        sets = arrays(bool, shape).map(lambda inside: inside | (~inside.any(axis=1))[:, None])
        return st.tuples(arrays(float, shape, elements=numbers), sets)

    return shapes.flatmap(both)


@pytest.mark.parametrize(
    ("point", "inside", "nearest"),
    [
        ([0.2, 0.3, 0.5], [1, 1, 1], [0.2, 0.3, 0.5]),  # it is there already
        ([0.0, 0.0, 0.0], [1, 1, 1], [1 / 3, 1 / 3, 1 / 3]),
        ([5.0, 0.0, 0.0], [1, 1, 1], [1, 0, 0]),
        ([0.9, 0.5, -3.0], [1, 1, 1], [0.7, 0.3, 0]),
        ([9.0, 0.9, 0.5], [0, 1, 1], [0, 0.7, 0.3]),  # values outside the set do not count, however large
        ([9.0, -7.0, 0.5], [0, 1, 0], [0, 1, 0]),
        ([-np.inf, 0.4, 0.2], [0, 1, 1], [0, 0.6, 0.4]),
    ],
)
def test_projection_matches_known_answers(point, inside, nearest):
    found = project_rows(np.array([point]), np.array([inside], dtype=bool))
    np.testing.assert_allclose(found, [nearest], atol=1e-15)


def test_projection_matches_a_quadratic_program():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 5)) * rng.choice([0.1, 1, 3], size=(30, 1))
    inside = some_sets(rng, 30, 5, 0.6)
    found = project_rows(points, inside)
    for point, candidates, projected in zip(points, inside, found, strict=True):
        start = candidates / candidates.sum()
        solved = minimize(
            lambda p, f=point: np.sum((p - f) ** 2),
            start,
            jac=lambda p, f=point: 2 * (p - f),
            bounds=[(0, 1 if one else 0) for one in candidates],
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        np.testing.assert_allclose(projected, solved.x, atol=1e-8)


@given(points_and_sets())
def test_projection_is_a_distribution_on_the_set(case):
    points, inside = case
    found = project_rows(points, inside)
    assert (found >= 0).all()
    assert (found[~inside] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)


@given(points_and_sets())
def test_projection_meets_the_optimality_condition(case):
    """p is nearest if and only if (f - p).(q - p) <= 0 for every corner q of the simplex."""
    points, inside = case
    found = project_rows(points, inside)
    away = np.where(inside, points - found, 0.0)
    reached = np.sum(away * found, axis=1)
    corners = np.where(inside, away, -np.inf).max(axis=1)
    assert (corners <= reached + 1e-9 * (1 + np.abs(points).max(initial=0))).all()


@given(points_and_sets(), st.floats(-100, 100))
def test_projection_is_idempotent_and_shift_invariant(case, shift):
    points, inside = case
    found = project_rows(points, inside)
    np.testing.assert_allclose(project_rows(points + shift, inside), found, atol=1e-9)
    np.testing.assert_allclose(project_rows(found, inside), found, atol=1e-12)


@given(points_and_sets())
def test_projection_keeps_the_order_of_values(case):
    points, inside = case
    found = project_rows(points, inside)
    top = np.where(inside, points, -np.inf).argmax(axis=1)
    rows = np.arange(len(points))
    assert (found[rows, top] == found.max(axis=1)).all()
    equal = np.repeat(points[:, :1], points.shape[1], axis=1)
    shares = inside / inside.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(project_rows(equal, inside), shares, atol=1e-12)


def test_rows_are_projected_independently_and_input_is_unchanged():
    rng = np.random.default_rng(1)
    points, inside = rng.normal(size=(8, 4)), np.ones((8, 4), dtype=bool)
    before = points.copy()
    whole = project_rows(points, inside)
    np.testing.assert_array_equal(np.vstack([project_rows(row[None], inside[:1]) for row in points]), whole)
    np.testing.assert_array_equal(points, before)
