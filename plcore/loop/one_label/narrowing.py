"""How far the candidates of the rows that train are narrowed, kept up to date: it is asked for after every answer."""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, IntArray


class Narrowing:
    """Counts over the rows that train.

    sizes : (n,) how many candidates rows have at first      held : bool (n,) rows that do not train
    now : (n,) how many they have now; None: as at first
    left : candidates that are too many: all but one of each row      decided : rows ambiguous at first that are not now
    """

    def __init__(self, sizes: IntArray, held: BoolArray, now: IntArray | None = None) -> None:
        now = sizes if now is None else now
        self._trains = ~held
        self._ambiguous = (sizes >= 2) & self._trains
        self._n_ambiguous = int(self._ambiguous.sum())
        self.left = int(np.maximum(now[self._trains] - 1, 0).sum())
        self.decided = int(np.count_nonzero(self._ambiguous & (now < 2)))

    def note(self, row: int, before: int, after: int) -> None:
        """A row had so many candidates, and now has so many."""
        if self._trains[row]:
            self.left += max(after - 1, 0) - max(before - 1, 0)
        if self._ambiguous[row]:
            self.decided += int(after < 2) - int(before < 2)

    @property
    def settled(self) -> float:
        """Share of the rows ambiguous at first that have one candidate now, or are bad items; 1 where none was."""
        return self.decided / self._n_ambiguous if self._n_ambiguous else 1.0
