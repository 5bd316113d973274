"""A limited number run at once, the others in order; no one waits forever, and anyone who leaves gives up their
place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from queue import SimpleQueue

import pytest

from workflow.files.limited import asking
from workflow.files.limited.asking import Line, LongLine

PATIENCE = 3600
"""Seconds after which a test that hangs has failed."""


class Left(BaseException):
    """Raised as Streamlit ends the script of a closed page."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "EVERY", 0.01)


class Waiting:
    """Someone in the queue, who reports their place, and leaves when told."""

    def __init__(self, where: Line) -> None:
        self.told: SimpleQueue[int | str] = SimpleQueue()
        self.go = threading.Event()
        self.leave = threading.Event()
        self._last = -1
        self._thread = threading.Thread(target=self._wait, args=(where,), daemon=True)
        self._thread.start()

    def _wait(self, where: Line) -> None:
        try:
            with where.turn(self._tell):
                self.go.wait(PATIENCE)
        except Left:
            self.told.put("left")

    def _tell(self, before: int) -> None:
        if before != self._last:  # it is reported repeatedly
            self.told.put(before)
            self._last = before
        if self.leave.is_set():
            raise Left

    def next(self) -> int | str:
        return self.told.get(timeout=PATIENCE)

    def end(self) -> None:
        self.go.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def test_line_admits_n_at_once_in_order() -> None:
    where = Line(2)
    people = []
    for _ in range(5):
        people.append(Waiting(where))
        first = people[-1].next()  # it joins the line before the next one
        assert first == (0 if len(people) <= 2 else len(people) - 1)
    people[1].end()
    assert people[2].next() == 0
    assert people[3].next() == 2
    assert people[4].next() == 3
    people[0].end()
    assert (people[3].next(), people[4].next()) == (0, 2)
    people[2].end()
    assert people[4].next() == 0
    for one in people[3:]:
        one.end()
    with where.turn(), where.turn():
        pass


def test_leaving_gives_up_place_in_line() -> None:
    where = Line(1)
    at_work, leaving, behind = Waiting(where), None, None
    assert at_work.next() == 0
    leaving = Waiting(where)
    assert leaving.next() == 1
    behind = Waiting(where)
    assert behind.next() == 2
    leaving.leave.set()
    assert leaving.next() == "left"
    assert behind.next() == 1
    at_work.end()
    assert behind.next() == 0
    behind.end()


def test_failure_gives_up_turn() -> None:
    where = Line(1)
    for _ in range(3):
        with pytest.raises(KeyError), where.turn():
            raise KeyError
    with where.turn():
        pass


def ticking(seconds: float) -> Callable[[], float]:
    """A clock that advances by this many seconds at each look."""
    moments = iter(range(10**9))
    return lambda: seconds * next(moments)


def test_waiting_in_line_times_out() -> None:
    where, told = Line(1, ticking(100.0)), list[int]()
    with where.turn():
        words = r"1 other file is .* 15 minutes\. Fix: try again later\."
        with pytest.raises(LongLine, match=words), where.turn(told.append):
            raise AssertionError
        with pytest.raises(LongLine), where.turn():
            raise AssertionError
    assert set(told) == {1}
    assert len(told) > 3
    with where.turn(told.append):
        assert told[-1] == 0, "those who gave up are in no one's way"


def test_process_runs_at_most_two_imports() -> None:
    assert 1 <= asking.AT_ONCE <= 2
    with ExitStack() as turns:
        for _ in range(asking.AT_ONCE):
            turns.enter_context(asking.IMPORTS.turn())
        told: list[int] = []

        def leave(before: int) -> None:
            told.append(before)
            raise Left

        with pytest.raises(Left), asking.IMPORTS.turn(leave):
            raise AssertionError
        assert told == [asking.AT_ONCE]
