"""Turns at a project with one true label among candidates: questions are about rows."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from db import entries, questions
from plcore import ActiveLearner, AnswerError, Entry, LabelTable, Question
from plcore.loop import EntryKind, Place
from workflow.access import Right
from workflow.common.asked import AskedAs, QuestionForm
from workflow.common.groups import among_candidates, groups_now
from workflow.common.history import Parts
from workflow.common.places import question_token
from workflow.common.turn import Turn
from workflow.common.writer import EntryWriter
from workflow.kinds.one_label.forms import form_of, kept
from workflow.kinds.one_label.shortlists import shortlist, with_shortlist
from workflow.kinds.one_label.showing import ShownQuestion, word_question

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from plcore.loop import ClassMap
    from workflow.common.opened import Opened
    from workflow.common.room import Groups

Learner = ActiveLearner[LabelTable]


class OneLabelTurn(Turn[Learner, Question, ShownQuestion]):
    """The turn of one person at a project of one true label."""

    ANSWERS = (
        EntryKind.IS,
        EntryKind.AMONG,
        EntryKind.NOT,
        EntryKind.NONE,
        EntryKind.UNSURE,
        EntryKind.BAD,
        EntryKind.SKIP,
    )
    STAYS_AFTER = (EntryKind.NOT,)

    def best(self, taken: Collection[Place], ahead: int = 0) -> Question | None:
        return self.learner.next_question(self.annotator, exclude=taken, ahead=ahead)

    def word(self, asked: Question, token: str, how: AskedAs | None) -> ShownQuestion:
        return word_question(
            self.learner,
            self.room,
            self.person_id,
            asked,
            token,
            how or AskedAs(QuestionForm.WHICH),
            self._groups(asked),
            self.coming(asked),
            with_voters=self.opened.may(Right.REVIEW),
        )

    def asked_as(self, asked: Question, token: str, put: dict[str, Any] | None) -> AskedAs:
        if put is not None:
            before = AskedAs.from_json(put)
            how, first = kept(before, asked.choices), before.first
        else:
            first = shortlist(self.learner, self.room, asked)
            # Not how many are shown: blind checks are shown in full, and the form must not tell.
            n_first = len(first or asked.choices)
            groups_of = partial(self._groups, asked)
            how = form_of(self.learner, self.room, self.person_id, token, asked, groups_of, n_first)
        return with_shortlist(self.learner, self.room, self.person_id, asked, how, first)

    def stays_after(self, question: questions.OpenQuestion, stored: entries.LogEntry) -> bool:
        """As for every kind; and after a yes or no about a group, which says less than the person may know."""
        if super().stays_after(question, stored):
            return True
        halves = halves_of(question, stored.before)
        return stored.kind == EntryKind.AMONG and set(stored.labels) in halves and len(stored.after) > 1

    def _groups(self, asked: Question) -> Groups:
        return among_candidates(self._groups_now, asked.choices)

    @cached_property
    def _groups_now(self) -> Groups:
        return groups_now(self.room.groups, self.learner.pool.class_map)

    def token(self, place: Place, revision: int) -> str:
        return row_token(self.person_id, place.row, revision, self.learner.pool.class_map)

    def writer(self, place: Place) -> OneLabelWriter:
        return OneLabelWriter(self, place)

    def decided_meanwhile(self, place: Place) -> str:  # noqa: ARG002 - a row is all there is
        return "Somebody else has decided this row meanwhile, or the owner has merged its classes."

    def may_choose(self, place: Place, *, drawn: bool) -> bool:
        """A control that somebody chose would measure the model on what they chose: it is refused like a closed row."""
        return self.may_ask(place) and (drawn or not self.learner.pool.control_rows[place.row])


class OneLabelWriter(EntryWriter):
    """Writes entries about a row; what they can change is its candidates."""

    _turn: OneLabelTurn

    CHANGED = "The candidates of that row are others now."

    @property
    def left(self) -> tuple[str, ...]:
        """The candidates that the person has before them with the entries written so far, in class order; none of a
        bad item."""
        pool = self._turn.learner.pool
        return pool.names(pool.fold.view(self._place.row, self._kept, self._turn.annotator).votes)

    def state(self, entry: Entry) -> tuple[str, ...]:  # noqa: ARG002 - the same for every entry
        return self.left

    def labels_now(self, entry: entries.LogEntry) -> tuple[str, ...]:
        called = self._turn.learner.pool.class_map.called_now(entry.labels, entry.seq)
        assert called is not None  # noqa: S101 - asked where it stands as before
        return called

    def check(self, entry: Entry) -> None:
        if self._seq == self._turn.learner.seq:
            self._turn.learner.check(entry)
            return
        # The learner has not seen the entries before this one.
        if entry.kind == EntryKind.IS and not set(entry.labels) <= set(self.left):
            raise AnswerError(
                f"{', '.join(entry.labels)!r} is not among what is left: {', '.join(self.left)}."
            )
        if entry.target is not None and entry.target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {entry.target} does not stand any more.")


def halves_of(question: questions.OpenQuestion, candidates: Sequence[str]) -> tuple[set[str], ...]:
    """What yes and no leave of these candidates where the question is about a group; nothing of other questions."""
    how = AskedAs.from_json(question.asked or {"form": QuestionForm.WHICH})
    if how.form != QuestionForm.GROUP:
        return ()
    return set(how.about), set(candidates) - set(how.about)


def stands_as_before(learner: Learner, row: int, parts: Parts, annotator: str) -> bool:
    """Whether the candidates before this annotator are what they were before the entries of one press of theirs, and
    its labels mean the same."""
    pool, first = learner.pool, parts[0]
    is_verdict = parts[-1].kind == EntryKind.VERDICT
    if learner.settings.several and not is_verdict and not pool.places_left(Place(row)):
        return False  # others have answered it meanwhile
    called_now = pool.class_map.called_now
    return called_now(first.before, first.seq) == pool.names(pool.candidates_for(row, annotator)) and all(
        called_now(one.labels, one.seq) is not None for one in parts
    )


def row_token(person_id: int, row: int, revision: int, class_map: ClassMap) -> str:
    """The token of one showing of a row. revision : entries of this person about the row before it

    It is another one once a change of classes was taken back: a name on an older screen may have meant more classes.
    """
    since = (f"back{class_map.taken_back}",) if class_map.taken_back else ()
    return question_token(person_id, row, revision, *since)


def make_turn(opened: Opened[Learner]) -> OneLabelTurn:
    """The turn of the person who has opened the project."""
    return OneLabelTurn(opened)
