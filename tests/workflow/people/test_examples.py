"""Examples of classes: which rows can be, who sees them, and what changes of classes and answers make of them."""

from __future__ import annotations

import pytest

from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, small_project
from workflow import kinds
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, undoing
from workflow.people import examples
from workflow.people.examples import EXAMPLE, NOTE_LENGTH, QUALIFICATION
from workflow.projects import managing
from workflow.projects.classes import change_classes, classes_view
from workflow.rows import reviewing
from workflow.rows.reviewing import AnswerError
from workflow.seat import Seat
from workflow.server.home import Home


def answered(world: KindWorld, seat: Seat, n: int = 1) -> list[int]:
    """Rows that answers have given labels which can be shown."""
    found: list[int] = []
    while len(found) < n:
        row = world.answer(seat).row
        if examples.marking(seat, row).labels and row not in found:
            found.append(row)
    return found


def shown(seat: Seat) -> list[tuple[int, str, str]]:
    return [(one.view.row, one.label, one.note) for one in examples.class_examples(seat)]


def test_a_marked_row_is_shown_to_all_with_its_class_and_note(
    world: KindWorld, seat: Seat, ada: Seat
) -> None:
    (row,) = answered(world, seat)
    assert shown(ada) == []
    label = examples.marking(seat, row).labels[0]
    examples.mark(seat, row, label, "  look at \n the wing ")
    assert shown(seat) == shown(ada) == [(row, label, "look at the wing")]
    now = examples.marking(seat, row)
    assert (now.purpose, now.label, now.note, now.why_not) == (EXAMPLE, label, "look at the wing", "")
    examples.unmark(seat, row)
    examples.unmark(seat, row)
    assert shown(ada) == []
    assert examples.marking(seat, row).purpose is None


def test_a_row_is_never_shown_to_whoever_is_asked_about_it(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    saved = loop.submit_answer(seat, question.token, "is", [question.choices[0]])
    if not examples.marking(seat, saved.row).labels:  # a blind check
        saved = loop.submit_answer(seat, (asked := loop.next_question(seat)).token, "is", asked.choices[:1])
    examples.mark(seat, saved.row, saved.labels[0])
    assert [row for row, *_ in shown(seat)] == [saved.row]
    undoing.undo(seat)
    assert loop.next_question(seat).view.row == saved.row
    assert shown(seat) == [], "its answer was taken back, and it is asked again"
    undoing.redo(seat)
    assert [row for row, *_ in shown(seat)] == [saved.row]


def test_a_row_that_waits_for_more_people_is_no_example(home: Home, owner: int) -> None:
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.0)
    seat, ada = Seat(home, owner, project), Seat(home, annotator(home, owner, "Ada"), project)
    question = loop.next_question(seat)
    row, label = question.view.row, question.choices[0]
    loop.submit_answer(seat, question.token, "is", [label])
    with pytest.raises(AnswerError, match="waits for the answers of more people"):
        examples.mark(seat, row, label)
    asked = loop.next_question(ada)
    assert asked.view.row == row
    loop.submit_answer(ada, asked.token, "is", [label])
    examples.mark(seat, row, label)
    assert shown(ada) == [(row, label, "")]
    managing.change_learner(seat, overlap=3)
    assert shown(ada) == [], "a third is asked now"
    assert not examples.marking(seat, row).labels


def test_what_is_not_decided_cannot_be_marked(world: KindWorld, seat: Seat) -> None:
    row = loop.next_question(seat).view.row
    assert examples.marking(seat, row).labels == ()
    with pytest.raises(AnswerError, match="once answers have decided"):
        examples.mark(seat, row, "ant")
    with pytest.raises(NotFound, match="There is no row"):
        examples.mark(seat, 10_000, "ant")
    (row,) = answered(world, seat)
    with pytest.raises(AnswerError, match="by its answers, not 'no such class'"):
        examples.mark(seat, row, "no such class")
    with pytest.raises(AnswerError, match=f"at most {NOTE_LENGTH} characters"):
        examples.mark(seat, row, examples.marking(seat, row).labels[0], "x" * (NOTE_LENGTH + 1))


