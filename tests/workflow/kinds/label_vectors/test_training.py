"""Fits of a model of label vectors in a thread: begun when due, put in place, stored; or given up."""

from __future__ import annotations

import threading

import pytest

from db import trained
from plcore.loop.label_vectors import RefreshJob
from tests.workflow.vector_world import answer_truly, vector_project
from workflow import kinds
from workflow.kinds.label_vectors import training
from workflow.projects import progress
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.jobs import FairLock


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, vector_project(home, owner, refresh_every=1))


def versions(seat: Seat) -> list[int]:
    with seat.learner() as opened:
        key = opened.learner.settings.model_key
    with seat.reading() as reading:
        return [one.version for one in trained.versions(reading.session, reading.project.id, key)]


def test_no_worker_trains_them(seat: Seat) -> None:
    with seat.reading() as reading:
        project = reading.project
    assert seat.kind.WORKER is None
    assert kinds.worker_settings(project) is None
    with pytest.raises(LookupError, match="No worker trains models of label vectors"):
        kinds.make_trainer(seat.home, project, ())


def test_what_is_fitted_is_in_place_and_stored(seat: Seat) -> None:
    seat.settle()
    assert versions(seat) == [0]
    answer_truly(seat.home, seat.person_id, seat.project_id)
    seat.settle()
    with seat.learner() as opened:
        seq = opened.learner.seq
        assert opened.learner.version_published == seq
    assert versions(seat) == [0, seq]
    assert progress.read_progress(seat).curve.model_version.tolist() == [0, seq]


def test_why_a_fit_failed_is_said_until_one_succeeds(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fail(job: RefreshJob) -> None:
        calls.append(job.seq)
        raise MemoryError("no room")

    monkeypatch.setattr(RefreshJob, "run", fail)
    for _ in range(3):
        seat.settle()
    assert calls == [0], "it is not tried again before there is news"
    assert progress.read_progress(seat).fault == "no room"
    assert progress.watched(seat)[1:] == (-1, "no room")
    assert versions(seat) == []
    monkeypatch.undo()
    answer_truly(seat.home, seat.person_id, seat.project_id)
    seat.settle()
    assert progress.read_progress(seat).fault is None
    assert len(versions(seat)) == 1


def test_what_is_given_up_is_neither_put_in_place_nor_stored(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, run = threading.Event(), threading.Event(), RefreshJob.run

    def slow(job: RefreshJob) -> object:
        begun.set()
        assert go_on.wait(60)
        return run(job)

    monkeypatch.setattr(RefreshJob, "run", slow)
    with seat.learner() as opened:
        learner = type(opened.learner)(opened.learner.table, opened.learner.settings)
    lock = FairLock()
    made = training.background_training(seat.home, seat.project_id, learner, lock)
    with lock:
        made.look()
        made.look()  # one fit at a time
    assert begun.wait(60)
    assert made.abandon(), "it is under way"
    go_on.set()
    made.settle()
    assert not made.abandon()
    made.stop()
    assert learner.version_published is None
    begun.clear()
    with lock:
        made.look()
    assert not begun.is_set(), "nothing more is begun"
