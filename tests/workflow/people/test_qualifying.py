"""Qualification: known rows first, judged at once, in no log; enough right lets a person start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.workflow.four import four_class_project, log
from tests.workflow.world import annotator
from workflow import kinds
from workflow.answering import loop, undoing
from workflow.answering.loop import AnswerError, NotQualified, StaleQuestion
from workflow.answering.room import change_room, room_of
from workflow.people import examples, qualification
from workflow.people.examples import QUALIFICATION
from workflow.people.qualification import Judged, QualificationRule
from workflow.projects import managing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

ROWS = 5


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    """The owner at a project with rows marked for the qualification."""
    here = Seat(home, owner, four_class_project(home, owner))
    marked = 0
    while marked < ROWS:
        question = loop.next_question(here)
        saved = loop.submit_answer(here, question.token, "is", question.choices[:1])
        if examples.marking(here, saved.row).labels:
            examples.mark(here, saved.row, saved.labels[0], f"note {saved.row}", QUALIFICATION)
            marked += 1
    return here


@pytest.fixture
def ada(seat: Seat) -> Seat:
    return Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)


def truth(seat: Seat) -> dict[int, str]:
    with seat.learner() as opened:
        return {one.view.row: one.label for one in examples.standing_examples(opened, QUALIFICATION)}


def answer(person: Seat, known: dict[int, str], *, right: bool = True) -> Judged:
    now = qualification.now(person)
    assert now is not None
    assert now.token is not None
    assert now.view is not None
    label = known[now.view.row]
    return qualification.judge(
        person, now.token, label if right else next(one for one in now.choices if one != label)
    )


def test_nobody_is_kept_out_where_the_owner_wants_no_qualification(seat: Seat, ada: Seat) -> None:
    assert qualification.now(ada) is None
    qualification.begin(ada)
    assert loop.next_question(ada) is not None
    assert qualification.overview(seat).rule is None


def test_before_it_nothing_is_asked_or_answered(seat: Seat, ada: Seat) -> None:
    question = loop.next_question(ada)
    qualification.change_rule(seat, QualificationRule(2, 1))
    for act in (
        lambda: loop.next_question(ada),
        lambda: loop.ask_next(ada, question.view.row),
        lambda: loop.submit_answer(ada, question.token, "skip"),
    ):
        with pytest.raises(NotQualified, match="you answer a few known rows"):
            act()
    assert loop.next_question(seat) is not None, "the owner needs none"
    assert not [entry for entry in log(seat.home, seat.project_id or 0) if entry.person_id == ada.person_id]


def test_enough_right_lets_a_person_start_and_nothing_of_it_is_in_the_log(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(3, 0.6))
    known, before = truth(seat), log(seat.home, seat.project_id or 0)
    now = qualification.now(ada)
    assert now is not None
    assert (now.rows, now.needed, now.token, now.view, now.tried) == (3, 2, None, None, 0)
    qualification.begin(ada)
    first = answer(ada, known, right=False)
    assert (first.right, first.over, first.n_right, first.number) == (False, False, 0, 1)
    assert (first.label, first.note) == (known[first.view.row], f"note {first.view.row}")
    qualification.begin(ada)
    again = qualification.now(ada)
    assert again is not None
    assert (again.number, again.right) == (2, 0), "what is under way stays"
    assert answer(ada, known).right
    with pytest.raises(NotQualified):
        loop.next_question(ada)
    last = answer(ada, known)
    assert (last.over, last.passed, last.n_right) == (True, True, 2)
    assert qualification.now(ada) is None
    assert loop.next_question(ada) is not None
    assert log(seat.home, seat.project_id or 0) == before
    (person,) = qualification.overview(seat).people
    assert (person.name, person.state, person.may_start) == ("Ada", "passed: 2 of 3 right, attempt 1", True)


def test_another_try_has_other_rows(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(2, 1))
    known, seen = truth(seat), []
    for attempt in range(3):
        qualification.begin(ada)
        rows = [answer(ada, known, right=False).view.row for _ in range(2)]
        assert len(set(rows)) == 2
        seen.append(set(rows))
        now = qualification.now(ada)
        assert now is not None
        assert (now.token, now.tried, now.right) == (None, attempt + 1, 0)
    assert not seen[0] & seen[1]
    assert not (seen[2] & seen[0] and seen[2] & seen[1]), "of five rows one is new, then come the oldest"
    assert qualification.overview(seat).people[0].state == "not passed: 0 of 2 right, attempt 3"
    with pytest.raises(NotQualified):
        loop.next_question(ada)


def test_an_answer_counts_once(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(2, 1))
    with pytest.raises(StaleQuestion, match="no longer asked"):
        qualification.judge(ada, "qualification.1.1", "ant")
    qualification.begin(ada)
    now = qualification.now(ada)
    assert now is not None
    assert now.token is not None
    with pytest.raises(AnswerError, match="An answer is one of"):
        qualification.judge(ada, now.token, "no such class")
    qualification.judge(ada, now.token, now.choices[0])
    with pytest.raises(StaleQuestion):
        qualification.judge(ada, now.token, now.choices[0])
    then = qualification.now(ada)
    assert then is not None
    assert then.number == 2


def test_the_choices_are_those_of_a_question(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(ROWS, 1))
    known = truth(seat)
    qualification.begin(ada)
    for _ in range(ROWS):
        now = qualification.now(ada)
        assert now is not None
        assert now.view is not None
        with seat.learner() as opened:
            original = opened.learner.state(now.view.row).original
        assert set(now.choices) == {*original, known[now.view.row]}
        answer(ada, known)
    assert loop.next_question(ada) is not None


def test_a_row_whose_mark_is_gone_is_not_asked(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(2, 1))
    qualification.begin(ada)
    now = qualification.now(ada)
    assert now is not None
    assert now.view is not None
    assert now.token is not None
    examples.unmark(seat, now.view.row)
    with pytest.raises(StaleQuestion):
        qualification.judge(ada, now.token, now.choices[0])
    anew = qualification.now(ada)
    assert anew is not None
    assert anew.token is None
    qualification.begin(ada)
    known = truth(seat)
    assert answer(ada, known).number == 1
    assert answer(ada, known).passed


def test_without_rows_nobody_is_kept_out(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(2, 1))
    for row in truth(seat):
        examples.unmark(seat, row)
    assert qualification.now(ada) is None
    assert loop.next_question(ada) is not None


def test_who_has_answered_before_goes_on(seat: Seat, ada: Seat) -> None:
    question = loop.next_question(ada)
    loop.submit_answer(ada, question.token, "is", question.choices[:1])
    qualification.change_rule(seat, QualificationRule(2, 1))
    assert loop.next_question(ada) is not None
    undoing.undo(ada)
    assert loop.next_question(ada) is not None
    assert qualification.overview(seat).people[0].state == "has answered here before"


def test_a_qualifying_row_needs_an_answer_that_stands(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(ROWS, 0.5))
    row = min(truth(seat))
    opened = reviewing.open_row(seat, row)
    reviewing.correct(seat, row, opened.token, "bad")
    assert row not in truth(seat)
    now = qualification.now(ada)
    assert now is not None
    assert (now.rows, now.needed) == (ROWS - 1, 2)


def test_every_kind_says_whether_it_has_qualifications() -> None:
    assert {name: kind.CAN_QUALIFY for name, kind in kinds.KINDS.items()} == {
        "one_label": True,
        "label_vectors": False,
    }


def test_the_rule_outlives_a_change_of_the_room(seat: Seat) -> None:
    rule = QualificationRule(2, 0.8)
    qualification.change_rule(seat, rule)
    change_room(seat, replace(room_of(seat), guidelines="new"))
    assert room_of(seat).qualification == rule
    assert managing.get_project(seat).name == "four"


def pass_all(person: Seat, known: Callable[[], dict[int, str]]) -> None:
    qualification.begin(person)
    while qualification.now(person) is not None:
        answer(person, known())


def test_each_has_their_own_attempts(seat: Seat, ada: Seat) -> None:
    qualification.change_rule(seat, QualificationRule(2, 1))
    bob = Seat(seat.home, annotator(seat.home, seat.person_id, "Bob"), seat.project_id)
    pass_all(ada, lambda: truth(seat))
    assert loop.next_question(ada) is not None
    with pytest.raises(NotQualified):
        loop.next_question(bob)
