"""The log that the database keeps of a project, as plcore reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from db import entries, told
from plcore import Entry
from plcore.loop import ClassChange, EntryKind, class_changes

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import Pool


def learner_entry(entry: entries.LogEntry | told.ToldEntry) -> Entry:
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
    """The changes of the project's classes and rows, from its log."""
    return class_changes(map(learner_entry, entries.about_project(session, project_id)))


def follow(
    session: Session,
    project_id: int,
    pool: Pool[Any, Any, Any],
    apply: Callable[[Entry], object],
) -> bool:
    """Let `apply` take in the log entries that the pool has not seen. Call it in a transaction that has not written any
    entry itself yet.

    Returns False where the classes or rows have changed since the pool was made. It then stands before that change, and
    a new pool must be made under the changed ones.
    """
    return take_in(pool, told.each(session, project_id, pool.seq), apply)


def take_in(
    pool: Pool[Any, Any, Any],
    log: Iterable[entries.LogEntry | told.ToldEntry],
    apply: Callable[[Entry], object],
) -> bool:
    """Let `apply` take in these entries, in order; the pool itself passes over those about no row. False where one
    changes classes or rows otherwise than the pool was made under; the pool then stands before it."""
    for entry in log:
        if entry.row != entries.NO_ROW:
            apply(learner_entry(entry))
        elif entry.kind == EntryKind.MODEL:
            pool.pass_over(entry.seq)
        elif not pool.takes_change(entry.seq):
            return False
    return True
