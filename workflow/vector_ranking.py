"""The queue of label vectors: every open row by the score of the label it would be asked about, best first."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workflow import access
from workflow.ranking import SHOWN, check_may_see_blind
from workflow.standing import counts

if TYPE_CHECKING:
    from plcore import LabelTable
    from plcore.loop.label_vectors.learner import LabelVectorLearner
    from workflow.home import Home


@dataclass(frozen=True)
class VectorQueueRow:
    """One open row: its place in the queue from 1, and its score by the project's criterion.

    label, probability : its most useful label and the model's share for it; None where whole rows are asked about
    unknown : labels of the row that are not known
    """

    place: int
    row: int
    row_id: str
    label: str | None
    probability: float | None
    unknown: int
    score: float


@dataclass(frozen=True)
class VectorQueueView:
    """``rows`` are the first that match, at most SHOWN; ``matching`` of ``listed`` rows match.

    open : as `workflow.standing.counts` has it, rows if by_row, else labels
    blind : how many of these are blind checks, not listed
    """

    by_row: bool
    criterion: str
    rows: tuple[VectorQueueRow, ...]
    matching: int
    listed: int
    open: int
    blind: int


def queue(home: Home, person_id: int, project_id: int, search: str = "") -> VectorQueueView:
    """The open rows, best first; those whose id or label asked about hold the words searched for.

    Raises
    ------
    NotAllowed
        The person is not an owner and the project has blind checks: what is not in the queue would be one.
    NotFound, WrongKind
    """
    words = search.casefold().split()
    with home.learners.open_vectors(home, person_id, project_id) as learner:
        if learner.pool.control_cells.any():
            check_may_see_blind(home, person_id)
        ranked = _ranked(learner)
        found = [
            one
            for one in ranked
            if all(word in f"{learner.table.ids[one[1]]} {one[2] or ''}".casefold() for word in words)
        ]
        return VectorQueueView(
            by_row=learner.settings.by_row,
            criterion=learner.settings.asked_by,
            rows=tuple(_queue_row(learner, *one) for one in found[:SHOWN]),
            matching=len(found),
            listed=len(ranked),
            open=counts(learner)[1],
            blind=_blind(learner),
        )


def queue_csv(home: Home, person_id: int, project_id: int, *, wait: bool = False) -> bytes:
    """The whole queue as CSV. Raises NotAllowed unless the person is an owner.

    wait : for the model that is due: a process that has just begun has none yet, and would rank at random
    """
    with home.database.read() as session:
        access.require_owner(session, person_id)
    if wait:
        with home.learners.open_vectors(home, person_id, project_id):
            pass  # begins the fit
        home.learners.settle(project_id)
    with home.learners.open_vectors(home, person_id, project_id) as learner:
        rows = [_queue_row(learner, *one) for one in _ranked(learner)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("place", "row", "row_id", "label", "probability", "unknown", "score"))
    for one in rows:
        share = "" if one.probability is None else f"{one.probability:.4f}"
        writer.writerow(
            (one.place, one.row + 1, one.row_id, one.label or "", share, one.unknown, f"{one.score:.6f}")
        )
    return text.getvalue().encode()


def _blind(learner: LabelVectorLearner[LabelTable]) -> int:
    """How many of the rows, or labels, that are open are asked as blind checks."""
    cells = learner.pool.open & learner.pool.control_cells
    return int((cells.any(axis=1) if learner.settings.by_row else cells).sum())


def _ranked(learner: LabelVectorLearner[LabelTable]) -> list[tuple[int, int, str | None, float]]:
    """(place, row, label or None, score) of every open row."""
    rows, columns, scores = (part.tolist() for part in learner.ranking())
    return [
        (place, row, None if column < 0 else learner.classes[column], score)
        for place, (row, column, score) in enumerate(zip(rows, columns, scores, strict=True), start=1)
    ]


def _queue_row(
    learner: LabelVectorLearner[LabelTable], place: int, row: int, label: str | None, score: float
) -> VectorQueueRow:
    question = learner.question_for(row, label)
    return VectorQueueRow(
        place=place,
        row=row,
        row_id=str(learner.table.ids[row]),
        label=label,
        probability=None if label is None else question.probabilities[learner.classes.index(label)],
        unknown=sum(cell < 0 for cell in question.cells),
        score=score,
    )
