"""The learners in memory and the trainings beside them: news, renewal, waiting, and the end."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.shelf import Shelf, Slot

pytestmark = pytest.mark.slow


class Learner:
    """Anything that a slot can hold."""


class Training:
    """Notes what it is told."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.told = learner, []
        self.busy = False
        self.fault: str | None = None

    def look(self) -> None:
        self.told.append("look")

    def settle(self) -> None:
        self.told.append("settle")

    def abandon(self) -> bool:
        self.told.append("abandon")
        return self.busy

    def stop(self) -> None:
        self.told.append("stop")


def filled(shelf: Shelf, project: int) -> tuple[Slot, Training]:
    shelf.put(project, Learner())  # type: ignore[arg-type]
    slot = shelf.slot(project)
    slot.take_news(Training)
    assert isinstance(slot.training, Training)
    return slot, slot.training


def test_a_training_is_made_once_and_looks_for_news_each_time() -> None:
    slot, made = filled(Shelf(), 1)
    slot.take_news(lambda _: pytest.fail("another was made"))
    assert made.learner is slot.learner
    assert made.told == ["look", "look"]


def test_who_waits_for_a_question_does_not_look_for_fresh_news() -> None:
    slot, made = filled(Shelf(), 1)
    slot.take_news(Training, older=60.0)
    assert made.told == ["look"]
    slot.looked_at -= 61.0
    slot.take_news(Training, older=60.0)
    slot.take_news(Training, older=60.0)
    assert made.told == ["look", "look"]


def test_without_a_learner_there_is_nothing_to_train() -> None:
    slot = Slot()
    slot.take_news(lambda _: pytest.fail("it was made"))
    assert slot.training is None


def test_a_learner_in_the_place_of_another_ends_its_training_and_looks_at_once() -> None:
    shelf = Shelf()
    slot, made = filled(shelf, 1)
    made.busy = True
    newer = Learner()
    slot.renew(newer)  # type: ignore[arg-type]
    assert (slot.learner, slot.training, made.told) == (newer, None, ["look", "abandon"])
    slot.take_news(Training, older=60.0)
    assert slot.training is not made
    assert slot.training.learner is newer  # type: ignore[union-attr]
    shelf.close()
    assert made.told[-1] == "stop", "a fit of earlier settings may still be under way"
    assert slot.training.told[-1] == "stop"  # type: ignore[union-attr]


def test_a_learner_that_was_replaced_is_held_no_longer_than_its_fit_goes_on() -> None:
    slot, made = filled(Shelf(), 1)
    for _ in range(3):
        slot.renew(Learner())  # type: ignore[arg-type]
        slot.take_news(Training)
    assert slot.out_of_use == []
    busy = slot.training
    busy.busy = True  # type: ignore[union-attr,misc]
    for _ in range(2):
        slot.renew(Learner())  # type: ignore[arg-type]
    assert slot.out_of_use == [busy]
    busy.busy = False  # type: ignore[union-attr,misc]
    slot.renew(Learner())  # type: ignore[arg-type]
    assert slot.out_of_use == []
    assert made.told.count("abandon") == 1


def test_a_project_has_one_place_whoever_comes_first() -> None:
    shelf = Shelf()
    slot = shelf.slot(1)
    shelf.put(1, Learner())  # type: ignore[arg-type]
    assert shelf.slot(1) is slot
    assert slot.learner is None, "somebody reads it already: they will build it from table and log"
    assert shelf.slot(2) is not slot


def test_waiting_faults_and_the_end_are_of_one_projects_training() -> None:
    shelf = Shelf()
    _, first = filled(shelf, 1)
    _, second = filled(shelf, 2)
    first.fault = "no room"
    shelf.settle(1)
    assert ("settle" in first.told, "settle" in second.told) == (True, False)
    assert (shelf.fault(1), shelf.fault(2), shelf.fault(3)) == ("no room", None, None)
    shelf.settle(3)
    shelf.close()
    assert first.told[-1] == second.told[-1] == "stop"


def memory_of(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, base: int = 100, each: int = 10) -> None:
    """The process takes so many bytes, and for each learner so many more."""

    def held() -> int:
        slots = list(shelf._slots.values())
        return base + each * sum((one.learner is not None) + (one.past.learner is not None) for one in slots)

    monkeypatch.setattr("workflow.server.shelf.own_memory", held)


def learners(shelf: Shelf, *numbers: int) -> list[int]:
    """The projects of these whose learner is in memory."""
    return [one for one in numbers if shelf._slots[one].learner is not None]


