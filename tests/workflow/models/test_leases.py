"""Workers that are killed: deaths are counted, the training rests, the others continue; and idling costs little."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from db import trained
from plcore.loop.one_label import Trainer
from tests.browser.loaded import run
from tests.conftest import ROOT
from tests.databases import on_both, on_postgres_in_proofs
from tests.workflow.world import answer_next, newest_version, small_project
from workflow.models import leases, training
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

SHORT = 0.3  # seconds of a lease

KILLED = f"""
import os, signal
from datetime import timedelta
import threading
from plcore.loop.one_label import Trainer
from workflow.models import training
from workflow.models import leases
from workflow.server.home import open_home
from workflow.server.settings import Settings

leases.LEASE = timedelta(seconds={SHORT})
leases.REST = timedelta(seconds=float(os.environ["REST"]))

def run_out_of_memory(self, progress=None):
    os.kill(os.getpid(), signal.SIGKILL)

Trainer.train = run_out_of_memory
home = open_home(Settings.from_environment())
training.Worker(home, f"killed-{{os.getpid()}}").work(threading.Event())
"""


ENDLESS = """
import os
from pathlib import Path

import worker
from plcore.loop.one_label import Trainer

worker._SHARE = Path(os.environ["WINNOW_HOME"]) / "share"

def train(self, progress=None):
    print("training", flush=True)
    while True:
        pass

