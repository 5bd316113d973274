"""Batches: rows that the model is about equally confident in, confirmed with one click; one entry per row.

A batch is reserved for a person like a question: no one else is shown its rows meanwhile. Blind checks and held-out
rows are never in a batch. With independent answers, neither are rows that someone has answered, since the model's
share would reveal what others said. Rows that the person excludes stay open, and are asked individually later.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from db import entries, questions
from db.questions import RowTogether, StoredBatch
from plcore import AnswerError
from plcore.loop import EntryKind, Place
from workflow.access import NotAllowed, Right
from workflow.answering.asked import MOST as MOST
from workflow.answering.asked import AskedAs, QuestionForm, batch_of
from workflow.answering.loop import COMPARED, compare
from workflow.answering.turn import AnyTurn, StaleQuestion
from workflow.people.goals import LONGEST
from workflow.people.qualification import require_qualified
from workflow.rows.row import RowView, row_view

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import Learner
    from workflow.kinds.kind import Batching
    from workflow.opened import Opened
    from workflow.seat import Seat


# Batches on the screen: reserving their rows, showing them again while reserved, finding them in the log.

FIRST_BELOW = 2**30
"""Upper limit of a person's first batch number, so that later numbers fit in a column of 32 bits."""

FOUND = "batch"
CHOSEN = "selection"
"""Strategies of the entries in the log: the model found the rows; a person chose them."""


@dataclass(frozen=True)
class Tile:
    """One row of a batch. share : the model's share of the batch's label, as the row's question would show it"""

    view: RowView
    share: float


@dataclass(frozen=True)
class ShownBatch:
    """A batch as a page shows it.

    label, description : of the class that a press gives to all rows      tiles : at most MOST
    right, checked : of `checked` rows with a known label not used for training, of which the model is as confident,
    it is right on `right`
    chosen : a person chose the rows      left_out : how many of the chosen rows are not among the tiles
    """

    token: str
    label: str
    description: str
    tiles: tuple[Tile, ...]
    model_version: int
    right: int
    checked: int
    chosen: bool
    left_out: int = 0


def batching_of(opened: Opened[Learner]) -> Batching[Learner]:
    """Return how this kind of project confirms rows in batches. Raises AnswerError if it does not."""
    if opened.kind.BATCHING is None:
        raise AnswerError("In projects of this kind rows are not confirmed together.")
    return opened.kind.BATCHING


def batch_token(batch: StoredBatch) -> str:
    """Return the token of one showing of a batch. Each showing has its own number."""
    return f"batch.{batch.person_id}.{batch.number}"


def entry_token(token: str, number: int) -> str:
    """The token of entry `number` (from 0) of a confirmed batch."""
    return f"{token}.{number}"


def stored_together(session: Session, entry: entries.LogEntry) -> list[entries.LogEntry]:
    """The entries stored together with this entry of a batch, in order. They are consecutive in the log. Entries that
    a redo stores have the same batch name but a different moment."""
    near = entries.between(session, entry.project_id, entry.seq - MOST, entry.seq + MOST)
    name = batch_of(entry.asked)
    return [one for one in near if batch_of(one.asked) == name and one.at == entry.at]


def reserve_free(turn: AnyTurn, rows: Sequence[int], label: str, strategy: str) -> StoredBatch | None:
    """Reserve the first MOST of the rows that this person can be shown now; None if there are none."""
    batching, learner, taken = batching_of(turn.opened), turn.learner, turn.taken
    free = (row for row in rows if Place(row) not in taken)
    free = (row for row in free if batching.may_stand(learner, turn.annotator, row, label))
    found = list(islice(free, MOST))  # stop early: a selection may be half of the map
    if not found:
        return None
    told = batching.shares(learner, found, label)
    together = [RowTogether(row, share, said) for row, (share, said) in zip(found, told, strict=True)]
    return _put(turn, label, together, strategy, learner.model_version)


def put_again(turn: AnyTurn, parts: Sequence[entries.LogEntry]) -> None:
    """Reserve the rows of one batch, whose entries were withdrawn, for this person again."""
    rows = [RowTogether(one.row, one.score or 0.0, one.predicted) for one in parts]
    _put(turn, parts[0].labels[0], rows, parts[0].strategy or FOUND, parts[0].model_version)


def _put(turn: AnyTurn, label: str, rows: Sequence[RowTogether], strategy: str, model_version: int) -> StoredBatch:
    """Store a batch in place of the person's previous one."""
    before = questions.get_batch(turn.session, turn.project_id, turn.person_id)
    batch = StoredBatch(
        project_id=turn.project_id,
        person_id=turn.person_id,
        # From a random start: the log has the names of earlier showings, even if this table was rebuilt since.
        number=before.number + 1 if before else secrets.randbelow(FIRST_BELOW),
        label=label,
        rows=tuple(rows),
        strategy=strategy,
        model_version=model_version,
        shown_at=turn.now,
        reserved_until=turn.now + turn.lease(len(rows)),
        taken_out=before.taken_out if before else (),
    )
    questions.put_batch(turn.session, batch)
    return batch


