"""What people set for themselves at a project: a goal for each day, and breaks. Nobody else sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from db import goals, questions
from plcore.loop import EntryKind
from workflow.access import Right
from workflow.common.figures import SIMULATED
from workflow.common.found import SAYS_SOMETHING
from workflow.common.history import SECOND

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = [
    "BREAK_AFTER",
    "MOST_ANSWERS",
    "MOST_MINUTES",
    "Day",
    "Goal",
    "GoalError",
    "day",
    "note_reached",
    "set_goal",
]

MOST_ANSWERS = 10_000
MOST_MINUTES = 24 * 60
BREAK_AFTER = 50
"""Minutes after which a break is offered to whoever has not said otherwise."""

REST = timedelta(minutes=5)
"""A gap between two answers that is a pause, whether or not somebody has said so."""

LONGEST = REST.total_seconds()
"""Seconds that one question counts at most in the minutes of a day: with more, nobody looked at it."""


class GoalError(ValueError):
    """A goal, or the minutes until a break, is not a number that is allowed."""


@dataclass(frozen=True)
class Goal:
    """answers, minutes : of a day; None: no such goal      break_after : minutes; None: no break is offered

    Raises GoalError.
    """

    answers: int | None = None
    minutes: int | None = None
    break_after: int | None = BREAK_AFTER

    def __post_init__(self) -> None:
        most = (("answers", self.answers, MOST_ANSWERS), ("minutes", self.minutes, MOST_MINUTES))
        for name, value, limit in (*most, ("minutes until a break", self.break_after, MOST_MINUTES)):
            if value is not None and not 1 <= value <= limit:
                raise GoalError(
                    f"The number of {name} must be in 1..{limit:,}. Got {value}. Fix: choose another."
                )


@dataclass(frozen=True)
class Day:
    """One person's day at a project, by the clock where they are.

    answers, minutes : given, and spent, since midnight; answers taken back do not count
    reached : the goal is; of two goals both      told : they have been told so today
    working : minutes since the latest pause, no more than are needed to offer a break      wants_break : one is offered
    paused : their question is put away until they come back
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
    """How far this person's day is. zone : IANA name of their time zone, as the browser gives it; else UTC

    now : None, the present

    Raises
    ------
    NotAllowed, NotFound
    """
    now = now or datetime.now(UTC)
    here = now.astimezone(_zone(zone))
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    with seat.reading(Right.ANSWER) as reading:
        session, project_id, person_id = reading.session, reading.project.id, reading.person.id
        stored = goals.get(session, project_id, person_id)
        goal = Goal() if stored is None else Goal(stored.answers, stored.minutes, stored.break_after)
        since = min(midnight, now - timedelta(minutes=goal.break_after or 0) - REST)
        lines = goals.entries_since(
            session, project_id, person_id, since, (*SAYS_SOMETHING, EntryKind.SKIP), SIMULATED
        )
        question = questions.get(session, project_id, person_id)
    today = [one for one in lines if one.at >= midnight]
    # What one press stores as two entries is one answer.
    given = [one for one in today if not one.withdrawn and one.kind != EntryKind.SKIP]
    answers = sum(not one.token.endswith(SECOND) for one in given)
    minutes = int(sum(min(one.seconds or 0, LONGEST) for one in today) / 60)
    working = _working(lines, now, None if stored is None else stored.rested_at)
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
        paused=question is not None and question.paused_at is not None,
    )


def set_goal(seat: Seat, goal: Goal) -> None:
    """Set this person's own goal and breaks at the project; another goal can be reached anew today.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.writing() as own:
        here = own.session, own.project.id, own.person.id
        before = goals.get(*here) or goals.StoredGoal(None, None, None)
        same = (before.answers, before.minutes) == (goal.answers, goal.minutes)
        goals.put(
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
    """They are told now that the goal of this day is reached: it is said once. date : `Day.date`

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.writing() as own:
        here = own.session, own.project.id, own.person.id
        if (stored := goals.get(*here)) is not None:
            goals.put(*here, replace(stored, reached_on=date))


def _working(lines: Sequence[goals.TimedEntry], now: datetime, rested: datetime | None) -> int:
    """Minutes from the end of the latest pause until now; 0 while there is one."""
    begin = now
    for one in reversed(lines):
        if begin - one.at >= REST or (rested is not None and one.at <= rested):
            break
        begin = one.at - timedelta(seconds=min(one.seconds or 0, LONGEST))
    if rested is not None:
        begin = max(begin, min(rested, now))
    return int((now - begin).total_seconds() // 60)


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a browser can send anything
        return UTC
