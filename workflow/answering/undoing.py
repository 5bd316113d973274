"""Undo and redo: a person withdraws one of their answers, or stores again one that they withdrew.

Both are new entries of the log. Entries that one click stored ("none of these, it is that one": a `none` and an `is`;
or an `is` for each row of a batch) are withdrawn, and stored again, by one click.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from db import answers, entries
from plcore.loop import VERDICTS, EntryKind
from workflow.access import NotAllowed, Right
from workflow.answering.asked import Saved, batch_of
from workflow.answering.batches import put_again, stored_together
from workflow.answering.history import (
    SECOND,
    OwnAnswer,
    history_of,
    latest_standing,
    latest_withdrawn,
    place_of,
    redo_token,
    second_token,
)
from workflow.answering.loop import show_again
from workflow.answering.turn import AnyTurn, StaleQuestion

if TYPE_CHECKING:
    from plcore.loop import Learner
    from workflow.opened import Opened
    from workflow.seat import Seat


def own_answers(opened: Opened[Learner]) -> tuple[OwnAnswer, ...]:
    """Return this person's recent answers, newest first."""
    return history_of(
        reversed(opened.own_log.past), opened.learner, opened.person_id, opened.kind.make_turn(opened).stands_as_before
    )


class TakenBack(StaleQuestion):
    """The answer was withdrawn before. together : it was given to a batch of rows"""

    def __init__(self, *, together: bool) -> None:
        super().__init__("That answer was already withdrawn; nothing was undone.")
        self.together = together


def undo(seat: Seat, seq: int | None = None) -> Saved | None:
    """Withdraw an answer of this person, as a new entry, and show them its row again. A batch is withdrawn as a
    whole, and its rows are reserved for them as a batch again.

    seq : the entry to withdraw, as their screen shows it; after a double click it is withdrawn already, and nothing
        changes. None: their latest answer that is not withdrawn, among the last 50.
    Returns None if the person has nothing to withdraw. A row that is on someone else's screen stays there.

    Raises
    TakenBack : The entry is withdrawn already. Nothing is changed.
    StaleQuestion : The entry is not theirs, or was a correction that also withdrew answers. Nothing is changed.
    """
    with seat.turn() as turn:
        if seq is None:
            seq = latest_standing(own_answers(turn.opened))
        if seq is None:
            return None
        entry = _own(turn, seq)
        pressed = [one for one in _pressed(turn, entry) if _withdrawal(turn, one) is None]
        if not pressed:
            raise TakenBack(together=batch_of(entry.asked) is not None)
        if _took_back_more(turn, entry):
            raise StaleQuestion(
                "That correction also reset labels to unknown, which undo cannot restore. Fix: correct the row on "
                "the Review page."
            )
        for parts in pressed:
            writer = turn.writer(place_of(parts[0]))
            for part in reversed(parts):
                stored = writer.write(
                    EntryKind.WITHDRAW,
                    # Different from every token of a showing, so that no answer can be mistaken for this withdrawal.
                    token=f"withdraw.{part.seq}",
                    target=part.seq,
                    model_version=turn.learner.model_version,
                )
        together = batch_of(entry.asked) is not None
        if together:
            put_again(turn, [part for parts in pressed for part in parts])
        else:
            turn.close_question()
        saved = replace(turn.saved(stored), rows=len(pressed), together=together)
    if entry.kind not in VERDICTS and not together:  # a verdict did not answer a question
        show_again(seat, place_of(entry))
    return saved