def still_open(turn: AnyTurn, batch: StoredBatch, rows: Sequence[RowTogether], label: str) -> list[RowTogether]:
    """Return those of these rows that this person can still confirm: no one else has them open, and they are unchanged
    since they were shown. label : the batch's label, by its current name"""
    batching, learner, taken = batching_of(turn.opened), turn.learner, turn.taken
    whose = turn.person_id if learner.settings.several else None
    return [
        one
        for one in rows
        if Place(one.row) not in taken
        and batching.may_confirm(learner, turn.annotator, one.row, label)
        and not entries.changed_since(turn.session, turn.project_id, one.row, batch.shown_at, whose)
    ]


def shown_again(turn: AnyTurn) -> ShownBatch | None:
    """Return this person's open batch with the rows that can still be confirmed; None if there are none.

    It gets a new number if rows have dropped out. Rows that were handed back are shown again, and their time starts
    again."""
    batch = questions.get_batch(turn.session, turn.project_id, turn.person_id)
    if batch is None or not batch.rows:
        return None
    left = still_open(turn, batch, batch.rows, label_now(turn, batch))
    if not left:
        questions.close_batch(turn.session, turn.project_id, turn.person_id)
        return None
    number = batch.number + (len(left) < len(batch.rows))
    until = turn.now + turn.lease(len(left))
    # Rows that were handed back were not on the screen meanwhile, and are unchanged: their time counts from now.
    since = turn.now if batch.reserved_until <= turn.now else batch.shown_at
    again = replace(batch, number=number, rows=tuple(left), shown_at=since, reserved_until=until)
    questions.put_batch(turn.session, again)
    return shown(turn, again)


def shown(turn: AnyTurn, batch: StoredBatch) -> ShownBatch:
    """The batch as a page shows it."""
    table, label = turn.learner.table, label_now(turn, batch)
    least = min(one.share for one in batch.rows)
    right, checked = batching_of(turn.opened).checked(turn.learner, least)
    return ShownBatch(
        token=batch_token(batch),
        label=label,
        description=turn.room.descriptions.get(label, ""),
        tiles=tuple(Tile(row_view(table, one.row), one.share) for one in batch.rows),
        model_version=batch.model_version,
        right=right,
        checked=checked,
        chosen=batch.strategy == CHOSEN,
    )


def label_now(turn: AnyTurn, batch: StoredBatch) -> str:
    """Return the current name of the class of the batch."""
    return batching_of(turn.opened).name_now(turn.learner, batch.label)


USUAL = 12
"""Rows of a batch that Winnow proposes."""


@dataclass(frozen=True)
class NoBatch:
    """No rows can be confirmed together. why : a sentence"""

    why: str


@dataclass(frozen=True)
class SavedBatch:
    """Result of one click. seq : of its last entry; None if every row was excluded

    rows : how many were confirmed      missed : names of rows that could not be confirmed: they were answered
    meanwhile, have other candidates now, or are on someone else's screen
    """

    seq: int | None
    label: str
    rows: int
    missed: tuple[str, ...]
    repeated: bool = False


def next_batch(seat: Seat, size: int = USUAL) -> ShownBatch | NoBatch:
    """Return the open batch of this person, or reserve a new one. For the label that the model is most confident of,
    it has the most confident row and the confident rows nearest to it (`plcore.query.sure_from`).

    size : how many rows at most, up to MOST
    """
    with seat.turn() as turn:
        require_qualified(turn.opened)
        if turn.opened.kind.BATCHING is None:
            return NoBatch("In projects of this kind every question is about a row, or a label, of its own.")
        if (again := shown_again(turn)) is not None:
            return again
    with seat.learner(Right.ANSWER) as opened:
        own = questions.get_batch(opened.session, opened.project_id, opened.person_id)
        alone = own.taken_out if own else ()
        found = batching_of(opened).find_sure(opened.learner, str(opened.person_id), alone)
        if isinstance(found, str):
            return NoBatch(found)
        label, (surest, *others) = found
        search = compare(opened, surest, np.sort(np.array(others[:COMPARED], dtype=np.int64)))
    nearest = search.nearest(min(size, MOST) - 1)  # may take seconds, so outside of any transaction
    with seat.turn() as turn:
        batch = reserve_free(turn, [surest, *nearest], label, FOUND)
        if batch is None:
            return NoBatch("Someone else is answering the rows that would be shown together. Try again soon.")
        return shown(turn, batch)


