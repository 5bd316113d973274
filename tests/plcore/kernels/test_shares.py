"""The compiled loops over soft labels beside plain NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.kernels import largest_change


def soft_labels(seed: int, n: int, m: int) -> np.ndarray:
    """(n, m) shares, a third of them 0, some rows all of them."""
    rng = np.random.default_rng(seed)
    shares = rng.random((n, m)) * (rng.random((n, m)) > 0.3)
    return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 30), m=st.integers(1, 6))
def test_the_largest_change_is_that_of_a_row_with_weight(seed, n, m):
    before, after = soft_labels(seed, n, m), soft_labels(seed + 1, n, m)
    weights = np.random.default_rng(seed).integers(0, 2, size=n).astype(float)
    changes = np.abs(after - before).sum(axis=1)[weights > 0]
    np.testing.assert_allclose(largest_change(before, after, weights), changes.max(initial=0.0), rtol=1e-14)
