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
    """Counts over the rows of a pool.

    waiting : bool (n,) rows that wait to be asked about      train : row numbers of those that train
    test_rows : bool (n,)
    answered, is_open, fresh : bool (n,) how rows stand else (`RowStanding`); None: as before any answer

    Attributes
    ----------
    answered : rows with an answer that counts      done : those of them that are not open
    open : rows that are, without test rows      waiting : rows that train and wait
    fresh : bool (n_train,), rows that train and can be chosen. Do not write to it.
    """

    def __init__(
        self,
        waiting: BoolArray,
        train: IntArray,
        test_rows: BoolArray,
        answered: BoolArray | None = None,
        is_open: BoolArray | None = None,
        fresh: BoolArray | None = None,
    ) -> None:
        answered = np.zeros_like(waiting) if answered is None else answered
        is_open = waiting if is_open is None else is_open
        self.answered = int(np.count_nonzero(answered))
        self.done = int(np.count_nonzero(answered & ~is_open))
        self.fresh: BoolArray = (waiting if fresh is None else fresh)[train]
        self.waiting = int(np.count_nonzero(waiting[train]))
        self.open = int(np.count_nonzero(is_open & ~test_rows))

    def note(self, place: int | None, test: bool, before: RowStanding, after: RowStanding) -> None:
        """A row stood so before an entry, and stands so now. place : among those that train; None for the others"""
        self.answered += after.answered - before.answered
        self.done += (after.answered and not after.open) - (before.answered and not before.open)
        if not test:
            self.open += after.open - before.open
        if place is not None:
            self.waiting += after.waits - before.waits
            self.fresh[place] = after.fresh