Trainer.train = train
worker.main()
"""


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="plsvc", strategy="margin", train_every=1)


@pytest.fixture
def worker(home: Home) -> training.Worker:
    return training.Worker(home, "one")


def killed(home: Home) -> None:
    """A separate process that is killed during its training, as the system does when memory runs out."""
    environment = {
        **os.environ,
        "WINNOW_HOME": str(home.settings.home),
        "WINNOW_DATABASE_URL": home.settings.database_url,
        "REST": str(leases.REST.total_seconds()),
    }
    assert run(environment, KILLED) == -signal.SIGKILL
    time.sleep(SHORT)


@pytest.mark.proof
def test_worker_ending_with_server_counts_no_death(home: Home, owner: int, project: int) -> None:
    environment = {
        **os.environ,
        "WINNOW_HOME": str(home.settings.home),
        "WINNOW_DATABASE_URL": home.settings.database_url,
    }
    program = [sys.executable, "-c", ENDLESS, "--with-parent"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            assert process.stdin is not None
            assert process.stdout.readline() == b"training\n"
            process.stdin.close()  # as its server does, or the system if the server is killed
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert (home.settings.home / "share").read_text() == "0", "it ends with a full share of the processor"
    with home.database.read() as session:
        lease = trained.training(session, project)
    assert lease is not None
    assert (lease.ended, lease.deaths) == (True, 0)


def train_due(home: Home, worker: training.Worker) -> list[int]:
    return [one.project_id for one in training.due(home) if worker.train(one) is not None]


def test_training_that_kills_workers_is_suspended(
    home: Home, owner: int, project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(home)
    state = training.training_state(Seat(home, owner, project))
    assert (state.running, state.fault) == (False, None), "one death may be anything: it is tried again"
    answer_next(home, owner, project)  # answers continue meanwhile: that makes it no other training
    killed(home)
    other = small_project(home, owner, "other", model="clpl", strategy="margin")
    assert train_due(home, worker) == [other]
    state = training.training_state(Seat(home, owner, project))
    assert state.rests
    assert not state.running
    assert "ended from outside twice, perhaps because memory ran out. Fix:" in (state.fault or "")
    answer_next(home, owner, project)
    assert train_due(home, worker) == []
    assert training.training_state(Seat(home, owner, project)) == state

    managing.change_learner(Seat(home, owner, project), C=0.5)  # other settings may need less
    assert train_due(home, worker) == [project]
    assert training.training_state(Seat(home, owner, project)) == training.TrainingState(running=False, fault=None)

    managing.change_learner(Seat(home, owner, project), C=None)
    assert train_due(home, worker) == [project], "with the old ones it is tried again when someone says so"


@on_postgres_in_proofs
def test_suspended_training_is_retried_once(
    home: Home, owner: int, project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(home)
    killed(home)
    assert train_due(home, worker) == []
    monkeypatch.setattr(leases, "REST", timedelta(0))
    killed(home)
    monkeypatch.undo()
    assert train_due(home, worker) == []
    assert training.training_state(Seat(home, owner, project)).rests, "the third death makes it rest at once"
    monkeypatch.setattr(leases, "REST", timedelta(0))
    assert train_due(home, worker) == [project]
    assert training.training_state(Seat(home, owner, project)).fault is None
    with home.database.read() as session:
        last = trained.training(session, project)
    assert last is not None
    assert (last.ended, last.deaths) == (True, 0)


def test_orderly_worker_end_counts_no_death(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def told_to_end(self: object, progress: Callable[[int, float], None]) -> None:
        stop.set()
        progress(1, 0.0)

    for name in ("first", "second", "third"):
        stop = threading.Event()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(Trainer, "train", told_to_end)
            training.Worker(home, name).work(stop)
    assert train_due(home, training.Worker(home, "last")) == [project]


@on_both
def test_lease_taken_over_is_not_changed_by_former_holder(home: Home, project: int) -> None:
    """A worker that slept, perhaps with its whole machine, wakes up and continues."""
    now = datetime.now(UTC)
    past, later = now - timedelta(seconds=1), now + timedelta(seconds=30)
    with home.database.write() as session:
        assert trained.take_lease(session, project, "asleep", "key", now, past)
        assert trained.take_lease(session, project, "other", "key", now, later)
        trained.keep_lease(session, project, "asleep", later + timedelta(hours=1))
        trained.end_lease(session, project, "asleep", now, "nothing of it")
        last = trained.training(session, project)
    assert last == trained.Training("other", "key", later, ended=False, deaths=1, fault=None)


@pytest.mark.parametrize("dies", [False, True], ids=["silent", "rests"])
def test_lease_of_a_clock_that_was_ahead_ends(home: Home, project: int, dies: bool) -> None:
    """The clock is a year ahead when a worker vanishes, and is set right: no one waits a year."""
    now = datetime.now(UTC)
    ahead = now + timedelta(days=365)
    with home.database.write() as session:
        trained.take_lease(session, project, "one", "model", ahead, ahead + leases.LEASE)
        if dies:
            trained.end_lease(session, project, "one", ahead, "killed", leases.MOST_DEATHS)
        assert leases.is_free(session, project, "two", "model", now)
        assert not leases.is_free(session, project, "two", "model", ahead)
    with leases.hold(home, project, "two", "model") as lease:
        assert lease is not None


def test_idle_worker_only_polls_for_writes(
    home: Home, owner: int, project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []
    real = training.news

    def news(home: Home) -> training.News:
        looked.append(time.monotonic())
        return real(home)

    def until_trained(seq: int) -> None:
        while newest_version(home, project) < seq:  # no longer than a test may take
            time.sleep(0.02)

    monkeypatch.setattr(training, "news", news)
    stop = threading.Event()
    thread = threading.Thread(target=worker.work, args=(stop,))
    thread.start()
    try:
        until_trained(0)
        resting = False
        while not resting:  # its own writes count as news, too
            looked.clear()
            time.sleep(5 * training.POLL)
            resting = not looked
        until_trained(answer_next(home, owner, project).seq)
        assert looked
    finally:
        stop.set()
        thread.join()


def test_worker_keeps_polling_for_answer_due_later(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="clpl", strategy="margin", train_every=99, train_seconds=60.0)
    assert train_due(home, training.Worker(home, "one")) == [project]
    assert training.news(home) == training.News([], soon=False)
    answer_next(home, owner, project)
    assert training.news(home) == training.News([], soon=True)
