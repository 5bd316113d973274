"""The answering loop of label vectors: a whole row with all its labels, or one label of it.

As `workflow.labeling`, with its tokens, reservations, undo and redo. What is not answered stays *not asked*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from db import entries, questions
from plcore import AnswerError
from workflow.history import SECOND
from workflow.labeling import checked_note
from workflow.saving import NotSaved
from workflow.standing import Saved, saved_of
from workflow.turns import CellTurn, StaleQuestion, take_cell_turn
from workflow.vector_showing import VectorQuestion, cells_stamp

if TYPE_CHECKING:
    from workflow.home import Home

__all__ = [
    "KINDS",
    "AnswerError",
    "NotSaved",
    "StaleQuestion",
    "VectorQuestion",
    "next_question",
    "submit_answer",
]

KINDS = ("labels", "yes", "no", "unsure", "bad", "skip")
"""What a person can answer: "labels" about a whole row, "yes" and "no" about one label of it, the others about both."""


def next_question(home: Home, person_id: int, project_id: int) -> VectorQuestion | None:
    """The question open before this person, or a new one; None when there is nothing left to ask them.

    Raises
    ------
    NotSaved, NotAllowed, NotFound, WrongKind
    """
    with take_cell_turn(home, person_id, project_id) as turn:
        return turn.show_next()


def ask_next(
    home: Home, person_id: int, project_id: int, row: int, label: str | None = None
) -> VectorQuestion:
    """Put this row, or this label of it, before the person now, in place of what was.

    Raises
    ------
    AnswerError
        It is not open to this person, or is before somebody else.
    NotSaved, NotAllowed, NotFound, WrongKind
    """
    with take_cell_turn(home, person_id, project_id) as turn:
        if turn.is_taken(row, label):
            raise AnswerError("That row is before somebody else. Fix: choose another, or wait two minutes.")
        if not turn.may_ask(row, label):
            raise AnswerError("That row is no longer open. Fix: choose another.")
        return turn.show(turn.learner.question_for(row, label))


def submit_answer(
    home: Home,
    person_id: int,
    project_id: int,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    note: str | None = None,
    flagged: bool = False,
    shown: str | None = None,
) -> Saved:
    """Store one answer (or skip) to the question with this token; exactly once.

    kind : one of KINDS. "labels" answers the whole row: these labels are right, all others are not. It is stored as a
        `no` and a `yes`, both or neither, about the cells that were not known and those that it changes
    labels : of "labels" alone      shown : `VectorQuestion.shown` of the screen it was given on
    note, flagged : stored with the answer
    A token answered before gives the earlier entry with ``repeated`` set; nothing is stored.

    Raises
    ------
    StaleQuestion
        The token is not that of the question open before this person; or it has meanwhile been answered by, or
        given to, somebody else; or a whole row is answered whose labels have changed since it was shown. Nothing is
        stored.
    AnswerError
        The answer does not fit the question. Nothing is stored.
    NotSaved, NotAllowed, NotFound, WrongKind
    """
    labels, note = tuple(labels), checked_note(note)
    if kind not in KINDS:
        raise AnswerError(f"An answer is one of {', '.join(KINDS)}. Got {kind!r}.")
    with take_cell_turn(home, person_id, project_id) as turn:
        question = turn.open_now()
        if question is None or question.token != token:
            return turn.given_before(token)
        if turn.is_taken(question.row, question.label):
            raise StaleQuestion(
                "Somebody else has taken this row meanwhile: it lay open for over two minutes."
            )
        if not turn.may_ask(question.row, question.label):
            what, row = ("row", "it") if question.label is None else ("label", "its row")
            raise StaleQuestion(f"Somebody else has decided this {what} meanwhile, or taken {row} out.")
        stored = _write(turn, question, kind, labels, note, flagged, shown)
        questions.delete(turn.session, project_id, person_id)
        return saved_of(turn.learner, stored)


def _write(
    turn: CellTurn,
    question: questions.OpenQuestion,
    kind: str,
    labels: tuple[str, ...],
    note: str | None,
    flagged: bool,
    shown: str | None,
) -> entries.Entry:
    writer = turn.writer(question.row, question.label)
    first, told = turn.told(question, note, flagged)
    if kind == "labels":
        (said, names), *second = _parts(turn, question, labels, shown)
        stored = writer.write(said, names, **first, **told)
        for said, names in second:
            stored = writer.write(said, names, token=f"{question.token}{SECOND}", **told)
        return stored
    if labels:
        raise AnswerError(f"{kind!r} takes no labels: it is about what was asked. Got {list(labels)}.")
    if kind in ("yes", "no") and question.label is None:
        raise AnswerError(f"{kind!r} answers a question about one label; this one is about the whole row.")
    asked = () if question.label is None or kind == "bad" else (question.label,)
    return writer.write(kind, asked, **first, **told)


def _parts(
    turn: CellTurn, question: questions.OpenQuestion, right: tuple[str, ...], shown: str | None
) -> list[tuple[str, tuple[str, ...]]]:
    """What an answer to a whole row says, as (kind, labels): a `no`, a `yes`, or both, the `yes` last."""
    learner = turn.learner
    if question.label is not None:
        raise AnswerError("'labels' answers a question about a whole row; this one is about one label.")
    unknown = sorted(set(right) - set(learner.classes))
    if unknown:
        raise AnswerError(f"{unknown[0]!r} is not a label of this project.")
    cells = learner.cells_of(question.row).tolist()
    if shown is not None and shown != cells_stamp(tuple(cells)):
        raise StaleQuestion("The labels of this row have changed since it was shown.")
    said = [(label, int(label in right), cell) for label, cell in zip(learner.classes, cells, strict=True)]
    told = [(label, value) for label, value, cell in said if cell != value]
    named = {
        kind: tuple(label for label, value in told if value == wanted)
        for kind, wanted in (("no", 0), ("yes", 1))
    }
    return [(kind, names) for kind, names in named.items() if names]
