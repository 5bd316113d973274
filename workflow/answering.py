"""The answering loop: show a question, store what the person said, let the learner follow.

Screen says saved only after commit; the learner moves only after commit. Each shown question has a token
(person, place, revision) that the database holds unique, so a double press, a replayed rerun, a second tab
and the back button are all harmless.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from db import questions, reservations
from plcore import AnswerError
from plcore.loop import ClassMap, Place
from workflow.access import NotAllowed, NotFound, Right
from workflow.common.alike import SimilarRow, begin_comparison, still_shown
from workflow.common.answers import Given, Saved
from workflow.common.log import read_class_changes
from workflow.common.notes import NOTE_LENGTH, checked_note
from workflow.common.places import place_of
from workflow.common.present_names import names_now
from workflow.common.turn import StaleQuestion
from workflow.kinds.opening import take_checkpoint
from workflow.people.qualifying import NotQualified, require_qualified
from workflow.saving import NotSaved

if TYPE_CHECKING:
    from workflow.common.turn import Turn
    from workflow.seat import Seat

__all__ = [
    "NOTE_LENGTH",
    "AnswerError",
    "NotQualified",
    "NotSaved",
    "Saved",
    "SimilarRow",
    "StaleQuestion",
    "ask_next",
    "get_ready",
    "leave",
    "next_question",
    "show_again",
    "similar_rows",
    "submit_answer",
]

logger = logging.getLogger("winnow")


def next_question(seat: Seat) -> Any:
    """The question open before this person, or a new one, as the project's kind shows it (`showing` in its folder);
    None when there is nothing left to ask them.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.turn(lasting=False) as turn:
        require_qualified(turn.opened)
        return turn.show_next()


def get_ready(seat: Seat) -> None:
    """Do now what the person would otherwise wait for at their next press: take in a model version that was trained
    meanwhile, sort the open rows, and learn which words speak for a label. And now and then what whoever opens the
    project next would: write a checkpoint of the learner.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner(Right.ANSWER) as opened:
        opened.kind.get_ready(opened)
        checkpoint = take_checkpoint(opened)
    if checkpoint is not None:
        checkpoint.write()


def ask_next(seat: Seat, row: int, label: str | None = None, *, drawn: bool = False) -> Any:
    """Ask this person about this row, or this label of it, now. The question they had before them goes back to the
    open ones. Returns the shown question.

    row : its number, from 0      label : None: the row as a whole
    drawn : no person chose the place; it came in the order of the draw, so that it may be a control

    Raises
    ------
    AnswerError
        The place is not open to this person, is before somebody else, or is a control that was not drawn.
    NotSaved, NotAllowed, NotFound
    """
    place = Place(row, label)
    with seat.turn() as turn:
        require_qualified(turn.opened)
        if turn.is_taken(place):
            raise AnswerError("That row is before somebody else. Fix: choose another, or wait a few minutes.")
        if not turn.may_choose(place, drawn=drawn):
            raise AnswerError("That row is no longer open. Fix: choose another.")
        return turn.show(place)


def submit_answer(
    seat: Seat,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    note: str | None = None,
    flagged: bool = False,
    shown: str | None = None,
) -> Saved:
    """Store one answer (or skip) to the question with this token; exactly once.

    kind : one of `Turn.ANSWERS` of the project's kind
    labels : class names; which an answer takes is said in `answering.py` of the kind's folder
    note : at most NOTE_LENGTH characters      flagged : marked for another look; both are stored with the answer
    shown : the stamp that the shown question carried, which says what was on the screen; None: not known
    A token answered before gives the earlier entry with ``repeated`` set, and ``other`` where it says something else;
    nothing is stored. A row that is still open after a "not" stays before the person.

    Raises
    ------
    StaleQuestion
        The token is not that of the question open before this person; or somebody else has meanwhile answered it, or
        has it before them; or the labels that the answer speaks of have changed since they were shown. Nothing is
        stored.
    AnswerError
        The answer does not fit the question. Nothing is stored.
    NotSaved, NotAllowed, NotFound
    """
    given = Given(kind, tuple(labels), checked_note(note), flagged, shown)
    with seat.turn() as turn:
        saved, stays = answer_in(turn, token, given)
        if saved.repeated:
            saved = replace(saved, other=not _is_said_again(turn, saved, given))
    if stays is not None:
        show_again(seat, stays)
    return saved


def answer_in(turn: Turn[Any, Any, Any], token: str, given: Given) -> tuple[Saved, Place | None]:
    """What `submit_answer` does in its turn: what was stored, and the place that stays before the person, None where
    none does. Raises as it."""
    require_qualified(turn.opened)
    if given.kind not in turn.ANSWERS:
        raise AnswerError(f"An answer is one of {', '.join(turn.ANSWERS)}. Got {given.kind!r}.")
    question = turn.open_now()
    if question is None or question.token != token:
        return turn.given_before(token), None
    place = place_of(question)
    if not turn.holds(question) and turn.is_taken(place):
        raise StaleQuestion(
            "Somebody else has this row before them now: it was open here for long, or you had left it."
        )
    if not turn.may_ask(place):
        raise StaleQuestion(turn.decided_meanwhile(place))
    stored = turn.opened.kind.answer(turn, question, given)
    if turn.stays_after(question, stored):
        turn.keep_question(question)
        return turn.saved(stored), place
    turn.close_question()
    return turn.saved(stored), None


def _is_said_again(turn: Turn[Any, Any, Any], saved: Saved, given: Given) -> bool:
    """Whether this may be what was stored before, by whatever name its classes had then: where a class got another one
    between a question and its answer, the answer names it as the question did, and the entry as it is called."""
    if saved.may_be(given.kind, given.labels):
        return True
    changes = read_class_changes(turn.session, turn.project_id)
    known = ClassMap(turn.opened.home.read_table(turn.opened.project.table_hash).classes, changes)
    labels, denied = names_now(known, saved.labels), names_now(known, saved.denied)
    return replace(saved, labels=labels, denied=denied).may_be(given.kind, names_now(known, given.labels))


def leave(seat: Seat) -> None:
    """Offer the row that is before this person to others, for they look at something else now. It stays theirs until
    somebody else has it.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.writing() as leaving:  # without the learner, for which a page that comes would have to wait
        reservations.hand_back(leaving.session, leaving.project.id, leaving.person.id, datetime.now(UTC))


def similar_rows(seat: Seat, token: str) -> tuple[SimilarRow, ...]:
    """The answered rows most like that of this question, the nearest first, with the labels that people gave them. On
    demand, never with the question.

    token : of the question that is before this person

    Raises
    ------
    StaleQuestion
        The question is no longer before this person.
    NotAllowed, NotFound
    """
    with seat.learner(Right.ANSWER) as opened:
        asked = questions.get(opened.session, opened.project_id, opened.person_id)
        if asked is None or asked.token != token:
            raise StaleQuestion("That question is no longer open before you.")
        comparison = begin_comparison(opened, asked.row)
    nearest = comparison.nearest()
    with seat.learner(Right.ANSWER) as opened:  # meanwhile an answer may have been taken back
        return still_shown(opened, nearest)


def show_again(seat: Seat, place: Place) -> None:
    """Ask this person about the same place again, where it is still open to them and nobody else has it.

    A failure is logged, not raised: what they did before is stored.
    """
    try:
        with seat.turn() as turn:
            if not turn.is_taken(place) and turn.may_ask(place):
                turn.show(place)
    except (NotSaved, StaleQuestion, NotFound, NotAllowed):
        # What they did is stored; that must not be taken for a failure of it.
        logger.warning("Row %d could not be shown again at once.", place.row, exc_info=True)
