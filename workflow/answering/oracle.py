"""The simulated oracle: answers for a person with the table's hidden labels, in a dry run of the project.

It answers like a person: it gets the next question, then calls `submit_answer` with the question's token. In the
log its answers have the note `simulated`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workflow.access import Right
from workflow.answering import loop
from workflow.projects.figures import SIMULATED

if TYPE_CHECKING:
    from plcore.loop import Learner
    from workflow.answering.asked import Given
    from workflow.kinds.kind import HiddenTruth, KindSettings
    from workflow.opened import Opened
    from workflow.seat import Seat

MOST = 10_000
"""Maximum number of answers in one go."""


class NoTruth(ValueError):  # noqa: N818 - what a page says, not a fault
    """The project hides no true labels, so there is nothing to answer with."""


def can_answer(seat: Seat) -> bool:
    """Return whether `answer_for_me` would answer this person here: an owner, in a project whose table hides true
    labels."""
    with seat.learner() as opened:
        return opened.may(Right.OWN) and _hidden_truth(opened) is not None


def answer_for_me(seat: Seat, n: int) -> int:
    """Answer the next n questions of this person with the true labels; return the number answered, fewer if none is
    left.

    The answer is "is" if the true label is among the candidates, else "none" with it. Rows whose true label is
    unknown stay open.

    Raises
    NoTruth : The table has no true labels, or they are used for training, or all are held out.
    ValueError : n is not in 1..10,000.
    NotAllowed : The person is not an owner: only owners may see the true labels.
    StaleQuestion : The person answers in another tab meanwhile. Answers so far stay.
    """
    if not 1 <= n <= MOST:
        raise ValueError(f"The number of answers must be in 1..{MOST:,}. Got {n}.")
    with seat.learner(Right.OWN) as opened:
        if _hidden_truth(opened) is None:
            raise NoTruth(
                "This project hides no true labels, so there is nothing to answer with. Fix: import a table with a "
                "column of true labels, and keep them hidden."
            )
    for answered in range(n):
        found = _next_answer(seat)
        if found is None:
            return answered
        question, given = found
        loop.submit_answer(seat, question.token, given.kind, given.labels, note=SIMULATED, shown=given.shown)
    return n


def _hidden_truth(opened: Opened[Learner]) -> HiddenTruth[KindSettings, Learner, object] | None:
    """Return the table's hidden true labels; None if it has none."""
    truth = opened.kind.HIDDEN_TRUTH
    return truth if truth is not None and truth.is_hidden(opened.learner) else None


def _next_answer(seat: Seat) -> tuple[Any, Given] | None:
    """Return the person's next question and its true answer. If its true label is unknown, use the best question with a
    known true label."""
    question = loop.next_question(seat)
    if question is None:
        return None
    with seat.learner() as opened:
        truth = _hidden_truth(opened)
        if truth is None:
            return None
        if (given := truth.answer(opened.learner, question)) is not None:
            return question, given
        known = truth.places(opened.learner)
    for place in known:
        with suppress(loop.AnswerError):  # it is on someone else's screen, or this person excluded it
            question = loop.ask_next(seat, place.row, place.label, drawn=True)
            with seat.learner() as opened:
                given = truth.answer(opened.learner, question)
            return None if given is None else (question, given)
    return None
