"""The log once more, entry for entry: what it is taken in by, and what it has to say of the labels of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plcore import Entry, LabelTable
from plcore.loop.label_vectors import LabelVectorPool, LabelVectorSettings

if TYPE_CHECKING:
    from plcore.loop import ClassChange

Pool = LabelVectorPool[LabelTable]


def make_pool(
    table: LabelTable,
    settings: LabelVectorSettings,
    changes: Sequence[ClassChange] = (),
) -> Pool:
    """How every row stands before the first entry. changes : of the rows; the labels of vectors do not change"""
    return LabelVectorPool(table, settings, changes)


def labels_at(pool: Pool, entry: Entry) -> tuple[str, ...]:
    """What the log stores as `before`, or `after`, of an entry where the pool stands there: the labels that it names,
    or that the entry names which it takes back, as its person has them before them."""
    about = entry.labels if entry.target is None else pool.fold.entry(entry.target).labels
    return pool.words(pool.view(entry.row, pool.fold.entries(entry.row), entry.annotator, entry.seq), about)
