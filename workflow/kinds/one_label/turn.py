"""Turns at a project with one true label among candidates: questions are about rows."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from db import entries, questions
from plcore import ActiveLearner, LabelTable, Question
from plcore.loop import EntryKind, Place
from workflow.access import Right
from workflow.answering.asked import AskedAs, QuestionForm
from workflow.answering.history import Parts, question_token
from workflow.answering.turn import Turn
from workflow.kinds.one_label.answering import OneLabelWriter, answer, correct, halves_of
from workflow.kinds.one_label.forms import form_of, kept, learn_prices
from workflow.kinds.one_label.shortlists import shortlist, with_shortlist
from workflow.kinds.one_label.showing import ShownQuestion, learn_words, word_question
from workflow.projects.class_names import among_candidates, groups_now

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from plcore.loop import ClassMap
    from workflow.answering.asked import Given
    from workflow.answering.room_settings import Groups

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

    def best(self, taken: Collection[Place], after: Place | None = None, ahead: int = 0) -> Question | None:
        if after is None:
            return self.learner.next_question(self.annotator, exclude=taken, ahead=ahead)
        return self.learner.next_question(self.annotator, exclude={*taken, after}, ahead=1, after=after.row)

    def get_ready(self) -> None:
        super().get_ready()
        learn_words(self.learner)
        learn_prices(self.opened)

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

    def asked_as(self, asked: Question, token: str, put: dict[str, object] | None) -> AskedAs:
        if put is not None:
            before = AskedAs.from_json(put)
            how, first = kept(before, asked.choices), before.first
        else:
            first = shortlist(self.learner, self.room, asked)
            # Not the number shown: blind checks are shown in full, and the form must not reveal them.
            n_first = len(first or asked.choices)
            groups_of = partial(self._groups, asked)
            how = form_of(self.learner, self.room, self.person_id, token, asked, groups_of, n_first)
        return with_shortlist(self.learner, self.room, self.person_id, asked, how, first)

    def stays_after(self, question: questions.OpenQuestion, stored: entries.LogEntry) -> bool:
        """Stay as in every kind, and also after a yes or no about a group, which says less than the person may know."""
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
        return "Someone else has decided this row in the meantime, or the owner has merged its classes."

    def answer(self, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
        return answer(self, question, given)

    def correct(
        self, row: int, token: str, given: Given, changes: Mapping[str, int], log: Sequence[entries.LogEntry]
    ) -> entries.LogEntry:
        return correct(self, row, token, given, changes, log)

    def stands_as_before(self, row: int, parts: Parts) -> bool:
        """Whether the candidates are unchanged, and the labels of the entries still mean the same."""
        pool, first = self.learner.pool, parts[0]
        is_verdict = parts[-1].kind == EntryKind.VERDICT
        if self.learner.settings.several and not is_verdict and not pool.places_left(Place(row)):
            return False  # others have answered it meanwhile
        called_now, now = pool.class_map.called_now, pool.names(pool.candidates_for(row, self.annotator))
        return called_now(first.before, first.seq) == now and all(
            called_now(one.labels, one.seq) is not None for one in parts
        )

    def may_choose(self, place: Place, *, drawn: bool) -> bool:
        """Refuse a control row like a closed row: if people chose it, it would measure the model on what they chose."""
        return self.may_ask(place) and (drawn or not self.learner.pool.control_rows[place.row])


def row_token(person_id: int, row: int, revision: int, class_map: ClassMap) -> str:
    """Return the token of one view of a row. revision : this person's entries about the row before it

    It changes when a change of classes is withdrawn: a name on an older screen may have meant more classes.
    """
    since = (f"back{class_map.taken_back}",) if class_map.taken_back else ()
    return question_token(person_id, row, revision, *since)


make_turn = OneLabelTurn
