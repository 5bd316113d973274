"""Many rows at once: rows that the model is equally sure of, confirmed with one press; one entry a row.

A batch is reserved for a person as a question is, and its rows are before nobody else meanwhile. Blind checks and
held-out rows are never in one, nor rows that somebody has answered, where people answer for themselves: nobody is to
learn from the model's share what others said. Rows that the person takes out stay open, and are asked alone later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from db import batches, entries
from db.batches import RowTogether, StoredBatch
from plcore import AnswerError
from plcore.loop import EntryKind, Place
from workflow.access import NotAllowed, Right
from workflow.common.alike import COMPARED, compare
from workflow.common.answers import MOST
from workflow.common.asked import AskedAs, QuestionForm
from workflow.common.together import (
    CHOSEN,
    FOUND,
    ShownBatch,
    Tile,
    batch_token,
    batching_of,
    entry_token,
    label_now,
    reserve_free,
    shown,
    shown_again,
    still_open,
    stored_together,
)
from workflow.common.turn import StaleQuestion, Turn
from workflow.people.goals import LONGEST
from workflow.people.qualifying import require_qualified

if TYPE_CHECKING:
    from workflow.common.opened import Opened
    from workflow.seat import Seat

    AnyTurn = Turn[Any, Any, Any]

__all__ = [
    "MOST",
    "USUAL",
    "NoBatch",
    "SavedBatch",
    "ShownBatch",
    "Tile",
    "choose_batch",
    "confirm_batch",
    "labels_for",
    "leave_batch",
    "next_batch",
]

USUAL = 12
"""Rows of a batch that Winnow finds by itself."""


@dataclass(frozen=True)
class NoBatch:
    """There is nothing to confirm together. why : a sentence"""

    why: str


@dataclass(frozen=True)
class SavedBatch:
    """What one press stored. seq : of its last entry; None where every row was taken out

    rows : how many were confirmed      missed : names of rows that could not be any more: they were answered meanwhile,
    have other candidates now, or are before somebody else
    """

    seq: int | None
    label: str
    rows: int
    missed: tuple[str, ...]
    repeated: bool = False


def next_batch(seat: Seat, size: int = USUAL) -> ShownBatch | NoBatch:
    """The batch open before this person, or a new one: of the rows with the label that the model is surest of, the
    surest one and those nearest to it of which it is sure (`plcore.query.sure_from`). Their rows are reserved.

    size : how many rows at most, up to MOST

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.turn() as turn:
        require_qualified(turn.opened)
        if turn.opened.kind.BATCHING is None:
            return NoBatch("In projects of this kind every question is about a row, or a label, of its own.")
        if (again := shown_again(turn)) is not None:
            return again
    with seat.learner(Right.ANSWER) as opened:
        own = batches.get(opened.session, opened.project_id, opened.person_id)
        alone = own.taken_out if own else ()
        found = batching_of(opened).find_sure(opened.learner, str(opened.person_id), alone)
        if isinstance(found, str):
            return NoBatch(found)
        label, (surest, *others) = found
        search = compare(opened, surest, np.sort(np.array(others[:COMPARED], dtype=np.int64)))
    nearest = search.nearest(min(size, MOST) - 1)  # it may take seconds: nobody waits for it
    with seat.turn() as turn:
        batch = reserve_free(turn, [surest, *nearest], label, FOUND)
        if batch is None:
            return NoBatch("The rows that would be shown together are before somebody else. Look again soon.")
        return shown(turn, batch)


def choose_batch(seat: Seat, rows: Sequence[int], label: str) -> ShownBatch:
    """Put these rows before this person together, to confirm this label; the MOST of them of which the model is surest.

    rows : by number, as the person has chosen them      label : a class

    Raises
    ------
    AnswerError
        None of the rows can be confirmed so: they are answered, before somebody else, blind checks, or the label is
        none of their candidates. Or there is no such class.
    NotAllowed
        The person may not answer; or does not own the project, which has blind checks: which rows of a selection are
        left out would show them.
    NotSaved, NotFound
    """
    with seat.turn() as turn:
        require_qualified(turn.opened)
        batching = batching_of(turn.opened)
        _may_choose(turn.opened)
        if label not in turn.learner.classes:
            raise AnswerError(f"{label!r} is not a class of this project.")
        wanted = _in_table(turn.opened, rows)
        told = batching.shares(turn.learner, wanted, label)
        share = {row: one for row, (one, _) in zip(wanted, told, strict=True)}
        surest = sorted(wanted, key=lambda row: (-share[row], row))
        batch = reserve_free(turn, surest, label, CHOSEN)
        if batch is None:
            raise AnswerError(
                f"None of these rows can be confirmed as {label} now: they are answered, before somebody else, set "
                "aside, or it is none of their candidates. Fix: choose others."
            )
        return replace(shown(turn, batch), left_out=len(wanted) - len(batch.rows))


