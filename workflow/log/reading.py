"""The log of a project in the database, in the form for plcore."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy.orm import Session

from db import entries, events
from plcore import Entry
from plcore.arrays import AnyArray
from plcore.loop import ClassChange, EntryKind, Pool, class_changes
from workflow.files.stored import PATH
from workflow.rows.row import RowView

AnyPool: TypeAlias = "Pool[Any, Any, Any]"
"""The rows of a project of a kind that the caller does not know."""


def learner_entry(entry: entries.LogEntry | events.ToldEntry) -> Entry:
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
    """Return the changes of the project's classes and rows, from its log."""
    return class_changes(map(learner_entry, entries.about_project(session, project_id)))


def follow(session: Session, project_id: int, pool: AnyPool, apply: Callable[[Entry], object]) -> bool:
    """Let `apply` apply the log entries that the pool has not seen. Call it in a transaction that has not written an
    entry yet.

    Returns False if the classes or rows have changed since the pool was created. The pool then is in the state before
    that change, and a new pool must be created under the changed ones.
    """
    return take_in(pool, events.each(session, project_id, pool.seq), apply)


def take_in(
    pool: AnyPool, log: Iterable[entries.LogEntry | events.ToldEntry], apply: Callable[[Entry], object]
) -> bool:
    """Let `apply` apply these entries, in order; the pool itself skips those about no row.

    Returns False if one changes classes or rows differently from the pool; the pool then is in the state before it."""
    for entry in log:
        if entry.row != entries.NO_ROW:
            apply(learner_entry(entry))
        elif entry.kind == EntryKind.MODEL:
            pool.pass_over(entry.seq)
        elif not pool.takes_change(entry.seq):
            return False
    return True


# Answers of people about a project's rows, one vote per person and place, for any kind.


class Vote(NamedTuple):
    """Latest answer of one person about a place.

    label : None if the whole row is asked about      names : the classes they leave, by current names
    choices : the labels they could choose      predicted : the model's prediction at that time; None: none
    check : a blind check      known : the right labels, by a verdict; None: there is none
    """

    row: int
    label: str | None
    person_id: int
    names: frozenset[str]
    choices: frozenset[str]
    predicted: str | None
    check: bool
    known: frozenset[str] | None


# Plain values for programs, for projects of any kind: rows, numbers that may be unknown, figures.


def number(value: float | None) -> float | None:
    """Return the number, or None if it is unknown: JSON has no NaN."""
    return None if value is None or not math.isfinite(value) else float(value)


def told_row(view: RowView) -> dict[str, object]:
    """Return a row for programs, with what annotators see of it. row : from 0

    Files are named by their addresses below that of the interface; images in the table are included.
    """
    return {
        "row": view.row,
        "row_id": view.row_id,
        "text": view.text,
        "texts": dict(view.texts),
        "features": dict(view.features),
        "caption": dict(view.caption),
        "source": dict(view.source),
        "images": [_address(one) for one in view.images],
        "audio": None if view.audio is None else _address(view.audio),
        "segment": None if view.segment is None else [number(one) for one in view.segment],
    }


def _address(one: str) -> str:
    return f"/{one}" if one.startswith(f"{PATH.lstrip('/')}/") else one


def curve_points(answers: AnyArray, values: AnyArray, low: AnyArray, high: AnyArray) -> list[dict[str, object]]:
    """Return a point for each number of answers: the figure with its 95% interval, None if it is unknown."""
    return [
        {"answers": int(count), "value": number(value), "low": number(least), "high": number(most)}
        for count, value, least, most in zip(answers, values, low, high, strict=True)
    ]


def figure(name: str, by: str, points: Sequence[dict[str, object]]) -> dict[str, object] | None:
    """Return the current figure, from the last point; None if nothing has measured it yet. by : what measures it"""
    last = points[-1] if points else None
    if last is None or last["value"] is None:
        return None
    return {"name": name, "by": by, "value": last["value"], "low": last["low"], "high": last["high"]}
