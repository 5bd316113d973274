"""The classes of a project: added, renamed or merged by the owner; each change is an entry of the log.

The uploaded table stays as it was; `plcore.loop.classes` translates its cells and earlier answers. A change is based on
the classes the owner saw: its token names their version, so that a double click or a second tab stores nothing twice,
and nothing by mistake.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from db import answers, entries, projects, questions
from db.entries import NO_ROW, DuplicateEntry, NewEntry
from plcore.arrays import forbidden_in_name
from plcore.loop import ClassChange, ClassMap, EntryKind, Learner, changed_at
from plcore.loop import ClassError as ClassError
from workflow.access import Right
from workflow.kinds.kind import CandidatePool
from workflow.log.reading import read_class_changes
from workflow.opened import Opened
from workflow.saving import NotSaved
from workflow.seat import Seat

logger = logging.getLogger("winnow")

NAME_LENGTH = 200


@dataclass(frozen=True)
class ClassCount:
    """One class. earlier : names it had before      open, decided : rows with it as one of several candidates, or as
    the only one"""

    name: str
    earlier: tuple[str, ...]
    open: int
    decided: int


@dataclass(frozen=True)
class ClassesView:
    """The classes in order.

    version : seq of the latest change, 0 before the first; passed back to `change_classes`
    latest : the change that can be withdrawn, as (kind, *names); None if there is none
    """

    classes: tuple[ClassCount, ...]
    version: int
    latest: tuple[str, ...] | None


@dataclass(frozen=True)
class Touched:
    """Effects of renaming or merging a class: rows with it in the table, answers that name it."""

    rows: int
    answers: int


def read_class_map(session: Session, project_id: int, imported: Sequence[str]) -> ClassMap:
    """Return the project's classes after every change in its log. imported : the class names of its table, in order"""
    return ClassMap(imported, read_class_changes(session, project_id))


def classes_view(seat: Seat) -> ClassesView:
    """Return the classes with their counts.

    Raises
    ClassError : Classes cannot be changed in a project of this kind.
    NotAllowed : The person is not an owner.
    """
    with seat.learner(Right.OWN) as opened:
        pool = _changing(opened)
        class_map, left = pool.class_map, pool.candidates
        alone = left.sum(axis=1) == 1
        decided = left.take(np.flatnonzero(alone), axis=0).sum(axis=0).tolist()
        several = left.take(np.flatnonzero(~alone), axis=0).sum(axis=0).tolist()
    counts = (
        ClassCount(name, tuple(one for one in class_map.names_of(name) if one != name), some, one)
        for name, some, one in zip(class_map.classes, several, decided, strict=True)
    )
    latest = class_map.latest.labels if class_map.latest else None
    return ClassesView(tuple(counts), changed_at(class_map.changes), latest)


def touched(seat: Seat, name: str) -> Touched:
    """Describe the effects of changing this class. Raises ClassError if there is no such class, and as
    `classes_view`."""
    with seat.learner(Right.OWN) as opened:
        pool = _changing(opened)
        if name not in pool.classes:
            raise ClassError(f"{name!r} is not a class.")
        rows = int(pool.original[:, pool.classes.index(name)].sum())
        names = pool.class_map.names_of(name)
        return Touched(rows, answers.count_naming(opened.session, opened.project_id, names, opened.kind.ANSWERS))


def change_classes(seat: Seat, version: int, kind: str, names: Sequence[str]) -> tuple[str, ...]:
    """Store one change, exactly once; returns the classes after it.

    version : `ClassesView.version` of the view that the owner saw
    kind, names : "add", "rename" or "merge" with the names that a `plcore.loop.ClassChange` takes

    Raises
    ClassError : The change is impossible, or the classes have changed since that version. Nothing is stored.
    NotAllowed : The person is not an owner.
    """
    if kind not in ("add", "rename", "merge"):
        raise ClassError(f"A change of classes is 'add', 'rename' or 'merge'. Got {kind!r}.")
    names = tuple(name.strip() for name in names)
    if too_long := next((name for name in names if len(name) > NAME_LENGTH), None):
        raise ClassError(
            f"A class's name has at most {NAME_LENGTH} characters; this one has {len(too_long)}. Fix: shorten it."
        )
    # Existing names are not checked: older tables may have them.
    if kind != "merge" and (found := forbidden_in_name(names[-1] if names else "")) is not None:
        raise ClassError(f"A class's name cannot be stored with {found}. Fix: type another.")
    return _store(seat, version, kind, names)


