"""Encodings and the workers that make them: one at a time, and another where one dies, sleeps or is told to end."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from db import trained
from db.engine import DatabaseUnavailableError
from tests.workflow.encoder_world import asked, at_each_step, latest, stored
from tests.workflow.text_world import text_project
from workflow.importing import encoding, encoding_requests, encoding_worker, more_rows
from workflow.importing.encoding_worker import EncodingWorker
from workflow.models import leases
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    """The owner, who has asked for the rows of a project of texts to be encoded."""
    return asked(home, owner, text_project(home, owner))


@pytest.fixture
def worker(home: Home) -> EncodingWorker:
    return EncodingWorker(home, "one")


@pytest.fixture(autouse=True)
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each step it is asked whether somebody else has ended it."""
    monkeypatch.setattr(encoding_worker, "TOLD_EVERY", 0.0)


def test_two_workers_store_once(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Barrier(2, timeout=60)
    first = []
    at_each_step(monkeypatch, lambda done, _total: first.append(done) if done == 16 else None)

    def work(name: str) -> None:
        gate.wait()
        EncodingWorker(seat.home, name).look()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first == [16]
    assert len(stored(seat)) == 1
    assert latest(seat).state == trained.DONE


def killed(seat: Seat) -> None:
    """A worker has died in the middle, and its lease has run out."""
    one, past = latest(seat), datetime.now(UTC) - timedelta(seconds=1)
    with seat.home.database.write() as session:
        trained.take_lease(session, one.project_id, "gone", str(one.id), past, past, encoding_worker.TASK)
        trained.begin_encoding(session, one.id)
        trained.note_encoding(session, one.id, 16, 60)


def test_another_takes_up_what_a_worker_that_died_has_left(seat: Seat, worker: EncodingWorker) -> None:
    killed(seat)
    worker.look()
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1


def test_nobody_takes_it_while_the_lease_lasts(seat: Seat, worker: EncodingWorker) -> None:
    killed(seat)
    with seat.home.database.write() as session:
        soon = datetime.now(UTC) + timedelta(hours=1)
        trained.keep_lease(session, latest(seat).project_id, "gone", soon, encoding_worker.TASK)
    worker.look()
    assert latest(seat).state == trained.RUNNING
    assert stored(seat) == []


def test_a_worker_that_died_between_storing_and_saying_so_has_stored_once(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(trained, "end_done", die)
        with pytest.raises(Killed):
            worker.look()
    assert latest(seat).state == trained.RUNNING
    EncodingWorker(seat.home, "two").look()
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1


def test_a_worker_that_slept_finds_that_another_has_done_it(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[int] = []

    def sleep(done: int, _total: int) -> None:
        if slept:
            return
        slept.append(done)
        with seat.home.database.write() as session:
            past = datetime.now(UTC) - timedelta(seconds=1)
            trained.keep_lease(session, latest(seat).project_id, "one", past, encoding_worker.TASK)
        EncodingWorker(seat.home, "two").look()

    at_each_step(monkeypatch, sleep)
    worker.look()
    assert slept == [16]
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1


def test_what_costs_workers_rests_and_says_why(seat: Seat, worker: EncodingWorker) -> None:
    one, past = latest(seat), datetime.now(UTC) - timedelta(seconds=1)
    for name in ("gone", "lost", "worker"):
        with seat.home.database.write() as session:
            taken = trained.take_lease(
                session, one.project_id, name, str(one.id), past, past, encoding_worker.TASK
            )
        assert taken is not None
        if taken.deaths == leases.MOST_DEATHS - 1:
            break
    worker.look()
    running = encoding_requests.encoders(seat).running
    assert running is not None
    assert (running.begun, running.fault) == (False, encoding_worker.KILLED)
    assert stored(seat) == []
    encoding_requests.cancel(seat)
    asked(seat.home, seat.person_id, seat.project_id or 0)
    worker.encode_asked()
    assert latest(seat).state == trained.DONE, "another request is another attempt"


def test_a_worker_told_to_end_leaves_it_and_no_death_is_counted(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()
    with monkeypatch.context() as patch:
        at_each_step(patch, lambda *_: stop.set())
        worker.work(stop)
    with seat.home.database.read() as session:
        lease = trained.training(session, latest(seat).project_id, encoding_worker.TASK)
    assert lease is not None
    assert (lease.ended, lease.deaths, latest(seat).state) == (True, 0, trained.RUNNING)
    EncodingWorker(seat.home, "two").look()
    assert latest(seat).state == trained.DONE


def test_a_database_that_is_away_fails_no_encoding(
    seat: Seat, worker: EncodingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise DatabaseUnavailableError("The database does not answer.")

    with monkeypatch.context() as patch:
        at_each_step(patch, away)
        with pytest.raises(DatabaseUnavailableError):
            worker.look()
    assert latest(seat).unfinished
    worker.encode_asked()
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1


def test_the_same_encoder_again_changes_nothing(seat: Seat, worker: EncodingWorker) -> None:
    worker.look()
    asked(seat.home, seat.person_id, seat.project_id or 0)
    worker.encode_asked()
    assert latest(seat).state == trained.DONE
    assert len(stored(seat)) == 1
    with pytest.raises(more_rows.AlreadyThere, match="these very embeddings already"):
        encoding.encode_project(seat, encoding.Encoder(encoding.folder_of(seat.home, "words")))
