"""How many rows are answered, open and waiting, kept by the row that changes: it is asked for with every question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plcore.common.types import BoolArray, IntArray


class RowStanding(NamedTuple):
    """How one row stands.

    answered : it has an answer that counts      waits : somebody can be asked about it
    open : and it counts as open      fresh : it can be chosen for what its answer tells
    """

    answered: bool
    waits: bool
    open: bool
    fresh: bool


class RowCounts:
    """Counts over the rows of a pool, before any answer.

    waiting : bool (n,) rows that wait to be asked about      train : row numbers of those that train
    test_rows : bool (n,)

    Attributes
    ----------
    answered : rows with an answer that counts      done : those of them that are not open
    open : rows that are, without test rows      waiting : rows that train and wait
    fresh : bool (n_train,), rows that train and can be chosen. Do not write to it.
    """

    def __init__(self, waiting: BoolArray, train: IntArray, test_rows: BoolArray) -> None:
        self.answered = self.done = 0
        self.fresh: BoolArray = waiting[train]
        self.waiting = int(np.count_nonzero(self.fresh))
        self.open = int(np.count_nonzero(waiting & ~test_rows))

    def note(self, place: int | None, test: bool, before: RowStanding, after: RowStanding) -> None:
        """A row stood so before an entry, and stands so now. place : among those that train; None for the others"""
        self.answered += after.answered - before.answered
        self.done += (after.answered and not after.open) - (before.answered and not before.open)
        if not test:
            self.open += after.open - before.open
        if place is not None:
            self.waiting += after.waits - before.waits
            self.fresh[place] = after.fresh
