"""Files sent to the upload route. Only owners, who create projects and add rows, may send them."""

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
"""The path that files are sent to."""

_OWNERS_ALONE = "Only owners upload files. Fix: ask an owner to import the table."


def begin(seat: Seat, name: str, size: int | None = None) -> Arriving:
    """Start receiving a file from this person. name : as they call it      size : bytes announced, None if none were

    Raises NotAllowed if the person owns neither this Winnow nor a project; TooLarge, OneAtATime, NoRoom.
    """
    _check(seat)
    settings = seat.home.settings
    room = Room(MAX_UPLOAD_MB * MB, settings.upload_mb * MB, settings.uploads_mb * MB)
    return seat.home.arrivals.begin(seat.home.uploads_dir, seat.person_id, name, size, room)


def find(seat: Seat, key: str) -> Arrived | None:
    """Find a file that this person sent; None if it is not theirs or no longer there. Raises NotAllowed."""
    _check(seat)
    return seat.home.arrivals.find(seat.person_id, key)


def remove(seat: Seat, key: str) -> None:
    """Remove a file that is no longer needed, and end any job that uses it. Raises NotAllowed."""
    _check(seat)
    seat.home.jobs.end(seat.person_id, key)
    seat.home.arrivals.remove(seat.person_id, key)


def clear_left(home: Home) -> None:
    """Remove files that an earlier server left behind, sent or unpacked."""
    clear(home.uploads_dir)
    scratch.clear()


def _check(seat: Seat) -> None:
    if not members.may_upload(seat.everywhere):
        raise NotAllowed(_OWNERS_ALONE)
