"""Truths outside of the candidates: their rate, and what follows for a row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.evaluation import exact_interval, outside_probabilities, outside_rate


def test_the_rate_has_its_exact_interval():
    rate = outside_rate(3, 60)
    assert rate.share == 0.05
    assert (rate.low, rate.high) == tuple(map(float, exact_interval(3, 60)))
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.0104, 0.1392)  # Clopper and Pearson, by hand


def test_without_checks_nothing_is_known():
    rate = outside_rate(0, 0)
    assert np.isnan(rate.share)
    assert (rate.low, rate.high) == (0.0, 1.0)


def test_bayes_by_hand():
    shares = [[0.1, 0.1, 0.8, 0.0]]
    candidates = [[True, True, False, False]]
    # .9 * .2 / 2 = .09 inside, .1 * .8 / 2 = .04 outside
    assert outside_probabilities(shares, candidates, 0.1) == pytest.approx([4 / 13])


def test_even_shares_leave_the_rate():
    candidates = np.array([[True, False, False], [True, True, False]])
    assert outside_probabilities(np.full((2, 3), 1 / 3), candidates, 0.05) == pytest.approx([0.05, 0.05])
    assert outside_probabilities(np.zeros((2, 3)), candidates, 0.05) == pytest.approx([0.05, 0.05])


def test_nothing_lies_outside_of_all_classes_or_of_none():
    candidates = np.array([[True, True], [False, False]])
    assert outside_probabilities(np.full((2, 2), 0.5), candidates, 0.3).tolist() == [0.0, 0.0]


def test_a_model_whose_shares_are_right_gives_probabilities_that_are():
    """Rows drawn from the very model that Bayes' rule assumes."""
    rng, n, m, rate = np.random.default_rng(0), 40_000, 5, 0.1
    y = rng.integers(m, size=n)
    features = rng.normal(size=(n, m)) + 1.5 * np.eye(m)[y]
    shares = np.exp(1.5 * features)
    shares /= shares.sum(axis=1, keepdims=True)
    outside = rng.random(n) < rate
    candidates = np.zeros((n, m), dtype=bool)
    for row in range(n):
        others = rng.permutation([k for k in range(m) if k != y[row]])[:2]
        candidates[row, others] = True
        if not outside[row]:
            candidates[row, others[0]] = False
            candidates[row, y[row]] = True
    found = outside_probabilities(shares, candidates, rate)
    assert found.mean() == pytest.approx(rate, abs=0.005)
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 1.0)):
        bin_ = (found >= low) & (found < high)
        assert outside[bin_].mean() == pytest.approx(found[bin_].mean(), abs=0.02)


@given(st.floats(0, 0.9), st.floats(0, 0.9), st.integers(0, 2**32 - 1))
def test_a_higher_rate_puts_no_row_at_less_risk(a, b, seed):
    rng = np.random.default_rng(seed)
    shares, candidates = rng.dirichlet(np.ones(4), size=5), rng.random((5, 4)) < 0.5
    low, high = (outside_probabilities(shares, candidates, rate) for rate in sorted((a, b)))
    assert (low <= high + 1e-12).all()
    assert ((low >= 0) & (high <= 1)).all()


def test_what_is_no_rate_is_refused():
    with pytest.raises(ValueError, match="rate"):
        outside_probabilities([[1.0]], [[True]], 1.0)
