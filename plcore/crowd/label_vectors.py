"""Answers about label vectors as votes: every label is a question of its own, with the classes yes and no."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from plcore.common.words import shortened

YES, NO = "yes", "no"
COLUMNS = ("row", "annotator", "label", "value")
VALUES = {1: YES, 0: NO}
"""True and False are 1 and 0 to Python."""


def votes_by_label(cells: Any) -> dict[Any, list[tuple[Any, Any, str]]]:
    """{label: votes} from what people said of single labels, labels in the order they first come.

    cells : DataFrame with the columns row, annotator, label, value; or a sequence of such fours. value: 1 or True for
        yes, 0 or False for no, -1, None or NaN where it was not asked, which is no vote
    The votes of a label are (row, annotator, "yes" or "no"), for `DawidSkene`, `krippendorff_alpha` and the others.
    Raises ValueError naming the first cell that is none of these, counted from 0.
    """
    if isinstance(cells, pd.DataFrame):
        if missing := [name for name in COLUMNS if name not in cells.columns]:
            raise ValueError(
                f"cells must have the columns {', '.join(map(repr, COLUMNS))}; {missing[0]!r} is missing."
            )
        cells = zip(*(cells[name].tolist() for name in COLUMNS), strict=True)
    if not isinstance(cells, Iterable) or isinstance(cells, str):
        raise ValueError(f"cells must be a DataFrame or a sequence of fours. Got {shortened(repr(cells))}.")
    found: dict[Any, list[tuple[Any, Any, str]]] = {}
    for number, cell in enumerate(cells):
        if not isinstance(cell, tuple | list) or len(cell) != 4:
            raise ValueError(
                f"Every cell must be (row, annotator, label, value); cell {number} is {shortened(repr(cell))}."
            )
        row, annotator, label, value = cell
        votes = found.setdefault(label, [])
        if value is None or value is pd.NA or value != value or value == -1:
            continue
        if value not in VALUES:
            raise ValueError(
                f"Cell {number}: value must be 1 (yes), 0 (no) or -1 (not asked). Got {shortened(repr(value))}."
            )
        votes.append((row, annotator, VALUES[int(value)]))
    return found
