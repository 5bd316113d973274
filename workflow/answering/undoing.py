"""Undo and redo: a person withdraws an answer of theirs, or gives one they withdrew once more.

Both are new entries of the log. What was stored by one press ("none of these, it is that one": a `none` and an
`is`; or an `is` for each row of a batch) is withdrawn, and given again, by one press.
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
    """Recent answers of this person, newest first."""
    return history_of(
        reversed(opened.own_log.past),
        opened.learner,
        opened.person_id,
        opened.kind.make_turn(opened).stands_as_before,
    )


class TakenBack(StaleQuestion):
    """The answer was withdrawn before. together : it was given to a batch of rows"""

    def __init__(self, *, together: bool) -> None:
        super().__init__("That answer was withdrawn already; nothing was undone.")
        self.together = together


def undo(seat: Seat, seq: int | None = None) -> Saved | None:
    """Withdraw an answer of this person, as a new entry, and put its row before them again; a whole batch with all rows
    of it that stand, which are reserved for them together once more.

    seq : the entry they mean to withdraw, as their screen shows it; a doubled press finds it withdrawn and
        changes nothing. None: their latest that stands, among the last 50.
    Returns None if the person has nothing to withdraw. A row that is on the screen of someone else stays with them.

    Raises
    TakenBack : The entry is withdrawn already. Nothing is changed.
    StaleQuestion : The entry is not theirs, or was a correction that took answers back too. Nothing is changed.
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
                "That correction also made labels not known, which undo would not bring back. Fix: correct the row on "
                "the Review page."
            )
        for parts in pressed:
            writer = turn.writer(place_of(parts[0]))
            for part in reversed(parts):
                stored = writer.write(
                    EntryKind.WITHDRAW,
                    # Not the token of a showing: an answer to one must never be taken for this withdrawal.
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
    if entry.kind not in VERDICTS and not together:  # that was no question of theirs
        show_again(seat, place_of(entry))
    return saved


def redo(seat: Seat, seq: int | None = None) -> Saved | None:
    """Store an answer once more that this person had withdrawn; the new entry says what the old one said.

    seq : the entry that was withdrawn; given again already, it comes back with ``repeated`` set and nothing is
        stored. None: the one they withdrew last, among the last 50.
    Returns None if there is none.

    Raises
    StaleQuestion : The entry is not theirs, was not withdrawn by them, or its row does not stand as it did when it was
        answered, or is on the screen of someone else. Nothing is changed.
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
            raise StaleQuestion("That answer stands; there is nothing to give again.")
        if any(one.person_id != seat.person_id for one in back):
            raise StaleQuestion("Someone else took that answer back. Answer the row again instead.")
        tokens = [redo_token(one.seq) for one in back]
        if earlier := entries.with_token(turn.session, turn.project_id, tokens[-1]):
            return replace(turn.saved(earlier, repeated=True), rows=len(pressed))
        if entry.kind in VERDICTS and not turn.opened.may(Right.REVIEW):
            raise NotAllowed("A verdict is given by reviewers and owners. Fix: ask one of them.")
        for parts in pressed:
            _check_free(turn, parts)
        for token, parts in zip(tokens, pressed, strict=True):
            writer = turn.writer(place_of(parts[0]))
            for number, part in enumerate(parts):
                stored = writer.write(
                    part.kind,
                    writer.labels_now(part),
                    token=second_token(token, number),
                    # It is the same answer to the same showing; the time it took is counted there.
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
    """Raises StaleQuestion where a row that was withdrawn cannot be answered so again."""
    place = place_of(parts[0])
    if turn.is_taken(place):
        raise StaleQuestion("That row is before someone else now; nothing was changed.")
    if not turn.stands_as_before(place.row, parts):
        raise StaleQuestion(f"{turn.writer(place).CHANGED} Answer it again instead.")


def _own(turn: AnyTurn, seq: int) -> entries.LogEntry:
    """This person's answer at that place of the log. Raises StaleQuestion."""
    entry = entries.get(turn.session, turn.project_id, seq)
    if entry is None or entry.person_id != turn.person_id or entry.target_seq is not None or entry.row < 0:
        raise StaleQuestion("That answer is not one of yours; nothing was changed.")
    return entry


def _took_back_more(turn: AnyTurn, entry: entries.LogEntry) -> bool:
    """Whether the press that stored this also took answers back, as a correction can: all of it has one moment."""
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
    """Withdrawal of the last of these entries; None if it stands."""
    return entries.withdrawal_of(turn.session, turn.project_id, parts[-1].seq)
