"""The contract of requested work of every kind: one worker at a time does it, once, whatever happens to that worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from db import projects, trained
from db.engine import DatabaseUnavailableError
from db.trained import Requests
from plcore import LearnerSettings
from plcore.loop.one_label import CannotEstimateError, RandomOrderRuns
from plcore.loop.one_label import comparing as model_comparing
from tests.present import present
from tests.workflow.compared import Findings
from tests.workflow.encoder_world import at_each_step, stored, words_encoder
from tests.workflow.text_world import text_frame, text_project, text_table
from tests.workflow.world import answer_next, newest_version, small_project
from workflow.backups.worker import BackupWorker
from workflow.importing import encoding_requests, encoding_worker
from workflow.kinds.adopting import read_adoptions
from workflow.models import choosing, comparing, leases, map_worker, random_order, showing, training
from workflow.models.encoders import offers
from workflow.models.training import Stopped
from workflow.projects import managing, progress
from workflow.rows import instance_map
from workflow.seat import Seat
from workflow.server.home import Home

PAST = timedelta(seconds=-1)


class Work:
    """Work of one kind, each of whose steps calls `at_step`.

    module : of its worker      task : of its leases      requests : None for layouts, which cannot be cancelled
    told : progress on its page at each step      steps : done so far
    """

    module: ModuleType
    task: str
    requests: Requests[Any]
    told: tuple[tuple[object, ...], ...]

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.at_step: Callable[[], object] = lambda: None
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        self.at_step()

    def make(self, home: Home, owner: int, name: str) -> Seat:
        """The owner's seat at a new project."""
        return Seat(home, owner, small_project(home, owner, name, model="automatic", train_seconds=3600.0))

    def ask(self, seat: Seat) -> Seat:
        """The seat, once it has requested the work."""
        raise NotImplementedError

    def do(self, worker: BackupWorker) -> None:
        worker.compare_due()

    def progress(self, seat: Seat) -> tuple[object, ...]:
        """The progress that a page shows."""
        now = self.latest(seat)
        return now.done, now.total

    def fault(self, seat: Seat) -> str | None:
        """Why the work is not done, as a page says."""
        raise NotImplementedError

    def results(self, seat: Seat) -> int:
        """How often a result was stored."""
        return int(self.latest(seat).report is not None)

    def latest(self, seat: Seat) -> Any:
        with seat.home.database.read() as session:
            return present(self.requests.latest(session, seat.project_id))

    def key(self, seat: Seat) -> str:
        return str(self.latest(seat).id)

    def unfinished(self, seat: Seat) -> bool:
        return bool(self.latest(seat).unfinished)

    def cancel(self, seat: Seat) -> None:
        with seat.home.database.write() as session:
            assert self.requests.end(session, self.latest(seat).id, trained.CANCELLED, datetime.now(UTC))


class Comparing(Work):
    module, task, requests = comparing, comparing.TASK, trained.COMPARISONS
    told = (0, 0, ""), (0, 3, "CLPL"), (1, 3, "PL-SVM")

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__(patch)
        found = Findings({"clpl": 0.8, "plsvc": 0.6, "plknn": 0.5}, before=lambda *_: self.step())
        patch.setattr(model_comparing, "compare_learners", found.compare_learners)

    def ask(self, seat: Seat) -> Seat:
        choosing.compare_now(seat)
        return seat

    def progress(self, seat: Seat) -> tuple[object, ...]:
        now = present(showing.running_now(seat))
        assert now.begun
        return now.done, now.total, now.fitting

    def fault(self, seat: Seat) -> str | None:
        now = showing.running_now(seat)
        assert now is None or not (now.begun and now.fault)
        return now.fault if now is not None else showing.models_view(seat).failed

    def results(self, seat: Seat) -> int:
        with seat.home.database.read() as session:
            return len(read_adoptions(session, projects.get(session, seat.project_id)))


class Estimating(Work):
    module, task, requests = random_order, trained.TASK, trained.RANDOM_ORDERS
    told = (0, 0), (0, 3), (1, 3)

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__(patch)

        def measure(_runs: RandomOrderRuns, tell: Callable[[int, int, str], None], _budget: float) -> None:
            for done in range(3):
                self.step()
                tell(done, 3, "")
            raise CannotEstimateError("There are no answers.")

        patch.setattr(RandomOrderRuns, "measure", measure)

    def make(self, home: Home, owner: int, name: str) -> Seat:
        return Seat(home, owner, small_project(home, owner, name, test_share=0.5))

    def ask(self, seat: Seat) -> Seat:
        progress.estimate_random_order(seat)
        return seat

    def fault(self, seat: Seat) -> str | None:
        return progress.read_progress(seat).proof.missing


