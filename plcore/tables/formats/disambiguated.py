"""A table with what has become of it, as plain arrays: what every writer of a format takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from plcore.common.types import BoolArray, FloatArray, IntArray

VOTES = ("is", "among")
"""Kinds of answers that name labels the row may have."""


@dataclass(frozen=True)
class Disambiguated:
    """Rows with their candidates before and after, their labels and every answer about them.

    Attributes
    ----------
    ids : (n,) str
    cells : (n, n_columns) DataFrame of str, the columns as they came
    classes : the m class names
    candidates_before, candidates_after : (n, m) bool
    weights : (n, m) float, how much speaks for each candidate; None where nothing was weighed
    label : (n,) int, class numbers; -1 where it is open
    source : (n,) str, who decided the label; '' where it is open
    probability : (n,) float, of the label; NaN where none is known
    answers : each a dict with `row` (0-based), `person`, `kind` (is, among, not, ...), `labels` (names), `at` (text of
        ISO 8601), `seconds` (float or None) and `model_version` (str or None), in the order they were given
    """

    ids: npt.NDArray[np.object_]
    cells: pd.DataFrame
    classes: tuple[str, ...]
    candidates_before: BoolArray
    candidates_after: BoolArray
    weights: FloatArray | None
    label: IntArray
    source: npt.NDArray[np.object_]
    probability: FloatArray
    answers: Sequence[dict[str, Any]] = field(default_factory=list)

    def row_cells(self, row: int) -> dict[str, str]:
        """The cells of one row, by column."""
        return dict(zip(map(str, self.cells.columns), self.cells.iloc[row].tolist(), strict=True))

    def weighted(self, row: int, *, after: bool = False) -> dict[str, float | None]:
        """The candidates of one row in class order, each with its weight, None where nothing was weighed."""
        candidates = self.candidates_after if after else self.candidates_before
        places = np.flatnonzero(candidates[row])
        weights = None if self.weights is None else self.weights[row]
        return {self.classes[place]: None if weights is None else float(weights[place]) for place in places}

    def label_name(self, row: int) -> str | None:
        """The label of one row; None where it is open."""
        return None if self.label[row] < 0 else self.classes[self.label[row]]

    def known_probability(self, row: int) -> float | None:
        """The probability of the row's label; None where none is known."""
        return None if np.isnan(self.probability[row]) else float(self.probability[row])

    def answers_by_row(self) -> dict[int, list[dict[str, Any]]]:
        """The answers about each row that has any."""
        found: dict[int, list[dict[str, Any]]] = {}
        for answer in self.answers:
            found.setdefault(int(answer["row"]), []).append(answer)
        return found
