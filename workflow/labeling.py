"""The answering loop: show a question, store what the person said, let the learner follow.

Screen says saved only after commit; the learner moves only after commit. Each shown question has a token
(person, row, revision) that the database holds unique, so a double press, a replayed rerun, a second tab
and the back button are all harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from db import entries, questions
from plcore import AnswerError
from workflow.history import SECOND
from workflow.saving import NotSaved
from workflow.showing import OpenQuestion, stamp
from workflow.standing import Saved, saved_of
from workflow.turns import RowTurn, StaleQuestion, show_again, take_turn
from workflow.undoing import redo, undo

if TYPE_CHECKING:
    from workflow.home import Home

__all__ = [
    "KINDS",
    "AnswerError",
    "NotSaved",
    "OpenQuestion",
    "StaleQuestion",
    "ask_next",
    "get_ready",
    "next_question",
    "redo",
    "submit_answer",
    "undo",
]

KINDS = ("is", "among", "not", "none", "unsure", "bad", "skip")
"""What a person can answer. Taking back is `undo`, not an answer."""

NOTE_LENGTH = 2_000


def next_question(home: Home, person_id: int, project_id: int) -> OpenQuestion | None:
    """The question open before this person, or a new one; None when there is nothing left to ask them.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with take_turn(home, person_id, project_id) as turn:
        return turn.show_next()


def get_ready(home: Home, person_id: int, project_id: int) -> None:
    """Do what the person would else wait for at their next press: take in a model that was trained meanwhile, and put
    the open rows in its order.

    Raises
    ------
    NotAllowed, NotFound
    """
    with home.learners.open(home, person_id, project_id) as learner:
        learner.get_ready()


def ask_next(home: Home, person_id: int, project_id: int, row: int, *, drawn: bool = False) -> OpenQuestion:
    """Put this row before the person now, in place of the one that was.

    drawn : the row was not chosen by anybody, but taken in the order of its draw where it is a blind control. A
        control that somebody chose would measure the model on what they chose, so it is refused like a closed row.

    Raises
    ------
    AnswerError
        The row is not open to this person, or is before somebody else, or is a control that was not drawn.
    NotSaved, NotAllowed, NotFound
    """
    with take_turn(home, person_id, project_id) as turn:
        if turn.is_taken(row):
            raise AnswerError("That row is before somebody else. Fix: choose another, or wait two minutes.")
        is_open = turn.learner.may_ask(row, turn.annotator)
        if not is_open or (turn.learner.pool.control_rows[row] and not drawn):
            raise AnswerError("That row is no longer open. Fix: choose another.")
        return turn.show(turn.learner.question_for(row))


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

    kind : one of KINDS. "none" with one label says that it is that class, whatever the candidates are: where it is
        not one of them, `none` and then `is` are stored, both or neither
    note, flagged : stored with the answer      shown : `OpenQuestion.shown` of the screen it was given on
    A token answered before gives the earlier entry with ``repeated`` set; nothing is stored. A row that is still
    open after a "not" stays before the person.

    Raises
    ------
    StaleQuestion
        The token is not that of the question open before this person; or the row has meanwhile been
        answered by, or given to, somebody else; or "none" or "not", which speak of the candidates on the screen,
        come after these have changed. Nothing is stored.
    AnswerError
        The answer does not fit the question. Nothing is stored.
    NotSaved, NotAllowed, NotFound
    """
    labels, note = tuple(labels), checked_note(note)
    if kind not in KINDS:
        raise AnswerError(f"An answer is one of {', '.join(KINDS)}. Got {kind!r}.")
    with take_turn(home, person_id, project_id) as turn:
        question = turn.open_now()
        if question is None or question.token != token:
            return turn.given_before(token)
        if turn.is_taken(question.row):
            raise StaleQuestion(
                "Somebody else has taken this row meanwhile: it lay open for over two minutes."
            )
        if not turn.learner.may_ask(question.row, turn.annotator):
            raise StaleQuestion(
                "Somebody else has decided this row meanwhile, or the owner has merged its classes."
            )
        if kind in ("none", "not"):
            _check_shown(turn, question, shown)
        stored = _write(turn, question, kind, _names_now(turn, labels), note, flagged)
        questions.delete(turn.session, project_id, person_id)
        saved = saved_of(turn.learner, stored)
    if kind == "not":
        show_again(home, person_id, project_id, question.row)
    return saved


def _write(
    turn: RowTurn,
    question: questions.OpenQuestion,
    kind: str,
    labels: tuple[str, ...],
    note: str | None,
    flagged: bool,
) -> entries.Entry:
    writer = turn.writer(question.row)
    first, told = turn.told(question, note, flagged)
    told["predicted"] = question.predicted and _names_now(turn, (question.predicted,))[0]
    if kind != "none" or not labels:
        return writer.write(kind, labels, **first, **told)
    if len(labels) != 1 or labels[0] not in turn.learner.classes:
        raise AnswerError(f"'none' takes no label, or one that is a class. Got {list(labels)}.")
    if labels[0] in writer.left:
        return writer.write("is", labels, **first, **told)
    writer.write("none", **first, **told)
    return writer.write("is", labels, token=f"{question.token}{SECOND}", **told)


def _names_now(turn: RowTurn, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The classes that these names on a screen mean, as they are called now; each once. Unknown ones stay as they are.

    A screen may be from before a change of the classes. A name that was ever used means its class for good.
    """
    class_map = turn.learner.pool.class_map
    if not class_map.changes:
        return labels
    known = class_map.known_names
    return tuple(dict.fromkeys(class_map.now(label) if label in known else label for label in labels))


def _check_shown(turn: RowTurn, question: questions.OpenQuestion, shown: str | None) -> None:
    """Refuse what was said of candidates that are others now."""
    now = turn.learner.pool.names(turn.learner.candidates_of(question.row))
    changed = entries.changed_since(turn.session, turn.project_id, question.row, question.reserved_at)
    same = {stamp(names) for names in turn.learner.pool.class_map.earlier_names(now)}
    if changed or (shown is not None and shown not in same):
        raise StaleQuestion(
            f"The candidates of this row have changed since it was shown; they are now {', '.join(now)}."
        )


def checked_note(note: str | None) -> str | None:
    """The note as it is stored, None where it is empty. Raises AnswerError."""
    note = (note or "").strip()
    if len(note) > NOTE_LENGTH:
        raise AnswerError(
            f"A note has at most {NOTE_LENGTH:,} characters; this one has {len(note):,}. Fix: shorten it."
        )
    if "\0" in note:
        raise AnswerError("The note holds a NUL character. Fix: remove it.")
    return note or None
