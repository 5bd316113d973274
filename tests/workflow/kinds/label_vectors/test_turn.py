"""Questions, answers and lists of a project of label vectors."""

from __future__ import annotations

import numpy as np
import pytest

from db import entries
from plcore.loop import Place
from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES
from tests.present import present
from tests.workflow.vector_world import LABELS, answer_truly, vector_project
from tests.workflow.world import annotator, count_entries, opened
from workflow.access import NotAllowed
from workflow.answering import loop, room, undoing
from workflow.answering.turn import StaleQuestion
from workflow.kinds import label_vectors
from workflow.kinds.label_vectors import settings
from workflow.kinds.label_vectors.answering import answer
from workflow.kinds.label_vectors.showing import vector_stamp
from workflow.kinds.label_vectors.turn import WHOLE_ROW, LabelVectorTurn, LabelVectorWriter
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home

# Turns at a project of label vectors: tokens of rows and of labels, and what an entry can change


@pytest.fixture
def turn_seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, vector_project(home, owner, question="cell"))


def test_every_label_of_row_has_its_own_tokens(turn_seat: Seat) -> None:
    with turn_seat.turn() as turn:
        assert isinstance(turn, LabelVectorTurn)
        assert WHOLE_ROW in turn.ANSWERS
        places = [Place(3), Place(4), *(Place(3, label) for label in LABELS)]
        tokens = {turn.token(place, revision) for place in places for revision in (0, 1, 2)}
        assert len(tokens) == 3 * len(places)
        assert "row" in turn.decided_meanwhile(Place(3))
        assert "label" in turn.decided_meanwhile(Place(3, LABELS[0]))


def test_entry_changes_named_labels(turn_seat: Seat) -> None:
    question = present(loop.next_question(turn_seat))
    label = question.label
    with turn_seat.turn() as turn:
        writer = turn.writer(Place(question.view.row, label))
        assert isinstance(writer, LabelVectorWriter)
        said = writer.write("yes", (label,), token="a")
        again = writer.write("no", (label,), token="b")
        assert (said.before, said.after) == (("",), ("1",))
        assert (again.before, again.after) == (("1",), ("0",))
        out = writer.write("bad", token="c")
        assert (out.before, out.after) == ((), ("bad",))
        assert writer.labels_now(said) == (label,)


def test_answer_stands_until_next_answer_about_label(turn_seat: Seat) -> None:
    saved = answer_truly(turn_seat.home, turn_seat.person_id, turn_seat.project_id)

    def stands() -> bool:
        with turn_seat.learner() as opened:
            entry = present(entries.get(opened.session, opened.project_id, saved.seq))
            assert opened.person_id == entry.person_id
            return opened.kind.make_turn(opened).stands_as_before(saved.row, (entry,))

    assert not stands()
    undoing.undo(turn_seat)
    assert stands()
    question = present(loop.next_question(turn_seat))
    loop.submit_answer(turn_seat, question.token, "bad")
    assert not stands(), "the row is out"


# Entries of an answer about a label vector, and answers that do not fit


def test_answer_with_other_shown_stamp_is_refused(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    asked = present(loop.next_question(seat))
    cells = {one.label: one.cell for one in asked.lines}
    assert asked.shown == vector_stamp(tuple(cells[label] for label in LABELS))
    with pytest.raises(StaleQuestion, match="have changed since it was shown"):
        loop.submit_answer(seat, asked.token, "labels", LABELS[:1], shown=vector_stamp((1,) * 5))
    assert count_entries(home) == 0
    loop.submit_answer(seat, asked.token, "labels", LABELS[:1], shown=asked.shown)


def test_last_entry_represents_press(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    asked = present(loop.next_question(seat))
    with seat.turn() as turn:
        open_now = present(turn.open_now())
        stored = answer(turn, open_now, loop.Given("labels", LABELS))
    assert stored.kind == "yes"
    assert stored.token == asked.token, "nothing was said to be wrong: one entry"
    assert set(stored.labels) == {one.label for one in asked.lines if one.cell != 1}


# Rows that may be shown next to a question: those with a label confirmed by people, without blind checks


def test_answered_labels_are_shown_except_blind_checks(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance", control_share=0.3)
    checked = False
    while not checked:  # which row is asked about also uses when a ranking in the background is ready
        answer_truly(home, owner, project, loop.next_question(Seat(home, owner, project)))
        with opened(home, owner, project) as learner:
            pool = learner.pool
            said = pool.answered & (pool.cells == 1)
            checked = bool((said & pool.control_cells).any())
    with opened(home, owner, project) as learner:
        pool = learner.pool
        said &= ~pool.control_cells
        assert learner.pool.shown_to_all().tolist() == said.any(axis=1).tolist()
        for row in np.flatnonzero(said.any(axis=1)).tolist():
            named = tuple(np.array(learner.classes)[said[row]])
            assert learner.pool.answered_labels(row) == named


# The queue of label vectors: who may see it, and its file


@pytest.mark.parametrize("question", ["instance", "cell", "diagnosis"])
def test_queue_with_blind_checks_is_owner_only(home: Home, owner: int, question: str) -> None:
    """An open row missing from it would be recognizable as a check."""
    plain = vector_project(home, owner, "plain", question=question)
    blind = vector_project(home, owner, "blind", question=question, control_share=0.2)
    ada = annotator(home, owner, "Ada")
    for project in (plain, blind):
        answer_truly(home, ada, project)
    Seat(home, owner, plain).settle()  # a model that comes between the two looks would change the order
    assert queue.list_queue(Seat(home, ada, plain)) == queue.list_queue(Seat(home, owner, plain))
    assert queue.list_queue(Seat(home, owner, blind)).rows
    for words in ("", "r1"):
        with pytest.raises(NotAllowed, match="blind checks the queue is for the owner"):
            queue.list_queue(Seat(home, ada, blind), words)


def test_queue_counts_blind_checks_without_listing_them(home: Home, owner: int) -> None:
    rows = vector_project(home, owner, "rows", question="instance", control_share=0.2)
    view = queue.list_queue(Seat(home, owner, rows))
    assert (view.listed, view.blind, view.open) == (22, 6, 28)
    labels = vector_project(home, owner, "labels", question="cell", control_share=0.2)
    view = queue.list_queue(Seat(home, owner, labels))
    with opened(home, owner, labels) as learner:
        assert (view.open, view.blind) == (learner.pool.open.sum(), learner.pool.control_cells.sum())
    assert 0 < view.listed <= view.open - view.blind
    found = queue.list_queue(Seat(home, owner, labels), view.rows[0].row_id)
    assert found.matching < view.listed
    assert (found.listed, found.open, found.blind) == (view.listed, view.open, view.blind)


# Questions about label vectors have one form


def test_label_vectors_have_one_question_form(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    assert room.forms_of(seat) is None
    with seat.learner() as opened:
        assert opened.kind.FORMS is None


# Questions about labels that may all be right have no shortlists


def test_label_vectors_have_no_shortlists(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with seat.learner() as opened:
        assert opened.kind.SHORTLISTS is None
    assert room.shortlists_of(seat) is None


# Label vectors in words


def test_every_question_and_criterion_is_named() -> None:
    assert set(settings.QUESTIONS) == set(QUESTION_ENTRIES)
    assert set(settings.CRITERIA) == set(CRITERION_ENTRIES)
    reasons = [settings.reason(name) for name in CRITERION_ENTRIES]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)
    assert settings.CLASSES is None
    assert "label" in label_vectors.WORDS.classes
