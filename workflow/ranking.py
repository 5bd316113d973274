"""The queue: every open row but the blind checks in the order it would be asked, with its score and the reason."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workflow import access
from workflow.standing import counts
from workflow.stopping import has_proof
from workflow.strategies import reason

if TYPE_CHECKING:
    from plcore import ActiveLearner, LabelTable
    from workflow.home import Home

SHOWN = 200
"""Rows a page shows at most; the search looks through all of them."""


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

    open : rows, as `workflow.standing.counts` has them      blind : how many of these are blind checks, not listed
    """

    strategy: str
    rows: tuple[QueueRow, ...]
    matching: int
    listed: int
    open: int
    blind: int


def queue(home: Home, person_id: int, project_id: int, search: str = "") -> QueueView:
    """The open rows in asking order; those whose id, candidates, text or categories hold the words searched for.

    Raises
    ------
    NotAllowed
        The person is not an owner and the project has blind checks: what is not in the queue would be one.
    NotFound
    """
    with home.learners.open(home, person_id, project_id) as learner:
        if learner.pool.control_rows.any():
            check_may_see_blind(home, person_id)
        order, scores = learner.ranking()
        words, texts = search.casefold().split(), _texts(learner)
        found = [
            (place, row, score)
            for place, (row, score) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), start=1)
            if not words or _holds(learner, texts, row, words)
        ]
        rows = tuple(_queue_row(learner, place, row, score) for place, row, score in found[:SHOWN])
        pool = learner.pool
        return QueueView(
            strategy=learner.settings.strategy,
            rows=rows,
            matching=len(found),
            listed=len(order),
            open=counts(learner)[1],
            blind=int((pool.control_rows & (pool.sizes >= 2)).sum()),
        )


def queue_csv(home: Home, person_id: int, project_id: int) -> bytes:
    """The whole queue as CSV. Raises NotAllowed unless the person is an owner."""
    with home.database.read() as session:
        access.require_owner(session, person_id)
    with home.learners.open(home, person_id, project_id) as learner:
        order, scores = learner.ranking()
        rows = [
            _queue_row(learner, place, row, score)
            for place, (row, score) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), start=1)
        ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("place", "row", "row_id", "candidates", "score", "reason"))
    for one in rows:
        writer.writerow(
            (one.place, one.row + 1, one.row_id, "|".join(one.candidates), f"{one.score:.6f}", one.reason)
        )
    return text.getvalue().encode()


def check_may_see_blind(home: Home, person_id: int) -> None:
    """Raises NotAllowed unless the person may see the queue of a project with blind checks."""
    with home.database.read() as session:
        if not access.require_person(session, person_id).is_owner:
            raise access.NotAllowed(
                "In a project with blind checks the queue is for the owner: it would show which they are."
            )


def _queue_row(learner: ActiveLearner[LabelTable], place: int, row: int, score: float) -> QueueRow:
    question = learner.question_for(row)
    return QueueRow(
        place=place,
        row=row,
        row_id=str(learner.table.ids[row]),
        candidates=question.choices,
        score=score,
        reason=reason(
            learner.settings.strategy,
            question.decides,
            question.undecided,
            counted=has_proof(learner),
        ),
    )


def _texts(learner: ActiveLearner[LabelTable]) -> list[np.ndarray]:
    """Columns that are searched beside the candidates, (n,) each."""
    table = learner.table
    columns = [column for column in (table.roles.text, *table.roles.categories) if column]
    return [np.asarray(table.ids), *(table.cells[column].to_numpy() for column in columns)]


def _holds(learner: ActiveLearner[LabelTable], texts: list[np.ndarray], row: int, words: list[str]) -> bool:
    names = learner.pool.names(learner.pool.candidates[row])
    text = " ".join((*(str(column[row]) for column in texts), *names)).casefold()
    return all(word in text for word in words)
