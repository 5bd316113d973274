"""The pieces of pages that depend on the kind of project: one folder a kind, with the same names in each."""

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
    """How many people answer a row, and what their answers make of it; empty if one does."""
    """The lines of the form that says model and question settings."""
    FIRST_QUESTION: str
    """The card's question about the first row, with its labels below."""
    PREPARING: str
    """Said while a project is made."""

    def told(
        self,
        question: QuestionT_contra | None,
        standing: Standing,
        notice: str | None,
        offer: Offer | None = None,
    ) -> dict[str, object]:
        """Data for the question card; offer : in place of a question"""

    def question_card(
        self, seat: Seat, question: QuestionT_contra | None, offer: Offer | None = None
    ) -> Drawing:
        """The function that draws the question card with it"""

    def batch_card(self, seat: Seat, batch: ShownBatch) -> Drawing:
        """The function that draws many rows at once; only where the kind has batches"""

    def other_card(self, project_id: int, data: Mapping[str, object], on_press: Callable[[], None]) -> None:
        """The card of `pages.parts.other_cards`: with a known row, before someone starts, or one that people disagree
        on; only where the kind has qualifications, or disputes."""

    def class_list(
        self, project_id: int, classes: Sequence[str], descriptions: Mapping[str, str], groups: Groups
    ) -> None:
        """Give the browser the classes and groups that the card's search looks through, once, not with every
        question."""

    def queue_page(self, page: ProjectPage) -> None:
        """The Queue page below its heading."""

    def progress_page(self, page: ProjectPage) -> None:
        """The Progress page below its heading."""

    def review_row(self, page: ProjectPage, key: str, row: RowT_contra) -> None:
        """An open row on the Review page. key : beginning of the widget keys"""

    def groups_part(self, page: ProjectPage) -> None:
        """The groups of classes on the settings page; nothing if the project takes none."""

    def classes_part(self, page: ProjectPage) -> None:
        """The classes on the settings page."""

    def summary(self, table: LabelTable) -> None:
        """The result of the chosen columns for the file, on the Import page."""

    def settings(self, table: LabelTable, checks: int) -> KindSettings:
        """The fields that say how the new project learns and asks. checks : per cent of blind questions by default"""


AnyParts: TypeAlias = KindParts[Any, Any]
"""The ones of a kind that the caller does not know: its questions and rows go back to it alone."""


def typed(parts: KindParts[QuestionT_contra, RowT_contra]) -> AnyParts:
    """The same parts. mypy finds their types here, and whether all of them agree."""
    return parts


PARTS: Mapping[str, AnyParts] = {"one_label": typed(one_label), "label_vectors": typed(label_vectors)}
"""By the name of the kind in `workflow.kinds`."""


def parts_of(page: ProjectPage) -> AnyParts:
    """The ones of the project's kind."""
    return PARTS[page.project.kind]
