"""How good a project is at a glance: one line of a list of projects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from plcore.common import AnyArray

MOST_POINTS = 24
"""Points of the small curve; what lies between them cannot be told apart at its size."""
RIGHT, F1 = "right", "F1"


@dataclass(frozen=True)
class Glance:
    """What is measured on rows that no model learns from, as a list of projects shows it.

    seq : of the entry up to which it counts      version : of the model      state : names what else it follows from
    what : RIGHT, the share of rows predicted right, or F1      measured : rows or labels it is measured on
    curve : values over the answers, the last one now; empty where nothing is measured
    lows, highs : the 95 % interval of each, None where it is not known
    goal : the owner's, None where none is set      reached : whether it is
    more : about how many answers it still takes, None where nothing can be said
    pace : median seconds of the latest answers, known where `more` is
    picture : a data URL of the first row's picture, or of what it sounds like, "" where it has neither
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
        """The 95 % interval of the last value."""
        low, high = (self.lows[-1], self.highs[-1]) if self.curve else (None, None)
        return None if low is None or high is None else (low, high)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Glance:
        """As it was written by `vars`. Raises KeyError, TypeError, ValueError for anything else."""
        stored, curve = dict(stored), tuple(float(value) for value in stored["curve"])
        for edge in ("low", "high"):
            if edge in stored:  # written by a Winnow that kept the interval of the last value alone
                stored[f"{edge}s"] = (*[None] * (len(curve) - 1), stored.pop(edge))[: len(curve)]
        lows, highs = (
            tuple(None if part is None else float(part) for part in stored[edge])
            for edge in ("lows", "highs")
        )
        if not len(curve) == len(lows) == len(highs):
            raise ValueError("an interval for each value")
        return cls(**{**stored, "curve": curve, "lows": lows, "highs": highs})


class Thinned(NamedTuple):
    """Values, and the 95 % interval of each, None where it is not known: of one length."""

    curve: tuple[float, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


def thinned(values: AnyArray, low: AnyArray, high: AnyArray) -> Thinned:
    """The known ones of these values with their intervals, (n,) each, NaN where there is none: at most MOST_POINTS of
    them, evenly spread, the first and the last among them."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) > MOST_POINTS:
        known = known[np.linspace(0, len(known) - 1, MOST_POINTS).round().astype(int)]
    edges = (tuple(number(part) for part in edge[known].tolist()) for edge in (low, high))
    return Thinned(tuple(values[known].round(4).tolist()), *edges)


def number(value: float | None) -> float | None:
    """A number that can be written as JSON; None for one that is not finite."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)
