"""The answering loop: show a question, store the answer, let the learner follow.

The screen shows "saved" only after the commit; the learner also follows only after the commit. Each shown question has
a token (person, place, revision) that is unique in the database, so a double click, a repeated request, a second tab
and the back button are all harmless.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from db import members, questions
from plcore import AnswerError as AnswerError
from plcore import LabelTable
from plcore.loop import ClassMap, Place
from plcore.query import nearest_rows
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering.asked import Given, checked_note
from workflow.answering.asked import Saved as Saved
from workflow.answering.history import keyed_token, place_of, stored_by
from workflow.answering.turn import StaleQuestion as StaleQuestion
from workflow.kinds.opening import take_checkpoint
from workflow.log.reading import read_class_changes
from workflow.people.goals import BREAK_AFTER
from workflow.people.qualification import NotQualified as NotQualified
from workflow.people.qualification import require_qualified
from workflow.projects.class_names import names_now
from workflow.rows.finding import nearest_first
from workflow.rows.meaning import NoMeaningError, similarities, wanted_row
from workflow.rows.row import RowView, row_view
from workflow.saving import NotSaved as NotSaved
from workflow.server.home import room_for_learner

if TYPE_CHECKING:
    from db import entries
    from plcore.arrays import IntArray
    from plcore.loop import Learner
    from plcore.tables import FeatureTransformer
    from workflow.answering.turn import AnyTurn
    from workflow.opened import Opened
    from workflow.seat import Seat


# Pauses: a question is put away, its clock stops, and others may get its row meanwhile.


def pause(seat: Seat, token: str) -> None:
    """Put the question with this token away until `go_on`. A second call changes nothing.

    Raises StaleQuestion: the question is no longer this person's.
    """
    with seat.turn() as turn:
        question = turn.open_now()
        if question is None or question.token != token:
            raise StaleQuestion("That question is no longer open for you.")
        if question.paused_at is None:
            turn.put_question(replace(question, paused_at=turn.steady))


def go_on(seat: Seat) -> None:
    """End the pause: return the same question if it is still open and no one else has it, else another one. Its time
    continues from where it stopped; the next break is counted from now."""
    with seat.turn() as turn:
        require_qualified(turn.opened)
        members.note_rest(turn.session, turn.project_id, turn.person_id, turn.now, BREAK_AFTER)
        turn.show_next()


# The rows most like one: answered ones to compare it with, open ones to answer with it.

MOST = 5
SAMPLE = 2_000
"""Rows that the features are fitted on, drawn with a fixed seed."""
COMPARED = 5_000
"""Maximum number of answered rows to compare; of more, a sample is drawn."""


@dataclass(frozen=True)
class SimilarRow:
    """An answered row and the labels that people gave it."""

    view: RowView
    labels: tuple[str, ...]


@dataclass
class _Kept:
    """Features, which take time to compute, stored next to a learner while it is in memory. place : {row: its line in
    X}"""

    features: FeatureTransformer | None = None
    place: dict[int, int] = field(default_factory=dict)
    X: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, table: LabelTable, rows: Sequence[int]) -> Any:
        """Return the features of these rows, computing only those not requested before."""
        assert self.features is not None  # noqa: S101 - fitted before
        new = [row for row in rows if row not in self.place]
        if new:
            made = self.features.transform(table, np.array(new))
            if self.X is None:
                self.X = made
            elif sparse.issparse(made):
                self.X = sparse.vstack([self.X, made], format="csr")
            else:
                self.X = np.vstack([self.X, made])
            self.place.update((row, len(self.place)) for row in new)
        return self.X[[self.place[row] for row in rows]]


# Read and written only while the learner is open, that is by one thread at a time.
_kept: WeakKeyDictionary[Learner, _Kept] = WeakKeyDictionary()


@dataclass(frozen=True)
class RowComparison:
    """A row and the rows to compare it with, as of the time when the learner was open. fitted_on : rows"""

    table: LabelTable
    asked: int
    rows: IntArray
    fitted_on: IntArray
    kept: _Kept

    @room_for_learner()
    def nearest(self, most: int = MOST) -> list[int]:
        """Return the rows nearest to the given one, nearest first, ties by row number.

        It uses the cosine of the table's vectors or, if the table or the row has none, the features that models learn
        from. The first call may take seconds: do not call it while the learner is open, since others wait for it.
        Raises NoRoomError."""
        if not len(self.rows):
            return []
        with suppress(NoMeaningError):
            near = similarities(self.table, wanted_row(self.table, self.asked), self.rows)
            # Rows without a vector come last.
            order = nearest_first(np.nan_to_num(near, nan=-2.0), np.arange(len(near)))
            by_vectors: list[int] = self.rows[order[:most]].tolist()
            return by_vectors
        with self.kept.lock:
            if self.kept.features is None:
                self.kept.features = self.table.features().fit(self.table, self.fitted_on)
            own, others = self.kept.of(self.table, [self.asked]), self.kept.of(self.table, self.rows.tolist())
        found: list[int] = self.rows[nearest_rows(others, own, most)].tolist()
        return found


def begin_comparison(opened: Opened[Learner], asked: int) -> RowComparison:
    """Return a comparison with rows whose labels people have given. Held-out rows and blind checks are excluded, since
    their labels must not be revealed."""
    may_be_shown = opened.learner.pool.shown_to_all()
    may_be_shown[asked] = False
    rows = np.flatnonzero(may_be_shown)
    if len(rows) > COMPARED:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:COMPARED])
    return compare(opened, asked, rows)


def compare(opened: Opened[Learner], asked: int, rows: IntArray) -> RowComparison:
    """Return a comparison of a row with these rows, ascending; at most COMPARED of them, since more would take long."""
    learner = opened.learner
    sample = np.random.default_rng(0).permutation(np.flatnonzero(~learner.pool.test_rows))[:SAMPLE]
    return RowComparison(learner.table, asked, rows, np.sort(sample), _kept.setdefault(learner, _Kept()))


def still_shown(opened: Opened[Learner], rows: Sequence[int]) -> tuple[SimilarRow, ...]:
    """Return those of these rows that may be shown now, with people's labels for them."""
    learner = opened.learner
    may_be_shown = learner.pool.shown_to_all()
    return tuple(
        SimilarRow(row_view(learner.table, row), learner.pool.answered_labels(row)) for row in rows if may_be_shown[row]
    )


