"""The simulated oracle: answers for a person with the truth that the table keeps hidden, so that a dry run plays live.

Its answers take the same way as anybody's: the next question, then `submit_answer` with the question's token. In
the log each carries the note `simulated`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from workflow import access, labeling

if TYPE_CHECKING:
    import numpy.typing as npt

    from plcore import ActiveLearner, LabelTable
    from workflow.home import Home

NOTE = "simulated"
"""The note of every entry the oracle makes."""

MOST = 10_000
"""Answers in one go, at most."""


class NoTruth(ValueError):  # noqa: N818 - what a page says, not a fault
    """The project hides no true labels, so there is nothing to answer with."""


def can_answer(home: Home, person_id: int, project_id: int) -> bool:
    """Whether `answer_for_me` would answer this person here: an owner, in a project whose table hides true labels.

    Raises NotAllowed, NotFound.
    """
    with home.learners.open(home, person_id, project_id) as learner:
        hides = _hides_truth(learner)
    with home.database.read() as session:
        return hides and access.require_person(session, person_id).is_owner


def answer_for_me(home: Home, person_id: int, project_id: int, n: int) -> int:
    """Answer the next n questions of this person with the truth; the number answered, fewer where no more are left.

    "is" where the truth is among the candidates, else "none" with it. Rows whose truth is unknown are passed over:
    they stay open.

    Raises
    ------
    NoTruth
        The table has no true labels, or they were given to learn from, or all are held out.
    ValueError
        n is not in 1..10,000.
    NotAllowed
        The person is not an owner: what the truth is, is for nobody else to see.
    StaleQuestion
        The person answers in another tab meanwhile. What was answered so far stays.
    NotSaved, NotFound
    """
    if not 1 <= n <= MOST:
        raise ValueError(f"The number of answers must be in 1..{MOST:,}. Got {n}.")
    with home.database.read() as session:
        access.require_owner(session, person_id)
    with home.learners.open(home, person_id, project_id) as learner:
        if not _hides_truth(learner):
            raise NoTruth(
                "This project hides no true labels, so nobody can answer for you. Fix: import a table with a column "
                "of true labels and let them stay hidden."
            )
    for answered in range(n):
        question = _next_question(home, person_id, project_id)
        if question is None:
            return answered
        with home.learners.open(home, person_id, project_id) as learner:
            label = learner.classes[_truth(learner)[question.view.row]]
        kind = "is" if label in question.choices else "none"
        labeling.submit_answer(
            home, person_id, project_id, question.token, kind, [label], note=NOTE, shown=question.shown
        )
    return n


def _next_question(home: Home, person_id: int, project_id: int) -> labeling.OpenQuestion | None:
    """The person's next question; where its truth is unknown, that about the best row whose truth is known."""
    question = labeling.next_question(home, person_id, project_id)
    if question is None:
        return None
    with home.learners.open(home, person_id, project_id) as learner:
        truth = _truth(learner)
        if truth[question.view.row] >= 0:
            return question
        order = [*learner.pool.control_left().tolist(), *learner.ranking()[0].tolist()]
        known = [row for row in order if truth[row] >= 0]
    for row in known:
        with suppress(labeling.AnswerError):  # it is before somebody else, or set aside by this person
            return labeling.ask_next(home, person_id, project_id, row, drawn=True)
    return None


def _hides_truth(learner: ActiveLearner[LabelTable]) -> bool:
    """Whether the table holds true labels that neither model nor people know."""
    known = (_truth(learner) >= 0) & ~learner.test_rows
    return learner.settings.truth_role == "hidden" and bool(known.any())


def _truth(learner: ActiveLearner[LabelTable]) -> npt.NDArray[np.int64]:
    """(n,) the class number of each row's true label, -1 where unknown."""
    truth = learner.table.truth
    return np.full(learner.table.n_rows, -1, dtype=np.int64) if truth is None else truth
