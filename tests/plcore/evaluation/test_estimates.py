"""The accuracy estimate: laws, known answers, and the coverage of its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from plcore.evaluation import Reach, fit_learning_curve, learning_curves
from plcore.evaluation.estimates import (
    ControlCounts,
    control_accuracy,
    control_rows_measured,
    exact_interval,
    stratified_accuracy,
    wilson_interval,
)
from plcore.evaluation.learning_curves import FEWEST_ROWS, MOST_POINTS, reach_of, shared_rows


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
def test_one_stratum_gives_scipys_exact_interval(pair, level):
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
def test_interval_contains_the_value_and_is_within_0_and_1(case):
    value, low, high = estimate(*case)
    assert 0 <= low <= high <= 1
    if not np.isnan(value):
        assert low - 1e-12 <= value <= high + 1e-12


@given(strata())
def test_one_more_hit_never_lowers_the_estimate(case):
    right, n, w = case
    if right[0, 0] == n[0, 0]:
        return
    before, after = estimate(right, n, w), estimate(right + np.array([1, 0]), n, w)
    for old, new in zip(before, after, strict=True):
        assert np.isnan(old) or new >= old - 1e-12


@given(strata())
def test_estimates_of_accuracy_and_error_are_symmetric(case):
    right, n, w = case
    value, low, high = estimate(right, n, w)
    other = estimate(n - right, n, w)
    assert (1 - low, 1 - high) == pytest.approx((other[2], other[1]), abs=1e-9)
    assert np.isnan(value) == np.isnan(other[0])
    if not np.isnan(value):
        assert 1 - value == pytest.approx(other[0], abs=1e-9)


@given(strata(), st.integers(2, 9))
def test_more_answers_with_equal_shares_narrow_the_interval(case, times):
    right, n, w = case
    _, low, high = estimate(right, n, w)
    _, low_more, high_more = estimate(right * times, n * times, w)
    assert high_more - low_more <= high - low + 1e-9


@given(hits(), hits(), st.floats(0.01, 0.99))
def test_stratum_without_answers_contributes_0_to_1(first, second, w):
    assert estimate(np.zeros((1, 2)), np.zeros((1, 2)), w)[1:] == pytest.approx((0, 1))
    if not second[1]:
        return
    value, low, high = estimate(np.array([[0, second[0]]]), np.array([[0, second[1]]]), w)
    alone = exact_interval(*second)
    assert np.isnan(value)
    assert (low, high) == pytest.approx(((1 - w) * alone[0], w + (1 - w) * alone[1]), abs=1e-9)


def test_stratum_without_weight_is_ignored():
    both = control_accuracy([ControlCounts(7, 9, 3, 50)], 1.0)
    alone = control_accuracy([ControlCounts(7, 9, 0, 0)], 1.0)
    np.testing.assert_array_equal(both, alone)
    assert both.value[0] == 7 / 9
    assert control_accuracy([ControlCounts(0, 0, 3, 4)], 0.0).value[0] == 3 / 4


def test_curve_matches_estimates_of_single_points():
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


@pytest.mark.parametrize(("n1", "n2", "least"), [(5, 5, 0.925), (3, 30, 0.945), (20, 30, 0.95), (40, 80, 0.95)])
@pytest.mark.parametrize("w", [0.5, 0.7])
def test_interval_coverage_is_at_least_its_level(n1, n2, w, least):
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


def test_wrong_level_is_refused():
    with pytest.raises(ValueError, match="level"):
        exact_interval(1, 2, 1.0)


def test_wilson_interval_matches_known_values() -> None:
    low, high = wilson_interval(np.array([0.5, 0.0, 1.0]), 100)
    assert low == pytest.approx([0.4038315, 0.0, 0.9630065], abs=1e-6)
    assert high == pytest.approx([0.5961685, 0.0369935, 1.0], abs=1e-6)


def test_effective_number_of_control_rows_matches_known_values():
    counts = [ControlCounts(1, 30, 2, 10), ControlCounts(0, 0, 2, 10), ControlCounts(5, 40, 0, 0)]
    assert control_rows_measured(counts, 0.75) == pytest.approx(
        [40, 0, 0]
    )  # proportional allocation: all rows weigh the same
    assert control_rows_measured(counts, 0.5)[0] == pytest.approx(1 / (0.25 / 30 + 0.25 / 10))
    assert control_rows_measured(counts, 1.0) == pytest.approx([30, 0, 40])


# Fitted learning curves: known curves are recovered, draws are valid accuracies, intervals cover.


def rising(t: np.ndarray, top: float = 0.93, rise: float = 0.4, speed: float = 60.0) -> np.ndarray:
    return np.asarray(top - rise / (1 + np.asarray(t) / speed))


def measured(curve: np.ndarray, n: int, seed: int) -> np.ndarray:
    """The estimates on the same n rows, whose errors are therefore correlated."""
    hard = np.random.default_rng(seed).random(n)
    return (hard < curve[:, None]).mean(axis=1)


def test_known_curve_is_extrapolated() -> None:
    t = np.arange(0.0, 400.0, 5.0)
    curve = fit_learning_curve(t, rising(t), 1e6)
    value, low, high = curve.at([100.0, 390.0, 800.0])
    assert value == pytest.approx(rising(np.array([100.0, 390.0, 800.0])), abs=0.02)
    assert (low <= value).all()
    assert (value <= high).all()
    # 0.93 - 0.4 / (1 + t / 60) = 0.88 at t = 420
    reach = curve.reach(0.88)
    assert reach.low <= 420 <= reach.high
    assert reach.value == pytest.approx(420, rel=0.15)


def test_flat_curve_never_reaches_a_higher_goal() -> None:
    t = np.arange(0.0, 400.0, 5.0)
    curve = fit_learning_curve(t, 0.8 - 0.3 * np.exp(-t / 20), 5000)
    assert curve.reach(0.95).value == np.inf
    assert curve.reach(0.95).high == np.inf
    assert curve.reach(0.3).value == 0.0, "it began above"


@pytest.mark.parametrize(
    ("answers", "rows"),
    [
        (np.arange(5) * 10.0, 300),  # few points
        (np.arange(10) * 1.0, 300),  # few answers
        (np.arange(10) * 10.0, FEWEST_ROWS - 1),  # few rows
        (np.array([]), 300),
    ],
)
def test_too_little_data_gives_no_curve(answers: np.ndarray, rows: int) -> None:
    assert fit_learning_curve(answers, rising(answers), rows) is None


def test_points_without_accuracy_or_rows_are_ignored() -> None:
    t = np.arange(10) * 10.0
    y = rising(t)
    y[:5] = np.nan
    assert fit_learning_curve(t, y, 300) is None
    rows = np.full(10, 300.0)
    rows[:5] = 3
    assert fit_learning_curve(t, rising(t), rows) is None


def test_falling_accuracy_gives_no_curve() -> None:
    answers = np.arange(0.0, 70.0, 10.0)
    assert fit_learning_curve(answers, np.linspace(0.8, 0.7, 7), 400) is not None, "as chance has it"
    assert fit_learning_curve(answers, np.linspace(0.9, 0.2, 7), 400) is None


def test_values_outside_0_to_1_and_unequal_lengths_are_refused() -> None:
    answers = np.arange(0.0, 70.0, 10.0)
    with pytest.raises(ValueError, match=r"shares in \[0, 1\]. Got 52"):
        fit_learning_curve(answers, [52.0, 60, 65, 69, 71, 74, 75], 400)
    with pytest.raises(ValueError, match=r"one for each of 7 points. Got shape \(6,\)"):
        fit_learning_curve(answers, np.full(7, 0.5), [400] * 6)


def test_points_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="ascending"):
        fit_learning_curve([0, 10, 10], [0.5, 0.6, 0.7], 300)
    with pytest.raises(ValueError, match="as many as accuracy"):
        fit_learning_curve([0, 10], [0.5], 300)


def test_the_same_points_give_the_same_curve() -> None:
    t = np.arange(0.0, 2000.0)
    one, other = (fit_learning_curve(t, measured(rising(t), 300, 1), 300) for _ in range(2))
    assert np.array_equal(one.draws([5.0, 900.0]), other.draws([5.0, 900.0]))


def test_dense_curve_is_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[np.ndarray] = []

    def watched(answers: np.ndarray, accuracy: np.ndarray, n: np.ndarray) -> np.ndarray:
        fitted.append(answers)
        return shared_rows(answers, accuracy, n)

    monkeypatch.setattr(learning_curves, "shared_rows", watched)
    for t in (np.arange(2000.0), 5.0 * np.arange(MOST_POINTS)):
        fit_learning_curve(t, rising(t), 300)
    thinned, whole = fitted
    assert len(thinned) == len(whole) == MOST_POINTS
    assert thinned == pytest.approx(np.linspace(0, 1999, MOST_POINTS), abs=0.5)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(st.lists(st.floats(0, 1), min_size=8, max_size=30), st.floats(30, 5000), st.floats(0.05, 0.95))
def test_draws_are_rising_accuracies_that_reach_the_goal_when_stated(
    accuracy: list[float], rows: float, goal: float
) -> None:
    t = 5.0 * np.arange(len(accuracy))
    curve = fit_learning_curve(t, accuracy, rows)
    assume(curve is not None)  # points that fall far
    drawn = curve.draws(np.linspace(0, 4 * t[-1], 9))
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert (np.diff(drawn, axis=1) >= -1e-12).all()
    at = curve.answers_to(goal)
    late = np.isfinite(at) & (at > 0) & (at < 1e6)
    there = np.array([curve.draws([when])[place, 0] for place, when in enumerate(at) if late[place]])
    assert there == pytest.approx(goal, abs=1e-6)
    never = np.isinf(at)
    assert (curve.draws([1e9])[never, 0] <= goal + 1e-3).all()
    low, high = curve.reach(goal), curve.reach(min(goal + 0.04, 0.99))
    assert low.low <= low.value <= low.high
    assert low.value <= high.value


def test_covariance_of_points_on_the_same_rows_matches_simulation() -> None:
    """Simulates repeated measurements on the same number of rows."""
    t = np.arange(0.0, 240.0, 10.0)
    true = rising(t)
    runs = np.array([measured(true, 200, seed) for seed in range(4000)])
    told = shared_rows(t, true, np.full(len(t), 200.0))
    ratio = np.diag(told) / runs.var(axis=0)
    assert ratio.min() > 1.2
    assert ratio.max() < 2.2, "wider by a known factor"
    correlation = told[0, -1] / np.sqrt(told[0, 0] * told[-1, -1])
    assert correlation == pytest.approx(np.corrcoef(runs.T)[0, -1], abs=0.12)


def test_intervals_cover_the_true_future_accuracy() -> None:
    """Of 100 projects whose rows are redrawn, with true curves of both families."""
    held, read = [], []
    for seed in range(100):
        rng = np.random.default_rng([seed, 3])
        now, n = rng.uniform(80, 200), int(rng.integers(100, 500))
        top, rise, speed = rng.uniform(0.7, 0.97), rng.uniform(0.2, 0.5), rng.uniform(30, 150)

        def true(t: np.ndarray) -> np.ndarray:
            shape = np.exp(-t / speed) if seed % 2 else 1 / (1 + t / speed)  # noqa: B023 - used at once
            return np.asarray(top - rise * shape)  # noqa: B023

        t, later = np.arange(0.0, now, 4.0), np.arange(0.0, 6 * now, 4.0)
        seen = measured(true(later), n, seed)
        curve = fit_learning_curve(t, seen[: len(t)], n)
        _, low, high = curve.at([2 * now])
        held.append(low[0] <= true(np.array([2 * now]))[0] <= high[0])
        goal = float(min(seen[len(t) - 1] + rng.uniform(0.01, 0.1), 0.99))
        reach = curve.reads(goal, t[-1], seen[len(t) - 1], n)
        at = later[np.argmax(seen >= goal)] if (seen >= goal).any() else np.inf
        read.append(reach.low - 4 <= at <= reach.high)
        assert reach.low >= t[-1]
    assert np.mean(held) >= 0.9
    assert np.mean(read) >= 0.9


def test_quantiles_of_draws_accept_infinite_values() -> None:
    assert reach_of(np.array([1.0, 2.0, 3.0, np.inf])) == Reach(3.0, 1.0, np.inf)
    assert reach_of(np.arange(101.0), 0.9) == Reach(50.0, 5.0, 95.0)
