"""A question about a label vector as a page shows it: its labels in order, with the known and predicted values."""

from __future__ import annotations

from dataclasses import dataclass, field

from plcore import LabelTable
from plcore.loop.label_vectors import RANDOM, LabelVectorLearner, LabelVectorQuestion
from workflow.answering.asked import screen_order, stamp
from workflow.answering.room_settings import RoomSettings
from workflow.kinds.label_vectors.settings import reason
from workflow.rows.row import RowView, row_view


@dataclass(frozen=True)
class LabelLine:
    """A label of the row. probability : the model's, of yes      cell : 1 yes, 0 no, -1 not asked"""

    label: str
    description: str
    probability: float
    cell: int


@dataclass(frozen=True)
class ShownVector:
    """A row, or one label of it, as a page shows it.

    label : the one asked about, None if all of them are      lines : all labels in display order
    strategy : as it is logged. Never displayed, because it would reveal the blind checks
    why : a sentence about the project's criterion
    shown : stamp of the cells, for `workflow.answering.loop.submit_answer`
    coming : the row likely to be asked next, if rows have files
    """

    token: str
    view: RowView
    label: str | None
    lines: tuple[LabelLine, ...]
    strategy: str
    score: float
    model_version: int
    predicted: str | None
    why: str
    shown: str
    coming: RowView | None = field(default=None, compare=False)

    @property
    def line(self) -> LabelLine | None:
        """The line of the label asked about; None if the question is about all labels."""
        return next((one for one in self.lines if one.label == self.label), None)


def word_question(
    learner: LabelVectorLearner[LabelTable],
    room: RoomSettings,
    person_id: int,
    asked: LabelVectorQuestion,
    token: str,
    coming: RowView | None = None,
) -> ShownVector:
    """Return the question with its token, the row as it is in the file, and its labels in the order of the room."""
    shares = dict(zip(asked.labels, asked.probabilities, strict=True))
    cells = dict(zip(asked.labels, asked.cells, strict=True))
    order = screen_order(learner, room, person_id, token, shares)
    if room.order != "fixed":  # unknown labels before known ones
        order = tuple(sorted(order, key=lambda label: cells[label] >= 0))
    return ShownVector(
        token=token,
        view=row_view(learner.table, asked.row),
        label=asked.label,
        lines=tuple(LabelLine(label, room.descriptions.get(label, ""), shares[label], cells[label]) for label in order),
        strategy=asked.strategy,
        score=asked.score,
        model_version=asked.model_version,
        predicted=asked.predicted,
        # Never use the question's own strategy: a blind check must look like any other question.
        why=reason(learner.settings.asked_by if asked.predicted is not None else RANDOM),
        shown=vector_stamp(asked.cells),
        coming=coming,
    )


def vector_stamp(cells: tuple[int, ...]) -> str:
    """Return a stamp (`workflow.answering.asked.stamp`) of the cells of a row."""
    return stamp([str(value) for value in cells])
