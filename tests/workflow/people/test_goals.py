"""A person's day: counted from the log by the clock where they are, reached once, and when a break is offered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from db import entries
from db import members as stored_goals
from tests.workflow.four import four_class_project
from tests.workflow.world import annotator, answer_next
from workflow.answering import loop, oracle, undoing
from workflow.people import goals
from workflow.people.goals import BREAK_AFTER, Day, Goal, GoalError
from workflow.seat import Seat
from workflow.server.home import Home

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def answer_at(seat: Seat, *moments: datetime, seconds: float = 10, **more: object) -> None:
    """Entries of this person at these moments, as the log would have them."""
    with seat.learner() as opened:
        row = int(np.flatnonzero(~opened.learner.test_rows)[0])
    with seat.home.database.write() as session:
        number = entries.last_seq(session, seat.project_id or 0)
        for place, at in enumerate(moments, number):
            values: dict[str, object] = {
                "project_id": seat.project_id,
                "kind": "unsure",
                "row": row,
                "person_id": seat.person_id,
                "token": f"past.{place}",
                "revision": place,
                "at": at,
                "seconds": seconds,
            }
            entries.append(session, entries.NewEntry(**(values | more)))  # type: ignore[arg-type]


@pytest.fixture
def here(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


def test_without_a_goal_a_day_is_counted_and_breaks_are_offered(here: Seat) -> None:
    today = goals.day(here, "UTC")
    assert today.goal == Goal(None, None, BREAK_AFTER)
    assert (today.answers, today.minutes, today.working) == (0, 0, 0)
    assert not today.reached
    assert not today.wants_break
    assert not today.paused


def test_a_day_begins_at_midnight_where_the_person_is(here: Seat) -> None:
    midnight = NOON.replace(hour=0)
    answer_at(here, midnight - timedelta(minutes=90), midnight - timedelta(minutes=30), midnight)
    counted = {
        zone: goals.day(here, zone, NOON)
        for zone in ("UTC", "Europe/Berlin", "America/New_York", "no such zone", None, "/etc/passwd")
    }
    assert {zone: one.answers for zone, one in counted.items()} == {
        "UTC": 1,
        "Europe/Berlin": 2,
        "America/New_York": 0,
        "no such zone": 1,
        None: 1,
        "/etc/passwd": 1,
    }
    assert goals.day(here, "Pacific/Auckland", NOON).date == "2026-03-02"


def test_a_day_with_two_midnights_begins_at_the_first(here: Seat) -> None:
    """In Havana clocks go back from one o'clock to midnight: half past midnight comes twice."""
    first = datetime(2025, 11, 2, 4, 30, tzinfo=UTC)
    answer_at(here, first - timedelta(minutes=40), first)
    for later in (timedelta(), timedelta(hours=1), timedelta(hours=9)):
        assert goals.day(here, "America/Havana", first + later).answers == 1


def test_answers_count_once_and_those_taken_back_do_not(home: Home, owner: int) -> None:
    here = Seat(home, owner, four_class_project(home, owner))
    ada = Seat(home, annotator(home, here.person_id, "Ada"), here.project_id)
    for _ in range(3):
        answer_next(home, here.person_id, here.project_id or 0)
    answer_next(home, ada.person_id, ada.project_id or 0)
    undoing.undo(here)
    assert goals.day(here, None).answers == 2
    undoing.redo(here)
    assert goals.day(here, None).answers == 3
    question = loop.next_question(here)
    loop.submit_answer(here, question.token, "skip")
    question = loop.next_question(here)
    loop.submit_answer(here, question.token, "none", ["dog"])
    assert goals.day(here, None).answers == 4, "a skip is no answer; 'none' and what it is are one"
    assert goals.day(ada, None).answers == 1


def test_what_the_oracle_answers_is_nobody_s_day(here: Seat) -> None:
    assert oracle.answer_for_me(here, 3) == 3
    assert goals.day(here, None).answers == 0


