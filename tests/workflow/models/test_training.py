"""Training in a worker: requests, waiting, attempts, replaying."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

import worker as worker_program
from db import trained
from db.engine import DatabaseUnavailableError
from db.projects import Project
from db.projects import get as projects_of
from db.trained import RandomOrderEstimate
from plcore import LabelTable
from plcore.loop.one_label import Trainer
from tests.browser.loaded import Forked
from tests.clocks import ahead
from tests.conftest import ROOT
from tests.databases import on_sqlite
from tests.present import present
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import ROLES, answer_next, exported, newest_version, opened, small_frame, small_project
from workflow.answering import loop
from workflow.models import training
from workflow.models.choosing import CannotSimulate, replay_table
from workflow.models.training import Stopped, WorkCancelled, attempt
from workflow.models.waiting import FIRST, LAST, Away, find_waiting, request_due_work
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.settings import Settings

# Training in the background: due work, leases, versions and their files


@pytest.fixture
def training_project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="plsvc", strategy="margin", train_every=3, train_seconds=3600.0)


@pytest.fixture
def worker(home: Home) -> training.Worker:
    return training.Worker(home, "one")


def train_due(home: Home, worker: training.Worker) -> list[int]:
    versions = [worker.train(one) for one in training.due(home)]
    return [version.number for version in versions if version is not None]


def test_first_version_is_due_at_once_and_next_after_n_answers(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    assert train_due(home, worker) == [0]
    assert train_due(home, worker) == []
    for _ in range(2):
        answer_next(home, owner, training_project)
    assert train_due(home, worker) == []
    answer_next(home, owner, training_project)
    assert train_due(home, worker) == [3]
    with opened(home, owner, training_project) as learner:
        assert learner.model_version == 3
        assert [point.model_version for point in learner.curve] == [0, 3]


def test_one_answer_is_learned_after_a_while(
    home: Home, owner: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = small_project(home, owner, model="clpl", strategy="margin", train_every=99, train_seconds=3600.0)
    assert train_due(home, worker) == [0]
    answer_next(home, owner, project)
    assert train_due(home, worker) == []

    monkeypatch.setattr(training, "datetime", ahead(timedelta(hours=1)))
    assert train_due(home, worker) == [1]


def test_question_names_its_model_version(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    before = present(loop.next_question(Seat(home, owner, training_project)))
    assert before.model_version == 0
    train_due(home, worker)
    for _ in range(3):
        answer_next(home, owner, training_project)
    train_due(home, worker)
    loop.get_ready(Seat(home, owner, training_project))  # as the page does once a question is drawn
    after = present(loop.next_question(Seat(home, owner, training_project)))
    assert after.model_version == 3
    assert after.strategy == "margin"


def test_incremental_model_needs_no_worker(home: Home, owner: int) -> None:
    small_project(home, owner, "near")
    assert not training.has_models_to_train(home)
    assert training.due(home) == []


def test_two_workers_do_not_train_same_project(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    now = datetime.now(UTC)
    with home.database.write() as session:
        assert trained.take_lease(session, training_project, "other", "key", now, now + timedelta(seconds=30))
    assert train_due(home, worker) == []
    assert training.training_state(Seat(home, owner, training_project)).running
    with home.database.write() as session:  # the other worker stopped responding
        trained.keep_lease(session, training_project, "other", now - timedelta(seconds=1))
    assert train_due(home, worker) == [0]
    assert not training.training_state(Seat(home, owner, training_project)).running


def test_lost_or_damaged_version_is_rebuilt(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    train_due(home, worker)
    (path,) = (home.settings.home / "models").rglob("*.npy")
    kept = np.load(path)
    path.write_bytes(b"no numbers")
    with opened(home, owner, training_project) as learner:
        assert learner.version_published is None
    assert not path.exists()
    assert train_due(home, worker) == [0]
    np.testing.assert_array_equal(np.load(path), kept)
    with opened(home, owner, training_project) as learner:
        assert learner.version_published == 0


def test_failed_training_waits_for_changes(
    home: Home, owner: int, training_project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def fail(self: object, progress: object) -> None:
        calls.append(self)
        raise ValueError("the features are too large")

    monkeypatch.setattr(Trainer, "train", fail)
    assert train_due(home, worker) == []
    assert training.training_state(Seat(home, owner, training_project)).fault == "the features are too large"
    assert train_due(home, worker) == []
    assert len(calls) == 1
    monkeypatch.undo()
    answer_next(home, owner, training_project)
    assert train_due(home, worker) == [1]
    assert training.training_state(Seat(home, owner, training_project)).fault is None


def test_former_model_is_reused_when_chosen_again(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    train_due(home, worker)
    managing.change_learner(Seat(home, owner, training_project), model="clpl")
    with opened(home, owner, training_project) as learner:
        assert learner.version_published is None
    assert train_due(home, worker) == [1]  # the change is an entry of the log
    managing.change_learner(Seat(home, owner, training_project), model="plsvc")
    assert train_due(home, worker) == []  # its version is still there
    with opened(home, owner, training_project) as learner:
        assert learner.version_published == 0


def test_worker_process_publishes_and_ends_with_its_parent(home: Home, owner: int, training_project: int) -> None:
    """The browser's tests train in processes that have loaded nothing."""
    # It keeps its priority: on a busy machine it would wait for minutes.
    work = "import os, runpy, sys; del os.nice, os.getsid; sys.argv = ['worker.py', '--with-parent']; "
    place = {"WINNOW_HOME": str(home.settings.home), "WINNOW_DATABASE_URL": home.settings.database_url}
    process = Forked({**os.environ, **place}, f"{work}runpy.run_path('worker.py', run_name='__main__')")
    assert process.stdout is not None
    with process.stdout:
        try:
            while newest_version(home, training_project) != 0:
                assert process.poll() is None
                time.sleep(0.2)
            with opened(home, owner, training_project) as learner:
                assert learner.version_published == 0
            process.stdin.close()
            assert process.wait(300) == 0
        finally:
            process.terminate()


