"""The answering loop: show a question, store what the person said, let the learner follow.

Screen says saved only after commit; the learner moves only after commit. Each shown question has a token
(person, row, revision) that the database holds unique, so a double press, a replayed rerun, a second tab
and the back button are all harmless.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import entries, questions
from plcore import AnswerError, Entry
from workflow.standing import RESERVED_FOR, Saved, saved_of
from workflow.turns import (
    NotSaved,
    OpenQuestion,
    StaleQuestion,
    Turn,
    as_stored,
    still_to_ask,
    take_turn,
    worded,
)

if TYPE_CHECKING:
    from workflow.home import Home

logger = logging.getLogger("winnow")

__all__ = [
    "AnswerError",
    "NotSaved",
    "OpenQuestion",
    "StaleQuestion",
    "ask_next",
    "next_question",
    "submit_answer",
    "undo",
]


def next_question(home: Home, person_id: int, project_id: int) -> OpenQuestion | None:
    """The question open before this person, or a new one; None when there is nothing left to ask them.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    now = datetime.now(UTC)
    with home.learners.open(home, person_id, project_id) as learner:
        with home.database.read() as session:
            open_now = questions.get(session, project_id, person_id)
            taken = questions.reserved_rows(session, project_id, person_id, now - RESERVED_FOR)
        asked = still_to_ask(learner, open_now, person_id, taken)
        fresh = open_now is not None and now - open_now.reserved_at < RESERVED_FOR / 2
        if asked and open_now and fresh and as_stored(asked, open_now):
            return worded(learner, asked, open_now.token)  # a refresh: nothing to write
    with take_turn(home, person_id, project_id) as turn:
        taken = turn.taken()
        asked = still_to_ask(turn.learner, turn.open_now(), person_id, taken)
        asked = asked or turn.learner.next_question(turn.annotator, exclude=frozenset(taken))
        return turn.show(asked) if asked else None


def ask_next(home: Home, person_id: int, project_id: int, row: int) -> OpenQuestion:
    """Put this row before the person now, in place of the one that was.

    Raises
    ------
    AnswerError
        The row is not open to this person, or is before somebody else.
    NotSaved, NotAllowed, NotFound
    """
    with take_turn(home, person_id, project_id) as turn:
        if row in turn.taken():
            raise AnswerError("That row is before somebody else. Fix: choose another, or wait two minutes.")
        if not turn.learner.may_ask(row, turn.annotator):
            raise AnswerError("That row is no longer open. Fix: choose another.")
        return turn.show(turn.learner.question_for(row))


def submit_answer(
    home: Home, person_id: int, project_id: int, token: str, kind: str, labels: Sequence[str] = ()
) -> Saved:
    """Store one answer (or skip) to the question with this token; exactly once.

    A token answered before gives the earlier entry with ``repeated`` set; nothing is stored.

    Raises
    ------
    StaleQuestion
        The token is not that of the question open before this person, or the row has meanwhile been
        answered by, or given to, somebody else. Nothing is stored.
    AnswerError
        The answer does not fit the question. Nothing is stored.
    NotSaved, NotAllowed, NotFound
    """
    with take_turn(home, person_id, project_id) as turn:
        question = turn.open_now()
        if question is None or question.token != token:
            earlier = entries.with_token(turn.session, project_id, token)
            if earlier is None or earlier.person_id != person_id:
                raise StaleQuestion("That question is no longer open before you.")
            return saved_of(turn.learner, earlier, repeated=True)
        if question.row in turn.taken() or not turn.learner.may_ask(question.row, turn.annotator):
            raise StaleQuestion(
                "Somebody else has taken this row meanwhile: it lay open for over two minutes."
            )
        if kind == "withdraw":
            raise AnswerError("Kind 'withdraw' is not an answer: use undo.")
        stored = entries.append(
            turn.session,
            entries.NewEntry(
                project_id=project_id,
                kind=kind,
                row=question.row,
                label=question.label,
                labels=tuple(labels),
                person_id=person_id,
                token=question.token,
                revision=question.revision,
                strategy=question.strategy,
                score=question.score,
                model_version=question.model_version,
                seconds=(turn.now - question.shown_at).total_seconds(),
                at=turn.now,
                before=_labels_at(turn, question.row),
                after=_labels_after(turn, kind, question.row, tuple(labels)),
            ),
        )
        questions.delete(turn.session, project_id, person_id)
        return saved_of(turn.learner, stored)


def undo(home: Home, person_id: int, project_id: int, seq: int | None = None) -> Saved | None:
    """Withdraw this person's latest entry (a new entry says so) and put its row before them again.

    seq : the entry they mean to take back, as their screen shows it. Where it is not their latest any more,
        nothing is changed, so that a doubled press cannot withdraw two answers. None: whatever is latest.
    Returns None where the person has nothing to withdraw. A row that is before somebody else stays with them.

    Raises
    ------
    StaleQuestion, NotSaved, NotAllowed, NotFound
    """
    with take_turn(home, person_id, project_id) as turn:
        last = entries.last_open(turn.session, project_id, person_id)
        if seq is not None and (last is None or last.seq != seq):
            raise StaleQuestion("That answer is not your latest any more; nothing was undone.")
        if last is None:
            return None
        stored = entries.append(
            turn.session,
            entries.NewEntry(
                project_id=project_id,
                kind="withdraw",
                row=last.row,
                label=last.label,
                person_id=person_id,
                # Not the token of a showing: an answer to one must never be taken for this withdrawal.
                token=f"withdraw.{last.seq}",
                revision=entries.count_for(turn.session, project_id, person_id, last.row, last.label),
                target_seq=last.seq,
                model_version=turn.learner.model_version,
                at=turn.now,
                before=_labels_at(turn, last.row),
                after=_labels_after(turn, "withdraw", last.row, (), target=last.seq),
            ),
        )
        questions.delete(turn.session, project_id, person_id)
        saved = saved_of(turn.learner, stored)
    try:
        with take_turn(home, person_id, project_id) as turn:
            if last.row not in turn.taken() and turn.learner.may_ask(last.row, turn.annotator):
                turn.show(turn.learner.question_for(last.row))
    except NotSaved:
        logger.warning("An answer was withdrawn, but its row could not be shown again at once.")
    return saved


def _labels_at(turn: Turn, row: int) -> tuple[str, ...]:
    learner = turn.learner
    return tuple(name for name, may in zip(learner.classes, learner.candidates_of(row), strict=True) if may)


def _labels_after(
    turn: Turn, kind: str, row: int, labels: tuple[str, ...], target: int | None = None
) -> tuple[str, ...]:
    """The row's candidates once this entry counts; raises AnswerError before anything is written."""
    learner = turn.learner
    entry = Entry(learner.seq + 1, kind, row, turn.annotator, labels, target)
    after = learner.candidates_after(entry)
    return tuple(name for name, may in zip(learner.classes, after, strict=True) if may)