def test_test_rows_and_blind_checks_cannot_be_marked(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.3, test_share=0.3))
    with seat.learner() as opened:
        pool = opened.learner.pool
        test_row = int(pool.test_rows.nonzero()[0][0])
        blind = [int(row) for row in pool.control_rows.nonzero()[0] if pool.sizes[row] > 1]
    with pytest.raises(AnswerError, match="This is a test row"):
        examples.mark(seat, test_row, "ant")
    for _ in range(30):
        question = loop.next_question(seat)
        if question is None:
            break
        row = loop.submit_answer(seat, question.token, "is", question.choices[:1]).row
        if row in blind:
            with pytest.raises(AnswerError, match="This is a blind check"):
                examples.mark(seat, row, question.choices[0])
            return
    pytest.fail("no blind check was asked")


def test_a_cell_that_is_a_blind_check_is_not_told(world: KindWorld, seat: Seat) -> None:
    """Of label vectors a row may have blind cells beside others."""
    for row in answered(world, seat, 3):
        with seat.learner() as opened:
            blind = opened.learner.pool.blind_rows
            assert blind.shape == (opened.learner.table.n_rows,)
            told = opened.learner.pool.answered_labels(row)
        assert examples.marking(seat, row).labels == told


def test_an_example_follows_its_class_and_its_answer(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    saved = loop.submit_answer(seat, (asked := loop.next_question(seat)).token, "is", asked.choices[:1])
    while not examples.marking(seat, saved.row).labels:
        saved = loop.submit_answer(seat, (asked := loop.next_question(seat)).token, "is", asked.choices[:1])
    row, label = saved.row, saved.labels[0]
    examples.mark(seat, row, label, "a note")
    change_classes(seat, classes_view(seat).version, "rename", [label, "renamed"])
    assert shown(seat) == [(row, "renamed", "a note")]
    name = next(one.name for one in classes_view(seat).classes if one.name != "renamed")
    change_classes(seat, classes_view(seat).version, "merge", ["renamed", name])
    ((_, merged, _),) = shown(seat)
    assert merged in {"renamed", name}
    opened = reviewing.open_row(seat, row)
    reviewing.correct(seat, row, opened.token, "bad")
    assert shown(seat) == [], "its answer says otherwise now"
    assert examples.marking(seat, row).why_not
    assert examples.marking(seat, row).label == merged


def test_only_one_true_label_has_qualifications(world: KindWorld, seat: Seat) -> None:
    (row,) = answered(world, seat)
    label = examples.marking(seat, row).labels[0]
    if kinds.KINDS[world.kind].CAN_QUALIFY:
        assert examples.marking(seat, row).purposes == (EXAMPLE, QUALIFICATION)
        examples.mark(seat, row, label, purpose=QUALIFICATION)
        assert shown(seat) == [], "who sees it with its label need not be asked about it"
        with seat.learner() as opened:
            assert [one.view.row for one in examples.standing_examples(opened, QUALIFICATION)] == [row]
    else:
        assert examples.marking(seat, row).purposes == (EXAMPLE,)
        with pytest.raises(AnswerError, match="can be marked for example here"):
            examples.mark(seat, row, label, purpose=QUALIFICATION)


def test_marks_are_for_reviewers(world: KindWorld, seat: Seat, ada: Seat) -> None:
    (row,) = answered(world, seat)
    label = examples.marking(seat, row).labels[0]
    for act in (
        lambda: examples.mark(ada, row, label),
        lambda: examples.unmark(ada, row),
        lambda: examples.marking(ada, row),
    ):
        with pytest.raises(NotAllowed, match="Only reviewers and the owner"):
            act()


def test_examples_come_in_the_order_of_the_classes(world: KindWorld, seat: Seat) -> None:
    rows = answered(world, seat, 4)
    for row in rows:
        examples.mark(seat, row, examples.marking(seat, row).labels[0])
    with seat.learner() as opened:
        order = list(opened.learner.classes)
    found = [(order.index(label), row) for row, label, _ in shown(seat)]
    assert found == sorted(found)
    assert len(found) == 4
