"""Many rows at once: rows that the model is equally sure of, confirmed with one press; one entry a row.

A batch is reserved for a person as a question is, and its rows are before no one else meanwhile. Blind checks and
held-out rows are never in one, nor rows that someone has answered, where people answer for themselves: no one is to
learn from the model's share what others said. Rows that the person excludes stay open, and are asked alone later.
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


# Rows that are on the screen of a person together: reserved, shown again as long as they are, found again in the log.

FIRST_BELOW = 2**30
"""A person's first number is below this one: those after it fit in a column of 32 bits."""

FOUND = "batch"
CHOSEN = "selection"
"""Strategies of the entries, in the log: the rows were found by what the model says; a person chose them."""


@dataclass(frozen=True)
class Tile:
    """One row of a batch. share : the model's share of the batch's label, as the row's question would show it"""

    view: RowView
    share: float


@dataclass(frozen=True)
class ShownBatch:
    """A batch as a page shows it.

    label, description : of the class that a press gives to all rows      tiles : at most MOST
    right, checked : of `checked` rows with a known label of which the model is as sure, although it has not learnt
        from them, this many are right
    chosen : a person chose the rows      left_out : how many of those they chose are not among the tiles
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
    """Raises AnswerError where rows are not confirmed together in projects of this kind."""
    if opened.kind.BATCHING is None:
        raise AnswerError("In projects of this kind rows are not confirmed together.")
    return opened.kind.BATCHING


def batch_token(batch: StoredBatch) -> str:
    """The name of one showing of rows together: another number is another showing."""
    return f"batch.{batch.person_id}.{batch.number}"


def entry_token(token: str, number: int) -> str:
    """The token of the entry with this number, from 0, of those that one press on a batch stores."""
    return f"{token}.{number}"


def stored_together(session: Session, entry: entries.LogEntry) -> list[entries.LogEntry]:
    """The entries that the press stored which stored this one of a batch, in order. They follow one another in the log;
    a batch that was given again has its name, and a moment of its own."""
    near = entries.between(session, entry.project_id, entry.seq - MOST, entry.seq + MOST)
    name = batch_of(entry.asked)
    return [one for one in near if batch_of(one.asked) == name and one.at == entry.at]


def reserve_free(turn: AnyTurn, rows: Sequence[int], label: str, strategy: str) -> StoredBatch | None:
    """Reserve those of the rows that can be put before this person now, the first MOST; None if none can."""
    batching, learner, taken = batching_of(turn.opened), turn.learner, turn.taken
    free = (row for row in rows if Place(row) not in taken)
    free = (row for row in free if batching.may_stand(learner, turn.annotator, row, label))
    found = list(islice(free, MOST))  # no more are looked at: someone may have drawn round half of the map
    if not found:
        return None
    told = batching.shares(learner, found, label)
    together = [RowTogether(row, share, said) for row, (share, said) in zip(found, told, strict=True)]
    return _put(turn, label, together, strategy, learner.model_version)


def put_again(turn: AnyTurn, parts: Sequence[entries.LogEntry]) -> None:
    """Reserve the rows of entries of one batch, which were withdrawn, for this person once more."""
    rows = [RowTogether(one.row, one.score or 0.0, one.predicted) for one in parts]
    _put(turn, parts[0].labels[0], rows, parts[0].strategy or FOUND, parts[0].model_version)


def _put(
    turn: AnyTurn, label: str, rows: Sequence[RowTogether], strategy: str, model_version: int
) -> StoredBatch:
    """In place of the rows that were before the person together."""
    before = questions.get_batch(turn.session, turn.project_id, turn.person_id)
    batch = StoredBatch(
        project_id=turn.project_id,
        person_id=turn.person_id,
        # Above a random one: the log keeps the names of showings, also where the table was rebuilt since.
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


def still_open(
    turn: AnyTurn, batch: StoredBatch, rows: Sequence[RowTogether], label: str
) -> list[RowTogether]:
    """The ones of these rows of the batch that no one else has before them, that this person can still confirm, and
    that
    are as they were when they were put before them. label : that of the batch, by its present name"""
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
    """The batch that is open before this person, with those of its rows that can still be confirmed; None without any.
    What it shows has another name once it is less than it was. Rows that were handed back are shown again: their clock
    begins again."""
    batch = questions.get_batch(turn.session, turn.project_id, turn.person_id)
    if batch is None or not batch.rows:
        return None
    left = still_open(turn, batch, batch.rows, label_now(turn, batch))
    if not left:
        questions.close_batch(turn.session, turn.project_id, turn.person_id)
        return None
    number = batch.number + (len(left) < len(batch.rows))
    until = turn.now + turn.lease(len(left))
    # No one has looked at rows that were handed back. What is left has not changed until now: its moment may be this.
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
    """The present name of the class that the batch is about."""
    return batching_of(turn.opened).name_now(turn.learner, batch.label)


USUAL = 12
"""Rows of a batch that Winnow finds by itself."""


@dataclass(frozen=True)
class NoBatch:
    """There is nothing to confirm together. why : a sentence"""

    why: str


@dataclass(frozen=True)
class SavedBatch:
    """Result of one click. seq : of its last entry; None if every row was excluded

    rows : how many were confirmed      missed : names of rows that could not be any more: they were answered meanwhile,
    have other candidates now, or are on the screen of someone else
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
    nearest = search.nearest(min(size, MOST) - 1)  # it may take seconds: no one waits for it
    with seat.turn() as turn:
        batch = reserve_free(turn, [surest, *nearest], label, FOUND)
        if batch is None:
            return NoBatch("The rows that would be shown together are before someone else. Look again soon.")
        return shown(turn, batch)