def labels_for(seat: Seat, rows: Sequence[int]) -> dict[str, int] | None:
    """{label: for how many of these rows this person could confirm it}, those first that the model gives most of them;
    None where rows are not confirmed together.

    Raises
    ------
    NotAllowed
        As `choose_batch`.
    NotFound
    """
    with seat.learner(Right.ANSWER) as opened:
        if opened.kind.BATCHING is None:
            return None
        _may_choose(opened)
        wanted = _in_table(opened, rows)
        return dict(opened.kind.BATCHING.labels_of(opened.learner, str(opened.person_id), wanted))


def confirm_batch(seat: Seat, token: str, taken_out: Collection[int] = ()) -> SavedBatch:
    """Store that every row of the batch with this token has its label, but for those taken out: one entry a row, all of
    them or none; exactly once.

    taken_out : rows, by number, that stay open; the person is asked about them alone
    A token that was confirmed before gives what was stored then, with ``repeated`` set.

    Raises
    ------
    StaleQuestion
        The batch is not, or no longer, before this person. Nothing is stored.
    NotSaved, NotAllowed, NotFound
    """
    with seat.turn() as turn:
        require_qualified(turn.opened)
        batch = batches.get(turn.session, turn.project_id, turn.person_id)
        if batch is None or batch_token(batch) != token or not batch.rows:
            return _confirmed_before(turn, token)
        label = label_now(turn, batch)
        stays = {one.row for one in batch.rows} & set(taken_out)
        wanted = [one for one in batch.rows if one.row not in stays]
        kept = still_open(turn, batch, wanted, label)
        # Of one look, as of one question: with more, nobody looked at it.
        seconds = min(max(0.0, (turn.now - batch.shown_at).total_seconds()), LONGEST)
        stored = [
            _write(turn, batch, one, label, number, seconds / len(kept)) for number, one in enumerate(kept)
        ]
        alone = {row for row in {*batch.taken_out, *stays} if turn.may_ask(Place(row))}
        batches.put(turn.session, replace(batch, rows=(), taken_out=tuple(sorted(alone))))
        question = turn.open_now()
        if question is not None and question.row in {one.row for one in kept}:
            turn.close_question()
        missed = tuple(turn.learner.table.id_of(one.row) for one in wanted if one not in kept)
        return SavedBatch(stored[-1].seq if stored else None, label, len(stored), missed)


def leave_batch(seat: Seat) -> None:
    """Let go of the rows that are before this person together: they ask for one row at a time.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.writing() as leaving:
        batches.hand_back(leaving.session, leaving.project.id, leaving.person.id, datetime.now(UTC))


def _write(
    turn: AnyTurn, batch: StoredBatch, one: RowTogether, label: str, number: int, seconds: float
) -> entries.LogEntry:
    token = batch_token(batch)
    asked = AskedAs(QuestionForm.BATCH, (label,), choices=1, batch=token)
    return turn.writer(Place(one.row)).write(
        EntryKind.IS,
        (label,),
        token=entry_token(token, number),
        seconds=seconds,
        strategy=batch.strategy,
        score=one.share,
        model_version=batch.model_version,
        predicted=one.predicted,
        asked=asked.to_json(),
    )


def _confirmed_before(turn: AnyTurn, token: str) -> SavedBatch:
    """What stands of what an earlier press stored with this token. Raises StaleQuestion where nothing of this person
    does."""
    first = entries.with_token(turn.session, turn.project_id, entry_token(token, 0))
    if first is None or first.person_id != turn.person_id:
        raise StaleQuestion("Those rows are no longer before you together.")
    stand = [
        one
        for one in stored_together(turn.session, first)
        if entries.withdrawal_of(turn.session, turn.project_id, one.seq) is None
    ]
    if not stand:
        raise StaleQuestion("Those rows had been confirmed, and were taken back since.")
    return SavedBatch(stand[-1].seq, first.labels[0], len(stand), (), repeated=True)


def _may_choose(opened: Opened[Any]) -> None:
    """Raises NotAllowed where a choice of rows would show this person which are blind checks."""
    if not opened.may(Right.OWN) and opened.kind.has_blind_checks(opened.learner):
        raise NotAllowed(
            "In a project with blind checks the owner alone chooses rows to confirm together: those that are left out "
            "would show which they are. Fix: let Winnow find the rows, on the Answer page."
        )


def _in_table(opened: Opened[Any], rows: Sequence[int]) -> list[int]:
    """These rows, ascending, each once, without numbers that no row has, such as those of an older table."""
    n = opened.learner.table.n_rows
    return sorted({row for row in map(int, rows) if 0 <= row < n})
