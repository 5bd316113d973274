"""Threads get the lock in the order in which they asked; all else is as with `threading.RLock`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from workflow.server.jobs import FairLock


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


def test_who_asked_first_is_served_first() -> None:
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


def test_one_thread_at_a_time_has_it() -> None:
    lock, inside, most, together = FairLock(), 0, 0, threading.Barrier(8)

    def work() -> None:
        nonlocal inside, most
        together.wait()
        for _ in range(100):
            with lock, lock:
                inside += 1
                time.sleep(0)  # lets another thread run, which would come in where nothing kept it out
                most = max(most, inside)
                inside -= 1

    threads = [begin(work) for _ in range(8)]
    for one in threads:
        one.join()
    assert (inside, most) == (0, 1)
    assert lock._owner is None


def test_a_thread_that_has_it_may_take_it_again() -> None:
    lock = FairLock()
    assert lock.acquire()
    assert lock.acquire(blocking=False)
    lock.release()
    assert in_another_thread(lambda: lock.acquire(blocking=False)) is False
    lock.release()
    assert in_another_thread(lambda: lock.acquire(blocking=False)) is True


def test_only_who_has_it_gives_it_back() -> None:
    lock = FairLock()
    with pytest.raises(RuntimeError, match="has it not"):
        lock.release()
    with lock, pytest.raises(RuntimeError, match="has it not"):
        raise in_another_thread(lambda: _raised(lock.release))  # type: ignore[misc]
    assert lock.acquire(blocking=False)


def _raised(act: Callable[[], object]) -> BaseException | None:
    try:
        act()
    except RuntimeError as error:
        return error
    return None


@pytest.mark.parametrize("given", [False, True])
def test_who_is_interrupted_while_waiting_keeps_nobody_from_it(
    given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, make, waits = FairLock(), threading.Lock, list[str]()

    class Interrupted:
        """The turn of a thread that Ctrl-C reaches while it waits; given: when the lock was given to it already."""

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
