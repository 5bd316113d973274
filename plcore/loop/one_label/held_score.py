"""How many held-out rows the model is right about, kept by the rows that change: it is asked for after every answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from plcore.common.types import BoolArray, IntArray
from plcore.evaluation.estimates import ControlCounts

_TEST, _ASKED, _FREE = range(3)
"""Test rows; control rows with two candidates or more at first; other control rows."""


class HeldScore:
    """What is known of the held-out rows of a pool beside what a model says of them.

    test : bool (n_held,), test rows; the others are control rows      ambiguous : bool (n_held,), with two candidates
        or more at first
    known : (n_held,) their labels as far as they are known, else -1; not copied
    said : (n_held,) the class that the model gives each, -1 for none; None: there is no model yet. Do not write to it
    n_test : how many of them are test rows
    """

    def __init__(
        self, test: BoolArray, ambiguous: BoolArray, known: IntArray, said: IntArray | None = None
    ) -> None:
        self._group = np.where(test, _TEST, np.where(ambiguous, _ASKED, _FREE))
        self._label = known
        self.n_test = int(np.count_nonzero(test))
        self._known: IntArray = np.zeros(3, dtype=np.int64)
        self._right: IntArray = np.zeros(3, dtype=np.int64)
        self.said = said
        self._count(slice(None), 1)

    def learn(self, place: int, candidates: BoolArray) -> None:
        """A control row, by its place among the held-out rows, has these candidates (m,) now: one makes it known."""
        self._count([place], -1)
        self._label[place] = candidates.argmax() if np.count_nonzero(candidates) == 1 else -1
        self._count([place], 1)

    def say(self, places: IntArray, labels: IntArray) -> None:
        """The model gives these rows (r,), by their places, these classes (r,) now. There was one before."""
        assert self.said is not None  # noqa: S101 - by the model
        self._count(places, -1)
        self.said[places] = labels
        self._count(places, 1)

    def say_all(self, said: IntArray) -> None:
        """The model gives the rows these classes (n_held,) now; they are not copied."""
        self.said = said
        self._known[:] = self._right[:] = 0
        self._count(slice(None), 1)

    @property
    def control(self) -> ControlCounts:
        """What the model is right about of the control rows whose label is known."""
        return ControlCounts(
            right_asked=int(self._right[_ASKED]),
            asked=int(self._known[_ASKED]),
            right_free=int(self._right[_FREE]),
            free=int(self._known[_FREE]),
        )

    @property
    def accuracy(self) -> float | None:
        """Share of the test rows it is right about; None without any, and without a model."""
        if not self.n_test or self.said is None:
            return None
        return int(self._right[_TEST]) / self.n_test

    def _count(self, places: Any, sign: int) -> None:
        """Add what these rows count, or take it away. places : (r,) or a slice"""
        label, group = self._label[places], self._group[places]
        known = label >= 0
        self._known += sign * np.bincount(group[known], minlength=3)
        if self.said is not None:
            right = known & (self.said[places] == label)
            self._right += sign * np.bincount(group[right], minlength=3)
