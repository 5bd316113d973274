"""Turns at a project of label vectors: questions are about rows, or about one label of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore import AnswerError, Entry, LabelTable
from plcore.loop import VERDICTS, EntryKind, Place
from plcore.loop.label_vectors import LabelVectorLearner, LabelVectorQuestion
from workflow.answering.history import question_token
from workflow.answering.turn import EntryWriter, Turn
from workflow.kinds.label_vectors.answering import WHOLE_ROW, answer, correct
from workflow.kinds.label_vectors.showing import ShownVector, word_question

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from db import entries, questions
    from workflow.answering.asked import AskedAs, Given
    from workflow.answering.history import Parts

Learner = LabelVectorLearner[LabelTable]


class LabelVectorTurn(Turn[Learner, LabelVectorQuestion, ShownVector]):
    """The turn of one person at a project of label vectors.

    WHOLE_ROW answers a question about a whole row, `yes` and `no` answer one about a label; the other answers fit both.
    """

    ANSWERS = (WHOLE_ROW, EntryKind.YES, EntryKind.NO, EntryKind.UNSURE, EntryKind.BAD, EntryKind.SKIP)

    def best(self, taken: Collection[Place], after: Place | None = None, ahead: int = 0) -> LabelVectorQuestion | None:
        if after is None:
            return self.learner.next_question(self.annotator, exclude=taken, ahead=ahead)
        return self.learner.next_question(self.annotator, exclude={*taken, after}, ahead=1)

    def word(self, asked: LabelVectorQuestion, token: str, how: AskedAs | None) -> ShownVector:  # noqa: ARG002
        return word_question(self.learner, self.room, self.person_id, asked, token, self.coming(asked))

    def token(self, place: Place, revision: int) -> str:
        label = () if place.label is None else (self.learner.classes.index(place.label),)
        return question_token(self.person_id, place.row, *label, revision)

    def writer(self, place: Place) -> LabelVectorWriter:
        return LabelVectorWriter(self, place)

    def decided_meanwhile(self, place: Place) -> str:
        what, row = ("row", "it") if place.label is None else ("label", "its row")
        return f"Someone else has decided this {what} meanwhile, or taken {row} out."

    def answer(self, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
        return answer(self, question, given)

    def correct(
        self, row: int, token: str, given: Given, changes: Mapping[str, int], log: Sequence[entries.LogEntry]
    ) -> entries.LogEntry:
        return correct(self, row, token, given, changes, log)

    def stands_as_before(self, row: int, parts: Parts) -> bool:
        """Whether the labels that the entries name are unchanged."""
        pool, label = self.learner.pool, parts[-1].label
        is_verdict = parts[-1].kind in VERDICTS
        if self.learner.settings.several and not is_verdict and not pool.places_left(Place(row, label)):
            return False  # others have answered it meanwhile
        folded = pool.view(row, pool.fold.entries(row), self.annotator)
        return all(pool.words(folded, one.labels) == one.before and not (one.labels and folded.out) for one in parts)


class LabelVectorWriter(EntryWriter):
    """A writer of entries about a row or one of its labels; they can change only the labels that they name."""

    _turn: LabelVectorTurn

    CHANGED = "That label or row has changed by now."

    def labels_now(self, entry: entries.LogEntry) -> tuple[str, ...]:
        return entry.labels  # the classes of label vectors do not change

    def check(self, entry: Entry) -> None:
        self._turn.learner.check(entry)
        if entry.target is not None and entry.target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {entry.target} no longer counts.")

    def state(self, entry: Entry) -> tuple[str, ...]:
        pool = self._turn.learner.pool
        about = entry.labels if entry.target is None else pool.fold.entry(entry.target).labels
        return pool.words(pool.view(self._place.row, self._kept, entry.annotator), about)


make_turn = LabelVectorTurn
