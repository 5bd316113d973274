"""Several people at the same rows: who is shown what, for how long, and what is stored of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from db import questions
from plcore.loop import Place
from tests.workflow.world import opened, small_project, somebody
from workflow.access import Role
from workflow.answering import loop, undoing
from workflow.answering.history import OwnLog
from workflow.log.verifying import verify_project
from workflow.people import members
from workflow.projects import managing, standing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def people(home: Home, owner: int) -> list[int]:
    """Of this Winnow, and of no project yet."""
    return [somebody(home, owner, name) for name in ("Ada", "Ben", "Cem")]


def shared(home: Home, owner: int, people: list[int], project: int) -> int:
    members.give_role(Seat(home, owner, project), people, Role.ANNOTATOR)
    return project


def doubled(home: Home, owner: int, people: list[int], **settings: object) -> int:
    made = small_project(home, owner, overlap=2, fold="majority", test_share=0.5, **settings)
    return shared(home, owner, people, made)


def press(seat: Seat, label: str | None = None) -> int | None:
    """Answer what is asked, its first choice or this one; the row, None where nothing was asked."""
    question = loop.next_question(seat)
    if question is None:
        return None
    loop.submit_answer(seat, question.token, "is", [label or question.choices[0]])
    return int(question.view.row)


def test_as_many_see_a_row_as_it_waits_for_and_no_more(home: Home, owner: int, people: list[int]) -> None:
    project = doubled(home, owner, people)
    ada, ben, cem = (Seat(home, one, project) for one in people)
    first = loop.next_question(ada)
    assert first is not None
    assert loop.ask_next(ben, first.view.row).choices == first.choices
    with pytest.raises(loop.AnswerError, match="before somebody else"):
        loop.ask_next(cem, first.view.row)
    loop.submit_answer(ada, first.token, "is", [first.choices[0]])
    again = loop.next_question(ben)
    assert again is not None
    assert (again.view.row, again.choices) == (first.view.row, first.choices)
    with pytest.raises(loop.AnswerError, match="before somebody else"):
        loop.ask_next(cem, first.view.row)
    loop.submit_answer(ben, again.token, "is", [first.choices[-1]])
    with pytest.raises(loop.AnswerError, match="no longer open"):
        loop.ask_next(cem, first.view.row)
    with opened(home, owner, project) as learner:
        assert learner.state(first.view.row).candidates == (first.choices[0], first.choices[-1])


def test_everybody_goes_on_until_nothing_is_left_and_the_log_holds(
    home: Home, owner: int, people: list[int]
) -> None:
    project = doubled(home, owner, people)
    seats = [Seat(home, one, project) for one in people]
    told: set[tuple[int, int]] = set()
    busy = list(seats)
    while busy:
        for seat in tuple(busy):
            row = press(seat)
            if row is None:
                busy.remove(seat)
                continue
            assert (row, seat.person_id) not in told
            told.add((row, seat.person_id))
    with opened(home, owner, project) as learner:
        asked = [row for row, _ in told]
        assert set(asked) == set(learner.pool.train[learner.original[learner.pool.train].sum(axis=1) >= 2])
        assert all(asked.count(row) == 2 for row in asked)
        assert learner.done
    assert verify_project(Seat(home, owner, project))[0].entries == len(told)
    summary = managing.get_project(Seat(home, owner, project))
    assert (summary.answered, summary.left) == (len(set(asked)), 0)


def test_undo_and_redo_are_about_ones_own_answers(home: Home, owner: int, people: list[int]) -> None:
    project = doubled(home, owner, people)
    ada, ben = (Seat(home, one, project) for one in people[:2])
    row = press(ada)
    assert row is not None
    assert press(ben) == row
    undone = undoing.undo(ada)
    assert undone is not None
    assert loop.next_question(ada).view.row == row  # type: ignore[union-attr]
    again = undoing.redo(ada)
    assert again is not None
    assert again.kind == "is"
    with opened(home, owner, project) as learner:
        assert [one.annotator for one in learner.state(row).entries] == [str(people[1]), str(people[0])]


def test_a_row_is_handed_back_on_leaving_and_kept_as_long_as_the_person_needs(
    home: Home, owner: int, people: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = shared(home, owner, people, small_project(home, owner))
    ada, ben = (Seat(home, one, project) for one in people[:2])
    first = loop.next_question(ada)
    assert first is not None
    loop.leave(ada)
    assert loop.next_question(ben).view.row == first.view.row  # type: ignore[union-attr]
    assert loop.next_question(ada).view.row != first.view.row  # type: ignore[union-attr]

    monkeypatch.setattr(OwnLog, "pace", 100.0)
    shown = loop.ask_next(ben, first.view.row)
    assert shown.view.row == first.view.row
    with home.database.read() as session:
        stored = questions.get(session, project, ben.person_id)
        assert stored is not None
        assert stored.reserved_until - stored.reserved_at == timedelta(seconds=300)


def test_people_begin_to_answer_for_themselves_where_the_owner_says_so(
    home: Home, owner: int, people: list[int]
) -> None:
    project = shared(home, owner, people, small_project(home, owner))
    ada, ben = (Seat(home, one, project) for one in people[:2])
    question = loop.next_question(ada)
    assert question is not None
    loop.submit_answer(ada, question.token, "not", [question.choices[0]])
    here = Seat(home, owner, project)
    managing.change_learner(here, overlap=2, fold="majority")
    assert managing.learner_settings(here)["own_since"] == 1
    assert loop.ask_next(ben, question.view.row).choices == question.choices
    managing.change_learner(here, overlap=1, fold="latest")
    assert managing.learner_settings(here)["own_since"] == 1, "what was said alone stays said alone"
    assert verify_project(here)[0].entries == 1


def test_nobody_takes_the_place_of_who_has_ruled_out_one_label_of_three(
    home: Home, owner: int, people: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the answer and the question that is shown again others may come: they are other transactions."""
    project = doubled(home, owner, people, strategy="mp")
    ada, ben, cem = (Seat(home, one, project) for one in people)
    question = loop.next_question(ada)
    assert question is not None
    assert len(question.choices) == 3
    row = question.view.row
    loop.ask_next(ben, row)
    refused, show_again = [], loop.show_again

    def others_come_first(seat: Seat, place: Place) -> None:
        with pytest.raises(loop.AnswerError, match="before somebody else"):
            loop.ask_next(cem, row)
        refused.append(row)
        show_again(seat, place)

    monkeypatch.setattr(loop, "show_again", others_come_first)
    loop.submit_answer(ada, question.token, "not", question.choices[:1])
    assert refused == [row]
    again = loop.next_question(ada)
    assert again is not None
    assert (again.view.row, again.choices) == (row, question.choices[1:])
    loop.submit_answer(ada, again.token, "not", again.choices[:1])
    assert refused == [row], "nothing is left to ask her"
    assert loop.next_question(ben).view.row == row  # type: ignore[union-attr]


