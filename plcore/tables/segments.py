"""Segments of recordings: the seconds between which a row lies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from plcore.common.types import FloatArray
from plcore.tables.columns import Finder, first_rows, parse_numbers

Segment = tuple[float | None, float | None]
"""The seconds at which one begins and ends; None: with its recording."""


def parse_segments(cells: pd.DataFrame, start: str | None, end: str | None, finder: Finder) -> FloatArray:
    """(n, 2) seconds at which each row begins and ends in its recording; NaN where a cell is empty or a column None.

    Problems: text, seconds below 0, an end that is not after its start.
    """
    segments = np.full((len(cells), 2), np.nan)
    for place, column in enumerate((start, end)):
        if column is None:
            continue
        seconds = segments[:, place] = parse_numbers(cells, [column], finder)[:, 0]
        for row in first_rows(seconds < 0):
            message = f"a recording has no second {seconds[row]:g}."
            finder.add(row, column, message, "Count the seconds from its begin, from 0 on.")
    begins = np.where(np.isnan(segments[:, 0]), 0.0, segments[:, 0])
    for row in first_rows(segments[:, 1] <= begins):
        message = f"the segment ends at second {segments[row, 1]:g}, but begins at second {begins[row]:g}."
        finder.add(
            row, end, message, "Write seconds from the begin of the recording, the end after the start."
        )
    return segments
