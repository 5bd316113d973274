"""The queue: every open row but the blind checks in the order it would be asked, with its score and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore.common import BoolArray
from workflow.common.lists import SHOWN
from workflow.common.table_words import rows_with, words_of
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


def list_queue(
    opened: Opened[Learner], search: str, held: Mapping[str, BoolArray] | None = None
) -> QueueView:
    """The open rows in asking order; those whose id, candidates, text or categories hold the words searched for.

    held : `workflow.common.table_words.rows_with` of the learner's table, where it was asked before the learner was
    """
    learner, pool = opened.learner, opened.learner.pool
    held = rows_with(learner.table, words_of(search)) if held is None else held
    order, scores = learner.ranking(None if held else SHOWN)
    matching = np.ones(len(order), dtype=bool)
    for word, rows in held.items():
        named = [place for place, name in enumerate(pool.classes) if word in name.casefold()]
        matching &= (rows | pool.candidates[:, named].any(axis=1))[order]
    places, listed = np.flatnonzero(matching), int(np.count_nonzero(pool.counts.fresh))
    return QueueView(
        strategy=learner.settings.strategy,
        strategies=strategies_for(learner.settings.model, learner.settings.strategy),
        rows=tuple(
            _queue_row(learner, place + 1, int(order[place]), float(scores[place]))
            for place in places[:SHOWN].tolist()
        ),
        matching=len(places) if held else listed,
        listed=listed,
        open=pool.n_open,
        blind=int((pool.control_rows & pool.asked.open()).sum()),
        begun=len(tuple(pool.asked.begun())),
    )


def queue_rows(opened: Opened[Learner]) -> Iterator[QueueRow]:
    """The whole queue."""
    order, scores = opened.learner.ranking()
    for place, (row, score) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), start=1):
        yield _queue_row(opened.learner, place, row, score)


def queue_lines(opened: Opened[Learner]) -> Iterator[Sequence[object]]:
    """The whole queue as lines of a file, their heading first."""
    yield "place", "row", "row_id", "candidates", "score", "reason"
    for one in queue_rows(opened):
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
