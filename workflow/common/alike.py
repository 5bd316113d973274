"""The rows most like one: answered ones to compare it with, open ones to answer with it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from plcore.query import nearest_rows
from workflow.common.rows import RowView, row_view
from workflow.home import room_for_learner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plcore import LabelTable
    from plcore.common import IntArray
    from plcore.loop import Learner
    from plcore.tables import FeatureTransformer
    from workflow.common.opened import Opened

MOST = 5
SAMPLE = 2_000
"""Rows that the features are fitted on, drawn with a fixed seed."""
COMPARED = 5_000
"""Answered rows that are compared at most; of more a drawn sample."""


@dataclass(frozen=True)
class SimilarRow:
    """An answered row and the labels that people gave it."""

    view: RowView
    labels: tuple[str, ...]


@dataclass
class _Kept:
    """Features, which take a while to make, beside a learner while it lives. place : {row: its line in X}"""

    features: FeatureTransformer | None = None
    place: dict[int, int] = field(default_factory=dict)
    X: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, table: Any, rows: Sequence[int]) -> Any:
        """Features of these rows; those that were asked for before are not made again."""
        assert self.features is not None  # noqa: S101 - fitted before
        new = [row for row in rows if row not in self.place]
        if new:
            made = self.features.transform(table, np.array(new))
            if self.X is None:
                self.X = made
            elif sparse.issparse(made):
                self.X = sparse.vstack([self.X, made], format="csr")
            else:
                self.X = np.vstack([self.X, made])
            self.place.update((row, len(self.place)) for row in new)
        return self.X[[self.place[row] for row in rows]]


# Read and written only while the learner is open, that is by one thread at a time.
_kept: WeakKeyDictionary[Learner, _Kept] = WeakKeyDictionary()


@dataclass(frozen=True)
class RowComparison:
    """A row and those it is to be compared with, as they stood while the learner was open. fitted_on : rows"""

    table: LabelTable
    asked: int
    rows: IntArray
    fitted_on: IntArray
    kept: _Kept

    @room_for_learner()
    def nearest(self, most: int = MOST) -> list[int]:
        """The rows nearest to the one asked about, by the features that models learn from; the nearest first, ties by
        row number. It may take seconds the first time: not while the learner is open, which others wait for.
        Raises NoRoomError."""
        if not len(self.rows):
            return []
        with self.kept.lock:
            if self.kept.features is None:
                self.kept.features = self.table.features().fit(self.table, self.fitted_on)
            own, others = self.kept.of(self.table, [self.asked]), self.kept.of(self.table, self.rows.tolist())
        found: list[int] = self.rows[nearest_rows(others, own, most)].tolist()
        return found


def begin_comparison(opened: Opened[Any], asked: int) -> RowComparison:
    """What a row can be compared with: rows whose labels people have given, and no held-out row or blind check among
    them; what a row of those is, nobody is to know from here."""
    may_be_shown = opened.kind.shown_to_all(opened.learner)
    may_be_shown[asked] = False
    rows = np.flatnonzero(may_be_shown)
    if len(rows) > COMPARED:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:COMPARED])
    return compare(opened, asked, rows)


def compare(opened: Opened[Any], asked: int, rows: IntArray) -> RowComparison:
    """A row with these, ascending; at most COMPARED of them, or it takes long."""
    learner = opened.learner
    sample = np.random.default_rng(0).permutation(np.flatnonzero(~learner.pool.test_rows))[:SAMPLE]
    return RowComparison(learner.table, asked, rows, np.sort(sample), _kept.setdefault(learner, _Kept()))


def still_shown(opened: Opened[Any], rows: Sequence[int]) -> tuple[SimilarRow, ...]:
    """Those of these rows that may be shown now, with the labels that people have given them."""
    learner, kind = opened.learner, opened.kind
    may_be_shown = kind.shown_to_all(learner)
    return tuple(
        SimilarRow(row_view(learner.table, row), kind.answered_labels(learner, row))
        for row in rows
        if may_be_shown[row]
    )
