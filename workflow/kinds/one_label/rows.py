"""The queue: every open row except the blind checks in the order of asking, with its score and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.arrays import FloatArray, IntArray, counted, rows_with_any
from plcore.evaluation import ScoredCandidates, scored_candidates
from plcore.loop import Entry
from workflow.answering.history import SAYS_SOMETHING
from workflow.kinds.kind import NOTHING, NamedRows, OnMap, Queueing
from workflow.kinds.one_label.settings import order_note, reason, strategies_for
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

Learner = ActiveLearner[LabelTable]


@dataclass(frozen=True, kw_only=True)
class QueueRow(QueueLine):
    """One open row, and why it is asked.

    shares : the model's shares of the candidates, in their order; equal until there is a model
    """

    candidates: tuple[str, ...]
    shares: tuple[float, ...]
    reason: str


@dataclass(frozen=True, kw_only=True)
class QueueView(QueuePage):
    """A page of the queue. strategy : as it is stored      strategies : the descriptions of those that can be chosen
    instead      order_note : why the order is another one; None if it is not"""

    strategy: str
    strategies: Mapping[str, str]
    order_note: str | None
    rows: tuple[QueueRow, ...]


def list_queue(opened: Opened[Learner], search: QueueSearch) -> QueueView:
    """Return the open rows, in the order of asking, whose id, candidates, text or categories contain the words searched
    for."""
    learner, pool = opened.learner, opened.learner.pool
    held = rows_with(learner.table, words_of(search.words)) if search.held is None else search.held
    near, only = search.near, search.only
    is_search = bool(held) or near is not None or only is not QueueFilter.ALL
    listed = int(np.count_nonzero(pool.counts.fresh))
    order, scores = learner.ranking(None if is_search else (inside(search.page, listed, SHOWN) + 1) * SHOWN)
    begun = np.array(tuple(pool.asked.begun()), dtype=np.int64)
    flagged = _flagged(opened, search, begun)
    ranks = np.arange(1, len(order) + 1)
    if only is not QueueFilter.ALL:
        order, scores = np.concatenate([begun, order]), np.concatenate([np.zeros(len(begun)), scores])
        ranks = np.concatenate([np.arange(1, len(begun) + 1), ranks])
    chosen = {QueueFilter.ALL: order, QueueFilter.WAITING: begun, QueueFilter.FLAGGED: flagged}[only]
    matching = np.isin(order, chosen) if only is not QueueFilter.ALL else np.ones(len(order), dtype=bool)
    for word, rows in held.items():
        named = np.array([word in name.casefold() for name in pool.classes])
        matching &= (rows | rows_with_any(pool.candidates, named))[order]
    places = np.flatnonzero(matching)
    if near is not None:
        places = nearest_first(near[order], places)
    found = len(places) if is_search else listed
    page = inside(search.page, found, SHOWN)
    annotator = None if only is QueueFilter.ALL else str(opened.person_id)
    return QueueView(
        strategy=learner.settings.strategy,
        strategies=strategies_for(learner.settings.model, learner.settings.strategy),
        order_note=order_note(learner),
        rows=tuple(
            _queue_row(learner, int(ranks[place]), int(order[place]), float(scores[place]), near, annotator)
            for place in places[page * SHOWN :][:SHOWN].tolist()
        ),
        matching=found,
        listed=listed,
        open=pool.n_open,
        blind=int((pool.control_rows & pool.asked.open()).sum()),
        begun=len(begun),
        flagged=len(flagged),
        by_meaning=near is not None,
        only=only,
        page=page,
    )


def _flagged(opened: Opened[Learner], search: QueueSearch, begun: IntArray) -> IntArray:
    """Return the rows of the queue, and those begun, whose latest answer is flagged."""
    pool = opened.learner.pool
    free = pool.fresh() & ~pool.control_rows & ~pool.test_rows
    free[begun] = True
    rows = [row for row, seqs in search.flagged.items() if free[row] and _latest(pool.fold.entries(row)) in seqs]
    return np.array(rows, dtype=np.int64)


def _latest(log: Sequence[Entry]) -> int:
    """Return the seq of the latest entry that says something about the row; 0 if none does."""
    return max((one.seq for one in log if one.kind in SAYS_SOMETHING), default=0)


def queue_rows(opened: Opened[Learner]) -> Iterator[QueueRow]:
    """Yield the whole queue."""
    order, scores = opened.learner.ranking()
    for place, (row, score) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), start=1):
        yield _queue_row(opened.learner, place, row, score, None, None)


def queue_lines(opened: Opened[Learner]) -> Iterator[Sequence[object]]:
    """Yield the whole queue as lines of a file, header first."""
    yield "place", "row", "row_id", "candidates", "score", "reason"
    for one in queue_rows(opened):
        yield one.place, one.row + 1, one.row_id, "|".join(one.candidates), f"{one.score:.6f}", one.reason


def _queue_row(
    learner: Learner, place: int, row: int, score: float, near: FloatArray | None, annotator: str | None
) -> QueueRow:
    """Return a row as this annotator sees it: of a row that others have answered, they see nothing of the answers."""
    question, given = learner.question_for(row, annotator=annotator), len(learner.pool.asked.views(row))
    why = reason(
        learner.strategy, question.decides, question.undecided, counted=learner.proves_done, waits=learner.waits
    )
    return QueueRow(
        place=place,
        row=row,
        row_id=learner.table.id_of(row),
        candidates=question.choices,
        shares=question.probabilities,
        score=score,
        reason=f"It has {counted(given, 'answer')} and waits for {learner.pool.asked.places_left(row):,} more."
        if given
        else why,
        near=None if near is None else float(near[row]),
    )


QUEUE = Queueing(list_queue, queue_rows, queue_lines)


# Which rows of the map are answered or open, their labels, and their predictions.

MOST_SHARES = 5_000_000
"""Limit of rows times classes for computing shares; above it, evenly spaced rows."""


def named_on_map(learner: Learner, rows: Sequence[int]) -> NamedRows:
    """Return the single candidate of each of these rows or, as its question would show it, the one with the largest
    share. A row that needs more annotators shows nothing once it has an answer: the model may have learnt from it."""
    pool, numbers = learner.pool, np.asarray(rows, dtype=np.int64)
    candidates = np.asarray(pool.candidates[numbers])
    begun = (pool.asked.waiting() & ~pool.asked.fresh())[numbers]
    left = candidates.sum(axis=1)
    classes = np.full(len(numbers), NOTHING, dtype=np.int64)
    doubt = np.full(len(numbers), np.nan)
    known = (left == 1) & ~begun
    classes[known] = candidates[known].argmax(axis=1)
    asked = np.flatnonzero((left >= 2) & ~begun)
    if len(asked) and learner.has_model:
        most = max(1, MOST_SHARES // len(pool.classes))
        asked = asked[:: -(-len(asked) // most)]
        shares = learner.shares_asked(numbers[asked], candidates[asked])
        classes[asked], doubt[asked] = shares.argmax(axis=1), 1.0 - shares.max(axis=1)
    return NamedRows(classes, known, doubt)


# The scores that came with the candidates, against the labels by people.


def scores_given(learner: Learner) -> ScoredCandidates | None:
    """Return every scored candidate; None if the table has no scores. True labels from the file count, too.

    In a table that another model has scored in part, an unscored row, whose candidates all weigh 1, has none.
    """
    pool = learner.pool
    if pool.table.candidate_weights is None:
        return None
    scores = pool.table.candidate_weights
    if pool.table.roles.scored_by is not None:
        scores = np.where(((scores != 0) & (scores != 1)).any(axis=1, keepdims=True), scores, 0.0)
    known = (pool.answered | pool.exact) & (pool.sizes == 1)
    return scored_candidates(scores, pool.original, pool.candidates, known, pool.control_rows)


SCORES = scores_given
MAP = OnMap(named_on_map, label_to_ask=None)  # a question is about all labels of a row
