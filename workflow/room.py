"""How the answering room of a project is set: guidelines, the order of the candidates, what each label means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from db import projects
from workflow.common.room import DESCRIPTION_LENGTH, GUIDELINES_LENGTH, RoomError, RoomSettings

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = [
    "DESCRIPTION_LENGTH",
    "GUIDELINES_LENGTH",
    "RoomError",
    "RoomSettings",
    "change_room",
    "class_names",
    "room_of",
]


def room_of(seat: Seat) -> RoomSettings:
    """The project's room.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.reading() as reading:
        return RoomSettings.from_json(reading.project.room)


def change_room(seat: Seat, room: RoomSettings) -> None:
    """Set the room anew, for everybody from their next question on.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    with seat.owning() as owning:
        projects.change_room(owning.session, owning.project.id, room.to_json())


def class_names(seat: Seat) -> tuple[str, ...]:
    """Every class of the project, in its order: what a search for "none of these" looks through.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        return tuple(opened.learner.classes)
