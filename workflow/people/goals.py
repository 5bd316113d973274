"""A person's own daily goal and breaks at a project. No one else sees them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from db import members, questions
from plcore.loop import Learner
from workflow.access import Right
from workflow.answering.history import LONGEST as LONGEST
from workflow.answering.history import Work, microseconds
from workflow.opened import Opened
from workflow.seat import Seat

MOST_ANSWERS = 10_000
MOST_MINUTES = 24 * 60
BREAK_AFTER = 50
"""Minutes until a break is offered, by default."""

REST = timedelta(minutes=5)
"""A gap between two answers that counts as a pause, whether or not it was declared."""

_MINUTE = 60_000_000
_REST = REST // timedelta(microseconds=1)


class GoalError(ValueError):
    """A goal, or the minutes until a break, is not an allowed number."""


@dataclass(frozen=True)
class Goal:
    """A person's goal. answers, minutes : per day; None: no such goal      break_after : minutes; None: no break is
    offered

    Raises GoalError.
    """

    answers: int | None = None
    minutes: int | None = None
    break_after: int | None = BREAK_AFTER

    def __post_init__(self) -> None:
        most = (("answers", self.answers, MOST_ANSWERS), ("minutes", self.minutes, MOST_MINUTES))
        for name, value, limit in (*most, ("minutes until a break", self.break_after, MOST_MINUTES)):
            if value is not None and not 1 <= value <= limit:
                raise GoalError(f"The number of {name} must be in 1..{limit:,}. Got {value}. Fix: choose another.")


@dataclass(frozen=True)
class Day:
    """One person's day at a project, by their local clock.

    answers, minutes : given, and spent, since midnight; withdrawn answers do not count
    reached : whether the goal is reached; of two goals both      told : whether they have been notified today
    working : minutes since the latest pause, at most those needed to offer a break      wants_break : whether a break
        is offered
    paused : whether their question is hidden until they resume
    """

    date: str
    answers: int
    minutes: int
    goal: Goal
    reached: bool
    told: bool
    working: int
    wants_break: bool
    paused: bool


def day(seat: Seat, zone: str | None, now: datetime | None = None) -> Day:
    """Return the state of this person's day. zone : IANA name of their browser's time zone; else UTC

    now : None for the current time
    """
    with seat.learner(Right.ANSWER) as opened:
        question = questions.get(opened.session, opened.project_id, opened.person_id)
        return day_in(opened, zone, now, paused=question is not None and question.paused_at is not None)


def day_in(opened: Opened[Learner], zone: str | None, now: datetime | None = None, *, paused: bool) -> Day:
    """Return the same in an open transaction of this person. paused : whether their question is hidden"""
    now = now or datetime.now(UTC)
    here = now.astimezone(_zone(zone))
    # If there are two midnights, the first.
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    place = opened.session, opened.project_id, opened.person_id
    before = opened.before
    stored = members.get(*place) if before is None else before.goal
    goal = Goal() if stored is None else Goal(stored.answers, stored.minutes, stored.break_after)
    since = min(midnight, now - timedelta(minutes=goal.break_after or 0) - REST)
    work = opened.own_log.work_since(*place, since)
    today = bisect_left(work.at, microseconds(midnight))
    answers = int(np.asarray(work.counts)[today:].sum())
    minutes = int(np.asarray(work.spent)[today:].sum()) // _MINUTE
    working = _working(work, now, since, None if stored is None else stored.rested_at)
    date = here.date().isoformat()
    wanted = [(goal.answers, answers), (goal.minutes, minutes)]
    return Day(
        date=date,
        answers=answers,
        minutes=minutes,
        goal=goal,
        reached=bool(goal.answers or goal.minutes) and all(have >= (goal or 0) for goal, have in wanted),
        told=stored is not None and stored.reached_on == date,
        working=working,
        wants_break=goal.break_after is not None and working >= goal.break_after,
        paused=paused,
    )


def set_goal(seat: Seat, goal: Goal) -> None:
    """Set this person's own goal and breaks at the project. The new goal can be reached again today."""
    with seat.writing() as own:
        here = own.session, own.project.id, own.person.id
        before = members.get(*here) or members.StoredGoal(None, None, None)
        same = (before.answers, before.minutes) == (goal.answers, goal.minutes)
        members.put_goal(
            *here,
            replace(
                before,
                answers=goal.answers,
                minutes=goal.minutes,
                break_after=goal.break_after,
                reached_on=before.reached_on if same else None,
            ),
        )


def note_reached(seat: Seat, date: str) -> None:
    """Record that they were notified of reaching this day's goal, so that it happens once. date : `Day.date`"""
    with seat.writing() as own:
        here = own.session, own.project.id, own.person.id
        if (stored := members.get(*here)) is not None:
            members.put_goal(*here, replace(stored, reached_on=date))


def _working(work: Work, now: datetime, since: datetime, rested: datetime | None) -> int:
    """Return the minutes from the end of the latest pause until now, looking back to `since`; 0 during a pause."""
    end = begin = microseconds(now)
    first = bisect_left(work.at, microseconds(since))
    if rested is not None:
        first = max(first, bisect_right(work.at, microseconds(rested)))
    at, spent = np.asarray(work.at)[first:], np.asarray(work.spent)[first:]
    if len(at) and end - at[-1] < _REST:
        begins = at - spent
        pauses = np.flatnonzero(begins[1:] - at[:-1] >= _REST)
        begin = int(begins[pauses[-1] + 1 if len(pauses) else 0])
    if rested is not None:
        begin = max(begin, min(microseconds(rested), end))
    return (end - begin) // _MINUTE


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a browser can send any text
        return UTC
