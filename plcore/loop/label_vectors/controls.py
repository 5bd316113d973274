"""Blind checks of label vectors: the order in which they are asked, and the answers that measure a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.loop.entries import Place
from plcore.loop.label_vectors.fold import UNKNOWN


class ControlSample(NamedTuple):
    """Answered control cells for estimates: a uniform sample of the cells not known at import.

    rows, columns, values (k,)
    """

    rows: IntArray
    columns: IntArray
    values: AnyArray


class Controls:
    """The draw of the blind checks.

    eligible : bool (n, L), the cells that they are drawn from
    drawn : flat indices of these cells, or row numbers if questions are about whole rows, in drawn order
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
        """Return the first control question inside `allowed` (n, L): a list of at most one place."""
        left = self._inside(allowed)
        if not left.any():
            return []
        first = int(left.argmax())
        label = None if self._by_row else classes[self._columns[first]]
        return [Place(int(self._rows[first]), label)]

    def sample(self, waiting: BoolArray, cells: AnyArray, bad: BoolArray) -> ControlSample:
        """Return the answered controls that come before the first unanswered one in drawn order.

        waiting (n, L) : cells still to be answered      cells (n, L), bad (n,) : current values

        A control can be answered out of turn, as part of a row that someone chose. It then waits until all controls
        before it are answered, someone is unsure about them, or their row is bad; otherwise the sample would not be
        uniform.
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
        """Return which control questions, in drawn order, have a cell inside the mask (n, L)."""
        if self._by_row:
            return np.asarray((mask[self._rows] & self.cells[self._rows]).any(axis=1))
        return np.asarray(mask[self._rows, self._columns])


# Numbers of answered, open and unknown labels or rows, updated row by row: they are needed after every answer.


class CellCounts(NamedTuple):
    """Counts of one row, or of all rows together.

    answered : labels with an answer that are no longer open, without bad items; for whole rows, the finished rows
    open : labels that can still be asked about; for whole rows, the rows with such a label
    unknown : labels not known at import and still not known
    begun : open labels with an answer; for whole rows, the rows with such a label
    """

    answered: int
    open: int
    unknown: int
    begun: int

    def moved(self, before: CellCounts, after: CellCounts) -> CellCounts:
        """Return these counts after the counts of one row changed from `before` to `after`."""
        return CellCounts(*(a - b + c for a, b, c in zip(self, before, after, strict=True)))


def count_row(answered: BoolArray, open_: BoolArray, unknown: int, *, bad: bool, by_row: bool) -> CellCounts:
    """Return the counts of one row with L labels.

    answered : bool (L,), labels with an answer      open_ : bool (L,)      unknown : its count      bad : a bad item
    by_row : questions are about whole rows, and rows are counted; a row is answered once its answered labels are closed
    """
    done = int(np.count_nonzero(answered & ~open_))
    begun = int(np.count_nonzero(answered & open_))
    if not by_row:
        return CellCounts(done, int(np.count_nonzero(open_)), unknown, begun)
    return CellCounts(int(bad or (done > 0 and not begun)), int(open_.any()), unknown, int(begun > 0))
