"""Undo and redo: a person takes back an answer of theirs, or gives one they took back once more.

Both are new entries of the log. What was stored by one press ("none of these, it is that one": a `none` and an
`is`) is taken back, and given again, by one press.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from db import entries, questions, review
from workflow.history import SECOND, history_of, latest_standing, latest_withdrawn, redo_token
from workflow.standing import Saved, saved_of
from workflow.turns import CellTurn, RowTurn, StaleQuestion, show_again, take_any_turn

if TYPE_CHECKING:
    from workflow.home import Home

AnyTurn = RowTurn | CellTurn


def undo(home: Home, person_id: int, project_id: int, seq: int | None = None) -> Saved | None:
    """Withdraw an answer of this person, as a new entry, and put its row before them again.

    seq : the entry they mean to take back, as their screen shows it; a doubled press finds it withdrawn and
        changes nothing. None: their latest that stands, among the last 50.
    Returns None where the person has nothing to withdraw. A row that is before somebody else stays with them.

    Raises
    ------
    StaleQuestion
        The entry is not theirs, or is withdrawn already; or it was a correction that took answers back too. Nothing
        is changed.
    NotSaved, NotAllowed, NotFound
    """
    with take_any_turn(home, person_id, project_id) as turn:
        if seq is None:
            seq = latest_standing(history_of(turn.session, turn.learner, person_id, project_id))
        if seq is None:
            return None
        entry = _own(turn, seq)
        if entries.withdrawal_of(turn.session, project_id, seq) is not None:
            raise StaleQuestion("That answer was taken back already; nothing was undone.")
        if _took_back_more(turn, entry):
            raise StaleQuestion(
                "That correction also made labels not known, which undo would not bring back. Fix: correct the row on "
                "the Review page."
            )
        writer = turn.writer(entry.row, entry.label)
        for part in reversed(_pressed(turn, entry)):
            stored = writer.write(
                "withdraw",
                # Not the token of a showing: an answer to one must never be taken for this withdrawal.
                token=f"withdraw.{part.seq}",
                target=part.seq,
                model_version=turn.learner.model_version,
            )
        questions.delete(turn.session, project_id, person_id)
        saved = saved_of(turn.learner, stored)
    show_again(home, person_id, project_id, entry.row, entry.label)
    return saved


def redo(home: Home, person_id: int, project_id: int, seq: int | None = None) -> Saved | None:
    """Store an answer once more that this person had taken back; the new entry says what the old one said.

    seq : the entry that was taken back; given again already, it comes back with ``repeated`` set and nothing is
        stored. None: the one they took back last, among the last 50.
    Returns None where there is none.

    Raises
    ------
    StaleQuestion
        The entry is not theirs, was not taken back by them, or its row does not stand as it did when it was
        answered, or is before somebody else. Nothing is changed.
    AnswerError, NotSaved, NotAllowed, NotFound
    """
    with take_any_turn(home, person_id, project_id) as turn:
        if seq is None:
            seq = latest_withdrawn(history_of(turn.session, turn.learner, person_id, project_id))
        if seq is None:
            return None
        entry = _own(turn, seq)
        withdrawal = entries.withdrawal_of(turn.session, project_id, seq)
        if withdrawal is None:
            raise StaleQuestion("That answer stands; there is nothing to give again.")
        if withdrawal.person_id != person_id:
            raise StaleQuestion("Somebody else took that answer back. Answer the row anew instead.")
        token = redo_token(withdrawal.seq)
        if earlier := entries.with_token(turn.session, project_id, token):
            return saved_of(turn.learner, earlier, repeated=True)
        parts, writer = _pressed(turn, entry), turn.writer(entry.row, entry.label)
        if turn.is_taken(entry.row, entry.label):
            raise StaleQuestion("That row is before somebody else now; nothing was changed.")
        if not writer.stands_as_before(parts):
            raise StaleQuestion(f"{writer.changed} Answer it anew instead.")
        for number, part in enumerate(parts):
            stored = writer.write(
                part.kind,
                writer.said_now(part),
                token=token + SECOND * number,
                # It is the same answer to the same showing; the time it took is counted there.
                strategy=part.strategy,
                score=part.score,
                model_version=part.model_version,
                predicted=part.predicted,
                note=part.note,
                flagged=part.flagged,
            )
        question = turn.open_now()
        if question is not None and (question.row, question.label) == (entry.row, entry.label):
            questions.delete(turn.session, project_id, person_id)
        return saved_of(turn.learner, stored)


def _own(turn: AnyTurn, seq: int) -> entries.Entry:
    """This person's answer at that place of the log. Raises StaleQuestion."""
    entry = entries.get(turn.session, turn.project_id, seq)
    if entry is None or entry.person_id != turn.person_id or entry.kind == "withdraw" or entry.row < 0:
        raise StaleQuestion("That answer is not one of yours; nothing was changed.")
    return entry


def _took_back_more(turn: AnyTurn, entry: entries.Entry) -> bool:
    """Whether the press that stored this also took answers back (`vector_correcting`): all of it has one moment."""
    told = review.of_row(turn.session, turn.project_id, entry.row)
    return any(one.kind == "withdraw" and one.at == entry.at for one in told)


def _pressed(turn: AnyTurn, entry: entries.Entry) -> list[entries.Entry]:
    """What one press stored, in order: the entry, or the two of which it is one."""
    if entry.token.endswith(SECOND):
        first = entries.with_token(turn.session, turn.project_id, entry.token.removesuffix(SECOND))
        return [entry] if first is None else [first, entry]
    second = entries.with_token(turn.session, turn.project_id, entry.token + SECOND)
    return [entry] if second is None else [entry, second]
