"""A label for every row of a table, where it comes from, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.loop.one_label.checks import rate_at_risk, rows_at_risk
from plcore.loop.one_label.models import Model
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import Disambiguation
from plcore.neighbors.votes import VoteTable
from plcore.query.sets import necessary_of

BLOCK_CELLS = 1_000_000
"""Rows times classes that are looked at at a time."""


class TakenLabels:
    """The labels of all rows, each inside its candidates, as they were when this was made. They are found when they are
    looked at, some rows after the other: what the learner takes in meanwhile does not change them. Several threads may
    look.

    votes : votes of the training rows' neighbours, which prove some labels; None: nothing is proven
    has_outside : whether it is known how likely the truth is none of a row's candidates
    """

    def __init__(self, pool: OneLabelPool[Any], model: Model, votes: VoteTable | None) -> None:
        self._rate = rate_at_risk(pool, model)
        self._pool = pool = _standing(pool)
        self._model = model.standing(pool)
        self._votes = None if votes is None else votes.copy()
        self._size = max(1, BLOCK_CELLS // len(pool.classes))
        self._last: tuple[int, Disambiguation] | None = None

    def __len__(self) -> int:
        return len(self._pool.sizes)

    @property
    def has_outside(self) -> bool:
        return self._rate is not None

    @property
    def answered(self) -> BoolArray:
        """(n,) whether a person decided the row's label."""
        pool = self._pool
        decided = (pool.sizes == 1) & (pool.answered | pool.by_verdict)
        return np.asarray(decided & ~pool.test_rows & ~pool.exact)

    @cached_property
    def whole(self) -> Disambiguation:
        """Those of all rows."""
        return _joined(self._blocks(slice(0, len(self))), has_outside=self.has_outside)

    def of(self, rows: slice) -> Disambiguation:
        """Those of rows that lie side by side."""
        if "whole" in vars(self):
            return _cut(self.whole, rows)
        return _joined(self._blocks(rows), has_outside=self.has_outside)

    def column(self, name: str) -> TakenColumn:
        """One of the arrays of a `Disambiguation`, which is there as far as it is looked at."""
        return TakenColumn(self, name)

    def _blocks(self, rows: slice) -> Iterator[Disambiguation]:
        """What is asked for, in parts; each lies in one of the blocks, which depend on the table alone: of another
        number of rows a model's sums may have other last bits."""
        start, stop, _ = rows.indices(len(self))
        while start < stop:
            number = start // self._size
            begin, end = number * self._size, min((number + 1) * self._size, stop)
            last = self._last  # looked at once: another thread may put its own there at any moment
            if last is None or last[0] != number:
                last = self._last = number, self._found(np.arange(begin, min(begin + self._size, len(self))))
            yield _cut(last[1], slice(start - begin, end - begin))
            start = end

    def _found(self, rows: IntArray) -> Disambiguation:
        pool, votes = self._pool, self._votes
        held = pool.test_rows[rows] | pool.control_rows[rows]
        shares = self._model.shares(rows)
        label = shares.argmax(axis=1)
        proven, train = np.zeros(len(rows), dtype=bool), np.flatnonzero(~held)
        if votes is not None and len(train):
            sure = pool.candidates[rows[train]] & necessary_of(votes, pool.place[rows[train]])
            one = sure.sum(axis=1) == 1
            proven[train[one]], label[train[one]] = True, sure[one].argmax(axis=1)
        share = shares[np.arange(len(rows)), label]
        size = pool.sizes[rows]
        source = np.where(proven, "necessary", "open" if self._model.said is None else "model")
        said = np.where(pool.by_verdict[rows], "verdict", np.where(pool.answered[rows], "oracle", "given"))
        source = np.where(size == 1, said, source)
        exact = pool.test_rows[rows] | pool.exact[rows]
        told = (size > 0) & (source != "open")
        label = np.where(exact, pool.truth[rows], np.where(told, label, -1))
        confidence = np.where(told, share, np.nan)
        return Disambiguation(
            labels=label,
            sources=np.where(exact, "truth", np.where(size > 0, source, "bad")),
            confidence=np.where(exact, 1.0, confidence),
            outside=None if self._rate is None else rows_at_risk(pool, self._model, self._rate, rows),
        )


class TakenColumn:
    """An array (n,) of the labels of all rows, of which only what is asked for is found. It stands in for the array
    where a table is written piece by piece."""

    def __init__(self, labels: TakenLabels, name: str) -> None:
        self._labels, self._name = labels, name

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, rows: slice | IntArray) -> AnyArray:
        if isinstance(rows, slice):
            return np.asarray(getattr(self._labels.of(rows), self._name))
        return np.asarray(self)[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(getattr(self._labels.whole, self._name), dtype=dtype, copy=copy)


def _standing(pool: OneLabelPool[Any]) -> OneLabelPool[Any]:
    """The rows as they are now, to be looked at: what comes later does not change what is looked at here."""
    found = copy(pool)
    found.candidates, found.sizes = pool.candidates.copy(), pool.sizes.copy()
    found.answered, found.by_verdict = pool.answered.copy(), pool.by_verdict.copy()
    return found


def _cut(found: Disambiguation, rows: slice) -> Disambiguation:
    return Disambiguation(
        found.labels[rows],
        found.sources[rows],
        found.confidence[rows],
        None if found.outside is None else found.outside[rows],
    )


def _joined(parts: Iterator[Disambiguation], *, has_outside: bool) -> Disambiguation:
    found = list(parts)
    if len(found) == 1:
        return found[0]

    def column(name: str) -> AnyArray:
        return np.concatenate([getattr(one, name) for one in found])

    outside = column("outside") if has_outside else None
    return Disambiguation(column("labels"), column("sources"), column("confidence"), outside)
