"""One call for an answer equals answer, next question, standing and day one by one; a failure of the latter never loses
it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.orm import Session

from tests.workflow.four import four_class_project
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import count_entries
from workflow.answering import loop, undoing
from workflow.answering import press as pressing
from workflow.answering.loop import AnswerError, NotSaved, StaleQuestion
from workflow.answering.press import Next, Pressed
from workflow.people import goals
from workflow.projects import standing
from workflow.saving import saving
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.shelf import Slot


@pytest.fixture(autouse=True)
def no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent models fitted meanwhile from arriving between two looks."""
    monkeypatch.setattr(Slot, "take_news", lambda *_, **__: None)


def press(world: KindWorld, seat: Seat, question: Any, kind: str | None = None) -> Pressed:
    """Give the right answer, or one of this kind."""
    if kind is None:
        given = world.true(question)
        kind, labels = given.kind, given.labels
    else:
        labels = world.labels(kind, question)
    return pressing.press(seat, question.token, kind, labels, shown=question.shown, zone="Europe/Berlin")


def check(seat: Seat, done: Pressed) -> Next:
    """The reply to a click equals the current output of the use cases."""
    after = done.after
    assert after is not None
    assert after.question == loop.next_question(seat)
    assert after.standing == standing.standing(seat)
    assert after.day == goals.day(seat, "Europe/Berlin")
    assert after.standing.last == done.saved
    return after


def test_press_returns_same_as_single_use_cases(world: KindWorld, seat: Seat, ada: Seat) -> None:
    question, hers = loop.next_question(seat), loop.next_question(ada)
    kinds = (
        *world.ANSWERS,
        *(one for one in world.ANSWERS if one != "none"),
    )  # it needs a class that is not a candidate
    for number, kind in enumerate(kinds):
        question = check(seat, press(world, seat, question, kind)).question
        if number % 3 == 0:
            undoing.undo(seat)
            question = loop.next_question(seat)
            hers = check(ada, press(world, ada, hers)).question
    for _ in range(200):
        if question is None:
            break
        question = check(seat, press(world, seat, question)).question
    assert question is None, "nothing is left to ask them"


def test_standing_is_computed_after_commit_without_queries(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked, sessions = pressing.standing_in, list[str](), list[Session]()

    def watched(opened: Any, reserved: Any) -> Any:
        assert not opened.session.in_transaction()
        sessions.append(opened.session)
        with monkeypatch.context() as during:
            during.setattr(Session, "execute", lambda *_given, **_named: asked.append("something"))
            return real(opened, reserved)

    question = loop.next_question(seat)
    with monkeypatch.context() as other:
        other.setattr(pressing, "standing_in", watched)
        first = press(world, seat, question)
        assert first.after is not None
        press(world, seat, first.after.question)
    assert (len(sessions), asked) == (2, [])


def test_double_click_is_stored_once(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    first = press(world, seat, question)
    stored = count_entries(seat.home)
    second = press(world, seat, question)
    assert replace(second.saved, denied=()) == replace(first.saved, repeated=True)
    assert (second.after, count_entries(seat.home)) == (first.after, stored)
    with pytest.raises(StaleQuestion):
        pressing.press(seat, "9.9.9", "skip")
    with pytest.raises(AnswerError):
        pressing.press(seat, "9.9.9", "perhaps")
    assert count_entries(seat.home) == stored


def test_press_sees_answers_of_another_process(world: KindWorld, seat: Seat) -> None:
    other = open_home(seat.home.settings)
    there = Seat(other, seat.person_id, seat.project_id)
    try:
        question = loop.next_question(seat)
        for place in (there, seat, there, there, seat):
            question = check(place, press(world, place, question)).question
    finally:
        other.close()


def test_answer_is_stored_if_next_question_cannot_be(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = loop.next_question(seat)
    turns: list[int] = []

    def full_at_the_second(home: Home, **how: bool) -> Any:
        turns.append(1)
        if len(turns) > 1:
            raise NotSaved("The disk is full.")
        return saving(home, **how)

    with monkeypatch.context() as full:
        full.setattr("workflow.kinds.opening.saving", full_at_the_second)
        done = press(world, seat, question)
    assert done.after is None
    assert standing.standing(seat).last == done.saved
    assert loop.next_question(seat) != question


def test_press_needs_passed_qualification(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat(home, owner, four_class_project(home, owner))
    question = loop.next_question(seat)

    def refuse(_opened: object) -> None:
        raise loop.NotQualified("Not yet.")

    monkeypatch.setattr(pressing, "require_qualified", refuse)
    done = pressing.press(seat, question.token, "skip")
    assert (done.saved.kind, done.after) == ("skip", None), "the rule came between the two"
    monkeypatch.setattr(loop, "require_qualified", refuse)
    with pytest.raises(loop.NotQualified):
        pressing.press(seat, question.token, "skip")
