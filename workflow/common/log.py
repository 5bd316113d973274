"""The log that the database keeps of a project, as plcore reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from db import entries
from plcore import Entry
from plcore.loop import ClassChange, class_changes

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import Pool


def learner_entry(entry: entries.LogEntry) -> Entry:
    """The part of a stored log entry that the learner reads."""
    return Entry(
        seq=entry.seq,
        kind=entry.kind,
        row=entry.row,
        annotator=str(entry.person_id),
        labels=tuple(entry.labels),
        target=entry.target_seq,
    )


def read_class_changes(session: Session, project_id: int) -> tuple[ClassChange, ...]:
    """The changes of the project's classes, from its log."""
    return class_changes(map(learner_entry, entries.about_classes(session, project_id)))


def follow(
    session: Session,
    project_id: int,
    pool: Pool[Any, Any, Any],
    apply: Callable[[Entry], object],
    most: int | None = None,
) -> bool:
    """Apply the log entries with a ``seq`` greater than the pool's; inside a transaction, only in one that has
    written no entry itself yet.

    most : entries that may be applied; where there are more, none is. None: any number
    False where there are more; or where the classes have changed since the pool was made: it stays before that entry,
    and another must be made under the classes as they are now.
    """
    missed = entries.after(session, project_id, pool.seq)
    if most is not None and len(missed) > most:
        return False
    for entry in missed:
        if entry.row != entries.NO_ROW:
            apply(learner_entry(entry))
        elif not pool.takes_class_change(entry.seq):
            return False
    return True