def take_back(seat: Seat, version: int) -> tuple[str, ...]:
    """Withdraw the latest change, by a new entry. Refused if answers have named the class since: merge it instead.

    Raises as `change_classes`.
    """
    return _store(seat, version, "back", ())


def _store(seat: Seat, version: int, kind: str, names: tuple[str, ...]) -> tuple[str, ...]:
    with seat.learner(Right.OWN, changes=True) as opened:
        imported = _changing(opened).class_map.imported
    try:
        with seat.owning() as owning:
            session, project, project_id = owning.session, owning.project, owning.project.id
            entries.lock(session, project_id)
            before = read_class_map(session, project_id, imported)
            if changed_at(before.changes) != version:
                raise _stale()
            target = before.latest.seq if kind == "back" and before.latest else None
            change = ClassChange(entries.last_seq(session, project_id) + 1, kind, names, target)
            after = before.changed(change)
            if target is not None:
                _check_unused(session, project_id, after, target)
            entries.append(
                session,
                NewEntry(
                    project_id=project_id,
                    kind=EntryKind.WITHDRAW if kind == "back" else EntryKind.CLASS,
                    row=NO_ROW,
                    labels=() if kind == "back" else change.labels,
                    person_id=seat.person_id,
                    token=f"classes.{version}",
                    revision=entries.count_for(session, project_id, seat.person_id, NO_ROW),
                    target_seq=target,
                    before=before.classes,
                    after=after.classes,
                    at=datetime.now(UTC),
                ),
            )
            room = _room_after(project.room, after)
            projects.change(session, project_id, n_classes=len(after.classes), room=room)
            if kind == "back":
                # A merged class on a screen covers more than its name does now. After any other change the names on a
                # screen keep their meaning.
                questions.close_reservations(session, project_id)
    except DuplicateEntry as error:
        raise _stale() from error
    # The number of initially ambiguous rows depends on the classes.
    with seat.learner() as opened:
        held_out = opened.learner.pool.test_rows
        n_to_ask = int((_changing(opened).first[~held_out].sum(axis=1) >= 2).sum())
    try:
        with seat.owning() as owning:
            projects.change(owning.session, project_id, n_to_ask=n_to_ask)
    except NotSaved:
        # The change itself is stored, so a failure here must not look like a failed change.
        logger.warning("Home counts the rows of project %d as before its classes changed.", project_id)
    return after.classes


def _changing(opened: Opened[Learner]) -> CandidatePool:
    """Return the pool whose classes can change. Raises ClassError."""
    classes = opened.kind.CLASSES
    if classes is None:
        raise ClassError("The labels of this project cannot change.")
    return classes(opened.learner)


def _room_after(room: dict[str, Any], after: ClassMap) -> dict[str, Any]:
    """Return the question page's settings, with each class's description under its present name; a merged class keeps
    its own."""
    described: dict[str, str] = dict(room.get("descriptions", {}))
    kept = {name: text for name, text in described.items() if name in after.classes}
    for label in after.classes:
        earlier = [described[name] for name in after.names_of(label) if name in described]
        if earlier:
            kept.setdefault(label, earlier[-1])
    return {**room, "descriptions": kept} if described else room


def _stale() -> ClassError:
    return ClassError(
        "The classes were changed a moment ago, perhaps by this same click. Nothing more was stored. Fix: check the "
        "current classes, then change them."
    )


def _check_unused(session: Session, project_id: int, after: ClassMap, target: int) -> None:
    """Raise ClassError if an answer given after the change names only a class that would be removed with it.

    after : the classes without the change      target : seq of the change
    """
    orphans = 0
    for entry in entries.after(session, project_id, target):
        if entry.row != NO_ROW and entry.labels and not after.roots(entry.labels, after.era(entry.seq)).any():
            orphans += 1
    if orphans:
        taken = next(change for change in after.changes if change.seq == target)
        raise ClassError(
            f"{orphans:,} {'answer names' if orphans == 1 else 'answers name'} {taken.names[0]!r}, so it "
            "cannot be undone."
            " Fix: merge it into the class that is meant."
        )
