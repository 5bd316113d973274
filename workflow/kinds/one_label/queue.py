"""The queue: every open row but the blind checks in the order it would be asked, with its score and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plcore import ActiveLearner, LabelTable
from workflow.common.lists import SHOWN
from workflow.kinds.one_label.words import reason, strategies_for

if TYPE_CHECKING:
    from workflow.common.opened import Opened

Learner = ActiveLearner[LabelTable]


@dataclass(frozen=True)
class QueueRow:
    """One open row: its place in the queue from 1, its score under the project's strategy, and why."""

    place: int
    row: int
    row_id: str
    candidates: tuple[str, ...]
    score: float
    reason: str


@dataclass(frozen=True)
class QueueView:
    """``rows`` are the first that match, at most SHOWN; ``matching`` of ``listed`` rows match.

    listed : rows in the whole queue      open : rows as every page counts them      blind : those of them that are not
    listed because they are blind checks      begun : those not listed because others have answered them: they are asked
    of the next person before all that are listed
    strategy : as it is stored      strategies : the words of all that can be chosen instead
    """

    strategy: str
    strategies: Mapping[str, str]
    rows: tuple[QueueRow, ...]
    matching: int
    listed: int
    open: int
    blind: int
    begun: int


def list_queue(opened: Opened[Learner], search: str) -> QueueView:
    """The open rows in asking order; those whose id, candidates, text or categories hold the words searched for."""
    learner, pool = opened.learner, opened.learner.pool
    order, scores = learner.ranking()
    words, texts = search.casefold().split(), _texts(learner)
    found = [
        (place, row, score)
        for place, (row, score) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), start=1)
        if not words or _holds(learner, texts, row, words)
    ]
    return QueueView(
        strategy=learner.settings.strategy,
        strategies=strategies_for(learner.settings.model, learner.settings.strategy),
        rows=tuple(_queue_row(learner, place, row, score) for place, row, score in found[:SHOWN]),
        matching=len(found),
        listed=len(order),
        open=pool.n_open,
        blind=int((pool.control_rows & pool.asked.open()).sum()),
        begun=len(tuple(pool.asked.begun())),
    )


def queue_lines(opened: Opened[Learner]) -> Iterator[Sequence[object]]:
    """The whole queue as lines of a file, their heading first."""
    learner = opened.learner
    order, scores = learner.ranking()
    yield "place", "row", "row_id", "candidates", "score", "reason"
    for place, (row, score) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), start=1):
        one = _queue_row(learner, place, row, score)
        yield one.place, one.row + 1, one.row_id, "|".join(one.candidates), f"{one.score:.6f}", one.reason


def has_blind_checks(learner: Learner) -> bool:
    """Whether there are controls, which the queue leaves out."""
    return bool(learner.pool.control_rows.any())


def _queue_row(learner: Learner, place: int, row: int, score: float) -> QueueRow:
    question = learner.question_for(row)
    return QueueRow(
        place=place,
        row=row,
        row_id=learner.table.id_of(row),
        candidates=question.choices,
        score=score,
        reason=reason(
            learner.strategy,
            question.decides,
            question.undecided,
            counted=learner.settings.proves_done,
        ),
    )


def _texts(learner: Learner) -> list[np.ndarray]:
    """Columns that are searched beside the candidates, (n,) each."""
    table = learner.table
    columns = [column for column in (table.roles.text, *table.roles.categories) if column]
    return [np.asarray(table.ids), *(table.cells[column].to_numpy() for column in columns)]


def _holds(learner: Learner, texts: list[np.ndarray], row: int, words: list[str]) -> bool:
    names = learner.pool.names(learner.pool.candidates[row])
    text = " ".join((*(str(column[row]) for column in texts), *names)).casefold()
    return all(word in text for word in words)
