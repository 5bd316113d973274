"""Shortlists: known answers, exact coverage, and the laws that hold for any shares."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plcore.evaluation import checks_needed, conformal_sets, conformal_threshold, conformity_scores

SHARES = arrays(np.float64, (7, 4), elements=st.floats(0.0625, 1.0, width=32)).map(
    lambda raw: raw / raw.sum(axis=1, keepdims=True)
)
MISSES = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5])


@pytest.mark.parametrize(("miss", "needed"), [(0.05, 19), (0.1, 9), (0.01, 99), (0.3, 3), (0.5, 1)])
def test_the_first_number_of_checks_that_allows_a_finite_threshold(miss, needed):
    assert checks_needed(miss) == needed
    assert conformal_threshold(np.arange(needed), miss) == needed - 1
    assert np.isinf(conformal_threshold(np.arange(needed - 1), miss))


def test_the_threshold_is_the_score_of_the_right_rank():
    scores = np.random.default_rng(0).permutation(np.arange(1, 100) / 100)  # 99 of them: rank 95, 90 and 99
    assert [conformal_threshold(scores, miss) for miss in (0.05, 0.1, 0.01)] == [0.95, 0.9, 0.99]


def test_rates_that_are_nearly_0_or_1_are_neither():
    assert checks_needed(1e-7) == 9_999_999
    assert np.isinf(conformal_threshold(np.arange(20), 1e-7))
    assert conformal_threshold(np.arange(20), 1 - 1e-7) == 0


@pytest.mark.parametrize("truth", [[0, 3], [0, -2], [0, np.nan], ["a", "b"], [0, 0.5]])
def test_what_is_no_class_number_is_refused(truth):
    with pytest.raises(ValueError, match=r"from 0 to 2, or -1.*Got \[.*get_indexer"):
        conformity_scores(np.full((2, 3), 0.25), truth)


def test_without_scores_nothing_may_be_left_out():
    assert np.isinf(conformal_threshold([], 0.5))


def test_truth_outside_the_candidates_counts_as_a_list_that_cannot_hold_it():
    shares = [[0.75, 0.25, 0.0], [0.5, 0.5, 0.0]]
    assert conformity_scores(shares, [1, -1]).tolist() == [0.75, np.inf]
    scores = np.r_[np.full(95, 0.25), np.full(4, np.inf)]
    assert conformal_threshold(scores, 0.05) == 0.25
    assert np.isinf(conformal_threshold(np.r_[scores, np.inf, np.inf], 0.05))


def test_known_shortlists():
    shares = [[0.7, 0.2, 0.1], [0.4, 0.6, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    candidates = [[1, 1, 1], [1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert conformal_sets(shares, candidates, 0.8).tolist() == [
        [True, True, False],
        [True, True, False],
        [True, True, False],
        [False, False, False],
    ]
    # No label is so sure: the likeliest alone, of equal ones the first.
    assert conformal_sets(shares, candidates, 0.1).tolist() == [
        [True, False, False],
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert conformal_sets(shares, candidates, np.inf).tolist() == np.array(candidates, dtype=bool).tolist()


def test_equal_scores_are_on_the_list_together():
    shares = np.full((1, 4), 0.25)
    q = conformal_threshold(conformity_scores(np.tile(shares, (30, 1)), np.zeros(30, dtype=int)), 0.05)
    assert conformal_sets(shares, np.ones((1, 4), dtype=bool), q).all()


@pytest.mark.parametrize("miss", [0.2, 0.25, 0.4])
def test_coverage_of_all_orders_is_exactly_that_of_the_theorem(miss):
    """Every order of m + 1 different scores is as likely: the last is within the threshold of the others in exactly
    ceil((m + 1)(1 - a)) of m + 1 orders."""
    orders = list(permutations(range(6)))
    held = np.mean([order[-1] <= conformal_threshold(order[:-1], miss) for order in orders])
    assert held == pytest.approx(np.ceil(6 * (1 - miss) - 1e-9) / 6)
    assert held >= 1 - miss


@pytest.mark.parametrize(("miss", "m"), [(0.05, 19), (0.05, 50), (0.1, 37), (0.01, 120)])
def test_simulated_coverage_lies_between_the_bounds(miss, m):
    """Rows of a model whose shares are wrong on purpose: the promise does not depend on them."""
    rng, runs, k = np.random.default_rng(3), 4_000, 5
    shares = rng.dirichlet(np.full(k, 0.5), size=(runs, m + 1))
    weights = np.sqrt(shares) + 0.1  # the truth is less sure than the model thinks
    ends = np.cumsum(weights / weights.sum(axis=2, keepdims=True), axis=2)
    truth = (rng.random((runs, m + 1, 1)) > ends[..., :-1]).sum(axis=2)
    held = 0
    for p, y in zip(shares, truth, strict=True):
        q = conformal_threshold(conformity_scores(p[:m], y[:m]), miss)
        held += int(conformal_sets(p[m:], np.ones((1, k), dtype=bool), q)[0, y[m]])
    error = 4 * np.sqrt(miss * (1 - miss) / runs)
    assert 1 - miss - error <= held / runs <= 1 - miss + 1 / (m + 1) + error


@given(SHARES, arrays(bool, (7, 4)), st.lists(st.integers(-1, 3), min_size=7, max_size=7), MISSES, MISSES)
def test_a_smaller_miss_rate_gives_lists_that_hold_the_other_ones(shares, candidates, truth, a, b):
    scores = conformity_scores(shares, truth)
    narrow, wide = (
        conformal_sets(shares, candidates, conformal_threshold(scores, miss))
        for miss in (max(a, b), min(a, b))
    )
    assert (narrow <= wide).all()
    assert (wide <= candidates).all()
    assert (narrow.any(axis=1) == candidates.any(axis=1)).all()


@given(SHARES, st.permutations(range(7)), MISSES)
def test_the_order_of_the_checks_does_not_matter(shares, order, miss):
    scores = conformity_scores(shares, np.arange(7) % 4)
    assert conformal_threshold(scores, miss) == conformal_threshold(scores[list(order)], miss)


@given(SHARES, st.integers(0, 6), MISSES)
def test_a_label_with_a_larger_share_is_never_left_out_before_another(shares, row, miss):
    q = conformal_threshold(conformity_scores(shares, np.arange(7) % 4), miss)
    (on,) = conformal_sets(shares[[row]], np.ones((1, 4), dtype=bool), q)
    assert on.all() or shares[row][on].min() >= shares[row][~on].max()


@pytest.mark.parametrize("miss", [0, 1, -0.1, np.nan, "0.05", True])
def test_what_is_no_rate_is_refused(miss):
    with pytest.raises(ValueError, match="miss must be a number in"):
        conformal_threshold([0.5], miss)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        conformal_threshold([0.5, np.nan], 0.05)
