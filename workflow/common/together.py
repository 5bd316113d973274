"""Rows that are before a person together: reserved, shown again as long as they stand, found again in the log."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from db import batches, entries
from db.batches import RowTogether, StoredBatch
from plcore import AnswerError
from plcore.loop import Place
from workflow.common.answers import MOST
from workflow.common.asked import batch_of
from workflow.common.rows import RowView, row_view

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from workflow.common.opened import Opened
    from workflow.common.turn import Turn
    from workflow.kinds.batching import Batching

    AnyTurn = Turn[Any, Any, Any]

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


def batching_of(opened: Opened[Any]) -> Batching:
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
    """Reserve those of the rows that can be put before this person now, the first MOST; None where none can."""
    batching, learner, taken = batching_of(turn.opened), turn.learner, turn.taken
    free = (row for row in rows if Place(row) not in taken)
    free = (row for row in free if batching.may_stand(learner, turn.annotator, row, label))
    found = list(islice(free, MOST))  # no more are looked at: somebody may have drawn round half of the map
    if not found:
        return None
    told = batching.shares(learner, found, label)
    together = [RowTogether(row, share, said) for row, (share, said) in zip(found, told, strict=True)]
    return _put(turn, label, together, strategy, learner.model_version)


def put_again(turn: AnyTurn, parts: Sequence[entries.LogEntry]) -> None:
    """Reserve the rows of entries of one batch, which were taken back, for this person once more."""
    rows = [RowTogether(one.row, one.score or 0.0, one.predicted) for one in parts]
    _put(turn, parts[0].labels[0], rows, parts[0].strategy or FOUND, parts[0].model_version)


def _put(
    turn: AnyTurn, label: str, rows: Sequence[RowTogether], strategy: str, model_version: int
) -> StoredBatch:
    """In place of the rows that were before the person together."""
    before = batches.get(turn.session, turn.project_id, turn.person_id)
    batch = StoredBatch(
        project_id=turn.project_id,
        person_id=turn.person_id,
        # Above a random one: the log keeps the names of showings, also where the table was made anew since.
        number=before.number + 1 if before else secrets.randbelow(FIRST_BELOW),
        label=label,
        rows=tuple(rows),
        strategy=strategy,
        model_version=model_version,
        shown_at=turn.now,
        reserved_until=turn.now + turn.lease(len(rows)),
        taken_out=before.taken_out if before else (),
    )
    batches.put(turn.session, batch)
    return batch


def still_open(
    turn: AnyTurn, batch: StoredBatch, rows: Sequence[RowTogether], label: str
) -> list[RowTogether]:
    """Those of these rows of the batch that nobody else has before them, that this person can still confirm, and that
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
    What it shows has another name once it is less than it was. Rows that were handed back are shown anew: their clock
    begins again."""
    batch = batches.get(turn.session, turn.project_id, turn.person_id)
    if batch is None or not batch.rows:
        return None
    left = still_open(turn, batch, batch.rows, label_now(turn, batch))
    if not left:
        batches.close(turn.session, turn.project_id, turn.person_id)
        return None
    number = batch.number + (len(left) < len(batch.rows))
    until = turn.now + turn.lease(len(left))
    # Nobody has looked at rows that were handed back. What is left has not changed until now: its moment may be this.
    since = turn.now if batch.reserved_until <= turn.now else batch.shown_at
    again = replace(batch, number=number, rows=tuple(left), shown_at=since, reserved_until=until)
    batches.put(turn.session, again)
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
