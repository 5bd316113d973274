"""What in a row speaks for a label: the plain sums, and that a row does not count for itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from plcore.query import speaks_for


def plain(X: np.ndarray, shares: np.ndarray, x: np.ndarray, own: int | None) -> np.ndarray:
    """By loops over labels and columns."""
    k = shares.shape[1]
    means = np.zeros((X.shape[1], k))
    for label in range(k):
        rows = [row for row in range(len(X)) if row != own]
        weight = sum(shares[row, label] for row in rows)
        for column in range(X.shape[1]):
            total = sum(shares[row, label] * X[row, column] for row in rows)
            means[column, label] = total / weight if weight else 0.0
    found = np.zeros_like(means)
    for label in range(k):
        others = [means[:, other] for other in range(k) if other != label]
        found[:, label] = x * (means[:, label] - np.mean(others, axis=0))
    return found


@given(seed=st.integers(0, 10_000), own=st.none() | st.integers(0, 11))
def test_it_is_the_formula(seed: int, own: int | None) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((12, 6)) * (rng.random((12, 6)) < 0.5)
    shares = rng.dirichlet(np.ones(3), size=12) * (rng.random((12, 1)) < 0.9)
    x = X[own or 0]
    columns = np.flatnonzero(x)
    found = speaks_for(sparse.csc_matrix(X), shares, columns, x[columns], own)
    np.testing.assert_allclose(found, plain(X, shares, x, own)[columns], atol=1e-12)


def test_it_adds_up_to_the_difference_of_the_scores() -> None:
    X = np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 2]])
    shares = np.array([[1.0, 0], [1, 0], [0, 1]])
    x = np.array([1.0, 1, 1])
    found = speaks_for(sparse.csc_matrix(X), shares, np.arange(3), x)
    scores = x @ np.array([[1, 0], [0.5, 0], [0, 2]])
    np.testing.assert_allclose(found.sum(axis=0), [scores[0] - scores[1], scores[1] - scores[0]])
    np.testing.assert_allclose(found, [[1, -1], [0.5, -0.5], [-2, 2]])


def test_a_row_does_not_count_for_itself_and_nothing_is_changed() -> None:
    X, shares = sparse.csc_matrix(np.array([[1.0], [0.0]])), np.array([[1.0, 0.0], [0.0, 1.0]])
    found = speaks_for(X, shares, np.array([0]), np.array([1.0]), own=0)
    np.testing.assert_array_equal(found, [[0, 0]])
    np.testing.assert_array_equal(shares, np.eye(2))


@pytest.mark.parametrize("shape", [(3, 2), (2, 1), (2,)])
def test_shapes_are_checked(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two labels or more"):
        speaks_for(sparse.csc_matrix((2, 4)), np.zeros(shape), np.array([0]), np.array([1.0]))
