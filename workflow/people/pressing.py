"""One press of the card: the answer is stored, then the next question is shown with how the project stands.

Two transactions, for what was answered must not be lost with what comes next: the answer, committed; the learner takes
it in; then the reservation of the next row. Nobody else has the learner in between, and nothing is read twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workflow.access import NotAllowed, NotFound
from workflow.answering import answer_in
from workflow.common.answers import Given, Saved
from workflow.common.notes import checked_note
from workflow.common.turn import StaleQuestion
from workflow.people.goals import Day, day_in
from workflow.people.qualifying import require_qualified
from workflow.saving import STORE_FAULTS, NotSaved
from workflow.standing import Standing, standing_in

if TYPE_CHECKING:
    from workflow.seat import Seat

logger = logging.getLogger("winnow")

PATH = "/presses"
"""Where the server takes them; the project's number follows."""


@dataclass(frozen=True)
class Next:
    """What comes after a press.

    kind : name of the project's kind
    question : as `workflow.answering.next_question` gives it; None also during a pause
    standing : as `workflow.standing.standing` does      day : as `workflow.people.goals.day`
    """

    kind: str
    question: Any
    standing: Standing
    day: Day


@dataclass(frozen=True)
class Pressed:
    """What was stored, and what comes next; None where that failed: the answer is stored all the same."""

    saved: Saved
    after: Next | None


def press(
    seat: Seat,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    note: str | None = None,
    flagged: bool = False,
    shown: str | None = None,
    zone: str | None = None,
) -> Pressed:
    """Store one answer, exactly once, and show this person their next question.

    zone : as for `workflow.people.goals.day`; all else, and what is raised, as for `workflow.answering.submit_answer`
    """
    given = Given(kind, tuple(labels), checked_note(note), flagged, shown)
    with seat.alone():
        with seat.turn() as turn:
            saved, _ = answer_in(turn, token, given)
        return Pressed(saved, _next(seat, zone))


def now(seat: Seat, zone: str | None) -> Next:
    """What is before this person now, where they have pressed nothing that was stored.

    zone : as for `workflow.people.goals.day`

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.alone():
        with seat.turn(lasting=False) as turn:
            opened = turn.opened
            require_qualified(opened)
            before = turn.open_now()
            paused = before is not None and before.paused_at is not None
            question = None if paused else turn.show_next()  # the same row, where it stays before the person
            day, reserved = day_in(opened, zone, paused=paused), turn.reserved
        # By the learner and what is kept beside it: no reason to keep the project locked in the database.
        return Next(opened.kind.NAME, question, standing_in(opened, reserved), day)


def _next(seat: Seat, zone: str | None) -> Next | None:
    try:
        return now(seat, zone)
    except (NotSaved, StaleQuestion, NotFound, NotAllowed, *STORE_FAULTS):
        # The answer is stored; that must not be taken for a failure of it.
        logger.warning("The next question could not be shown at once.", exc_info=True)
        return None