logger = logging.getLogger("winnow")


def next_question(seat: Seat) -> object:
    """Return this person's open question, or a new one, as shown by the project's kind (`showing` in its folder); None
    when nothing is left to ask them."""
    with seat.turn(lasting=False) as turn:
        require_qualified(turn.opened)
        return turn.show_next()


def lease_questions(seat: Seat, count: int) -> list[object]:
    """Lease questions to a program of this person, each as returned by `next_question`. No one else, and no other
    program of theirs, is asked about the rows for LEASED_FOR or until they are answered. Fewer than `count` if fewer
    are left."""
    with seat.turn(lasting=False) as turn:
        require_qualified(turn.opened)
        return list(turn.lease_next(count))


def get_ready(seat: Seat) -> None:
    """Do now what the person would otherwise wait for at their next click: load a model version trained meanwhile, sort
    the open rows, and learn which words support a label. From time to time also write a checkpoint of the learner, for
    the next person who opens the project."""
    with seat.learner(Right.ANSWER) as opened:
        opened.kind.make_turn(opened).get_ready()
        checkpoint = take_checkpoint(opened)
    if checkpoint is not None:
        checkpoint.write()


def ask_next(seat: Seat, row: int, label: str | None = None, *, drawn: bool = False) -> object:
    """Ask this person about this row, or this label of it, now. Their previous question becomes open again. Returns the
    shown question.

    row : its number, from 0      label : None: the row as a whole
    drawn : the place was not chosen by a person but comes in drawn order, so it may be a control

    Raises AnswerError: the place is not open to this person, is on someone else's screen, or is a control that was not
    drawn.
    """
    place = Place(row, label)
    with seat.turn() as turn:
        require_qualified(turn.opened)
        if turn.is_taken(place):
            raise AnswerError("Someone else is answering that row. Fix: choose another, or wait a few minutes.")
        if not turn.may_choose(place, drawn=drawn):
            raise AnswerError("That row is no longer open. Fix: choose another.")
        return turn.show(place)


def submit_answer(
    seat: Seat,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    note: str | None = None,
    flagged: bool = False,
    shown: str | None = None,
) -> Saved:
    """Store one answer (or skip) to the question with this token; exactly once.

    kind : one of `Turn.ANSWERS` of the project's kind
    labels : class names; which an answer takes is said in `answering.py` of the kind's folder
    note : at most NOTE_LENGTH characters      flagged : marked for another look; both are stored with the answer
    shown : the stamp that the shown question carried, which says what was on the screen; None: not known
    A token answered before gives the earlier entry with ``repeated`` set, and ``other`` where it says something else;
    nothing is stored. A row that is still open after a "not" stays before the person.

    Raises
    StaleQuestion : The token is not that of the question open before this person; or someone else has meanwhile
        answered it, or has it before them; or the labels that the answer speaks of have changed since they were shown.
        Nothing is stored.
    AnswerError : The answer does not fit the question. Nothing is stored.
    """
    given = Given(kind, tuple(labels), checked_note(note), flagged, shown)
    with seat.turn() as turn:
        saved, stays = answer_in(turn, token, given)
        if saved.repeated:
            saved = replace(saved, other=not _is_said_again(turn, saved, given))
    if stays is not None:
        show_again(seat, stays)
    return saved


