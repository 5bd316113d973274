"""How many labels, or rows, are answered, open and unknown, kept by the row that changes: wanted at each press."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plcore.common.types import BoolArray


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
    """Of one row with L labels.

    answered : bool (L,), labels with an answer      open_ : bool (L,)      unknown : as counted      bad : a bad item
    by_row : whole rows are asked about, and counted; a row is answered once all of its answered labels are closed
    """
    done = int(np.count_nonzero(answered & ~open_))
    if not by_row:
        return CellCounts(done, int(np.count_nonzero(open_)), unknown)
    begun = bool((answered & open_).any())
    return CellCounts(int(bad or (done > 0 and not begun)), int(open_.any()), unknown)
