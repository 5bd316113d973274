"""Figures of every Progress page: by hand, and the curve without what was taken back by its definition."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.loop import ROWS, StopRules, judge
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow.answering import loop, turn
from workflow.projects import figures
from workflow.projects.figures import (
    SIMULATED,
    LabelCount,
    StopView,
    most_answered_first,
    pace,
    standing_points,
    time_left,
)
from workflow.seat import Seat
from workflow.server.home import Home


@dataclass(frozen=True)
class Point:
    answers: int
    place: int


def curve(*answers: int) -> list[Point]:
    return [Point(number, place) for place, number in enumerate(answers)]


def test_of_points_for_one_number_of_answers_the_latest_stands() -> None:
    assert standing_points(curve(0, 1, 2, 3, 2, 3)) == [Point(0, 0), Point(1, 1), Point(2, 4), Point(3, 5)]
    assert standing_points(curve(0, 1, 2, 1)) == [Point(0, 0), Point(1, 3)]
    assert standing_points([]) == []


def test_only_so_many_answers_back_and_the_point_before_them() -> None:
    assert [one.answers for one in standing_points(curve(0, 3, 6, 9, 12), latest=5)] == [6, 9, 12]
    assert [one.answers for one in standing_points(curve(0, 3), latest=100)] == [0, 3]
    assert standing_points(curve(5, 7), 1, lambda point: point.place) == curve(5, 7)


@given(answers=st.lists(st.integers(0, 12), max_size=30), latest=st.one_of(st.none(), st.integers(1, 15)))
def test_a_standing_curve_is_the_definition(answers: list[int], latest: int | None) -> None:
    points = curve(*answers)
    kept = [one for one in points if all(later.answers > one.answers for later in points[one.place + 1 :])]
    if latest is not None and kept:
        before = [one for one in kept if one.answers <= kept[-1].answers - latest]
        kept = [*before[-1:], *(one for one in kept if one.answers > kept[-1].answers - latest)]
    assert standing_points(points, latest) == kept


def test_labels_come_by_answers_then_by_what_was_given() -> None:
    a, b, c = LabelCount("a", 1, 9), LabelCount("b", 4, 0), LabelCount("c", 1, 10)
    assert most_answered_first([a, b, c]) == (b, c, a)


def test_the_time_left_is_the_pace_times_what_is_left() -> None:
    assert time_left(1.5, 4) == timedelta(seconds=6)
    assert time_left(None, 4) is None


def test_one_rule_that_is_reached_is_enough() -> None:
    rules = StopRules(settled=0.9, flat_within=None, budget=2)
    verdicts = judge(
        rules,
        np.array([0, 1]),
        np.array([0.5, 0.6]),
        np.array([0.1, 0.2]),
        done=False,
        measured=9,
        given=2,
        terms=ROWS,
    )
    view = StopView(rules, verdicts, by_truth=True)
    assert len(view.verdicts) == 2
    assert [one.reached for one in view.verdicts].count(True) == len(view.reached) == 1
    assert view.reached[0].words


class Seconds:
    """What the clock of turns takes for `time`; it goes on by the second that it is told."""

    passed = 0.0

    def monotonic(self) -> float:
        return self.passed


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_pace_is_the_median_of_peoples_latest_answers(
    world: KindWorld, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Seconds()
    monkeypatch.setattr(turn, "time", time)
    monkeypatch.setattr(figures, "PACE_WINDOW", 4)
    seat = Seat(home, owner, world.make(Seat(home, owner)))

    def answer_after(seconds: float, **more: str) -> float | None:
        question = loop.next_question(seat)
        time.passed += seconds
        if more.get("note") == "skip":
            world.say(seat, "skip", question)
        else:
            world.answer(seat, question, **more)
        with seat.reading() as reading:
            return pace(reading.session, reading.project.id)

    assert answer_after(7, note="skip") is None
    assert answer_after(7, note=SIMULATED) is None, "neither a skip nor the oracle is somebody's answer"
    assert answer_after(2) == 2
    assert answer_after(4) == 3
    assert answer_after(100) == 4, "one coffee break does not count"
    assert answer_after(6) == 5
    assert answer_after(9, note=SIMULATED) == 5
    assert answer_after(8) == 7, "of the latest four"