def answer_row(
    seat: Seat,
    row: int,
    key: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    label: str | None = None,
    note: str | None = None,
    flagged: bool = False,
    shown: str | None = None,
) -> Saved:
    """Store one answer about a row that the caller chooses, exactly once by its key.

    row : its number, from 0      label : the one label that it is about; None: the row as a whole
    key : of the caller's choice, another one for each answer of this person in the project
    all else : as for `submit_answer`
    The same key again, with the same answer, gives the earlier entry with ``repeated`` set; with another answer
    ``other`` is set, too. Nothing is stored then.

    Raises
    StaleQuestion : The row is not open to this person, someone else has it before them, or it is a control, which is
        answered when it comes as a question. Nothing is stored.
    AnswerError : There is no such row or label, or the answer does not fit. Nothing is stored.
    """
    given, place = Given(kind, tuple(labels), checked_note(note), flagged, shown), Place(row, label)
    with seat.turn() as turn:
        _check_given(turn, given)
        token = keyed_token(turn.person_id, key)
        earlier = stored_by(turn.session, turn.project_id, token)
        if earlier is not None:
            saved = turn.given_before(token)
            # An answer that names no label repeats none that did, unless it was about one label.
            names_less = given.kind == saved.kind and saved.labels and not given.labels and label is None
            same = (earlier.note, earlier.flagged, place_of(earlier)) == (given.note, given.flagged, place)
            return replace(saved, other=not same or names_less or not _is_said_again(turn, saved, given))
        question = turn.open_now()
        if question is None or place_of(question) != place:
            question = turn.take_lease(place)
        if question is None:
            if not turn.may_choose(place, drawn=False):
                raise StaleQuestion(
                    f"Row {row} is not open to you. It is answered, excluded, or only asked when its turn comes. "
                    "Fix: choose another, or ask for the next question."
                )
            question = turn.unseen(place)
        keyed = replace(question, token=token, revision=turn.revision(place))
        saved = turn.saved(_write(turn, keyed, given))
        if turn.open_now() is question:
            turn.close_question()
        return saved


def _check_given(turn: AnyTurn, given: Given) -> None:
    require_qualified(turn.opened)
    if given.kind not in turn.ANSWERS:
        raise AnswerError(f"An answer is one of {', '.join(turn.ANSWERS)}. Got {given.kind!r}.")


def answer_in(turn: AnyTurn, token: str, given: Given) -> tuple[Saved, Place | None]:
    """Do the steps of `submit_answer` in its turn; return the stored answer and the place that stays on the screen, or
    None. Raises the same errors."""
    _check_given(turn, given)
    question = turn.open_now()
    if question is None or question.token != token:
        leased = turn.take_lease(token)
        if leased is None:
            return turn.given_before(token), None
        return turn.saved(_write(turn, leased, given)), None
    stored = _write(turn, question, given)
    if turn.stays_after(question, stored):
        turn.keep_question(question)
        return turn.saved(stored), place_of(question)
    turn.close_question()
    return turn.saved(stored), None


def _write(turn: AnyTurn, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
    """Return the last entry of the answer. Raises StaleQuestion if the question is no longer this person's."""
    place = place_of(question)
    if not turn.holds(question) and turn.is_taken(place):
        raise StaleQuestion(
            "Someone else has this row on their screen now: it was open here for a long time, or you left it."
        )
    if not turn.may_ask(place):
        raise StaleQuestion(turn.decided_meanwhile(place))
    return turn.answer(question, given)


def _is_said_again(turn: AnyTurn, saved: Saved, given: Given) -> bool:
    """Return whether this may be the answer stored before, under whatever names its classes had then. If a class was
    renamed between a question and its answer, the answer has the name in the question, the entry the new one."""
    if saved.may_be(given.kind, given.labels):
        return True
    changes = read_class_changes(turn.session, turn.project_id)
    known = ClassMap(turn.opened.home.read_table(turn.opened.project.table_hash).classes, changes)
    labels, denied = names_now(known, saved.labels), names_now(known, saved.denied)
    return replace(saved, labels=labels, denied=denied).may_be(given.kind, names_now(known, given.labels))


def leave(seat: Seat) -> None:
    """Offer the row on this person's screen to others, since they look at something else now. It stays theirs until
    someone else gets it."""
    with seat.writing() as leaving:  # without the learner, for which a page that comes would have to wait
        questions.hand_back_reservations(leaving.session, leaving.project.id, leaving.person.id, datetime.now(UTC))


def similar_rows(seat: Seat, token: str) -> tuple[SimilarRow, ...]:
    """Return the answered rows most similar to that of this question, nearest first, with people's labels. Called on
    demand, never with the question.

    token : token of the question on this person's screen

    Raises StaleQuestion: the question is no longer this person's.
    """
    with seat.learner(Right.ANSWER) as opened:
        asked = questions.get(opened.session, opened.project_id, opened.person_id)
        if asked is None or asked.token != token:
            raise StaleQuestion("That question is no longer open for you.")
        comparison = begin_comparison(opened, asked.row)
    nearest = comparison.nearest()
    with seat.learner(Right.ANSWER) as opened:  # meanwhile an answer may have been withdrawn
        return still_shown(opened, nearest)


def show_again(seat: Seat, place: Place) -> None:
    """Ask this person about the same place again, if it is still open to them and no one else has it.

    A failure is logged, not raised: their answer is already stored.
    """
    try:
        with seat.turn() as turn:
            if not turn.is_taken(place) and turn.may_ask(place):
                turn.show(place)
    except (NotSaved, StaleQuestion, NotFound, NotAllowed):
        # Their answer is stored; this must not be reported as a failure to store it.
        logger.warning("Row %d could not be shown again at once.", place.row, exc_info=True)