def test_review_shows_a_person_what_is_theirs_alone(home: Home, owner: int, people: list[int]) -> None:
    project = doubled(home, owner, people)
    ada, ben = (Seat(home, one, project) for one in people[:2])
    row = press(ben)
    assert row is not None
    shown = loop.ask_next(ada, row)
    loop.submit_answer(ada, shown.token, "unsure")
    seen = reviewing.open_row(ada, row)
    assert seen.candidates == shown.choices
    assert not seen.out
    assert reviewing.open_row(Seat(home, owner, project), row).candidates == (shown.choices[0],)


def test_an_answer_taken_back_is_not_given_again_where_others_have_answered(
    home: Home, owner: int, people: list[int]
) -> None:
    project = doubled(home, owner, people)
    ada, ben, cem = (Seat(home, one, project) for one in people)
    row = press(ada)
    assert row is not None
    assert press(ben) == row
    undoing.undo(ada)
    loop.leave(ada)
    loop.submit_answer(cem, loop.ask_next(cem, row).token, "is", [loop.ask_next(cem, row).choices[0]])
    assert undoing.redo(ada) is None
    (mine,) = standing.standing(ada).history
    with pytest.raises(loop.StaleQuestion):
        undoing.redo(ada, mine.seq)
    with opened(home, owner, project) as learner:
        assert {one.annotator for one in learner.state(row).entries} == {str(people[1]), str(people[2])}
