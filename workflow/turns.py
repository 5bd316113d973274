"""One person's turn at a project: nobody else writes meanwhile, and the learner knows every entry there is."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from db import entries, questions
from plcore.loop.label_vectors.learner import LabelVectorLearner
from workflow import access
from workflow.history import stored_by
from workflow.learner_entries import learner_entry
from workflow.learners import CANDIDATES_ONLY, VECTORS_ONLY, WrongKind
from workflow.room import RoomSettings
from workflow.saving import NotSaved
from workflow.showing import OpenQuestion, worded
from workflow.standing import RESERVED_FOR, Saved, saved_of
from workflow.vector_showing import VectorQuestion, worded_cells
from workflow.vector_writing import CellWriter
from workflow.writing import RowWriter

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore import ActiveLearner, LabelTable
    from plcore import Question as Asked
    from plcore.loop.classes import ClassMap
    from plcore.loop.label_vectors.reports import LabelVectorQuestion
    from workflow.home import Home
    from workflow.learners import Opened

logger = logging.getLogger("winnow")

LearnerT = TypeVar("LearnerT", "ActiveLearner[LabelTable]", "LabelVectorLearner[LabelTable]")
AskedT = TypeVar("AskedT", "Asked", "LabelVectorQuestion")
QuestionT = TypeVar("QuestionT", OpenQuestion, VectorQuestion)
Place = tuple[int, str | None]


class StaleQuestion(ValueError):  # noqa: N818 - a state of affairs, which the page words
    """The question answered is not, or no longer, this person's to answer."""


