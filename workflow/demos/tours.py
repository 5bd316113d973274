"""Who has ended the tour of a demo: a line of the audit says so for good, to every browser of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from db import events
from db.events import EventFilter
from workflow.access import Right
from workflow.people import audit
from workflow.people.audit import EventKind

if TYPE_CHECKING:
    from workflow.common.opened import Reading
    from workflow.seat import Seat


def ended(seat: Seat) -> bool:
    """Whether this person has ended the tour of the project. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        return _noted(reading)


def end(seat: Seat) -> None:
    """Never show it to this person again at this project; twice is harmless. Raises NotSaved, NotAllowed, NotFound."""
    with seat.writing(Right.SEE) as own:
        if not _noted(own):
            audit.note_at(own, EventKind.TOUR_ENDED)


def _noted(there: Reading) -> bool:
    asked = EventFilter(
        person_id=there.person.id, what=EventKind.TOUR_ENDED.value, project_id=there.project.id
    )
    return bool(events.listed(there.session, asked, limit=1))
