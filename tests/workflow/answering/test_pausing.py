"""Pauses: seconds leave them out, the row is free meanwhile, and the question comes back where nobody took it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from db import entries, questions
from db.questions import OpenQuestion
from tests.workflow.kind_worlds import KindWorld
from workflow.answering import loop
from workflow.answering.loop import StaleQuestion
from workflow.people import goals
from workflow.projects import standing
from workflow.seat import Seat


def open_now(seat: Seat) -> OpenQuestion:
    with seat.home.database.read() as session:
        found = questions.get(session, seat.project_id or 0, seat.person_id)
    assert found is not None
    return found


def move_back(seat: Seat, **lengths: timedelta) -> None:
    """As if these moments of the open question had been so much earlier."""
    found = open_now(seat)
    moved = {name: getattr(found, name) - length for name, length in lengths.items()}
    with seat.home.database.write() as session:
        questions.put(session, OpenQuestion(**(vars(found) | moved)))


def seconds_of_last(seat: Seat) -> float:
    """What one press stores as two entries has them in the first."""
    with seat.home.database.read() as session:
        found = entries.latest(session, seat.project_id or 0, seat.person_id, 2)
    return max(one.seconds or 0 for one in found)


def test_the_seconds_leave_the_pause_out(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    loop.pause(seat, question.token)
    hour = timedelta(hours=1)
    move_back(seat, shown_at=hour + timedelta(seconds=30), reserved_at=hour, paused_at=hour)
    loop.go_on(seat)
    again = loop.next_question(seat)
    assert (again.token, again.view.row) == (question.token, question.view.row)
    assert open_now(seat).paused_at is None
    world.answer(seat, again)
    assert 30 <= seconds_of_last(seat) < 60


def test_an_answer_in_another_tab_counts_until_the_pause(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    loop.pause(seat, question.token)
    hour = timedelta(hours=1)
    move_back(seat, shown_at=hour + timedelta(seconds=30), paused_at=hour)
    world.answer(seat, question)
    assert 29 <= seconds_of_last(seat) < 60
    assert not goals.day(seat, None).paused


def test_the_row_is_free_meanwhile_and_comes_back_where_nobody_took_it(
    world: KindWorld, seat: Seat, ada: Seat
) -> None:
    question = loop.next_question(seat)
    assert loop.next_question(ada).token.split(".")[1:] != question.token.split(".")[1:]
    loop.pause(seat, question.token)
    assert standing.standing(ada).elsewhere == 0
    place = open_now(seat)
    theirs = loop.ask_next(ada, place.row, place.label, drawn=True)
    assert theirs.view.row == question.view.row
    loop.go_on(seat)
    other = loop.next_question(seat)
    assert open_now(seat).paused_at is None
    assert (open_now(seat).row, open_now(seat).label) != (place.row, place.label), "it is before Ada now"
    world.answer(ada, theirs)
    world.answer(seat, other)


def test_a_pause_is_of_the_question_on_the_screen(seat: Seat) -> None:
    with pytest.raises(StaleQuestion, match="no longer open before you"):
        loop.pause(seat, "1.1.1")
    question = loop.next_question(seat)
    with pytest.raises(StaleQuestion):
        loop.pause(seat, "1.1.1")
    loop.pause(seat, question.token)
    first = open_now(seat)
    loop.pause(seat, question.token)
    assert open_now(seat) == first, "a second press changes nothing"


def test_to_go_on_without_a_pause_changes_no_question(seat: Seat) -> None:
    question = loop.next_question(seat)
    before = open_now(seat)
    loop.go_on(seat)
    now = open_now(seat)
    # By what it was chosen may be told anew: a ranking in the background may be ready by now.
    assert (now.row, now.label, now.token) == (before.row, before.label, before.token)
    assert now.shown_at == before.shown_at
    assert loop.next_question(seat).token == question.token
