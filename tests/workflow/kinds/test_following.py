"""What one server writes, the other has taken in before anybody asks it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from db import entries
from db.engine import DatabaseUnavailableError
from tests.databases import on_postgres
from tests.workflow.pressing import press
from workflow.answering import loop
from workflow.answering.asked import Given
from workflow.kinds import opening
from workflow.kinds.opening import Follower
from workflow.seat import Seat
from workflow.server.home import Home, open_home

LONG = 60.0
"""Seconds that news may take; they come in milliseconds."""


@pytest.fixture
def other(home: Home) -> Iterator[Home]:
    """A second server on the same database."""
    opened = open_home(home.settings)
    yield opened
    opened.close()


def answer(seat: Seat) -> None:
    question = loop.next_question(seat)
    press(seat, question.token, question.choices[0])


def give_up(seat: Seat) -> None:
    loop.next_question(seat)
    with seat.turn() as turn:
        question = turn.open_now()
        turn.answer(question, Given("unsure", (), None, False, None))
        raise RuntimeError("given up")


def height_of(home: Home, project: int) -> int:
    """Seq of the last entry that the learner in memory has taken in."""
    learner = home.shelf.opened()[project].learner
    assert learner is not None
    return learner.seq


@on_postgres
def test_news_are_taken_in_before_anybody_asks(home: Home, other: Home, owner: int, project: int) -> None:
    here, there = Seat(home, owner, project), Seat(other, owner, project)
    follower = Follower(other)
    answer(there)
    answer(here)
    assert height_of(other, project) == 1
    follower.look(LONG)  # the first takes in what was missed, and listens from then on
    assert height_of(other, project) == 2
    answer(here)
    assert follower.look(LONG) == {project: 3}
    assert height_of(other, project) == 3
    answer(there)
    assert follower.look(LONG) == {project: 4}, "its own, of which there is nothing to take in"
    answer(here)
    with (
        other.shelf.opened()[project].lock,
        home.database.read() as session,
    ):  # somebody is at it: they take it in
        busy = threading.Thread(target=follower.look, args=(LONG,))
        busy.start()
        busy.join(LONG)
        assert not busy.is_alive(), "an answer is not held up, nor the follower by one"
        assert entries.last_seq(session, project) == 5
    assert height_of(other, project) == 4
    answer(there)
    assert height_of(other, project) == 6
    follower.stop()


@on_postgres
def test_what_is_undone_is_no_news(home: Home, other: Home, owner: int, project: int) -> None:
    follower = Follower(other)
    follower.look(0)
    with pytest.raises(RuntimeError, match="given up"):
        give_up(Seat(home, owner, project))
    answer(Seat(home, owner, project))
    assert follower.look(LONG) == {project: 1}
    follower.stop()


def test_much_that_was_missed_is_left_to_who_comes_next(
    home: Home, other: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = Seat(home, owner, project), Seat(other, owner, project)
    answer(there)
    for _ in range(3):
        answer(here)
    slot = other.shelf.opened()[project]
    monkeypatch.setattr(opening, "MANY", 2)
    assert not opening.take_in_news(other, project, slot)
    assert height_of(other, project) == 1
    monkeypatch.setattr(opening, "MANY", 3)
    assert opening.take_in_news(other, project, slot)
    assert height_of(other, project) == 4


def test_it_ends_and_says_once_that_postgresql_is_away(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, backend: str
) -> None:
    follower, tried = Follower(home), threading.Semaphore(0)

    def fail(seconds: float) -> None:
        tried.release()
        raise DatabaseUnavailableError(f"PostgreSQL does not tell of news now, after {seconds} s.")

    monkeypatch.setattr(follower, "look", fail)
    monkeypatch.setattr("workflow.kinds.opening.AGAIN", 0.001)
    follower.start()
    if backend != "sqlite":
        for _ in range(3):
            assert tried.acquire(timeout=LONG)
    follower.stop()
    follower.stop()
    said = [one for one in caplog.messages if "does not tell" in one]
    assert len(said) == (0 if backend == "sqlite" else 1)
