"""Files that people send by the upload route: for owners, who make projects and rows of them, and for no one else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workflow.access import NotAllowed
from workflow.files import scratch
from workflow.files.arriving import MB, Arrived, Arriving, NoRoom, NotTaken, OneAtATime, Room, TooLarge, clear
from workflow.importing.uploads import MAX_UPLOAD_MB
from workflow.people import members

if TYPE_CHECKING:
    from workflow.seat import Seat
    from workflow.server.home import Home

__all__ = [
    "PATH",
    "Arrived",
    "Arriving",
    "NoRoom",
    "NotTaken",
    "OneAtATime",
    "TooLarge",
    "begin",
    "clear_left",
    "find",
    "remove",
]

PATH = "/uploads"
"""Where files are sent."""

_OWNERS_ALONE = "Only owners upload files. Fix: ask an owner to import the table."


def begin(seat: Seat, name: str, size: int | None = None) -> Arriving:
    """A file of this person begins to come. name : as they call it      size : bytes announced, None if none were

    Raises NotAllowed for who owns neither this Winnow nor a project; TooLarge, OneAtATime, NoRoom.
    """
    _check(seat)
    settings = seat.home.settings
    room = Room(MAX_UPLOAD_MB * MB, settings.upload_mb * MB, settings.uploads_mb * MB)
    return seat.home.arrivals.begin(seat.home.uploads_dir, seat.person_id, name, size, room)


def find(seat: Seat, key: str) -> Arrived | None:
    """The file that this person has sent; None if there is none of theirs, or not any more. Raises NotAllowed."""
    _check(seat)
    return seat.home.arrivals.find(seat.person_id, key)


def remove(seat: Seat, key: str) -> None:
    """The file is not needed any more; what is done with it is ended. Raises NotAllowed."""
    _check(seat)
    seat.home.jobs.end(seat.person_id, key)
    seat.home.arrivals.remove(seat.person_id, key)


def clear_left(home: Home) -> None:
    """Remove what a server before this one has left, sent or unpacked."""
    clear(home.uploads_dir)
    scratch.clear()


def _check(seat: Seat) -> None:
    if not members.may_upload(seat.everywhere):
        raise NotAllowed(_OWNERS_ALONE)
