"""The line of random order: from whole runs, and from short ones that are carried on."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.evaluation import RandomOrderLine, Reach, wilson_interval
from plcore.evaluation.random_order import RandomRuns, by_carrying_on, by_replays, first_reached


def runs(
    seed: int,
    answers: np.ndarray,
    true: np.ndarray,
    now: float,
    *,
    rows: int = 200,
    orders: int = 5,
    given: int | None = None,
    apart: float = 0.02,
) -> RandomRuns:
    """Rows that come right as `true` rises, in each order a little sooner or later.

    now : share of all rows that the project has right
    """
    rng = np.random.default_rng(seed)
    hard = rng.random(rows)
    shift = rng.normal(0, apart, orders)
    right = hard < (true + shift[:, None])[:, :, None]
    return RandomRuns(
        answers, right, np.full(rows, 1 / rows), hard < now, int(answers[-1]) if given is None else given
    )


def test_the_line_is_the_mean_of_the_runs_and_its_interval_that_of_one() -> None:
    answers = np.array([0, 50, 100])
    same = runs(0, answers, np.array([0.4, 0.6, 0.7]), 0.6, apart=0.0)
    line = by_replays(same)
    assert line.answers == (0.0, 50.0, 100.0)
    assert line.value == pytest.approx(same.accuracy.mean(axis=0))
    low, high = wilson_interval(np.array(line.value), same.measured)
    assert line.low == pytest.approx(low, abs=0.01), "orders that do not differ leave the rows alone"
    assert line.high == pytest.approx(high, abs=0.01)
    apart = by_replays(runs(0, answers, np.array([0.4, 0.6, 0.7]), 0.6, apart=0.08))
    assert np.mean(np.array(apart.high) - apart.low) > np.mean(high - low) + 0.05


def test_what_it_needs_is_where_it_comes_to_the_project() -> None:
    answers = np.arange(0, 401, 50)
    found = by_replays(runs(1, answers, 0.4 + answers / 1000, 0.6, apart=0.005, given=100))
    assert found.needed.low <= 200 <= found.needed.high
    assert found.needed.value == pytest.approx(200, abs=15)
    never = by_replays(runs(1, answers, 0.4 + answers / 1000, 0.95, given=100))
    assert never.needed == Reach(np.inf, np.inf, np.inf)


def test_two_orders_do_not_say_how_far_orders_are_apart() -> None:
    with pytest.raises(ValueError, match="3 random orders"):
        by_replays(runs(0, np.array([0, 9]), np.array([0.4, 0.6]), 0.5, orders=2))


def test_where_a_measured_curve_reaches_a_goal() -> None:
    assert first_reached([0, 10, 20], [0.4, 0.6, 0.8], 0.7) == pytest.approx(15)
    assert first_reached([0, 10, 20], [0.4, 0.6, 0.8], 0.3) == 0
    assert first_reached([0, 10, 20], [0.4, 0.6, 0.8], 0.81) == np.inf
    assert first_reached([0, 10, 20], [0.4, 0.8, 0.6], 0.7) == 10, "made to rise: 0.4, 0.7, 0.7"


def test_checks_that_count_unevenly_measure_like_fewer() -> None:
    some = runs(0, np.array([0, 9]), np.array([0.4, 0.6]), 0.5, rows=4)
    uneven = RandomRuns(some.answers, some.right, np.array([0.7, 0.1, 0.1, 0.1]), some.right_now, 9)
    assert (some.measured, uneven.measured) == (pytest.approx(4), pytest.approx(1 / 0.52))


def test_a_line_is_carried_on_but_not_too_far() -> None:
    answers = np.linspace(0, 70, 8).round().astype(int)
    true = 0.9 - 0.4 / (1 + answers / 40)
    line = by_carrying_on(runs(2, answers, true, 0.85, rows=2000, given=140))
    assert line is not None
    assert (line.answers[0], line.answers[-1]) == (0.0, 140.0)
    assert line.low[-1] <= 0.9 - 0.4 / (1 + 140 / 40) <= line.high[-1]
    assert line.needed.low <= 280 <= line.needed.high  # 0.85 = 0.9 - 0.4 / (1 + t / 40) at t = 280
    far = by_carrying_on(runs(2, answers, true, 0.85, rows=2000, given=5000))
    assert far is not None
    assert far.answers[-1] == 210.0
    assert by_carrying_on(runs(2, answers[:3], true[:3], 0.85)) is None
    assert by_carrying_on(runs(2, answers, true, 0.85, rows=20)) is None


def test_as_json_and_back() -> None:
    line = RandomOrderLine((0.0, 9.0), (0.4, 0.5), (0.3, 0.4), (0.5, 0.6), Reach(20.0, 9.0, np.inf))
    assert line.to_json()["needed"] == [20.0, 9.0, None]
    assert RandomOrderLine.from_json(line.to_json()) == line


def test_intervals_hold_another_order_on_all_rows() -> None:
    """Of 60 projects: the line at its end, and what one more order needs."""
    lines, needs = [], []
    answers = np.arange(0, 501, 50)
    true = 0.9 - 0.4 / (1 + answers / 100)
    for seed in range(60):
        rng = np.random.default_rng([seed, 4])
        shift, now = rng.normal(0, 0.02), rng.uniform(0.65, 0.8)
        found = by_replays(runs(seed, answers, true, now))
        lines.append(found.low[-1] <= true[-1] + shift <= found.high[-1])
        at = first_reached(answers, true + shift, now)
        needs.append(found.needed.low <= at <= found.needed.high)
    assert np.mean(lines) >= 0.9
    assert np.mean(needs) >= 0.9
