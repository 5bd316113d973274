"""Figures that the Progress pages of all kinds share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from db import answers
from plcore.loop import EntryKind, StopRules, Verdict

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.arrays import AnyArray

PointT = TypeVar("PointT")

PACE_WINDOW = 20
"""Number of answers whose median is the pace, so that one coffee break does not count."""

FEWEST_MEASURED = 10
"""Fewest rows, or labels, for a meaningful figure; with fewer, the page says so instead."""

SIMULATED = "simulated"
"""Note of every entry that a dry run's simulated person makes (`workflow.answering.oracle`)."""


@dataclass(frozen=True)
class LabelCount:
    """The number of rows with a label. answered : by answers      given : since the import"""

    label: str
    answered: int
    given: int


@dataclass(frozen=True)
class ClassAccuracy:
    """The share of a class's rows that the model predicts right, or a label's F1, on rows it never learnt from, with
    its 95% interval.

    rows : how many are measured
    """

    label: str
    rows: int
    share: float
    low: float
    high: float


MOST_WEAK = 4
"""Classes that are listed as the weakest."""


def weakest_classes(
    names: Sequence[str], rows: AnyArray, share: AnyArray, low: AnyArray, high: AnyArray
) -> tuple[ClassAccuracy, ...]:
    """Return the classes that are surely predicted worst, the weakest first: of those with FEWEST_MEASURED rows or
    more, and an error. Arguments as the fields of `ClassAccuracy`, arrays (m,).

    The order is by the upper end of the intervals: by the share alone, of many classes those with few measured rows
    would come first, by chance.
    """
    import numpy as np  # a list of projects, which reads stored figures, does not need it

    listed = np.flatnonzero((rows >= FEWEST_MEASURED) & (share < 1))
    return tuple(
        ClassAccuracy(names[at], int(rows[at]), float(share[at]), float(low[at]), float(high[at]))
        for at in listed[np.argsort(high[listed], kind="stable")[:MOST_WEAK]]
    )


@dataclass(frozen=True)
class StopView:
    """The owner's stop rules, and the verdict of each that is switched on.

    by_truth : whether the "flat" rule uses accuracy on test rows; else that by control answers
    """

    rules: StopRules
    verdicts: tuple[Verdict, ...]
    by_truth: bool

    @property
    def reached(self) -> tuple[Verdict, ...]:
        """The rules that say stop; one is enough to stop."""
        return tuple(one for one in self.verdicts if one.reached)


@dataclass(frozen=True, kw_only=True)
class ProjectFigures:
    """Figures that the Progress pages of all kinds draw. Counts are rows, or labels of rows; shares are in [0, 1].

    answered, left : as every page counts them
    answers_left : answers still needed for these; one row may need several
    settled : the share of the decisions that are made, as on the card
    n_control : controls drawn      n_test : held-out rows
    undecided_checks : blind checks that measure nothing, because annotators differ
    """

    answered: int
    left: int
    answers_left: int
    settled: float
    n_control: int
    n_test: int
    undecided_checks: int
    labels: tuple[LabelCount, ...]
    seconds_per_answer: float | None
    model_version: int
    stop: StopView

    @property
    def time_left(self) -> timedelta | None:
        """Estimate the time left, the pace times the open questions: an upper bound, because rarely all of it needs
        asking.
        None without a pace."""
        pace = self.seconds_per_answer
        return None if pace is None else timedelta(seconds=pace * self.answers_left)


def pace(session: Session, project_id: int) -> float | None:
    """Return the median seconds per answer over people's latest answers; None before the first."""
    seconds = answers.latest_seconds(
        session, project_id, PACE_WINDOW, without_kinds=(EntryKind.SKIP,), without_note=SIMULATED
    )
    return float(median(seconds)) if seconds else None


def most_answered_first(counts: Sequence[LabelCount]) -> tuple[LabelCount, ...]:
    """Sort the labels in the order of the Progress page."""
    return tuple(sorted(counts, key=lambda one: (-one.answered, -one.given)))


def standing_points(
    curve: Sequence[PointT], latest: int | None = None, count: Callable[[PointT], int] = attrgetter("answers")
) -> list[PointT]:
    """Return the curve without the points of withdrawn answers: for each number of answers the latest point, and none
    with more answers than the last point.

    latest : only the points of this many latest answers, and the one before them; None: the whole curve
    count : returns the number of answers of a point
    """
    points: list[PointT] = []
    for point in reversed(curve):
        if points and count(point) >= count(points[-1]):
            continue
        points.append(point)
        if latest is not None and count(point) <= count(points[0]) - latest:
            break
    return points[::-1]


# The quality of a project at a glance: one line of a list of projects.

MOST_POINTS = 24
"""Points of the small curve: more could not be distinguished at its size."""
RIGHT, F1 = "right", "F1"


@dataclass(frozen=True)
class Glance:
    """Figures on rows that no model learns from, as shown in a list of projects.

    seq : of the last entry it includes      version : of the model      state : key of everything else it depends on
    what : RIGHT, the share of rows predicted right, or F1      measured : rows or labels it is measured on
    curve : values over the answers, the last one now; empty if nothing is measured
    lows, highs : the 95% interval of each, None if unknown
    goal : the owner's goal, None if none is set      reached : whether it is reached
    more : estimated answers until then, None if there is no estimate
    pace : median seconds of the latest answers, known if `more` is
    picture : a data URL of the first row's image or spectrogram, "" if it has neither
    """

    seq: int
    version: int
    what: str
    measured: int
    curve: tuple[float, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    goal: float | None
    reached: bool
    more: float | None
    picture: str = ""
    pace: float | None = None
    state: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the last value."""
        low, high = (self.lows[-1], self.highs[-1]) if self.curve else (None, None)
        return None if low is None or high is None else (low, high)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Glance:
        """Read what was written with `vars`. Raises KeyError, TypeError, ValueError for anything else."""
        stored, curve = dict(stored), tuple(float(value) for value in stored["curve"])
        for edge in ("low", "high"):
            if edge in stored:  # written by an older Winnow, which stored only the last value's interval
                stored[f"{edge}s"] = (*[None] * (len(curve) - 1), stored.pop(edge))[: len(curve)]
        lows, highs = (
            tuple(None if part is None else float(part) for part in stored[edge]) for edge in ("lows", "highs")
        )
        if not len(curve) == len(lows) == len(highs):
            raise ValueError("an interval for each value")
        return cls(**{**stored, "curve": curve, "lows": lows, "highs": highs})


class Thinned(NamedTuple):
    """Values, and the 95% interval of each, None if unknown: of equal length."""

    curve: tuple[float, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


def thinned(values: AnyArray, low: AnyArray, high: AnyArray) -> Thinned:
    """Thin out the known values with their intervals, (n,) each, NaN if there is none: at most MOST_POINTS of them,
    evenly spread, including the first and the last."""
    import numpy as np  # a list of projects, which reads stored figures, does not need it

    known = np.flatnonzero(~np.isnan(values))
    if len(known) > MOST_POINTS:
        known = known[np.linspace(0, len(known) - 1, MOST_POINTS).round().astype(int)]
    edges = (tuple(number(part) for part in edge[known].tolist()) for edge in (low, high))
    return Thinned(tuple(values[known].round(4).tolist()), *edges)


def number(value: float | None) -> float | None:
    """Return a number that can be written as JSON; None for one that is not finite."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)
