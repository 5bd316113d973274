"""The parts of pages that depend on the kind of project: one folder per kind, with the same names in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from pages.parts import label_vectors, one_label
from pages.parts.frame import ProjectPage
from pages.parts.learner_form import Setting
from pages.parts.map_chart import MapWords
from pages.parts.progress_parts import StopWords
from pages.parts.question_card import Drawing, Offer
from pages.parts.rows.row_lists import ReviewWords
from pages.parts.words import ExportWords
from workflow.answering.batches import ShownBatch
from workflow.answering.room import Groups
from workflow.importing import LabelTable
from workflow.kinds.kind import KindSettings
from workflow.projects.standing import Standing
from workflow.seat import Seat

QuestionT_contra = TypeVar("QuestionT_contra", contravariant=True)
RowT_contra = TypeVar("RowT_contra", contravariant=True)


class KindParts(Protocol[QuestionT_contra, RowT_contra]):
    """Contents of each kind's folder.

    QuestionT_contra : a question as the card shows it      RowT_contra : a row as the Review page shows it
    """

    EXPORT: ExportWords
    MAP: MapWords
    REVIEW: ReviewWords
    STOP: StopWords
    LEARNING: tuple[Setting, ...]
    ANSWERING: tuple[Setting, ...]
    """How many people answer a row, and how their answers are combined; empty if one person does."""
    """The settings of model and questions that the form shows."""
    FIRST_QUESTION: str
    """The card's question about the first row, with its labels below."""
    PREPARING: str
    """Shown while a project is created."""

    def told(
        self, question: QuestionT_contra | None, standing: Standing, notice: str | None, offer: Offer | None = None
    ) -> dict[str, object]:
        """Return data for the question card. offer : shown instead of a question"""

    def question_card(self, seat: Seat, question: QuestionT_contra | None, offer: Offer | None = None) -> Drawing:
        """Return the function that draws the question card with it."""

    def batch_card(self, seat: Seat, batch: ShownBatch) -> Drawing:
        """Return the function that draws many rows at once; only if the kind has batches."""

    def other_card(self, project_id: int, data: Mapping[str, object], on_press: Callable[[], None]) -> None:
        """Draw the card of `pages.parts.other_cards`: a known row, before someone starts, or a dispute; only
        if the kind has qualifications or disputes."""

    def class_list(
        self, project_id: int, classes: Sequence[str], descriptions: Mapping[str, str], groups: Groups
    ) -> None:
        """Send the browser the classes and groups that the card's search uses, once, not with every
        question."""

    def queue_page(self, page: ProjectPage) -> None:
        """Draw the Queue page below its heading."""

    def progress_page(self, page: ProjectPage) -> None:
        """Draw the Progress page below its heading."""

    def review_row(self, page: ProjectPage, key: str, row: RowT_contra) -> None:
        """Draw an open row on the Review page. key : beginning of the widget keys"""

    def groups_part(self, page: ProjectPage) -> None:
        """Draw the groups of classes on the settings page; nothing if the project takes none."""

    def classes_part(self, page: ProjectPage) -> None:
        """Draw the classes on the settings page."""

    def summary(self, table: LabelTable) -> None:
        """Draw how the file is read with the chosen columns, on the Import page."""

    def settings(self, table: LabelTable, checks: int) -> KindSettings:
        """Draw the settings of model and questions for the new project. checks : per cent of blind checks by
        default"""


AnyParts: TypeAlias = KindParts[Any, Any]
"""The parts of a kind unknown to the caller, which passes its questions and rows only back to it."""


def typed(parts: KindParts[QuestionT_contra, RowT_contra]) -> AnyParts:
    """Return the parts unchanged; here mypy checks that their types agree."""
    return parts


PARTS: Mapping[str, AnyParts] = {"one_label": typed(one_label), "label_vectors": typed(label_vectors)}
"""By the name of the kind in `workflow.kinds`."""


def parts_of(page: ProjectPage) -> AnyParts:
    """Return the parts of the project's kind."""
    return PARTS[page.project.kind]
