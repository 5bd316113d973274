"""Blind checks among label vectors: in what order they are asked, and which of their answers measure a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.loop.entries import Place
from plcore.loop.label_vectors.fold import UNKNOWN


class ControlSample(NamedTuple):
    """Answered control cells that estimates use: a uniform sample of the cells not known at import.

    rows, columns, values (k,)
    """

    rows: IntArray
    columns: IntArray
    values: AnyArray


class Controls:
    """The draw of the blind checks.

    eligible : bool (n, L), the cells that they are drawn from
    drawn : flat indices of these cells, or numbers of rows where whole rows are asked about, in the order of the draw
    cells : bool (n, L), the control cells
    """

    def __init__(self, eligible: BoolArray, drawn: IntArray, *, by_row: bool) -> None:
        self._by_row = by_row
        self.cells = np.zeros(eligible.shape, dtype=bool)
        if by_row:
            self._rows, self._columns = drawn, np.full(len(drawn), -1)
            self.cells[drawn] = eligible[drawn]
        else:
            self._rows, self._columns = np.divmod(drawn, eligible.shape[1])
            self.cells[self._rows, self._columns] = True

    def first(self, allowed: BoolArray, classes: Sequence[str]) -> list[Place]:
        """The first control question inside `allowed` (n, L): a list of one or none."""
        left = self._inside(allowed)
        if not left.any():
            return []
        first = int(left.argmax())
        label = None if self._by_row else classes[self._columns[first]]
        return [Place(int(self._rows[first]), label)]

    def sample(self, waiting: BoolArray, cells: AnyArray, bad: BoolArray) -> ControlSample:
        """The answered controls as far as the draw has been worked through in order.

        waiting (n, L) : what people are still to answer      cells (n, L), bad (n,) : as they are
        A control that was answered out of turn, as part of a row that someone chose, waits until all before it are
        answered, or someone is unsure about them, or their row is bad: else the sample would no longer be uniform.
        """
        left = self._inside(waiting)
        end = int(left.argmax()) if left.any() else len(left)
        rows, columns = self._rows[:end], self._columns[:end]
        if self._by_row:
            places, columns = np.nonzero(self.cells[rows])
            rows = rows[places]
        kept = (cells[rows, columns] != UNKNOWN) & ~bad[rows]
        return ControlSample(rows[kept], columns[kept], cells[rows[kept], columns[kept]])

    def _inside(self, mask: BoolArray) -> BoolArray:
        """Which control questions, in the order of the draw, have a cell inside the mask (n, L)."""
        if self._by_row:
            return np.asarray((mask[self._rows] & self.cells[self._rows]).any(axis=1))
        return np.asarray(mask[self._rows, self._columns])


# How many labels, or rows, are answered, open and unknown, kept by the row that changes: wanted at each press.


class CellCounts(NamedTuple):
    """Counts of one row, or of all of them together.

    answered : labels with an answer that are not open any more, bad items not counted; of whole rows, those done
    open : labels that can still be asked about; of whole rows, those with such a label
    unknown : labels not known at import that are not known now either
    """

    answered: int
    open: int
    unknown: int

    def moved(self, before: CellCounts, after: CellCounts) -> CellCounts:
        """These of all rows once one of them counts so that counted so before."""
        return CellCounts(*(a - b + c for a, b, c in zip(self, before, after, strict=True)))


def count_row(answered: BoolArray, open_: BoolArray, unknown: int, *, bad: bool, by_row: bool) -> CellCounts:
    """For one row with L labels.

    answered : bool (L,), labels with an answer      open_ : bool (L,)      unknown : as counted      bad : a bad item
    by_row : whole rows are asked about, and counted; a row is answered once all of its answered labels are closed
    """
    done = int(np.count_nonzero(answered & ~open_))
    if not by_row:
        return CellCounts(done, int(np.count_nonzero(open_)), unknown)
    begun = bool((answered & open_).any())
    return CellCounts(int(bad or (done > 0 and not begun)), int(open_.any()), unknown)