def choose_batch(seat: Seat, rows: Sequence[int], label: str) -> ShownBatch:
    """Show these rows to this person as a batch, to confirm this label: at most MOST, the most confident ones.

    rows : by number, as the person has chosen them      label : a class

    Raises
    AnswerError : None of the rows can be confirmed: each is answered, open for someone else, a blind check, or does
        not have the label as a candidate. Or there is no such class.
        NotAllowed : The person may not answer; or does not own the project, and it has blind checks: the rows left
        out of a selection would reveal them.
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
                f"None of these rows can be confirmed as {label} now: they are answered, on someone "
                "else's screen, excluded, or it is none"
                " of their candidates. Fix: choose others."
            )
        return replace(shown(turn, batch), left_out=len(wanted) - len(batch.rows))


def labels_for(seat: Seat, rows: Sequence[int]) -> dict[str, int] | None:
    """{label: number of these rows for which this person could confirm it}, ordered by how often the model predicts
    it; None if this kind of project has no batches.

    Raises NotAllowed: as `choose_batch`.
    """
    with seat.learner(Right.ANSWER) as opened:
        if opened.kind.BATCHING is None:
            return None
        _may_choose(opened)
        wanted = _in_table(opened, rows)
        return dict(opened.kind.BATCHING.labels_of(opened.learner, str(opened.person_id), wanted))


def confirm_batch(seat: Seat, token: str, taken_out: Collection[int] = ()) -> SavedBatch:
    """Confirm the batch's label for all of its rows except those excluded: one entry per row, all or none, exactly
    once.

    taken_out : rows, by number, that stay open; the person is asked about them alone
    For a token that was confirmed before, the stored result is returned with ``repeated`` set.

    Raises StaleQuestion: the batch is not open for this person, or not any more. Nothing is stored.
    """
    with seat.turn() as turn:
        require_qualified(turn.opened)
        batch = questions.get_batch(turn.session, turn.project_id, turn.person_id)
        if batch is None or batch_token(batch) != token or not batch.rows:
            return _confirmed_before(turn, token)
        label = label_now(turn, batch)
        stays = {one.row for one in batch.rows} & set(taken_out)
        wanted = [one for one in batch.rows if one.row not in stays]
        kept = still_open(turn, batch, wanted, label)
        # At most LONGEST for the whole batch, as for one question: beyond that the person was away.
        seconds = min(max(0.0, (turn.now - batch.shown_at).total_seconds()), LONGEST)
        stored = [_write(turn, batch, one, label, number, seconds / len(kept)) for number, one in enumerate(kept)]
        alone = {row for row in {*batch.taken_out, *stays} if turn.may_ask(Place(row))}
        questions.put_batch(turn.session, replace(batch, rows=(), taken_out=tuple(sorted(alone))))
        question = turn.open_now()
        if question is not None and question.row in {one.row for one in kept}:
            turn.close_question()
        missed = tuple(turn.learner.table.id_of(one.row) for one in wanted if one not in kept)
        return SavedBatch(stored[-1].seq if stored else None, label, len(stored), missed)


def has_batch(seat: Seat) -> bool:
    """Return whether rows are reserved for this person as a batch now."""
    with seat.reading(Right.ANSWER) as reading:
        batch = questions.get_batch(reading.session, reading.project.id, reading.person.id)
    return batch is not None and bool(batch.rows) and batch.reserved_until > datetime.now(UTC)


def leave_batch(seat: Seat) -> None:
    """Release this person's batch: they asked for one row at a time."""
    with seat.writing() as leaving:
        questions.hand_back_batch(leaving.session, leaving.project.id, leaving.person.id, datetime.now(UTC))


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
    """Return the result of an earlier confirmation with this token, from its entries that are not withdrawn. Raises
    StaleQuestion if this person has none."""
    first = entries.with_token(turn.session, turn.project_id, entry_token(token, 0))
    if first is None or first.person_id != turn.person_id:
        raise StaleQuestion("Those rows are no longer your current batch.")
    stand = [
        one
        for one in stored_together(turn.session, first)
        if entries.withdrawal_of(turn.session, turn.project_id, one.seq) is None
    ]
    if not stand:
        raise StaleQuestion("Those rows were confirmed, and withdrawn since.")
    return SavedBatch(stand[-1].seq, first.labels[0], len(stand), (), repeated=True)


def _may_choose(opened: Opened[Learner]) -> None:
    """Raise NotAllowed if choosing rows would reveal blind checks to this person."""
    if not opened.may(Right.OWN) and opened.learner.pool.blind_rows.any():
        raise NotAllowed(
            "In a project with blind checks only the owner may choose rows to confirm together: rows left out would "
            "reveal the checks. Fix: let Winnow find the rows, on the Answer page."
        )


def _in_table(opened: Opened[Learner], rows: Sequence[int]) -> list[int]:
    """These rows, ascending, each once, without numbers that are not in the table, such as those of an older
    table."""
    n = opened.learner.table.n_rows
    return sorted({row for row in map(int, rows) if 0 <= row < n})
