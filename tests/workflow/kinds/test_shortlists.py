"""What pages say of shortlists, as numbers."""

from __future__ import annotations

import pytest

from plcore.evaluation import exact_interval, outside_rate
from workflow.answering.room_settings import PROMISES, RoomError, RoomSettings
from workflow.kinds.shortlists import ShortlistView


def view(checks: int = 0, held: int = 0, measured: int = 0, asked: int = 0, none: int = 0) -> ShortlistView:
    return ShortlistView(
        promise=0.95,
        leaves_out=True,
        weighs_own=False,
        in_full=0.2,
        drawn=200,
        outside=outside_rate(0, checks),
        in_force=True,
        held=held,
        measured=measured,
        asked=asked,
        none=none,
        others=0,
    )


@pytest.mark.parametrize(("checks", "missing"), [(0, [9, 19, 99]), (12, [0, 7, 87]), (99, [0, 0, 0])])
def test_what_is_missing_for_each_promise(checks: int, missing: list[int]) -> None:
    assert [view(checks).missing(promise) for promise in PROMISES] == missing


def test_intervals_are_exact() -> None:
    found = view(97, held=93, measured=97, asked=310, none=12)
    assert found.held_interval == tuple(map(float, exact_interval(93, 97)))
    assert found.none_interval == tuple(map(float, exact_interval(12, 310)))
    assert view().held_interval == (0.0, 1.0)


def test_a_promise_is_one_of_three() -> None:
    assert RoomSettings.from_json(RoomSettings(shortlist=0.95).to_json()).shortlist == 0.95
    assert RoomSettings.from_json({}).shortlist is None
    with pytest.raises(RoomError, match=r"shortlist must be None or one of 0.9, 0.95, 0.99. Got 0.5"):
        RoomSettings(shortlist=0.5)
