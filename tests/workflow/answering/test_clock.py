"""Seconds spent on a question, by a clock that nobody sets."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from db import entries, questions
from tests.clocks import ahead
from tests.workflow.kind_worlds import KindWorld
from workflow.answering import loop
from workflow.answering import turn as turns
from workflow.answering.turn import steady
from workflow.seat import Seat


def test_it_shows_the_moment_and_goes_as_the_monotonic_clock() -> None:
    before, ticks = steady(), time.monotonic()
    after, later = steady(), time.monotonic()
    assert timedelta() <= after - before <= timedelta(seconds=later - ticks + 0.001)
    assert abs(datetime.now(UTC) - after) < timedelta(minutes=1), "no clock was set while the tests ran"


@pytest.mark.parametrize("days", [-3, 3])
def test_a_wall_clock_that_is_set_changes_no_seconds(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    question = loop.next_question(seat)

    monkeypatch.setattr(turns, "datetime", ahead(timedelta(days=days)))
    world.answer(seat, question)
    with seat.home.database.read() as session:
        found = entries.latest(session, seat.project_id or 0, seat.person_id, 2)
    assert all(one.at - datetime.now(UTC) > timedelta(days=days, minutes=-5) for one in found)
    assert abs(found[0].at - datetime.now(UTC)) > timedelta(days=2)
    spent = [one.seconds for one in found if one.seconds is not None]
    assert len(spent) == 1
    assert 0 <= spent[0] < 60


@pytest.mark.parametrize(
    ("ago", "stored"), [(-60.0, 0.0), (59.5, 59.5), (3600.0, 3600.0), (3600.5, None), (90_000.0, None)]
)
def test_they_are_no_less_than_none_and_empty_beyond_an_hour(ago: float, stored: float | None) -> None:
    now = datetime(2026, 5, 4, tzinfo=UTC)
    question = questions.OpenQuestion(
        project_id=1,
        person_id=1,
        row=0,
        token="1.0.0",
        revision=0,
        strategy="mp",
        score=0.0,
        model_version=0,
        decides=0,
        undecided=0,
        shown_at=now - timedelta(seconds=ago),
        reserved_at=now,
        reserved_until=now,
    )
    assert question.seconds(now) == stored