def choose_batch(seat: Seat, rows: Sequence[int], label: str) -> ShownBatch:
    """Put these rows before this person together, to confirm this label; the MOST of them of which the model is surest.

    rows : by number, as the person has chosen them      label : a class

    Raises
    AnswerError : None of the rows can be confirmed so: they are answered, before someone else, blind checks, or the
        label is none of their candidates. Or there is no such class.
    NotAllowed : The person may not answer; or does not own the project, which has blind checks: which rows of a
        selection are left out would show them.
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
    """{label: for how many of these rows this person could confirm it}, those first that the model gives most of them;
    None if rows are not confirmed together.

    Raises NotAllowed: as `choose_batch`.
    """
    with seat.learner(Right.ANSWER) as opened:
        if opened.kind.BATCHING is None:
            return None
        _may_choose(opened)
        wanted = _in_table(opened, rows)
        return dict(opened.kind.BATCHING.labels_of(opened.learner, str(opened.person_id), wanted))


def confirm_batch(seat: Seat, token: str, taken_out: Collection[int] = ()) -> SavedBatch:
    """Store that every row of the batch with this token has its label, but for those excluded: one entry a row, all of
    them or none; exactly once.

    taken_out : rows, by number, that stay open; the person is asked about them alone
    A token that was confirmed before gives what was stored then, with ``repeated`` set.

    Raises StaleQuestion: the batch is not, or no longer, before this person. Nothing is stored.
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
        # For one view, as for one question: with more, no one looked at it.
        seconds = min(max(0.0, (turn.now - batch.shown_at).total_seconds()), LONGEST)
        stored = [
            _write(turn, batch, one, label, number, seconds / len(kept)) for number, one in enumerate(kept)
        ]
        alone = {row for row in {*batch.taken_out, *stays} if turn.may_ask(Place(row))}
        questions.put_batch(turn.session, replace(batch, rows=(), taken_out=tuple(sorted(alone))))
        question = turn.open_now()
        if question is not None and question.row in {one.row for one in kept}:
            turn.close_question()
        missed = tuple(turn.learner.table.id_of(one.row) for one in wanted if one not in kept)
        return SavedBatch(stored[-1].seq if stored else None, label, len(stored), missed)


def leave_batch(seat: Seat) -> None:
    """Let go of the rows that are on the screen of this person together: they ask for one row at a time."""
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
    """Remaining part of an earlier answer with this token. Raises StaleQuestion if nothing of this person
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
        raise StaleQuestion("Those rows had been confirmed, and were withdrawn since.")
    return SavedBatch(stand[-1].seq, first.labels[0], len(stand), (), repeated=True)


def _may_choose(opened: Opened[Learner]) -> None:
    """Raises NotAllowed where a choice of rows would show this person which are blind checks."""
    if not opened.may(Right.OWN) and opened.learner.pool.blind_rows.any():
        raise NotAllowed(
            "In a project with blind checks the owner alone chooses rows to confirm together: those that are left out "
            "would show which they are. Fix: let Winnow find the rows, on the Answer page."
        )


def _in_table(opened: Opened[Learner], rows: Sequence[int]) -> list[int]:
    """These rows, ascending, each once, without numbers that no row has, such as those of an older table."""
    n = opened.learner.table.n_rows
    return sorted({row for row in map(int, rows) if 0 <= row < n})
