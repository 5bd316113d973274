"""Pauses: a question is put away, its clock stands still, and others may have its row meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from db import goals
from workflow.common.turn import StaleQuestion
from workflow.people.goals import BREAK_AFTER
from workflow.people.qualifying import require_qualified

if TYPE_CHECKING:
    from workflow.seat import Seat


def pause(seat: Seat, token: str) -> None:
    """Put the question with this token away until `go_on`. A second press changes nothing.

    Raises
    ------
    StaleQuestion
        The question is no longer before this person.
    NotSaved, NotAllowed, NotFound
    """
    with seat.turn() as turn:
        question = turn.open_now()
        if question is None or question.token != token:
            raise StaleQuestion("That question is no longer open before you.")
        if question.paused_at is None:
            turn.put_question(replace(question, paused_at=turn.steady))


def go_on(seat: Seat) -> None:
    """Come back: the same question, where it is still open and nobody else has it, else another one. The seconds spent
    on it go on from where they stood; the next break is counted from now.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.turn() as turn:
        require_qualified(turn.opened)
        goals.note_rest(turn.session, turn.project_id, turn.person_id, turn.now, BREAK_AFTER)
        turn.show_next()