def test_worker_whose_server_stops_while_it_loads_ends_at_once(home: Home) -> None:
    environment = {"WINNOW_HOME": str(home.settings.home), "PATH": "/usr/bin:/bin"}
    program = [sys.executable, str(ROOT / "worker.py"), "--with-parent"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, env=environment, cwd=home.settings.home) as process:
        assert process.stdin is not None
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert used.ru_utime < 2 * worker_program.IN_TIME, "loading all takes longer, and the server would wait for it"


def test_server_worker_ends_when_nothing_is_due(
    home: Home, training_project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "POLL", 0.0)
    monkeypatch.setattr(training, "RESTS_AFTER", 0.0)
    found, stop = [training.has_models_to_train(home, quiet=True)], threading.Event()

    def needed() -> bool:
        found.append(training.has_models_to_train(home, quiet=True))
        if len(found) > 2:
            stop.set()
        return found[-1]

    worker.work(stop, needed)
    assert found == [True, False]
    assert training.has_models_to_train(home), "it is wanted again as soon as anyone writes"


def test_export_credits_nothing_to_untrained_model(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    frame = exported(home, owner, training_project)
    several = frame.winnow_candidates.str.contains("|", regex=False) & (frame.winnow_source != "truth")
    assert several.any()
    assert set(frame.winnow_source[several]) == {"open"}
    assert set(frame.winnow_label[several]) == {""}
    train_due(home, worker)
    assert set(exported(home, owner, training_project).winnow_source[several]) == {"model"}


def test_old_and_stale_version_files_do_not_stop_training(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    train_due(home, worker)
    for _ in range(3):
        for _ in range(3):
            answer_next(home, owner, training_project)
        assert train_due(home, worker)
    folder = next((home.settings.home / "models").iterdir())
    assert sorted(path.name for path in folder.iterdir()) == ["6.npy", "9.npy"]
    # An older copy of the database was restored: files of versions it has never known are there.
    np.save(folder / "40.npy", np.zeros(3))
    np.save(folder / "50.npy", np.zeros(3))
    (folder / "tmp.part").write_bytes(b"half")
    for _ in range(3):
        answer_next(home, owner, training_project)
    assert train_due(home, worker) == [12]
    assert sorted(path.name for path in folder.iterdir()) == ["12.npy", "9.npy"]
    assert training.due(home) == []


def test_failing_project_does_not_block_others(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    other = small_project(home, owner, "other", model="clpl", strategy="margin")
    with home.database.read() as session:
        lost = home.table_path(projects_of(session, training_project).table_hash)
    lost.rename(lost.with_suffix(".away"))
    trained_now = [(one.project_id, worker.train(one)) for one in training.due(home)]
    assert [number for number, version in trained_now if version is None] == [training_project, other]
    assert training.training_state(Seat(home, owner, training_project)).fault


def test_full_disk_fails_training_in_words_until_there_is_room(
    home: Home, owner: int, training_project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/a/b.part")

    seat = Seat(home, owner, training_project)
    with monkeypatch.context() as patch:
        patch.setattr(training.versions, "write_version", full)
        patch.setattr(training, "RETRY", 0.0)
        assert [worker.train(one) for one in training.due(home)] == [None]
    fault = training.training_state(seat).fault
    assert fault is not None
    assert fault.startswith("A file could not be read or written (No space left on device). Fix: make room")
    assert [worker.train(one) is not None for one in training.due(home)] == [True]
    assert training.training_state(seat).fault is None


def test_stopped_worker_gives_up_fit_and_lease(
    home: Home, owner: int, training_project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()
    begun = []

    def fit(self: object, progress: Callable[[int, float], None]) -> None:
        begun.append(self)
        stop.set()
        progress(1, 0.0)
        pytest.fail("the fit went on")

    monkeypatch.setattr(Trainer, "train", fit)
    worker.work(stop)
    assert begun
    assert not training.training_state(Seat(home, owner, training_project)).running
    assert training.training_state(Seat(home, owner, training_project)).fault is None


def test_two_workers_with_two_projects_train_each_once(home: Home, owner: int, training_project: int) -> None:
    small_project(home, owner, "other", model="clpl", strategy="margin")
    found = training.due(home)
    assert len(found) == 2
    one, two = training.Worker(home, "one"), training.Worker(home, "two")
    assert [one.train(what) is not None for what in found] == [True, True]
    assert [two.train(what) for what in found] == [None, None]


def test_model_fault_is_cleared_with_model_change(
    home: Home, owner: int, training_project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, progress: object) -> None:
        raise ValueError("cannot")

    monkeypatch.setattr(Trainer, "train", fail)
    train_due(home, worker)
    assert training.training_state(Seat(home, owner, training_project)).fault == "cannot"
    managing.change_learner(Seat(home, owner, training_project), model="clpl")
    assert training.training_state(Seat(home, owner, training_project)).fault is None
    with pytest.raises(ValueError, match="no setting 'modell'"):
        managing.change_learner(Seat(home, owner, training_project), modell="clpl")


def test_files_of_former_models_are_removed(
    home: Home, owner: int, training_project: int, worker: training.Worker
) -> None:
    for C in (1.0, 2.0, 3.0, 4.0, 5.0):
        managing.change_learner(Seat(home, owner, training_project), C=C)
        assert train_due(home, worker) == [0]
        assert train_due(home, worker) == []
        for folder in (home.settings.home / "models").iterdir():
            os.utime(folder, (2e9, 2e9))  # the clock is set back before the next
    assert len(list((home.settings.home / "models").iterdir())) == 3


@on_sqlite
def test_failing_database_is_reported_once_and_awaited(
    home: Home, owner: int, worker: training.Worker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "POLL", 0.001)
    monkeypatch.setattr(training, "AGAIN", 0.001)
    stop = threading.Event()
    looks = 0
    look = worker.look
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    path.rename(away)
    home.database._reader.dispose()  # a connection more is needed

    def counted() -> bool:
        nonlocal looks
        looks += 1
        if looks == 5:
            away.rename(path)
        if looks == 8:
            stop.set()
        return look()

    monkeypatch.setattr(worker, "look", counted)
    worker.work(stop)
    assert [one.exc_info for one in caplog.records if one.name == "winnow"] == [None, None], "no traceback"
    failed, well = (one.getMessage() for one in caplog.records if one.name == "winnow")
    assert "was deleted or moved away" in failed
    assert "Until then this process waits." in failed
    assert well == "The store answers again."


@on_sqlite
def test_worker_computes_in_one_thread(worker: training.Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run in one thread anyway: sums in another order would have other last bits than the server's."""
    limited: list[str] = []
    monkeypatch.setattr(training, "one_thread_for_good", lambda: limited.append("for good"))
    stop = threading.Event()
    stop.set()
    worker.work(stop)
    assert limited == ["for good"]


# Work at projects: due work is requested once, waiting work is found, and projects without any are skipped


def ask(session: Session, project: Project, asked_by: int | None) -> int:
    now = datetime.now(UTC)
    return trained.RANDOM_ORDERS.ask(session, project.id, asked_by=asked_by, asked_at=now, seq=0, answers=0)


def test_due_work_is_listed_until_finished(home: Home, owner: int) -> None:
    first, second, third = (small_project(home, owner, name) for name in ("first", "second", "third"))

    def found() -> tuple[list[Project], list[RandomOrderEstimate]]:
        return find_waiting(
            home,
            lambda project: project.id != second,
            trained.RANDOM_ORDERS.latest,
            lambda _session, project, last: last is None and project.id == first,
        )

    with home.database.read() as session:
        in_use = {one.id for one in find_waiting(home, bool, trained.RANDOM_ORDERS.latest, lambda *_: True)[0]}
        assert {first, second, third} <= in_use
        assert trained.RANDOM_ORDERS.latest(session, first) is None
    assert [project.id for project in found()[0]] == [first]
    (made,) = request_due_work(home, found(), ask, trained.RANDOM_ORDERS.get)
    assert (made.project_id, made.unfinished) == (first, True)
    assert found() == ([], [made])
    assert request_due_work(home, found(), ask, trained.RANDOM_ORDERS.get) == [made], "it is not asked for again"
    with home.database.write() as session:
        trained.RANDOM_ORDERS.end(session, made.id, trained.DONE, datetime.now(UTC), report={})
    assert found() == ([], [])


# A missing server is tried again: soon at first, then less often


def test_missing_server_is_retried_with_growing_delay() -> None:
    now = 1000.0
    away = Away(lambda: now)
    assert away.is_due, "the first time at once"
    told, waits = [], []
    for _ in range(8):
        told.append(away.missed().removeprefix("It is tried again in "))
        begun = now
        assert not away.is_due
        while not away.is_due:
            now += 1
        waits.append(now - begun)
    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]
    assert (waits[0], waits[-1]) == (FIRST, LAST)
    assert told[:6] == ["10 seconds.", "20 seconds.", "40 seconds.", "80 seconds.", "3 minutes.", "5 minutes."]


def test_delay_restarts_after_server_was_reached() -> None:
    now = 0.0
    away = Away(lambda: now)
    for _ in range(5):
        away.missed()
    away.there()
    assert away.is_due
    assert away.missed() == "It is tried again in 10 seconds."
    assert not away.is_due
    now = FIRST
    assert away.is_due


# A worker's attempts: cancelled, restarted by another, or failed and reported


def tried(error: BaseException | None) -> list[str]:
    """The stored faults when this error is raised."""
    faults: list[str] = []
    with attempt(faults.append, "It cannot be done."):
        if error is not None:
            raise error
    return faults


def test_finished_or_cancelled_work_is_no_fault() -> None:
    assert tried(None) == []
    assert tried(WorkCancelled()) == []


@pytest.mark.parametrize("error", [Stopped(), SQLAlchemyError("away"), DatabaseUnavailableError("away")])
def test_retryable_error_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        tried(error)


def test_failure_is_reported_by_message_or_class_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "winnow"):
        assert tried(ValueError("No room.")) == tried(PermissionError("No room.")) == ["No room."]
        assert tried(MemoryError()) == ["MemoryError"]
    assert [one.message for one in caplog.records] == ["It cannot be done."] * 3
    assert all(one.exc_info for one in caplog.records)


def test_failing_disk_is_reported_without_traceback_and_path(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "winnow"):
        (why,) = tried(OSError(errno.ENOSPC, "No space left on device", "/home/ann/winnow/models/1/tmp.part"))
    assert why.startswith("A file could not be read or written (No space left on device). Fix: make room")
    assert [(one.message, one.exc_info) for one in caplog.records] == [(f"It cannot be done. {why}", None)]


# Runs replayed on a table without a project, by the runner that the settings name


def settings(home: Path, cluster: str = "") -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(home), "WINNOW_CLUSTER": cluster})


def test_replay_stores_parts_in_data_folder(tmp_path: Path) -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    seen: list[tuple[str, int, int]] = []
    found = replay_table(
        settings(tmp_path), table, ["random"], runs=2, budget=4, progress=lambda *one: seen.append(one)
    )
    assert seen[-1] == ("runs", 2, 2)
    assert [one.answers for one in found.points] == [0, 1, 2, 3, 4]
    assert list((tmp_path / "blocks").glob("part-*.npy"))


def test_impossible_replay_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    vectors = LabelTable.from_cells(vector_frame(), VECTOR_ROLES)
    monkeypatch.setattr("plcore.blocks.dask_cluster.PATIENCE", 1)
    for told, words in (
        ((settings(tmp_path), vectors, ["random"]), "Labelling runs of label vectors are not replayed"),
        ((settings(tmp_path), table, ["best"]), "There is no strategy 'best'"),
        ((settings(tmp_path), table, ["moves"]), "Run 1 by moves cannot be done"),
        ((settings(tmp_path, "tcp://127.0.0.1:1"), table, ["random"]), "No Dask scheduler answers at tcp://127"),
    ):
        with pytest.raises(CannotSimulate, match=f"The runs cannot be replayed: {words}"):
            replay_table(*told)
