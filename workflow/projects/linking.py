"""Projects that ask about the same rows: a setting of the first one, and how a row is found in another table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from db import projects
from workflow.access import Right, Role, visible_projects
from workflow.answering.room_settings import RoomError, RoomSettings
from workflow.people import audit
from workflow.people.audit import EventKind

if TYPE_CHECKING:
    from db.projects import Project
    from plcore import LabelTable
    from workflow.opened import Reading
    from workflow.seat import Seat


@dataclass(frozen=True)
class Linked:
    """A project that asks, or could ask, about the same rows."""

    id: int
    name: str


def further_of(seat: Seat) -> tuple[Linked, ...]:
    """Return the projects that ask about the same row after an answer here, in order, without those that are gone.

    Raises NotAllowed: the person is not an owner.
    """
    with seat.reading(Right.OWN) as reading:
        further = RoomSettings.from_json(reading.project.room).further
        seen = {one.id: one.name for one, _ in visible_projects(reading.session, reading, further) if one.in_use}
    return tuple(Linked(one, seen[one]) for one in further if one in seen)


def linkable(seat: Seat) -> tuple[Linked, ...]:
    """Return the other projects of this owner that may have the same rows: they were made from the same file, or both
    have an id column.

    Raises NotAllowed: the person is not an owner.
    """
    with seat.reading(Right.OWN) as reading:
        here, known = reading.project, visible_projects(reading.session, reading)
    return tuple(
        Linked(one.id, one.name)
        for one, role in known
        if one.in_use and role is Role.OWNER and one.id != here.id and _may_share(here, one)
    )


def link(seat: Seat, further: Sequence[int]) -> tuple[Linked, ...]:
    """Have these projects ask about the same row after an answer here, in this order; () ends that.

    Raises
    RoomError : They are too many, one is named twice or is this project, or has none of its rows.
    NotAllowed : The person is not an owner of this project, or of one of these.
    NotFound : One does not exist for this person.
    """
    RoomSettings(further=tuple(further))
    home = seat.home
    with seat.reading(Right.OWN, changes=True) as reading:
        table = home.read_table(reading.project.table_hash)
    for one in further:
        if one == seat.project_id:
            raise RoomError("A project cannot follow itself. Fix: choose another one.")
        with seat.at(one).reading(Right.OWN) as reading:
            name, other = reading.project.name, home.read_table(reading.project.table_hash)
        if not _n_shared(table, other):
            raise RoomError(
                f"{name} has none of the rows of this project. Fix: choose a project of the same file, or of one with "
                "the same ids."
            )
    with seat.owning() as owning:
        link_in(owning, seat.project_id or 0, further)
    return further_of(seat)


def link_in(owning: Reading, project_id: int, further: Sequence[int]) -> None:
    """Store the same in an owner's transaction, for projects that are known to have the same rows."""
    project = projects.get(owning.session, project_id)
    room = replace(RoomSettings.from_json(project.room), further=tuple(further))
    projects.change(owning.session, project_id, room=room.to_json())
    audit.note(
        owning.session,
        EventKind.SETTINGS_CHANGED,
        person_id=owning.person.id,
        project_id=project_id,
        settings="further questions",
    )


def _may_share(one: Project, other: Project) -> bool:
    has_ids = one.roles.get("id") is not None and other.roles.get("id") is not None
    return has_ids or (one.source_hash is not None and one.source_hash == other.source_hash)


# The same row in another table: by its id or, if one of the tables has none, by all of its cells.

RowKey: TypeAlias = "tuple[str, ...]"


def _has_ids(table: LabelTable) -> bool:
    return table.roles.id is not None


def key_of(table: LabelTable, row: int) -> RowKey:
    """Return what identifies a row in other tables."""
    if _has_ids(table):
        return (table.id_of(row),)
    return table.cells_of(row, [str(name) for name in table.cells.columns])


def find_row(table: LabelTable, row: int, key: RowKey) -> int | None:
    """Return the number of the row with this key; None if there is none. row : its number in the other table, which is
    mostly its number here, too"""
    if row < table.n_rows and key_of(table, row) == key:
        return row
    if not _has_ids(table):
        return None
    found = np.flatnonzero(table.ids == key[0])
    return int(found[0]) if len(found) else None


def _n_shared(table: LabelTable, other: LabelTable) -> int:
    """Return the number of rows that both have."""
    if _has_ids(table) and _has_ids(other):
        return len({*table.ids} & {*other.ids})
    if _has_ids(table) or _has_ids(other) or list(table.cells.columns) != list(other.cells.columns):
        return 0
    n = min(table.n_rows, other.n_rows)
    return int((table.cells[:n] == other.cells[:n]).all(axis=1).sum())