def test_minutes_count_a_question_that_nobody_looked_at_for_five(here: Seat) -> None:
    answer_at(here, NOON - timedelta(hours=2), seconds=90)
    answer_at(here, NOON - timedelta(hours=1), seconds=7_200)
    assert goals.day(here, None, NOON).minutes == 6


def test_a_goal_is_reached_and_said_once_a_day(here: Seat) -> None:
    goals.set_goal(here, Goal(answers=2))
    answer_at(here, NOON)
    assert not goals.day(here, None, NOON).reached
    answer_at(here, NOON + timedelta(minutes=1))
    evening = NOON + timedelta(hours=6)
    today = goals.day(here, None, evening)
    assert (today.reached, today.told) == (True, False)
    goals.note_reached(here, today.date)
    assert goals.day(here, None, evening).told
    goals.set_goal(here, Goal(answers=2, break_after=None))
    assert goals.day(here, None, evening).told, "the goal is the same"
    tomorrow = goals.day(here, None, NOON + timedelta(days=1))
    assert (tomorrow.reached, tomorrow.told, tomorrow.answers) == (False, False, 0)
    goals.set_goal(here, Goal(answers=1))
    assert not goals.day(here, None, evening).told, "another goal is reached anew"


def test_of_two_goals_both_are_to_be_reached(here: Seat) -> None:
    goals.set_goal(here, Goal(answers=1, minutes=2))
    answer_at(here, NOON, seconds=60)
    assert not goals.day(here, None, NOON).reached
    answer_at(here, NOON, seconds=60)
    assert goals.day(here, None, NOON).reached


def test_a_goal_is_a_person_s_own(home: Home, here: Seat) -> None:
    ada = Seat(home, annotator(home, here.person_id, "Ada"), here.project_id)
    goals.set_goal(ada, Goal(answers=7, break_after=None))
    assert goals.day(here, None).goal == Goal()
    assert goals.day(ada, None).goal == Goal(7, None, None)
    goals.note_reached(here, "2026-03-01")
    with home.database.read() as session:
        assert stored_goals.get(session, here.project_id or 0, here.person_id) is None, (
            "there is none to reach"
        )


@pytest.mark.parametrize(
    "wrong", [{"answers": 0}, {"answers": 10_001}, {"minutes": 1_441}, {"break_after": -1}]
)
def test_a_goal_is_a_sensible_number(wrong: dict[str, int]) -> None:
    with pytest.raises(GoalError, match=r"must be in 1\.\..*Fix"):
        Goal(**wrong)


def working(here: Seat, now: datetime = NOON) -> Day:
    return goals.day(here, None, now)


def test_a_break_is_offered_after_work_without_a_pause(here: Seat) -> None:
    answer_at(here, *(NOON - timedelta(minutes=one) for one in range(50, 0, -2)), seconds=20)
    assert (working(here).working, working(here).wants_break) == (50, True)
    goals.set_goal(here, Goal(break_after=60))
    assert not working(here).wants_break
    goals.set_goal(here, Goal(break_after=None))
    assert not working(here).wants_break
    goals.set_goal(here, Goal(break_after=20))
    assert working(here).wants_break
    later = working(here, NOON + timedelta(minutes=4))
    assert (later.working, later.wants_break) == (0, False), "five minutes without an answer are a pause"


def test_a_pause_begins_the_count_anew(here: Seat) -> None:
    now = datetime.now(UTC)
    row = loop.next_question(here).view.row
    answer_at(here, *(now - timedelta(minutes=one) for one in range(60, 0, -2)), row=row)
    assert goals.day(here, None).wants_break
    question = loop.next_question(here)
    loop.pause(here, question.token)
    assert goals.day(here, None).paused
    loop.go_on(here)
    today = goals.day(here, None)
    assert (today.paused, today.wants_break, today.working) == (False, False, 0)
    answer_next(here.home, here.person_id, here.project_id or 0)
    assert goals.day(here, None).working == 0
