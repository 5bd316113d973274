"""The log once more, entry for entry: what it is taken in by, and what it has to say of each row's candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plcore import Entry, LabelTable, LearnerSettings
from plcore.loop.one_label import OneLabelPool

if TYPE_CHECKING:
    from plcore.loop import ClassChange

Pool = OneLabelPool[LabelTable]


def make_pool(table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()) -> Pool:
    """How every row stands before the first entry, under these changes of the classes. Raises ClassError."""
    return OneLabelPool(table, settings, changes)


def labels_at(pool: Pool, entry: Entry) -> tuple[str, ...]:
    """What the log stores as `before`, or `after`, of an entry where the pool stands there: the candidates that its
    person has before them."""
    entries = pool.fold.entries(entry.row)
    return pool.names(pool.fold.view(entry.row, entries, entry.annotator, entry.seq).votes)