def redo(seat: Seat, seq: int | None = None) -> Saved | None:
    """Store again an answer that this person had withdrawn; the new entry has the content of the old one.

    seq : the entry that was withdrawn; if it was redone already, it is returned with ``repeated`` set and nothing is
        stored. None: the one they withdrew last, among the last 50.
    Returns None if there is none.

    Raises
    StaleQuestion : The entry is not theirs, was not withdrawn by them, or its row has changed since it was answered,
        or is on someone else's screen. Nothing is changed.
    AnswerError, NotSaved, NotAllowed, NotFound
    """
    with seat.turn() as turn:
        if seq is None:
            seq = latest_withdrawn(own_answers(turn.opened))
        if seq is None:
            return None
        entry = _own(turn, seq)
        pressed = _pressed(turn, entry)
        withdrawals = [_withdrawal(turn, parts) for parts in pressed]
        back = [one for one in withdrawals if one is not None]
        if len(back) < len(withdrawals):
            raise StaleQuestion("That answer still counts; there is nothing to redo.")
        if any(one.person_id != seat.person_id for one in back):
            raise StaleQuestion("Someone else withdrew that answer. Answer the row again instead.")
        tokens = [redo_token(one.seq) for one in back]
        if earlier := entries.with_token(turn.session, turn.project_id, tokens[-1]):
            return replace(turn.saved(earlier, repeated=True), rows=len(pressed))
        if entry.kind in VERDICTS and not turn.opened.may(Right.REVIEW):
            raise NotAllowed("Only reviewers and owners give verdicts. Fix: ask one of them.")
        for parts in pressed:
            _check_free(turn, parts)
        for token, parts in zip(tokens, pressed, strict=True):
            writer = turn.writer(place_of(parts[0]))
            for number, part in enumerate(parts):
                stored = writer.write(
                    part.kind,
                    writer.labels_now(part),
                    token=second_token(token, number),
                    # The same answer to the same showing: the seconds count with the old entry.
                    strategy=part.strategy,
                    score=part.score,
                    model_version=part.model_version,
                    predicted=part.predicted,
                    note=part.note,
                    flagged=part.flagged,
                    asked=part.asked,
                )
        question = turn.open_now()
        if question is not None and place_of(question) in {place_of(parts[0]) for parts in pressed}:
            turn.close_question()
        return replace(turn.saved(stored), rows=len(pressed))


def _check_free(turn: AnyTurn, parts: Sequence[entries.LogEntry]) -> None:
    """Raise StaleQuestion if a withdrawn row cannot get the same answer again."""
    place = place_of(parts[0])
    if turn.is_taken(place):
        raise StaleQuestion("Someone else is answering that row now; nothing was changed.")
    if not turn.stands_as_before(place.row, parts):
        raise StaleQuestion(f"{turn.writer(place).CHANGED} Answer it again instead.")


def _own(turn: AnyTurn, seq: int) -> entries.LogEntry:
    """Return this person's answer with this seq. Raises StaleQuestion."""
    entry = entries.get(turn.session, turn.project_id, seq)
    if entry is None or entry.person_id != turn.person_id or entry.target_seq is not None or entry.row < 0:
        raise StaleQuestion("That answer is not one of yours; nothing was changed.")
    return entry


def _took_back_more(turn: AnyTurn, entry: entries.LogEntry) -> bool:
    """Whether the click that stored this entry also withdrew answers, as a correction can: all have the same
    moment."""
    log = answers.of_row(turn.session, turn.project_id, entry.row)
    return any(one.target_seq is not None and one.at == entry.at for one in log)


def _pressed(turn: AnyTurn, entry: entries.LogEntry) -> list[list[entries.LogEntry]]:
    """Entries of one click, in order, row by row: the entry, or the two of which it is one; of a batch, an entry for
    each row."""
    if batch_of(entry.asked) is not None:
        return [[one] for one in stored_together(turn.session, entry)]
    if entry.token.endswith(SECOND):
        first = entries.with_token(turn.session, turn.project_id, entry.token.removesuffix(SECOND))
        return [[entry] if first is None else [first, entry]]
    second = entries.with_token(turn.session, turn.project_id, entry.token + SECOND)
    return [[entry] if second is None else [entry, second]]


def _withdrawal(turn: AnyTurn, parts: Sequence[entries.LogEntry]) -> entries.LogEntry | None:
    """Withdrawal of the last of these entries, or None."""
    return entries.withdrawal_of(turn.session, turn.project_id, parts[-1].seq)