class Encoding(Work):
    module, task, requests = encoding_worker, encoding_worker.TASK, trained.ENCODINGS
    told = (0, 0), (16, 60), (32, 60), (48, 60)

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__(patch)
        at_each_step(patch, lambda *_: self.step())

    def make(self, home: Home, owner: int, name: str) -> Seat:
        return Seat(home, owner, text_project(home, owner, name))

    def ask(self, seat: Seat) -> Seat:
        offers.ask(seat, words_encoder(seat.home))
        return seat

    def do(self, worker: BackupWorker) -> None:
        worker.encode_asked()

    def progress(self, seat: Seat) -> tuple[object, ...]:
        now = present(encoding_requests.encoders(seat).running)
        assert now.begun
        return now.done, now.total

    def fault(self, seat: Seat) -> str | None:
        found = encoding_requests.encoders(seat)
        assert found.running is None or not (found.running.begun and found.running.fault)
        return found.running.fault if found.running is not None else found.failed

    def results(self, seat: Seat) -> int:
        return len(stored(seat))


class LayingOut(Work):
    module, task, told = map_worker, instance_map.TASK, ((),)

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__(patch)

        def place(X: Any) -> Any:
            self.step()
            return instance_map.principal_axes(X)[0]

        patch.setattr(instance_map, "beside_neighbors", place)

    def make(self, home: Home, owner: int, name: str) -> Seat:
        """Each name has a table of its own: projects of the same table share their layout."""
        table = text_table(text_frame(50 + len(name)))
        return Seat(home, owner, managing.create_project(Seat(home, owner), name, table, LearnerSettings()))

    def ask(self, seat: Seat) -> Seat:
        instance_map.instance_map(seat)
        return seat

    def do(self, worker: BackupWorker) -> None:
        for wish in instance_map.wishes(worker.home):
            worker.lay_out(wish)

    def fault(self, seat: Seat) -> str | None:
        return instance_map.instance_map(seat).layout_fault

    def results(self, seat: Seat) -> int:
        return int(instance_map.instance_map(seat).laid_out)

    def key(self, seat: Seat) -> str:
        with seat.reading() as reading:
            return reading.project.table_hash

    def unfinished(self, seat: Seat) -> bool:
        return any(one.project_id == seat.project_id for one in instance_map.wishes(seat.home))


@pytest.fixture(params=[Comparing, Estimating, Encoding])
def request_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Work:
    """Each kind that has requests in the database."""
    return request.param(monkeypatch)  # type: ignore[no-any-return]


@pytest.fixture(params=[Comparing, Estimating, Encoding, LayingOut])
def work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Work:
    """Each kind."""
    return request.param(monkeypatch)  # type: ignore[no-any-return]


def told_every(work: Work, seconds: float, patch: pytest.MonkeyPatch) -> None:
    """Set the time between two reports of progress, at which the worker notices that its request is over."""
    patch.setattr(work.module, "TOLD_EVERY", seconds)


def lend(work: Work, seat: Seat, worker: str, until: timedelta) -> None:
    """Let this worker have the lease, and not be heard of again."""
    now = datetime.now(UTC)
    with seat.home.database.write() as session:
        assert trained.take_lease(session, seat.project_id, worker, work.key(seat), now, now + until, work.task)


def is_done_once(work: Work, seat: Seat) -> bool:
    return not work.unfinished(seat) and work.results(seat) == 1


def test_two_workers_do_the_work_once(request_work: Work, home: Home, owner: int) -> None:
    work, gate = request_work, threading.Barrier(2, timeout=60)
    seat = work.ask(work.make(home, owner, "asked"))

    def run(name: str) -> None:
        worker = BackupWorker(home, name)
        gate.wait()
        work.do(worker)

    with ThreadPoolExecutor(2) as both:
        list(both.map(run, ("one", "two")))
    assert is_done_once(work, seat)
    assert work.steps == len(work.told)


def test_leased_work_is_left_to_its_worker_until_the_lease_ends(work: Work, home: Home, owner: int) -> None:
    seat, worker = work.ask(work.make(home, owner, "asked")), BackupWorker(home, "one")
    lend(work, seat, "gone", leases.LEASE)
    work.do(worker)
    assert (work.steps, work.unfinished(seat), work.results(seat)) == (0, True, 0)
    with home.database.write() as session:
        trained.keep_lease(session, seat.project_id, "gone", datetime.now(UTC) + PAST, work.task)
    work.do(worker)
    assert is_done_once(work, seat)


def test_begun_work_of_dead_worker_is_taken_over(request_work: Work, home: Home, owner: int) -> None:
    work, seat = request_work, request_work.ask(request_work.make(home, owner, "asked"))
    lend(work, seat, "gone", PAST)
    with home.database.write() as session:
        assert work.requests.begin(session, work.latest(seat).id)
        assert work.requests.note(session, work.latest(seat).id, 1, 60)
    work.do(BackupWorker(home, "one"))
    assert is_done_once(work, seat)
    assert work.steps == len(work.told)


