"""Figures that the Progress pages of all kinds show alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from db import answers
from plcore.loop import EntryKind, StopRules, Verdict

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

PointT = TypeVar("PointT")

PACE_WINDOW = 20
"""Answers over which the pace is the median, so that one coffee break does not count."""

FEWEST_MEASURED = 10
"""Rows, or labels, below which a figure measured on them would mislead: its place says so instead."""

SIMULATED = "simulated"
"""The note of every entry that the simulated oracle makes (`workflow.oracle`)."""


@dataclass(frozen=True)
class LabelCount:
    """How many rows have a label. answered : by answers      given : since the import"""

    label: str
    answered: int
    given: int


@dataclass(frozen=True)
class StopView:
    """The owner's stop rules, and the verdict of each that is switched on.

    by_truth : whether the "flat" rule looks at accuracy on test rows; else at that by control answers
    """

    rules: StopRules
    verdicts: tuple[Verdict, ...]
    by_truth: bool

    @property
    def reached(self) -> tuple[Verdict, ...]:
        """The rules that say stop; one is enough."""
        return tuple(one for one in self.verdicts if one.reached)


def pace(session: Session, project_id: int) -> float | None:
    """Median seconds for each of the latest answers by people; None before the first."""
    seconds = answers.seconds_of_latest(
        session, project_id, PACE_WINDOW, without_kinds=(EntryKind.SKIP,), without_note=SIMULATED
    )
    return float(np.median(seconds)) if seconds else None


def time_left(seconds_per_answer: float | None, left: int) -> timedelta | None:
    """The pace times what is left: an upper bound, for seldom all of it needs asking. None without a pace."""
    return None if seconds_per_answer is None else timedelta(seconds=seconds_per_answer * left)


def most_answered_first(counts: Sequence[LabelCount]) -> tuple[LabelCount, ...]:
    """The labels in the order of the Progress page."""
    return tuple(sorted(counts, key=lambda one: (-one.answered, -one.given)))


def standing_points(
    curve: Sequence[PointT], latest: int | None = None, count: Callable[[PointT], int] = attrgetter("answers")
) -> list[PointT]:
    """The curve without the points of answers that were taken back since: for each number of answers the latest point,
    and none with more answers than the last point has.

    latest : only the points of so many latest answers, and the one before them; None: the whole curve
    count : gives the number of answers of a point
    """
    points: list[PointT] = []
    for point in reversed(curve):
        if points and count(point) >= count(points[-1]):
            continue
        points.append(point)
        if latest is not None and count(point) <= count(points[0]) - latest:
            break
    return points[::-1]
