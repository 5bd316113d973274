"""The answered rows most like one, to compare it with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from workflow.common.rows import RowView, row_view

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    features: FeatureTransformer
    place: dict[int, int] = field(default_factory=dict)
    X: Any = None

    def of(self, table: Any, rows: Sequence[int]) -> Any:
        """Features of these rows; those that were asked for before are not made again."""
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


def most_alike(opened: Opened[Any], asked: int) -> tuple[SimilarRow, ...]:
    """The answered rows nearest to this one by the features that models learn from, the nearest first, ties by row
    number.

    Only labels that people have given, and none of a held-out row or blind check: what a row of those is, nobody is
    to know from here.
    """
    learner, kind = opened.learner, opened.kind
    may_be_shown = kind.shown_to_all(learner)
    may_be_shown[asked] = False
    rows = np.flatnonzero(may_be_shown)
    if not len(rows):
        return ()
    if len(rows) > COMPARED:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:COMPARED])
    table, kept = learner.table, _features_of(learner)
    own = kept.of(table, [asked])
    far = euclidean_distances(own, kept.of(table, rows.tolist()))[0].round(9)
    nearest = rows[np.argsort(far, kind="stable")[:MOST]].tolist()
    return tuple(SimilarRow(row_view(table, row), kind.answered_labels(learner, row)) for row in nearest)


def _features_of(learner: Any) -> _Kept:
    kept = _kept.get(learner)
    if kept is None:
        rows = np.random.default_rng(0).permutation(np.flatnonzero(~learner.pool.test_rows))[:SAMPLE]
        kept = _kept[learner] = _Kept(learner.table.features().fit(learner.table, np.sort(rows)))
    return kept
