"""Ask where the model hesitates most: the smallest margin between its best two candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.query.strategies import Baseline

BLOCK_CELLS = 1_000_000  # of shares in memory at a time
Margins = Callable[[IntArray], FloatArray]


class SmallestMargin(Baseline):
    """Margin sampling (Scheffer, Decomain and Wrobel, "Active hidden Markov models", IDA 2001) inside the candidates.

    margins : gives for training rows (r,) the model's p1 - p2 (r,)
    Scores are 1 - (p1 - p2), p1 and p2 the two largest shares of the row; 1 where the model is torn.
    """

    def __init__(self, margins: Margins, *, random_state: int | None = None) -> None:
        super().__init__(random_state=random_state)
        self.margins = margins

    def _start(self, features: Any) -> None:  # noqa: ARG002
        self._scores: FloatArray = np.zeros(len(self._sizes))
        self._stale: BoolArray = np.ones(len(self._sizes), dtype=bool)

    def model_changed(self) -> None:
        """The shares of any row may be others now."""
        self._stale[:] = True

    def _changed(self, row: int, old_size: int) -> None:  # noqa: ARG002
        self._stale[row] = True

    def _values(self, rows: IntArray) -> FloatArray:
        old = rows[self._stale[rows]]
        block = max(1, BLOCK_CELLS // self.candidates_.shape[1])
        for begin in range(0, len(old), block):
            part = old[begin : begin + block]
            self._scores[part] = 1.0 - self.margins(part)
        self._stale[old] = False
        return self._scores[rows]
