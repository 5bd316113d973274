"""What a list of projects says of one: few points of its curve, and numbers that JSON can hold."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from workflow.common.glance import MOST_POINTS, RIGHT, Glance, number, thinned

HERE = Glance(7, 5, RIGHT, 12, (0.5, 0.75), 0.4, 0.9, 0.9, False, 120.0, "data:")


def test_a_curve_keeps_its_first_and_last_point_and_few_between() -> None:
    values = np.linspace(0.2, 0.9, 1_000)
    kept = thinned(values)
    assert len(kept) == MOST_POINTS
    assert (kept[0], kept[-1]) == (0.2, 0.9)
    assert list(kept) == sorted(kept)


def test_points_that_are_not_known_are_left_out() -> None:
    assert thinned([np.nan, 0.5, np.nan, 0.75]) == (0.5, 0.75)
    assert thinned([np.nan]) == ()
    assert thinned([]) == ()


@pytest.mark.parametrize(
    ("value", "stored"), [(None, None), (np.nan, None), (np.inf, None), (0.123456, 0.1235)]
)
def test_numbers_are_such_as_json_has(value: float | None, stored: float | None) -> None:
    assert number(value) == stored
    json.dumps(number(value), allow_nan=False)


def test_it_comes_back_as_it_was_written() -> None:
    assert Glance.from_json(json.loads(json.dumps(vars(HERE)))) == HERE


@pytest.mark.parametrize("wrong", [{"curve": None}, {"curve": ["x"]}, {"more_of_it": 1}])
def test_anything_else_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Glance.from_json({**dataclasses.asdict(HERE), **wrong})
