"""Fitted learning curves: known curves are found, their draws keep to the laws of accuracy, intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.evaluation import Reach, fit_learning_curve, learning_curves
from plcore.evaluation.learning_curves import FEWEST_ROWS, MOST_POINTS, reach_of, shared_rows


def rising(t: np.ndarray, top: float = 0.93, rise: float = 0.4, speed: float = 60.0) -> np.ndarray:
    return np.asarray(top - rise / (1 + np.asarray(t) / speed))


def measured(curve: np.ndarray, n: int, seed: int) -> np.ndarray:
    """What n rows measure that come right one after another: their points share what chance has put into them."""
    hard = np.random.default_rng(seed).random(n)
    return (hard < curve[:, None]).mean(axis=1)


def test_a_curve_that_is_known_is_carried_on() -> None:
    t = np.arange(0.0, 400.0, 5.0)
    curve = fit_learning_curve(t, rising(t), 1e6)
    assert curve is not None
    value, low, high = curve.at([100.0, 390.0, 800.0])
    assert value == pytest.approx(rising(np.array([100.0, 390.0, 800.0])), abs=0.02)
    assert (low <= value).all()
    assert (value <= high).all()
    # 0.93 - 0.4 / (1 + t / 60) = 0.88 at t = 420
    reach = curve.reach(0.88)
    assert reach.low <= 420 <= reach.high
    assert reach.value == pytest.approx(420, rel=0.15)


def test_a_goal_that_a_flat_curve_does_not_reach_is_never_reached() -> None:
    t = np.arange(0.0, 400.0, 5.0)
    curve = fit_learning_curve(t, 0.8 - 0.3 * np.exp(-t / 20), 5000)
    assert curve is not None
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
def test_where_there_is_too_little_no_curve_is_fitted(answers: np.ndarray, rows: int) -> None:
    assert fit_learning_curve(answers, rising(answers), rows) is None


def test_points_without_accuracy_or_rows_do_not_count() -> None:
    t = np.arange(10) * 10.0
    y = rising(t)
    y[:5] = np.nan
    assert fit_learning_curve(t, y, 300) is None
    rows = np.full(10, 300.0)
    rows[:5] = 3
    assert fit_learning_curve(t, rising(t), rows) is None


def test_points_that_fall_far_have_no_curve() -> None:
    answers = np.arange(0.0, 70.0, 10.0)
    assert fit_learning_curve(answers, np.linspace(0.8, 0.7, 7), 400) is not None, "as chance has it"
    assert fit_learning_curve(answers, np.linspace(0.9, 0.2, 7), 400) is None


def test_what_are_no_shares_and_other_lengths_are_refused() -> None:
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
    assert one is not None
    assert other is not None
    assert np.array_equal(one.draws([5.0, 900.0]), other.draws([5.0, 900.0]))


def test_a_dense_curve_is_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
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


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=8, max_size=30), st.floats(30, 5000), st.floats(0.05, 0.95))
def test_draws_are_accuracies_that_rise_and_reach_the_goal_where_they_say(
    accuracy: list[float], rows: float, goal: float
) -> None:
    t = 5.0 * np.arange(len(accuracy))
    curve = fit_learning_curve(t, accuracy, rows)
    assert curve is not None
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


def test_points_on_the_same_rows_vary_together() -> None:
    """As many rows measured again and again by simulation."""
    t = np.arange(0.0, 240.0, 10.0)
    true = rising(t)
    runs = np.array([measured(true, 200, seed) for seed in range(4000)])
    told = shared_rows(t, true, np.full(len(t), 200.0))
    ratio = np.diag(told) / runs.var(axis=0)
    assert ratio.min() > 1.2
    assert ratio.max() < 2.2, "wider by a known factor"
    correlation = told[0, -1] / np.sqrt(told[0, 0] * told[-1, -1])
    assert correlation == pytest.approx(np.corrcoef(runs.T)[0, -1], abs=0.12)


def test_intervals_hold_what_happens() -> None:
    """Of 100 projects whose rows are drawn anew, with true curves of both families."""
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
        assert curve is not None
        _, low, high = curve.at([2 * now])
        held.append(low[0] <= true(np.array([2 * now]))[0] <= high[0])
        goal = float(min(seen[len(t) - 1] + rng.uniform(0.01, 0.1), 0.99))
        reach = curve.reads(goal, t[-1], seen[len(t) - 1], n)
        at = later[np.argmax(seen >= goal)] if (seen >= goal).any() else np.inf
        read.append(reach.low - 4 <= at <= reach.high)
        assert reach.low >= t[-1]
    assert np.mean(held) >= 0.9
    assert np.mean(read) >= 0.9


def test_the_ends_of_draws_are_theirs_even_where_some_are_infinite() -> None:
    assert reach_of(np.array([1.0, 2.0, 3.0, np.inf])) == Reach(3.0, 1.0, np.inf)
    assert reach_of(np.arange(101.0), 0.9) == Reach(50.0, 5.0, 95.0)
