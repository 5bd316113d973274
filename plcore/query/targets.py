"""The targets of a ranking: which of them count now, and which are settled."""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, IntArray
from plcore.kernels.scores import count_open
from plcore.query.effects import Rule, in_blocks

NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)


class Targets:
    """T targets over n rows, kept up to date while candidates change.

    rows : int (T,) the row that each target stands for; None: points of their own, all of which count
    candidates, now : bool (n, m) at the start, and as they stand
    fixed : whether the rows ambiguous at the start count for good, else those that are ambiguous now

    Attributes
    ----------
    ambiguous : bool (n,), rows with two candidates or more now.
    settled : bool (T,), targets that no answer can change any more; None while nobody has asked for it.
    """

    def __init__(
        self, n_targets: int, rows: IntArray | None, candidates: BoolArray, fixed: bool, now: BoolArray
    ) -> None:
        self.n_targets = n_targets
        self._with_rows = rows is not None
        self._rows = NO_ROWS if rows is None else rows
        self._of_row = np.full(len(candidates) if self._with_rows else 0, -1, dtype=np.int32)
        self._of_row[self._rows] = np.arange(len(self._rows))
        self._initial: BoolArray = candidates.sum(axis=1) >= 2
        self.ambiguous: BoolArray = now.sum(axis=1) >= 2
        self._counts = self._initial if fixed else self.ambiguous  # rows whose own targets count
        self.settled: BoolArray | None = None
        self._open: tuple[int, int] | None = None
        self._n_initial = int(self._initial[self._rows].sum()) if self._with_rows else n_targets

    def active(self, targets: IntArray) -> BoolArray:
        """Which of these targets count now: unless they are fixed, those whose own row is answered do not."""
        if not self._with_rows:
            return np.ones(len(targets), dtype=bool)
        return np.asarray(self._counts[self._rows[targets]])

    def counting(self) -> IntArray:
        """All targets that count now."""
        everyone = np.arange(self.n_targets)
        return everyone[self.active(everyone)]

    def with_own(self, row: int, targets: IntArray) -> IntArray:
        """These targets, and the row's own: it may have the row with weight 0 only."""
        own = self._of_row[row] if self._with_rows else -1
        return targets if own < 0 or (targets == own).any() else np.union1d(targets, [own])

    def openness(self, rule: Rule, n_jobs: int) -> tuple[int, int]:
        """(initially ambiguous targets still open, targets that count and are not settled)."""
        if self._open is None:
            if self.settled is None:
                self.settled = settled = np.zeros(self.n_targets, dtype=bool)
                in_blocks(self.counting(), n_jobs, lambda block, _: rule.settle(block, settled))
            self._open = self._count_open(np.arange(self.n_targets), self.settled)
        return self._open

    def share_settled(self, rule: Rule, n_jobs: int) -> float:
        """Share of settled targets among the initially ambiguous ones; 1 where there were none."""
        still_open, _ = self.openness(rule, n_jobs)
        return (self._n_initial - still_open) / self._n_initial if self._n_initial else 1.0

    def open_among(self, targets: IntArray) -> tuple[int, int] | None:
        """As `openness`, of these targets alone; None while it is not known of all."""
        if self._open is None or self.settled is None:
            return None
        return self._count_open(targets, self.settled)

    def recount(self, targets: IntArray, before: tuple[int, int] | None) -> None:
        """Bring `openness` up to date after these targets have changed, `open_among` having been `before`."""
        if before is not None and self._open is not None and self.settled is not None:
            now = self._count_open(targets, self.settled)
            self._open = self._open[0] + now[0] - before[0], self._open[1] + now[1] - before[1]

    def _count_open(self, targets: IntArray, settled: BoolArray) -> tuple[int, int]:
        return count_open(targets, self._rows, self._counts, self._initial, self.ambiguous, settled)
