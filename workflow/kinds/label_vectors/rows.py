"""The queue of label vectors: every open row by the score of the label it would be asked about, highest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plcore import LabelTable
from plcore.arrays import FloatArray
from plcore.loop.label_vectors import LabelVectorLearner
from workflow.kinds.kind import NOTHING, NamedRows, OnMap, Queueing
from workflow.kinds.label_vectors.answering import still_counting
from workflow.rows.finding import (
    SHOWN,
    QueueFilter,
    QueueLine,
    QueuePage,
    QueueSearch,
    inside,
    nearest_first,
    rows_with,
    words_of,
)

if TYPE_CHECKING:
    from workflow.opened import Opened

Learner = LabelVectorLearner[LabelTable]


@dataclass(frozen=True, kw_only=True)
class VectorQueueRow(QueueLine):
    """One open row.

    label, probability : its most useful label and the model's share for it; None if whole rows are asked about
    unknown : the row's unknown labels
    """

    label: str | None
    probability: float | None
    unknown: int


@dataclass(frozen=True, kw_only=True)
class VectorQueueView(QueuePage):
    """A page of the queue. by_row : whether open rows are counted, not open labels"""

    by_row: bool
    criterion: str
    rows: tuple[VectorQueueRow, ...]


def list_queue(opened: Opened[Learner], search: QueueSearch) -> VectorQueueView:
    """Return the open rows, best first, whose id, text, categories or label asked about contain the words searched
    for."""
    learner, near = opened.learner, search.near
    held = rows_with(learner.table, words_of(search.words)) if search.held is None else search.held
    ranked, begun = _ranked(learner), _begun(learner)
    marked, flagged = _flagged(learner, search), []
    for one in (*begun, *ranked) if marked else ():
        if one[1] in marked:  # each row once, although several of its labels may be open
            marked.remove(one[1])
            flagged.append(one)
    chosen = {QueueFilter.ALL: ranked, QueueFilter.WAITING: begun, QueueFilter.FLAGGED: flagged}[search.only]
    found = [
        one for one in chosen if all(rows[one[1]] or word in (one[2] or "").casefold() for word, rows in held.items())
    ]
    if near is not None:
        of_found = near[[row for _, row, _, _ in found]]
        found = [found[line] for line in nearest_first(of_found, np.arange(len(found)))]
    page = inside(search.page, len(found), SHOWN)
    annotator = None if search.only is QueueFilter.ALL else str(opened.person_id)
    return VectorQueueView(
        by_row=learner.settings.by_row,
        criterion=learner.settings.asked_by,
        rows=tuple(_queue_row(learner, *one, near, annotator) for one in found[page * SHOWN :][:SHOWN]),
        matching=len(found),
        listed=len(ranked),
        open=learner.pool.n_open,
        blind=_blind(learner),
        begun=len(begun),
        flagged=len(flagged),
        by_meaning=near is not None,
        only=search.only,
        page=page,
    )


def _begun(learner: Learner) -> list[tuple[int, int, str | None, float]]:
    """Return lines as `_ranked` of what others have answered; no criterion scores these."""
    return [
        (number, place.row, place.label, 0.0)
        for number, place in enumerate(learner.pool.begun(learner.pool.open), start=1)
    ]


def _flagged(learner: Learner, search: QueueSearch) -> set[int]:
    """Return the rows with a flagged answer that still counts."""
    pool = learner.pool
    return {
        row
        for row, seqs in search.flagged.items()
        if not seqs.isdisjoint(still_counting(pool, row, pool.fold.entries(row)))
    }


def queue_rows(opened: Opened[Learner]) -> Iterator[VectorQueueRow]:
    """Yield the whole queue."""
    for line in _ranked(opened.learner):
        yield _queue_row(opened.learner, *line, None, None)


def queue_lines(opened: Opened[Learner]) -> Iterator[Sequence[object]]:
    """Yield the whole queue as lines of a file, header first."""
    yield "place", "row", "row_id", "label", "probability", "unknown", "score"
    for one in queue_rows(opened):
        share = "" if one.probability is None else f"{one.probability:.4f}"
        yield one.place, one.row + 1, one.row_id, one.label or "", share, one.unknown, f"{one.score:.6f}"


def _blind(learner: Learner) -> int:
    """Count the open rows, or labels, that are asked as blind checks."""
    cells = learner.pool.open & learner.pool.control_cells
    return int((cells.any(axis=1) if learner.settings.by_row else cells).sum())


def _ranked(learner: Learner) -> list[tuple[int, int, str | None, float]]:
    """Return (place, row, label or None, score) of every open row."""
    rows, columns, scores = (part.tolist() for part in learner.ranking())
    return [
        (place, row, None if column < 0 else learner.classes[column], score)
        for place, (row, column, score) in enumerate(zip(rows, columns, scores, strict=True), start=1)
    ]


def _queue_row(
    learner: Learner,
    place: int,
    row: int,
    label: str | None,
    score: float,
    near: FloatArray | None,
    annotator: str | None,
) -> VectorQueueRow:
    """Return a row as this annotator sees it: of a row that others have answered, they see nothing of the answers."""
    question = learner.question_for(row, label, annotator)
    return VectorQueueRow(
        place=place,
        row=row,
        row_id=learner.table.id_of(row),
        label=label,
        probability=None if label is None else question.probabilities[learner.classes.index(label)],
        unknown=sum(cell < 0 for cell in question.cells),
        score=score,
        near=None if near is None else float(near[row]),
    )


QUEUE = Queueing(list_queue, queue_rows, queue_lines)


# Which rows of the map are answered or open, their labels, and their predictions.

_SURE = 2.0
"""In place of the share of a label that is known to be right: greater than any share."""


def named_on_map(learner: Learner, rows: Sequence[int]) -> NamedRows:
    """Return the first label known to be right for each of these rows, or else the label that the model is most
    confident of, if it predicts yes. A row's doubt is that of its most uncertain label. A row with a label that needs
    more annotators shows nothing once it has an answer: the model may have learnt from it."""
    pool, numbers = learner.pool, np.asarray(rows, dtype=np.int64)
    cells, told = pool.cells[numbers], learner.shares_of(numbers)
    shares, threshold = (np.zeros(cells.shape), np.inf) if told is None else told
    unknown = cells < 0
    value = np.where(unknown, shares, np.where(cells == 1, _SURE, 0.0))
    best = value.argmax(axis=1)
    largest = value[np.arange(len(value)), best]
    hidden = pool.bad[numbers].copy()
    if pool.several is not None:
        hidden |= (pool.several.waiting & ~pool.fresh())[numbers].any(axis=1)
    known = (largest == _SURE) & ~hidden
    says = known | ((largest > threshold) & ~hidden)
    wrong = np.where(unknown, np.minimum(shares, 1.0 - shares), -1.0).max(axis=1)
    doubtful = unknown.any(axis=1) & ~hidden & (told is not None)
    return NamedRows(np.where(says, best, NOTHING), known, np.where(doubtful, wrong, np.nan))


def label_to_ask(learner: Learner, row: int) -> str | None:
    """Return the label of the row that a question would be about, the most uncertain open one; None if questions are
    about whole rows, or no label is open. Never a blind check, because no one may choose those."""
    pool = learner.pool
    if learner.settings.by_row:
        return None
    columns = np.flatnonzero(pool.fresh()[row] & ~pool.control_cells[row])
    if not len(columns):
        return None
    told = learner.shares_of(np.array([row]))
    doubt = np.zeros(len(columns)) if told is None else -np.abs(told[0][0, columns] - told[1])
    return learner.classes[int(columns[doubt.argmax()])]


MAP = OnMap(named_on_map, label_to_ask)
