"""Examples and qualification of annotators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.present import present
from tests.workflow.four import four_class_project
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, log, small_project
from workflow import kinds
from workflow.access import NotFound
from workflow.answering import loop, undoing
from workflow.answering.loop import AnswerError, NotQualified, StaleQuestion
from workflow.answering.room import change_room, room_of
from workflow.answering.room_settings import RoomError, RoomSettings
from workflow.people import examples, qualification, team
from workflow.people.examples import EXAMPLE, NOTE_LENGTH, QUALIFICATION
from workflow.people.qualification import Judged, QualificationRule
from workflow.projects import managing
from workflow.projects.classes import change_classes, classes_view
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

# Qualification: known rows first, judged at once, in no log; enough right lets a person start


ROWS = 5


@pytest.fixture
def qualifying_seat(home: Home, owner: int) -> Seat:
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
def qualifying_ada(qualifying_seat: Seat) -> Seat:
    return Seat(
        qualifying_seat.home,
        annotator(qualifying_seat.home, qualifying_seat.person_id, "Ada"),
        qualifying_seat.project_id,
    )


def truth(seat: Seat) -> dict[int, str]:
    with seat.learner() as opened:
        return {one.view.row: one.label for one in examples.standing_examples(opened, QUALIFICATION)}


def answer(person: Seat, known: dict[int, str], *, right: bool = True) -> Judged:
    now = present(qualification.now(person))
    assert now.token is not None
    assert now.view is not None
    label = known[now.view.row]
    return qualification.judge(person, now.token, label if right else next(one for one in now.choices if one != label))


def test_no_qualification_is_needed_without_rule(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    assert qualification.now(qualifying_ada) is None
    qualification.begin(qualifying_ada)
    assert loop.next_question(qualifying_ada) is not None
    assert qualification.overview(qualifying_seat).rule is None


def test_unqualified_person_cannot_ask_or_answer(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    question = loop.next_question(qualifying_ada)
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    for act in (
        lambda: loop.next_question(qualifying_ada),
        lambda: loop.ask_next(qualifying_ada, question.view.row),
        lambda: loop.submit_answer(qualifying_ada, question.token, "skip"),
    ):
        with pytest.raises(NotQualified, match="you answer a few known rows"):
            act()
    assert loop.next_question(qualifying_seat) is not None, "the owner needs none"
    assert not [
        entry
        for entry in log(qualifying_seat.home, qualifying_seat.project_id or 0)
        if entry.person_id == qualifying_ada.person_id
    ]


def test_passed_qualification_admits_and_is_not_logged(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(3, 0.6))
    known, before = truth(qualifying_seat), log(qualifying_seat.home, qualifying_seat.project_id or 0)
    now = present(qualification.now(qualifying_ada))
    assert (now.rows, now.needed, now.token, now.view, now.tried) == (3, 2, None, None, 0)
    qualification.begin(qualifying_ada)
    first = answer(qualifying_ada, known, right=False)
    assert (first.right, first.over, first.n_right, first.number) == (False, False, 0, 1)
    assert (first.label, first.note) == (known[first.view.row], f"note {first.view.row}")
    qualification.begin(qualifying_ada)
    again = present(qualification.now(qualifying_ada))
    assert (again.number, again.right) == (2, 0), "what is under way stays"
    assert answer(qualifying_ada, known).right
    with pytest.raises(NotQualified):
        loop.next_question(qualifying_ada)
    last = answer(qualifying_ada, known)
    assert (last.over, last.passed, last.n_right) == (True, True, 2)
    assert qualification.now(qualifying_ada) is None
    assert loop.next_question(qualifying_ada) is not None
    assert log(qualifying_seat.home, qualifying_seat.project_id or 0) == before
    (person,) = qualification.overview(qualifying_seat).people
    assert (person.name, person.state, person.may_start) == ("Ada", "passed: 2 of 3 right, attempt 1", True)


def test_second_attempt_has_other_rows(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    known, seen = truth(qualifying_seat), []
    for attempt in range(3):
        qualification.begin(qualifying_ada)
        rows = [answer(qualifying_ada, known, right=False).view.row for _ in range(2)]
        assert len(set(rows)) == 2
        seen.append(set(rows))
        now = present(qualification.now(qualifying_ada))
        assert (now.token, now.tried, now.right) == (None, attempt + 1, 0)
    assert not seen[0] & seen[1]
    assert not (seen[2] & seen[0] and seen[2] & seen[1]), "of five rows one is new, then come the oldest"
    assert qualification.overview(qualifying_seat).people[0].state == "not passed: 0 of 2 right, attempt 3"
    with pytest.raises(NotQualified):
        loop.next_question(qualifying_ada)


def test_qualification_answer_counts_once(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    with pytest.raises(StaleQuestion, match="no longer asked"):
        qualification.judge(qualifying_ada, "qualification.1.1", "ant")
    qualification.begin(qualifying_ada)
    now = present(qualification.now(qualifying_ada))
    assert now.token is not None
    with pytest.raises(AnswerError, match="An answer is one of"):
        qualification.judge(qualifying_ada, now.token, "no such class")
    qualification.judge(qualifying_ada, now.token, now.choices[0])
    with pytest.raises(StaleQuestion):
        qualification.judge(qualifying_ada, now.token, now.choices[0])
    then = present(qualification.now(qualifying_ada))
    assert then.number == 2


def test_qualification_choices_match_question(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(ROWS, 1))
    known = truth(qualifying_seat)
    qualification.begin(qualifying_ada)
    for _ in range(ROWS):
        now = present(qualification.now(qualifying_ada))
        assert now.view is not None
        with qualifying_seat.learner() as opened:
            original = opened.learner.state(now.view.row).original
        assert set(now.choices) == {*original, known[now.view.row]}
        answer(qualifying_ada, known)
    assert loop.next_question(qualifying_ada) is not None


def test_unmarked_row_is_not_asked(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    qualification.begin(qualifying_ada)
    now = present(qualification.now(qualifying_ada))
    assert now.view is not None
    assert now.token is not None
    examples.unmark(qualifying_seat, now.view.row)
    with pytest.raises(StaleQuestion):
        qualification.judge(qualifying_ada, now.token, now.choices[0])
    anew = present(qualification.now(qualifying_ada))
    assert anew.token is None
    qualification.begin(qualifying_ada)
    known = truth(qualifying_seat)
    assert answer(qualifying_ada, known).number == 1
    assert answer(qualifying_ada, known).passed


def test_no_qualification_is_needed_without_marked_rows(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    for row in truth(qualifying_seat):
        examples.unmark(qualifying_seat, row)
    assert qualification.now(qualifying_ada) is None
    assert loop.next_question(qualifying_ada) is not None


def test_person_with_earlier_answers_needs_no_qualification(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    question = loop.next_question(qualifying_ada)
    loop.submit_answer(qualifying_ada, question.token, "is", question.choices[:1])
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    assert loop.next_question(qualifying_ada) is not None
    undoing.undo(qualifying_ada)
    assert loop.next_question(qualifying_ada) is not None
    assert qualification.overview(qualifying_seat).people[0].state == "has answered here before"


def test_qualifying_row_needs_valid_answer(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(ROWS, 0.5))
    row = min(truth(qualifying_seat))
    opened = reviewing.open_row(qualifying_seat, row)
    reviewing.correct(qualifying_seat, row, opened.token, "bad")
    assert row not in truth(qualifying_seat)
    now = present(qualification.now(qualifying_ada))
    assert (now.rows, now.needed) == (ROWS - 1, 2)


def test_every_kind_says_whether_it_has_qualifications() -> None:
    assert {name: kind.CAN_QUALIFY for name, kind in kinds.KINDS.items()} == {"one_label": True, "label_vectors": False}


def test_qualification_rule_survives_room_change(qualifying_seat: Seat) -> None:
    rule = QualificationRule(2, 0.8)
    qualification.change_rule(qualifying_seat, rule)
    change_room(qualifying_seat, replace(room_of(qualifying_seat), guidelines="new"))
    assert room_of(qualifying_seat).qualification == rule
    assert managing.get_project(qualifying_seat).name == "four"


def pass_all(person: Seat, known: Callable[[], dict[int, str]]) -> None:
    qualification.begin(person)
    while qualification.now(person) is not None:
        answer(person, known())


def test_attempts_belong_to_each_person(qualifying_seat: Seat, qualifying_ada: Seat) -> None:
    qualification.change_rule(qualifying_seat, QualificationRule(2, 1))
    bob = Seat(
        qualifying_seat.home,
        annotator(qualifying_seat.home, qualifying_seat.person_id, "Bob"),
        qualifying_seat.project_id,
    )
    pass_all(qualifying_ada, lambda: truth(qualifying_seat))
    assert loop.next_question(qualifying_ada) is not None
    with pytest.raises(NotQualified):
        loop.next_question(bob)


# The owner's side of qualification: the rules, the results, and exceptions


@pytest.fixture
def marked(world: KindWorld, seat: Seat) -> int:
    """A row marked for it; kinds without qualifications are skipped if one is needed."""
    while not examples.marking(seat, row := world.answer(seat).row).labels:
        pass
    label = examples.marking(seat, row).labels[0]
    if kinds.KINDS[world.kind].CAN_QUALIFY:
        examples.mark(seat, row, label, purpose=QUALIFICATION)
    return row


def test_kind_without_qualification_admits_everyone(world: KindWorld, seat: Seat, ada: Seat, marked: int) -> None:
    possible = kinds.KINDS[world.kind].CAN_QUALIFY
    assert qualification.overview(seat).possible == possible
    if possible:
        qualification.change_rule(seat, QualificationRule(1, 1))
        with pytest.raises(loop.NotQualified):
            loop.next_question(ada)
    else:
        with pytest.raises(RoomError, match="so it has no qualification"):
            qualification.change_rule(seat, QualificationRule(1, 1))
        assert qualification.now(ada) is None
        assert loop.next_question(ada) is not None


def test_qualification_asks_at_most_marked_rows(world: KindWorld, seat: Seat, marked: int) -> None:
    if not kinds.KINDS[world.kind].CAN_QUALIFY:
        assert qualification.overview(seat) == qualification.QualificationView(False, None, 0, ())
        return
    with pytest.raises(RoomError, match=r"asks 2 rows; marked for it: 1\. Fix: mark more"):
        qualification.change_rule(seat, QualificationRule(2, 1))
    qualification.change_rule(seat, QualificationRule(1, 0.5))
    view = qualification.overview(seat)
    assert (view.possible, view.rule, view.marked) == (True, QualificationRule(1, 0.5), 1)
    qualification.change_rule(seat, None)
    assert qualification.overview(seat).rule is None


def test_owner_sees_qualification_and_lets_people_in(world: KindWorld, seat: Seat, ada: Seat, marked: int) -> None:
    if not kinds.KINDS[world.kind].CAN_QUALIFY:
        return
    qualification.change_rule(seat, QualificationRule(1, 1))
    gone = annotator(seat.home, seat.person_id, "Gone")
    team.disable_person(Seat(seat.home, seat.person_id), gone)

    def state() -> tuple[str, bool]:
        (one,) = qualification.overview(seat).people
        assert (one.person_id, one.name) == (ada.person_id, "Ada")
        return one.state, one.may_start

    assert state() == ("has not begun", False)
    qualification.begin(ada)
    assert state() == ("answers row 1 of 1, attempt 1", False)
    now = present(qualification.now(ada))
    assert now.token is not None
    wrong = next(one for one in now.choices if one != examples.marking(seat, marked).label)
    qualification.judge(ada, now.token, wrong)
    assert state() == ("not passed: 0 of 1 right, attempt 1", False)
    qualification.admit_person(seat, ada.person_id)
    qualification.admit_person(seat, ada.person_id)
    with pytest.raises(NotFound, match="There is no person 999"):
        qualification.admit_person(seat, 999)
    assert state() == ("let in by the owner", True)
    assert qualification.now(ada) is None
    assert loop.next_question(ada) is not None


def test_invalid_qualification_rule_is_refused(subtests: pytest.Subtests) -> None:
    for rows, share in [(0, 0.5), (51, 0.5), (2.0, 0.5), (True, 0.5), (2, 0), (2, 1.1), (2, "1")]:
        with subtests.test(str(rows)), pytest.raises(RoomError, match="Got"):
            QualificationRule(rows, share)  # type: ignore[arg-type]


def test_rule_is_stored_with_room() -> None:
    room = RoomSettings("read this", qualification=QualificationRule(5, 0.8))
    assert room.to_json()["qualification"] == {"rows": 5, "share": 0.8}
    assert RoomSettings.from_json(room.to_json()) == room
    assert RoomSettings.from_json({}).qualification is None


# Examples of classes: which rows can be, who sees them, and what changes of classes and answers make of
# them


def answered(world: KindWorld, seat: Seat, n: int = 1) -> list[int]:
    """Rows whose labels come from answers and can be shown."""
    found: list[int] = []
    while len(found) < n:
        row = world.answer(seat).row
        if examples.marking(seat, row).labels and row not in found:
            found.append(row)
    return found


def shown(seat: Seat) -> list[tuple[int, str, str]]:
    return [(one.view.row, one.label, one.note) for one in examples.class_examples(seat)]


def test_marked_row_is_shown_to_all_with_its_class_and_note(world: KindWorld, seat: Seat, ada: Seat) -> None:
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


def test_example_is_hidden_from_person_asked_about_it(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    saved = loop.submit_answer(seat, question.token, "is", [question.choices[0]])
    if not examples.marking(seat, saved.row).labels:  # a blind check
        saved = loop.submit_answer(seat, (asked := loop.next_question(seat)).token, "is", asked.choices[:1])
    examples.mark(seat, saved.row, saved.labels[0])
    assert [row for row, *_ in shown(seat)] == [saved.row]
    undoing.undo(seat)
    assert loop.next_question(seat).view.row == saved.row
    assert shown(seat) == [], "its answer was withdrawn, and it is asked again"
    undoing.redo(seat)
    assert [row for row, *_ in shown(seat)] == [saved.row]


def test_row_awaiting_more_answers_is_no_example(home: Home, owner: int) -> None:
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


def test_undecided_row_cannot_be_marked(world: KindWorld, seat: Seat) -> None:
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


def test_blind_check_of_cell_is_not_revealed(world: KindWorld, seat: Seat) -> None:
    """For label vectors a row may have blind cells next to others."""
    for row in answered(world, seat, 3):
        with seat.learner() as opened:
            blind = opened.learner.pool.blind_rows
            assert blind.shape == (opened.learner.table.n_rows,)
            told = opened.learner.pool.answered_labels(row)
        assert examples.marking(seat, row).labels == told


def test_example_follows_class_changes_and_withdrawal(home: Home, owner: int, project: int) -> None:
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


def test_only_rows_with_one_true_label_qualify(world: KindWorld, seat: Seat) -> None:
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


def test_examples_are_in_class_order(world: KindWorld, seat: Seat) -> None:
    rows = answered(world, seat, 4)
    for row in rows:
        examples.mark(seat, row, examples.marking(seat, row).labels[0])
    with seat.learner() as opened:
        order = list(opened.learner.classes)
    found = [(order.index(label), row) for row, label, _ in shown(seat)]
    assert found == sorted(found)
    assert len(found) == 4
