"""What a list of projects says of one: few points of its curve, and numbers that JSON can hold."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from workflow.projects.figures import MOST_POINTS, RIGHT, Glance, number, thinned

HERE = Glance(7, 5, RIGHT, 12, (0.5, 0.75), (None, 0.4), (None, 0.9), 0.9, False, 120.0, "data:")
NOTHING = np.zeros(0)


def test_a_curve_keeps_its_first_and_last_point_and_few_between() -> None:
    values = np.linspace(0.2, 0.9, 1_000)
    kept = thinned(values, values - 0.1, values + 0.05).curve
    assert len(kept) == MOST_POINTS
    assert (kept[0], kept[-1]) == (0.2, 0.9)
    assert list(kept) == sorted(kept)


def test_each_point_keeps_its_own_interval() -> None:
    values = np.linspace(0.2, 0.9, 1_000)
    kept = thinned(values, values - 0.1, values + 0.05)
    for value, low, high in zip(*kept, strict=True):
        assert low == pytest.approx(value - 0.1, abs=1e-4)
        assert high == pytest.approx(value + 0.05, abs=1e-4)


def test_points_that_are_not_known_are_left_out() -> None:
    values = np.array([np.nan, 0.5, np.nan, 0.75])
    low, high = np.array([0.1, 0.4, np.nan, np.nan]), np.array([0.9, 0.6, np.nan, np.nan])
    assert thinned(values, low, high) == ((0.5, 0.75), (0.4, None), (0.6, None)), "none is made up"
    assert thinned(values[:1], low[:1], high[:1]) == ((), (), ())
    assert thinned(NOTHING, NOTHING, NOTHING) == ((), (), ())


@pytest.mark.parametrize(
    ("value", "stored"), [(None, None), (np.nan, None), (np.inf, None), (0.123456, 0.1235)]
)
def test_numbers_are_such_as_json_has(value: float | None, stored: float | None) -> None:
    assert number(value) == stored
    json.dumps(number(value), allow_nan=False)


def test_it_comes_back_as_it_was_written() -> None:
    assert Glance.from_json(json.loads(json.dumps(vars(HERE)))) == HERE


def test_the_interval_is_that_of_the_last_value() -> None:
    assert HERE.interval == (0.4, 0.9)
    assert dataclasses.replace(HERE, curve=(), lows=(), highs=()).interval is None
    assert dataclasses.replace(HERE, lows=(0.2, None)).interval is None


def test_one_of_an_earlier_version_has_the_last_interval_alone() -> None:
    stored = {name: value for name, value in vars(HERE).items() if name not in ("lows", "highs", "pace")}
    assert Glance.from_json({**stored, "low": 0.4, "high": 0.9}) == HERE
    nothing = Glance.from_json({**stored, "curve": [], "low": None, "high": None})
    assert (nothing.lows, nothing.highs) == ((), ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"curve": None},
        {"curve": ["x"]},
        {"more_of_it": 1},
        {"lows": [0.1]},
        {"highs": None},
        {"lows": ["x", 0.1]},
    ],
)
def test_anything_else_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Glance.from_json({**dataclasses.asdict(HERE), **wrong})