@dataclass(frozen=True)
class Turn(ABC, Generic[LearnerT, AskedT, QuestionT]):
    """What a use case needs while it is this person's turn. A place: a row, and the one label asked about or None."""

    learner: LearnerT
    opened: Opened
    person_id: int
    now: datetime
    room: RoomSettings

    @property
    def session(self) -> Session:
        return self.opened.session

    @property
    def project_id(self) -> int:
        return self.opened.project.id

    @property
    def annotator(self) -> str:
        return str(self.person_id)

    def append(self, new: entries.NewEntry) -> entries.Entry:
        """Write an entry; the learner follows after the commit. Raises DuplicateEntry as ``entries.append``."""
        stored = entries.append(self.session, new)
        self.opened.written.append(learner_entry(stored))
        return stored

    def open_now(self) -> questions.OpenQuestion | None:
        """The question that is before this person."""
        return questions.get(self.session, self.project_id, self.person_id)

    def places(self) -> set[Place]:
        """Places that are before other people."""
        since = self.now - RESERVED_FOR
        return questions.reserved_places(self.session, self.project_id, self.person_id, since)

    def is_taken(self, row: int, label: str | None = None) -> bool:
        """Whether the place, or a part of it, is before somebody else."""
        return overlaps((row, label), self.places())

    def is_fresh(self, question: questions.OpenQuestion) -> bool:
        """Whether the reservation of its row need not be renewed yet."""
        return self.now - question.reserved_at < RESERVED_FOR / 2

    @abstractmethod
    def may_ask(self, row: int, label: str | None = None) -> bool:
        """Whether the place is open to this person."""

    @abstractmethod
    def ask(self, row: int, label: str | None) -> AskedT:
        """The question about a place as things stand. Raises AnswerError."""

    @abstractmethod
    def best(self, taken: set[Place]) -> AskedT | None:
        """The question that matters most for this person beside what is before others; None where none is left."""

    @abstractmethod
    def word(self, asked: AskedT, token: str) -> QuestionT:
        """The question as a page shows it."""

    @abstractmethod
    def show(self, asked: AskedT) -> QuestionT:
        """Reserve the place for this person and word the question."""

    def again(self, row: int, label: str | None) -> None:
        """Put a place that is theirs to answer before them."""
        self.show(self.ask(row, label))

    def show_next(self) -> QuestionT | None:
        """The question already before this person, if it still makes sense: a refresh shows it again, and what undo or
        the queue put there stays. Else a new one; None where there is nothing left to ask them.
        """
        open_now, taken = self.open_now(), self.places()
        if open_now is not None:
            place = open_now.row, open_now.label
            if not overlaps(place, taken) and self.may_ask(*place):
                asked = self.ask(*place)
                if self.is_fresh(open_now) and as_stored(asked, open_now):
                    return self.word(asked, open_now.token)  # nothing to write
                return self.show(asked)
        found = self.best(taken)
        return self.show(found) if found else None

    def given_before(self, token: str) -> Saved:
        """What this person's press with a token stored that is not open before them any more.

        Raises StaleQuestion where it stored nothing.
        """
        earlier = stored_by(self.session, self.project_id, token)
        if earlier is None or earlier.person_id != self.person_id:
            raise StaleQuestion("That question is no longer open before you.")
        return saved_of(self.learner, earlier, repeated=True)

    def told(
        self, question: questions.OpenQuestion, note: str | None, flagged: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the entries of an answer hold of its question: what the first alone does, and what each does."""
        seconds = (self.now - question.shown_at).total_seconds()
        first = {"token": question.token, "revision": question.revision, "seconds": seconds}
        every = {
            "strategy": question.strategy,
            "score": question.score,
            "model_version": question.model_version,
            "predicted": question.predicted,
            "note": note,
            "flagged": flagged,
        }
        return first, every

    @abstractmethod
    def token(self, row: int, label: str | None, revision: int) -> str:
        """The name of one showing: the same person, place and revision always give the same token."""

    @abstractmethod
    def writer(self, row: int, label: str | None) -> RowWriter | CellWriter:
        """What appends entries about the place."""

    def reserve(self, asked: Asked | LabelVectorQuestion, label: str | None = None) -> str:
        """Reserve the place for this person; its token. The same showing keeps its token and its start."""
        open_now = self.open_now()
        same = open_now is not None and (open_now.row, open_now.label) == (asked.row, label)
        shown_at = open_now.shown_at if open_now is not None and same else self.now
        revision = entries.count_for(self.session, self.project_id, self.person_id, asked.row, label)
        token = self.token(asked.row, label, revision)
        questions.put(
            self.session,
            questions.OpenQuestion(
                project_id=self.project_id,
                person_id=self.person_id,
                row=asked.row,
                label=label,
                token=token,
                revision=revision,
                strategy=asked.strategy,
                score=asked.score,
                model_version=asked.model_version,
                decides=asked.decides,
                undecided=asked.undecided,
                predicted=asked.predicted,
                shown_at=shown_at,
                reserved_at=self.now,
            ),
        )
        return token


class RowTurn(Turn["ActiveLearner[LabelTable]", "Asked", OpenQuestion]):
    """At a project with one true label among candidates: questions are about rows."""

    def may_ask(self, row: int, label: str | None = None) -> bool:
        return label is None and self.learner.may_ask(row, self.annotator)

    def ask(self, row: int, label: str | None = None) -> Asked:  # noqa: ARG002
        return self.learner.question_for(row)

    def best(self, taken: set[Place]) -> Asked | None:
        return self.learner.next_question(self.annotator, exclude={row for row, _ in taken})

    def word(self, asked: Asked, token: str) -> OpenQuestion:
        return worded(self.learner, self.room, self.person_id, asked, token)

    def show(self, asked: Asked) -> OpenQuestion:
        return self.word(asked, self.reserve(asked))

    def token(self, row: int, label: str | None, revision: int) -> str:  # noqa: ARG002
        return row_token(self.person_id, row, revision, self.learner.pool.class_map)

    def writer(self, row: int, label: str | None = None) -> RowWriter:
        return RowWriter(self, row, label)


class CellTurn(Turn["LabelVectorLearner[LabelTable]", "LabelVectorQuestion", VectorQuestion]):
    """At a project of label vectors: questions are about rows, or about one label of a row."""

    def may_ask(self, row: int, label: str | None = None) -> bool:
        return self.learner.may_ask(row, self.annotator, label)

    def ask(self, row: int, label: str | None) -> LabelVectorQuestion:
        return self.learner.question_for(row, label)

    def best(self, taken: set[Place]) -> LabelVectorQuestion | None:
        return self.learner.next_question(self.annotator, exclude=frozenset(taken))

    def word(self, asked: LabelVectorQuestion, token: str) -> VectorQuestion:
        return worded_cells(self.learner, self.room, self.person_id, asked, token)

    def show(self, asked: LabelVectorQuestion) -> VectorQuestion:
        return self.word(asked, self.reserve(asked, asked.label))

    def token(self, row: int, label: str | None, revision: int) -> str:
        place = () if label is None else (self.learner.classes.index(label),)
        return question_token(self.person_id, row, *place, revision)

    def writer(self, row: int, label: str | None) -> CellWriter:
        return CellWriter(self, row, label)


@contextmanager
def take_turn(home: Home, person_id: int, project_id: int) -> Iterator[RowTurn]:
    """As ``take_any_turn``, at a project with candidates; WrongKind for the others."""
    with take_any_turn(home, person_id, project_id) as turn:
        if not isinstance(turn, RowTurn):
            raise WrongKind(CANDIDATES_ONLY)
        yield turn


@contextmanager
def take_cell_turn(home: Home, person_id: int, project_id: int) -> Iterator[CellTurn]:
    """As ``take_any_turn``, at a project of label vectors; WrongKind for the others."""
    with take_any_turn(home, person_id, project_id) as turn:
        if not isinstance(turn, CellTurn):
            raise WrongKind(VECTORS_ONLY)
        yield turn


@contextmanager
def take_any_turn(home: Home, person_id: int, project_id: int) -> Iterator[RowTurn | CellTurn]:
    """A write transaction with the learner caught up inside it; after the commit the learner follows.

    Raises
    ------
    StaleQuestion
        What the block writes was stored before, by another tab or process.
    NotSaved
        The database could not be written.
    NotAllowed, NotFound
    """
    try:
        with home.learners.open_to_write(home, person_id, project_id) as opened:
            about = opened, person_id, datetime.now(UTC), RoomSettings.from_json(opened.project.room)
            if isinstance(opened.learner, LabelVectorLearner):
                yield CellTurn(opened.learner, *about)
            else:
                yield RowTurn(opened.learner, *about)
    except entries.DuplicateEntry as error:
        raise StaleQuestion("This question was answered a moment ago, in another tab.") from error


def question_token(*parts: int | str) -> str:
    """The name of one showing. parts : person, row, the place of the label where one is asked about, revision"""
    return ".".join(map(str, parts))


def row_token(person_id: int, row: int, revision: int, class_map: ClassMap) -> str:
    """The name of one showing of a row and its candidates: another one after a change of classes was taken back.

    A name that stood on a screen before may have meant more classes than it does now.
    """
    since = (f"back{class_map.taken_back}",) if class_map.taken_back else ()
    return question_token(person_id, row, revision, *since)


def overlaps(place: Place, others: set[Place]) -> bool:
    """Whether one of the others is the same label of the row, or either is the row as a whole."""
    row, label = place
    return any(other == row and (label is None or name in (None, label)) for other, name in others)


def as_stored(asked: Asked | LabelVectorQuestion, stored: questions.OpenQuestion) -> bool:
    """Whether the log would say of the question what the screen says: why it was asked, by which model."""
    parts = ("strategy", "score", "model_version", "decides", "undecided", "predicted")
    return all(getattr(asked, part) == getattr(stored, part) for part in parts)


def show_again(home: Home, person_id: int, project_id: int, row: int, label: str | None = None) -> None:
    """Put a place back before the person who has just dealt with it, where it is still theirs to answer."""
    try:
        with take_any_turn(home, person_id, project_id) as turn:
            if not turn.is_taken(row, label) and turn.may_ask(row, label):
                turn.again(row, label)
    except (NotSaved, StaleQuestion, access.NotFound, access.NotAllowed):
        # What they did is stored; that must not be taken for a failure of it.
        logger.warning("Row %d could not be shown again at once.", row, exc_info=True)
