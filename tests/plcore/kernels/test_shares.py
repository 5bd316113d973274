"""The compiled loops over soft labels beside plain NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.kernels import largest_change, rescale_rows


def soft_labels(seed: int, n: int, m: int) -> np.ndarray:
    """(n, m) shares, a third of them 0, some rows all of them."""
    rng = np.random.default_rng(seed)
    shares = rng.random((n, m)) * (rng.random((n, m)) > 0.3)
    return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 30), m=st.integers(1, 6))
def test_rescaled_rows_are_shares_again(seed, n, m):
    shares, factors = soft_labels(seed, n, m), np.random.default_rng(seed).random(m)
    factors[0] = 0.0
    found = rescale_rows(shares, factors)
    moved = shares * factors
    total = moved.sum(axis=1, keepdims=True)
    nothing = total[:, 0] == 0
    np.testing.assert_array_equal(found[nothing], shares[nothing])
    np.testing.assert_allclose(
        found[~nothing], (moved / np.where(total > 0, total, 1.0))[~nothing], rtol=1e-14
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 30), m=st.integers(1, 6))
def test_the_largest_change_is_that_of_a_row_with_weight(seed, n, m):
    before, after = soft_labels(seed, n, m), soft_labels(seed + 1, n, m)
    weights = np.random.default_rng(seed).integers(0, 2, size=n).astype(float)
    changes = np.abs(after - before).sum(axis=1)[weights > 0]
    np.testing.assert_allclose(largest_change(before, after, weights), changes.max(initial=0.0), rtol=1e-14)