def test_those_unused_longest_are_put_away_until_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(140)
    memory_of(shelf, monkeypatch)
    for number in (1, 2, 3, 4):
        filled(shelf, number)
    trainings = [shelf.slot(number).training for number in (1, 2, 3, 4)]
    shelf.make_room(4)
    assert learners(shelf, 1, 2, 3, 4) == [1, 2, 3, 4], "140 are allowed"
    shelf.slot(1)  # somebody came
    shelf.make_room(4, wanted=15)
    assert learners(shelf, 1, 2, 3, 4) == [1, 4]
    assert shelf.n_open() == 2
    assert [one.told[-1] for one in trainings if one] == ["look", "abandon", "abandon", "look"]  # type: ignore[attr-defined]
    assert [shelf.slot(one).training is None for one in (1, 2, 3, 4)] == [False, True, True, False]
    shelf.make_room(2, wanted=100)
    assert learners(shelf, 1, 2, 3, 4) == [], "more is not to be had"
    shelf.slot(2).learner = Learner()  # type: ignore[assignment]
    shelf.make_room(2, wanted=100)
    assert shelf.slot(2).learner is not None, "it is the one that room is made for"


def test_nobody_is_put_away_under_somebody_who_is_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(1)
    slot, made = filled(shelf, 1)
    slot.past.learner = Learner()  # type: ignore[assignment]
    memory_of(shelf, monkeypatch)
    held, leave = threading.Event(), threading.Event()

    def somebody() -> None:
        with slot.lock, slot.past.lock:
            held.set()
            leave.wait(60)

    thread = threading.Thread(target=somebody)
    thread.start()
    assert held.wait(60)
    shelf.make_room(2)
    assert slot.learner is not None
    assert slot.past.learner is not None
    assert made.told == ["look"]
    leave.set()
    thread.join()
    shelf.make_room(2)
    assert (slot.learner, slot.past.learner) == (None, None)


def test_a_project_whose_model_is_fitted_stays_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(1)
    slot, made = filled(shelf, 1)
    memory_of(shelf, monkeypatch)
    made.busy = True
    shelf.make_room(2)
    assert slot.learner is not None, "its fit would hold it, and be begun anew beside it"
    assert made.told == ["look"]
    made.busy = False
    shelf.make_room(2)
    assert slot.learner is None


def test_what_stays_is_not_said_to_be_put_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, given_back = Shelf(1), []
    slot, made = filled(shelf, 1)
    made.busy = True
    slot.renew(Learner())  # type: ignore[arg-type]
    slot.learner = None
    memory_of(shelf, monkeypatch)
    monkeypatch.setattr("workflow.server.shelf.give_back", lambda: given_back.append(1))
    shelf.make_room(2)
    assert slot.out_of_use == [made]
    assert not given_back, "its fit holds it still"
    made.busy = False
    shelf.make_room(2)
    assert (slot.out_of_use, given_back) == ([], [1])


@pytest.mark.parametrize("most", [None, 10**9])
def test_without_need_or_limit_all_stay(most: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(most)
    filled(shelf, 1)
    memory_of(shelf, monkeypatch)
    shelf.make_room(2)
    monkeypatch.setattr("workflow.server.shelf.own_memory", lambda: None)
    shelf.make_room(2, wanted=10**12)
    assert learners(shelf, 1) == [1]


@pytest.mark.parametrize("world", WORLDS, ids=lambda one: one.name)
def test_a_project_that_was_put_away_goes_on_where_it_stood(world: KindWorld, home: Home, owner: int) -> None:
    first, second = (world.make(Seat(home, owner), name) for name in ("first", "second"))
    seat = Seat(home, owner, first)
    question = loop.next_question(seat)
    with seat.learner() as opened:
        before = weakref.ref(opened.learner)
    del opened
    seat.settle()
    home.shelf.slot(second).put_away()  # a project that was made a moment ago is open already
    home.shelf.most = 1
    with Seat(home, owner, second).learner():
        pass
    home.shelf.most = None
    gc.collect()
    assert before() is None, "something holds the learner in memory"
    assert home.shelf.slot(first).learner is None
    assert loop.next_question(seat) == question


def test_looking_at_a_slot_is_no_use_of_it() -> None:
    shelf = Shelf()
    first, second = shelf.slot(1), shelf.slot(2)
    assert shelf.peek(1) is first
    assert shelf.peek(2) is second
    assert shelf.peek(3) is None
    assert not shelf.has(3), "none is made"
    assert next(iter(shelf._slots)) == 1, "the one unused longest is still the first"
