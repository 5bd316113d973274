"""Settings of a project's question page: guidelines, the order of the candidates, shortlists, descriptions of labels,
and groups of classes that can be answers, such as "some crow"."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from db import projects
from plcore.tables import TableError as TableError
from workflow.access import Right
from workflow.answering.asked import FormsNow as FormsNow
from workflow.answering.room_settings import DESCRIPTION_LENGTH as DESCRIPTION_LENGTH
from workflow.answering.room_settings import GUIDELINES_LENGTH as GUIDELINES_LENGTH
from workflow.answering.room_settings import MOST_FURTHER as MOST_FURTHER
from workflow.answering.room_settings import PROMISES as PROMISES
from workflow.answering.room_settings import Groups as Groups
from workflow.answering.room_settings import RoomError as RoomError
from workflow.answering.room_settings import RoomSettings as RoomSettings
from workflow.importing.reading import read_upload
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.projects.class_names import groups_now, read_groups

if TYPE_CHECKING:
    from plcore.loop import ClassMap, Learner
    from workflow.kinds.shortlists import ShortlistView
    from workflow.opened import Opened
    from workflow.seat import Seat


def room_of(seat: Seat) -> RoomSettings:
    """Return the settings of the project's question page."""
    with seat.reading() as reading:
        return RoomSettings.from_json(reading.project.room)


def shortlists_of(seat: Seat) -> ShortlistView | None:
    """Return the state of the project's shortlists; None if its questions have none.

    Raises NotAllowed: the person is not an owner.
    """
    with seat.learner(Right.OWN) as opened:
        view = opened.kind.SHORTLISTS
        return None if view is None else view(opened)


def change_room(seat: Seat, room: RoomSettings) -> None:
    """Change the settings, for everyone from their next question on; `further` stays (`workflow.projects.linking`).

    Raises NotAllowed: the person is not an owner.
    """
    with seat.owning() as owning:
        room = replace(room, further=RoomSettings.from_json(owning.project.room).further)
        projects.change(owning.session, owning.project.id, room=room.to_json())
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="question page")


def forms_of(seat: Seat) -> FormsNow | None:
    """Return the state of the choice between forms of the project's questions; None if there is only one form.

    Raises NotAllowed: the person is not an owner.
    """
    with seat.learner(Right.OWN) as opened:
        forms = opened.kind.FORMS
        return None if forms is None else forms(opened)


def class_names(seat: Seat) -> tuple[str, ...]:
    """Return every class of the project, in its order: the search under "none of these" covers them all."""
    with seat.learner() as opened:
        return tuple(opened.learner.classes)


def groups_of(seat: Seat) -> dict[str, tuple[str, ...]]:
    """Return the groups that can be an answer, with the current names of their classes: those with at least two
    classes."""
    with seat.learner() as opened:
        classes = opened.kind.CLASSES
        if classes is None or not opened.kind.TAKES_GROUPS:
            return {}
        groups = RoomSettings.from_json(opened.project.room).groups
        return groups_now(groups, classes(opened.learner).class_map)


def groups_in_file(seat: Seat, source: bytes | Path, name: str) -> dict[str, tuple[str, ...]]:
    """Return the groups in a file, for `set_groups`. Nothing is stored.

    source, name : bytes or path, and name, of a table with a class in each row and its groups next to it, in any table
        format; or of an export with a taxonomy

    Raises
    TableError : The file has errors; the message has every row and its fix.
    RoomError : The project takes no groups.
    NotAllowed : The person is not an owner.
    """
    with seat.learner(Right.OWN) as opened:
        class_map = _grouped(opened)
    return read_groups(read_upload(source, name, as_it_is=True).reading, class_map)


def set_groups(seat: Seat, groups: Groups) -> None:
    """Replace all groups with these, for everyone from their next question on; an empty mapping removes all.

    Raises
    RoomError : They are too many, or a name is too long; or the project takes no groups.
    NotAllowed : The person is not an owner.
    """
    with seat.learner(Right.OWN) as opened:
        _grouped(opened)
    with seat.owning() as owning:
        room = replace(RoomSettings.from_json(owning.project.room), groups=dict(groups))
        projects.change(owning.session, owning.project.id, room=room.to_json())
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="question page")


def _grouped(opened: Opened[Learner]) -> ClassMap:
    """Return the classes that groups can contain. Raises RoomError if this kind of project has no groups."""
    classes = opened.kind.CLASSES
    if classes is None or not opened.kind.TAKES_GROUPS:
        raise RoomError("Several labels of a row may be right in this project, so it has no groups.")
    return classes(opened.learner).class_map
