"""Open projects in memory, and their locks."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plcore import blocks
from plcore.blocks import Inline, ProcessPool, RunnerError
from tests.plcore.blocks.tasks import jobs, square
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.jobs import FairLock, blocks_folder, cluster_blocks, open_blocks
from workflow.server.settings import Settings
from workflow.server.shelf import Shelf, Slot

# The learners in memory and their trainings: notices, renewal, waiting, and the end


class Learner:
    """Anything that a slot can hold."""


class Training:
    """Notes what it is reported."""

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


@pytest.mark.slow
def test_training_is_created_once_and_polled_each_time() -> None:
    slot, made = filled(Shelf(), 1)
    slot.take_news(lambda _: pytest.fail("another was made"))
    assert made.learner is slot.learner
    assert made.told == ["look", "look"]


@pytest.mark.slow
def test_recent_poll_is_not_repeated() -> None:
    slot, made = filled(Shelf(), 1)
    slot.take_news(Training, older=60.0)
    assert made.told == ["look"]
    slot.looked_at -= 61.0
    slot.take_news(Training, older=60.0)
    slot.take_news(Training, older=60.0)
    assert made.told == ["look", "look"]


@pytest.mark.slow
def test_slot_without_learner_has_no_training() -> None:
    slot = Slot()
    slot.take_news(lambda _: pytest.fail("it was made"))
    assert slot.training is None


@pytest.mark.slow
def test_replacing_learner_stops_its_training() -> None:
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


@pytest.mark.slow
def test_replaced_learner_is_released_after_its_fit() -> None:
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


@pytest.mark.slow
def test_project_has_one_slot() -> None:
    shelf = Shelf()
    slot = shelf.slot(1)
    shelf.put(1, Learner())  # type: ignore[arg-type]
    assert shelf.slot(1) is slot
    assert slot.learner is None, "someone reads it already: they will build it from table and log"
    assert shelf.slot(2) is not slot


@pytest.mark.slow
def test_training_faults_and_end_are_separate_by_project() -> None:
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
    """Make the process use this many bytes, and this many more for each learner."""

    def held() -> int:
        slots = list(shelf._slots.values())
        return base + each * sum((one.learner is not None) + (one.past.learner is not None) for one in slots)

    monkeypatch.setattr("workflow.server.shelf.own_memory", held)


def learners(shelf: Shelf, *numbers: int) -> list[int]:
    """Return the given projects whose learner is in memory."""
    return [one for one in numbers if shelf._slots[one].learner is not None]


@pytest.mark.slow
def test_least_recently_used_projects_are_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(140)
    memory_of(shelf, monkeypatch)
    for number in (1, 2, 3, 4):
        filled(shelf, number)
    trainings = [shelf.slot(number).training for number in (1, 2, 3, 4)]
    shelf.make_room(4)
    assert learners(shelf, 1, 2, 3, 4) == [1, 2, 3, 4], "140 are allowed"
    shelf.slot(1)  # someone came
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


@pytest.mark.slow
def test_project_in_use_is_not_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.slow
def test_project_with_running_fit_is_not_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(1)
    slot, made = filled(shelf, 1)
    memory_of(shelf, monkeypatch)
    made.busy = True
    shelf.make_room(2)
    assert slot.learner is not None, "its fit would hold it, and be restarted next to it"
    assert made.told == ["look"]
    made.busy = False
    shelf.make_room(2)
    assert slot.learner is None


@pytest.mark.slow
def test_memory_is_released_only_after_unloading(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize("most", [None, 10**9])
def test_nothing_is_unloaded_without_need_or_limit(most: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(most)
    filled(shelf, 1)
    memory_of(shelf, monkeypatch)
    shelf.make_room(2)
    monkeypatch.setattr("workflow.server.shelf.own_memory", lambda: None)
    shelf.make_room(2, wanted=10**12)
    assert learners(shelf, 1) == [1]


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda one: one.name)
def test_unloaded_project_continues_with_same_question(world: KindWorld, home: Home, owner: int) -> None:
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


@pytest.mark.slow
def test_peeking_at_slot_does_not_count_as_use() -> None:
    shelf = Shelf()
    first, second = shelf.slot(1), shelf.slot(2)
    assert shelf.peek(1) is first
    assert shelf.peek(2) is second
    assert shelf.peek(3) is None
    assert not shelf.has(3), "none is made"
    assert next(iter(shelf._slots)) == 1, "the one unused longest is still the first"


# Threads get the lock in the order of their requests; otherwise it behaves like `threading.RLock`


def until(true: Callable[[], bool]) -> None:
    """Return as soon as it is true."""
    pause = threading.Event()
    for _ in range(5_000):
        if true():
            return
        pause.wait(0.01)
    pytest.fail("It never came true.")


def begin(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def in_another_thread(work: Callable[[], object]) -> object:
    found: list[object] = []
    begin(lambda: found.append(work())).join()
    return found[0]


def test_fair_lock_serves_in_order() -> None:
    lock, served = FairLock(), list[int]()
    threads = []

    def take(number: int) -> None:
        with lock:
            served.append(number)

    with lock:
        for number in range(20):
            threads.append(begin(lambda number=number: take(number)))  # type: ignore[misc]
            until(lambda wanted=number + 1: len(lock._waiting) == wanted)  # type: ignore[misc]
    for one in threads:
        one.join()
    assert served == list(range(20))


def test_fair_lock_is_exclusive() -> None:
    lock, inside, most, together = FairLock(), 0, 0, threading.Barrier(8)

    def work() -> None:
        nonlocal inside, most
        together.wait()
        for _ in range(100):
            with lock, lock:
                inside += 1
                time.sleep(0)  # lets another thread run, which would enter without the lock
                most = max(most, inside)
                inside -= 1

    threads = [begin(work) for _ in range(8)]
    for one in threads:
        one.join()
    assert (inside, most) == (0, 1)
    assert lock._owner is None


def test_fair_lock_is_reentrant() -> None:
    lock = FairLock()
    assert lock.acquire()
    assert lock.acquire(blocking=False)
    lock.release()
    assert in_another_thread(lambda: lock.acquire(blocking=False)) is False
    lock.release()
    assert in_another_thread(lambda: lock.acquire(blocking=False)) is True


def test_fair_lock_is_released_by_owner_only() -> None:
    lock = FairLock()
    with pytest.raises(RuntimeError, match="released by its own thread"):
        lock.release()
    with lock, pytest.raises(RuntimeError, match="released by its own thread"):
        raise in_another_thread(lambda: _raised(lock.release))  # type: ignore[misc]
    assert lock.acquire(blocking=False)


def _raised(act: Callable[[], object]) -> BaseException | None:
    try:
        act()
    except RuntimeError as error:
        return error
    return None


@pytest.mark.parametrize("given", [False, True])
def test_interrupted_waiter_does_not_block_fair_lock(given: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, make, waits = FairLock(), threading.Lock, list[str]()

    class Interrupted:
        """The turn of a waiting thread that Ctrl-C reaches; given: whether it already has the lock."""

        def __init__(self) -> None:
            self._lock, self._times = make(), 0

        def acquire(self) -> None:
            self._times += 1
            if self._times == 2:
                if given:
                    self._lock.acquire()
                raise KeyboardInterrupt
            self._lock.acquire()

        def release(self) -> None:
            self._lock.release()

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            lock.acquire()
        waits.append("interrupted")

    def take() -> None:
        with lock:
            waits.append("next")

    with lock:
        with monkeypatch.context() as other:
            other.setattr("workflow.server.jobs.Lock", Interrupted)
            one = begin(interrupted)
            until(lambda: len(lock._waiting) == 1 if given else waits == ["interrupted"])
        two = begin(take)
        until(lambda: len(lock._waiting) == 1 + given)
    one.join()
    two.join()
    assert sorted(waits) == ["interrupted", "next"]
    assert lock.acquire(blocking=False)


# Whom the settings name for long work, and where it leaves its parts


def settings(home: Path, **told: str) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(home), **told})


def test_blocks_run_inline_in_data_folder_by_default(tmp_path: Path) -> None:
    with open_blocks(settings(tmp_path)) as (runner, folder):
        assert isinstance(runner, Inline)
        assert folder == blocks_folder(settings(tmp_path)) == tmp_path / "blocks"
        assert len(list(runner.map(square, jobs(folder, 2)))) == 2


def test_process_pool_is_released_at_end(tmp_path: Path) -> None:
    here = settings(tmp_path, WINNOW_CLUSTER="processes:1")
    with open_blocks(here, tmp_path / "own") as (runner, folder):
        assert isinstance(runner, ProcessPool)
        assert folder.is_dir()
        list(runner.map(square, jobs(folder, 1)))
        assert runner._pool is not None
    assert runner._pool is None


def test_cluster_wait_follows_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def none(*told: object) -> None:
        asked.append(told)
        raise RunnerError("nobody")

    monkeypatch.setattr(blocks, "make_runner", none)
    here = settings(tmp_path, WINNOW_CLUSTER="tcp://10.0.0.1:8786", WINNOW_CLUSTER_WAIT="7")
    for patience in (None, 0):
        with pytest.raises(RunnerError), open_blocks(here, patience=patience):
            pass
    assert asked == [
        ("tcp://10.0.0.1:8786", tmp_path / "blocks", 7, "WINNOW_CLUSTER_WAIT"),
        ("tcp://10.0.0.1:8786", tmp_path / "blocks", 0, ""),
    ]


def test_inline_work_needs_no_block_files(tmp_path: Path) -> None:
    for here in (None, settings(tmp_path)):
        with cluster_blocks(here) as found:
            assert found is None
    assert not list(tmp_path.iterdir())
    with cluster_blocks(settings(tmp_path, WINNOW_CLUSTER="processes:1")) as found:
        assert found is not None
        assert isinstance(found.runner, ProcessPool)