def test_worker_that_slept_leaves_finished_work_alone(
    request_work: Work, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, seat = request_work, request_work.ask(request_work.make(home, owner, "asked"))
    told_every(work, 3600.0, monkeypatch)  # it does not notice before its end

    def sleep() -> None:
        if work.steps == 2:
            with home.database.write() as session:
                trained.keep_lease(session, seat.project_id, "one", datetime.now(UTC) + PAST, work.task)
            work.do(BackupWorker(home, "two"))

    work.at_step = sleep
    work.do(BackupWorker(home, "one"))
    assert is_done_once(work, seat)
    assert work.steps >= 2 + len(work.told)


def test_stopped_worker_leaves_the_work_to_another(request_work: Work, home: Home, owner: int) -> None:
    work, seat = request_work, request_work.ask(request_work.make(home, owner, "asked"))
    worker = BackupWorker(home, "one")
    work.at_step = worker._stop.set
    with pytest.raises(Stopped):
        work.do(worker)
    with home.database.read() as session:
        lease = present(trained.training(session, seat.project_id, work.task))
    assert (lease.ended, lease.deaths, work.unfinished(seat), work.results(seat)) == (True, 0, True, 0)
    work.do(BackupWorker(home, "two"))
    assert is_done_once(work, seat)


def raise_once(work: Work, error: Exception) -> None:
    def fail() -> None:
        if work.steps == 1:
            raise error

    work.at_step = fail


def test_lost_database_does_not_fail_the_work(work: Work, home: Home, owner: int) -> None:
    seat, worker = work.ask(work.make(home, owner, "asked")), BackupWorker(home, "one")
    raise_once(work, DatabaseUnavailableError("The database does not answer."))
    with pytest.raises(DatabaseUnavailableError):
        work.do(worker)
    assert work.unfinished(seat)
    assert not work.fault(seat)
    work.do(worker)
    assert is_done_once(work, seat)


def test_failure_is_explained_and_others_continue(
    work: Work, home: Home, owner: int, caplog: pytest.LogCaptureFixture
) -> None:
    seats = [work.ask(work.make(home, owner, name)) for name in ("asked", "another")]
    raise_once(work, ValueError("no such features"))
    work.do(BackupWorker(home, "one"))
    other, failing = sorted(seats, key=lambda seat: "no such features" in str(work.fault(seat)))
    steps = work.steps
    for _ in range(2):
        assert "no such features" in str(work.fault(failing))
        assert (work.unfinished(failing), work.results(failing)) == (False, 0)
        assert is_done_once(work, other)
        work.do(BackupWorker(home, "one"))
        assert work.steps == steps, "what has failed is not tried again by itself"
    assert [one.exc_info is not None for one in caplog.records if one.name == "winnow"] == [True]


def test_work_that_kills_workers_rests(work: Work, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat, worker = work.ask(work.make(home, owner, "asked")), BackupWorker(home, "one")
    for name in ("first", "second"):
        lend(work, seat, name, PAST)
        assert not work.fault(seat), "one death may be anything"
    work.do(worker)
    assert work.fault(seat) == work.module.KILLED
    assert (work.steps, work.unfinished(seat), work.results(seat)) == (0, True, 0)
    monkeypatch.setattr(leases, "REST", timedelta(0))
    work.do(worker)
    assert is_done_once(work, seat)


def test_new_request_after_deaths_is_a_new_attempt(request_work: Work, home: Home, owner: int) -> None:
    work, seat = request_work, request_work.ask(request_work.make(home, owner, "asked"))
    for name in ("first", "second"):
        lend(work, seat, name, PAST)
    work.do(BackupWorker(home, "one"))
    work.cancel(seat)
    work.do(BackupWorker(home, "one"))
    assert work.steps == 0
    work.ask(seat)
    work.do(BackupWorker(home, "one"))
    assert is_done_once(work, seat)


def test_cancelled_work_stores_nothing_until_requested_again(
    request_work: Work, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, seat = request_work, request_work.ask(request_work.make(home, owner, "asked"))
    told_every(work, 0.0, monkeypatch)
    work.at_step = lambda: work.cancel(seat)
    for _ in range(2):
        work.do(BackupWorker(home, "one"))
        assert (work.steps, work.latest(seat).state, work.results(seat)) == (1, trained.CANCELLED, 0)
    work.at_step = lambda: None
    work.ask(seat)
    work.do(BackupWorker(home, "one"))
    assert is_done_once(work, seat)


def test_progress_is_shown_and_training_continues(
    request_work: Work, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, seat = request_work, request_work.ask(request_work.make(home, owner, "asked"))
    other = small_project(home, owner, "other", model="plsvc", strategy="margin", train_every=1)
    told_every(work, 0.0, monkeypatch)
    seen, versions = [], []

    def look() -> None:
        seen.append(work.progress(seat))
        versions.append(newest_version(home, other))
        if work.steps == 1:
            answer_next(home, owner, other)

    work.at_step = look
    worker = BackupWorker(home, "one")
    training.Worker.look(worker)
    work.do(worker)
    assert tuple(seen) == work.told
    assert versions == [0, *[1] * (len(work.told) - 1)], "a version of the other project between two steps"
