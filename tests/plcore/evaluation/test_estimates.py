"""The honest estimate: laws, known answers, and how often its interval covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from plcore.evaluation.estimates import (
    ControlCounts,
    control_accuracy,
    control_rows_measured,
    exact_interval,
    stratified_accuracy,
    wilson_interval,
)


@st.composite
def hits(draw, most=60):
    n = draw(st.integers(0, most))
    return draw(st.integers(0, n)), n


@st.composite
def strata(draw):
    one, two = draw(hits()), draw(hits())
    return np.array([[one[0], two[0]]]), np.array([[one[1], two[1]]]), draw(st.floats(0, 1))


def estimate(right, n, w):
    found = stratified_accuracy(right, n, [w, 1 - w])
    return tuple(float(part[0]) for part in found)


@given(hits(), st.sampled_from([0.8, 0.95, 0.99]))
def test_one_stratum_is_scipys_exact_interval(pair, level):
    right, n = pair
    low, high = exact_interval(right, n, level)
    if n == 0:
        assert (low, high) == (0, 1)
        return
    known = stats.binomtest(right, n).proportion_ci(level, method="exact")
    assert (low, high) == pytest.approx((known.low, known.high), abs=1e-9)
    joined = stratified_accuracy([[right]], [[n]], [1.0], level)
    assert [part[0] for part in joined] == pytest.approx([right / n, known.low, known.high], abs=1e-9)


@given(strata())
def test_the_interval_lies_in_the_unit_range_and_holds_the_value(case):
    value, low, high = estimate(*case)
    assert 0 <= low <= high <= 1
    if not np.isnan(value):
        assert low - 1e-12 <= value <= high + 1e-12


@given(strata())
def test_one_hit_more_never_lowers_anything(case):
    right, n, w = case
    if right[0, 0] == n[0, 0]:
        return
    before, after = estimate(right, n, w), estimate(right + np.array([1, 0]), n, w)
    for old, new in zip(before, after, strict=True):
        assert np.isnan(old) or new >= old - 1e-12


@given(strata())
def test_what_holds_of_right_holds_of_wrong(case):
    right, n, w = case
    value, low, high = estimate(right, n, w)
    other = estimate(n - right, n, w)
    assert (1 - low, 1 - high) == pytest.approx((other[2], other[1]), abs=1e-9)
    assert np.isnan(value) == np.isnan(other[0])
    if not np.isnan(value):
        assert 1 - value == pytest.approx(other[0], abs=1e-9)


@given(strata(), st.integers(2, 9))
def test_more_of_the_same_narrows(case, times):
    right, n, w = case
    _, low, high = estimate(right, n, w)
    _, low_more, high_more = estimate(right * times, n * times, w)
    assert high_more - low_more <= high - low + 1e-9


@given(hits(), hits(), st.floats(0.01, 0.99))
def test_a_stratum_without_answers_is_wholly_open(first, second, w):
    assert estimate(np.zeros((1, 2)), np.zeros((1, 2)), w)[1:] == pytest.approx((0, 1))
    if not second[1]:
        return
    value, low, high = estimate(np.array([[0, second[0]]]), np.array([[0, second[1]]]), w)
    alone = exact_interval(*second)
    assert np.isnan(value)
    assert (low, high) == pytest.approx(((1 - w) * alone[0], w + (1 - w) * alone[1]), abs=1e-9)


def test_a_stratum_without_weight_falls_away():
    both = control_accuracy([ControlCounts(7, 9, 3, 50)], 1.0)
    alone = control_accuracy([ControlCounts(7, 9, 0, 0)], 1.0)
    np.testing.assert_array_equal(both, alone)
    assert both.value[0] == 7 / 9
    assert control_accuracy([ControlCounts(0, 0, 3, 4)], 0.0).value[0] == 3 / 4


def test_a_curve_is_its_points():
    rng = np.random.default_rng(0)
    n = rng.integers(0, 40, (300, 2))
    right = rng.binomial(n, 0.8)
    counts = [ControlCounts(a, b, c, d) for (a, c), (b, d) in zip(right.tolist(), n.tolist(), strict=True)]
    curve = control_accuracy(counts, 0.7)
    for k in (0, 17, 299):
        point = control_accuracy([counts[k]], 0.7)
        np.testing.assert_array_equal([part[k] for part in curve], [part[0] for part in point])
    assert np.isnan(curve.value[(n == 0).any(axis=1)]).all()
    assert all(len(part) == 0 for part in control_accuracy([], 0.5))


@pytest.mark.parametrize(
    ("n1", "n2", "least"), [(5, 5, 0.925), (3, 30, 0.945), (20, 30, 0.95), (40, 80, 0.95)]
)
@pytest.mark.parametrize("w", [0.5, 0.7])
def test_the_interval_keeps_its_level(n1, n2, w, least):
    """Exact coverage, by summing over all outcomes, at every pair of accuracies of a grid."""
    one, two = np.meshgrid(np.arange(n1 + 1), np.arange(n2 + 1), indexing="ij")
    right = np.column_stack([one.ravel(), two.ravel()])
    _, low, high = stratified_accuracy(right, np.broadcast_to([n1, n2], right.shape), [w, 1 - w])
    coverage = []
    for p1 in np.linspace(0.3, 1, 36):
        p2 = np.linspace(0.5, 1, 26)[:, None]
        chance = stats.binom.pmf(right[:, 0], n1, p1) * stats.binom.pmf(right[:, 1], n2, p2)
        truth = w * p1 + (1 - w) * p2
        coverage.extend((chance * ((low <= truth + 1e-12) & (truth <= high + 1e-12))).sum(axis=1))
    assert min(coverage) >= least
    assert np.mean(coverage) >= 0.955


@pytest.mark.parametrize(
    ("right", "n", "weights", "message"),
    [
        ([[2]], [[1]], [1.0], "between 0 and n everywhere. Got 2 of 1"),
        ([[np.nan]], [[1]], [1.0], "between 0 and n everywhere. Got nan of 1"),
        ([[1, 1]], [[1, 1]], [0.5, 0.6], "sum to 1"),
        ([[1, 1]], [[1, 1]], [1.5, -0.5], "sum to 1"),
        ([1, 1], [1, 1], [0.5, 0.5], "shape"),
    ],
)
def test_wrong_counts_are_refused(right, n, weights, message):
    with pytest.raises(ValueError, match=message):
        stratified_accuracy(right, n, weights)


def test_a_wrong_level_is_refused():
    with pytest.raises(ValueError, match="level"):
        exact_interval(1, 2, 1.0)


def test_wilson_interval_against_known_values() -> None:
    low, high = wilson_interval(np.array([0.5, 0.0, 1.0]), 100)
    assert low == pytest.approx([0.4038315, 0.0, 0.9630065], abs=1e-6)
    assert high == pytest.approx([0.5961685, 0.0369935, 1.0], abs=1e-6)


def test_controls_measure_like_as_many_rows_that_count_the_same():
    counts = [ControlCounts(1, 30, 2, 10), ControlCounts(0, 0, 2, 10), ControlCounts(5, 40, 0, 0)]
    assert control_rows_measured(counts, 0.75) == pytest.approx(
        [40, 0, 0]
    )  # in proportion: all count the same
    assert control_rows_measured(counts, 0.5)[0] == pytest.approx(1 / (0.25 / 30 + 0.25 / 10))
    assert control_rows_measured(counts, 1.0) == pytest.approx([30, 0, 40])
