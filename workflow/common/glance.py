"""How good a project is at a glance: one line of a list of projects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_POINTS = 24
"""Points of the small curve; what lies between them cannot be told apart at its size."""
RIGHT, F1 = "right", "F1"


@dataclass(frozen=True)
class Glance:
    """What is measured on rows that no model learns from, as a list of projects shows it.

    seq : of the entry up to which it counts      version : of the model
    what : RIGHT, the share of rows predicted right, or F1      measured : rows or labels it is measured on
    curve : values over the answers, the last one now; empty where nothing is measured
    low, high : the 95 % interval of the last      goal : the owner's, None where none is set
    reached : whether the goal is      more : about how many answers it still takes, None where nothing can be said
    picture : a data URL of the first row's picture, "" where it has none
    """

    seq: int
    version: int
    what: str
    measured: int
    curve: tuple[float, ...]
    low: float | None
    high: float | None
    goal: float | None
    reached: bool
    more: float | None
    picture: str = ""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Glance:
        """As it was written by `vars`. Raises KeyError, TypeError, ValueError for anything else."""
        curve = tuple(float(value) for value in stored["curve"])
        return cls(**{**stored, "curve": curve})


def thinned(values: Sequence[float] | np.ndarray) -> tuple[float, ...]:
    """The known ones of these values, at most MOST_POINTS of them, evenly spread, the first and the last among them."""
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    if len(known) > MOST_POINTS:
        known = known[np.linspace(0, len(known) - 1, MOST_POINTS).round().astype(int)]
    return tuple(known.round(4).tolist())


def number(value: float | None) -> float | None:
    """A number that can be written as JSON; None for one that is not finite."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)
