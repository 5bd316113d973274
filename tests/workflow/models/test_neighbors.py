"""Projects with many rows ask before their neighbours are found: at random until a worker has found them, then as if
they had always been there."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.arrays import ShareProgress
from plcore.loop.one_label import OneLabelPool, find_pool_graph
from plcore.neighbors import Graph
from tests.browser.loaded import run
from tests.present import present
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.text_world import text_project, text_table
from tests.workflow.world import answer_next, file_of, log_of, opened
from workflow.answering import batches, loop
from workflow.answering.batches import NoBatch
from workflow.kinds.one_label import build
from workflow.log.reading import follow
from workflow.models import leases
from workflow.models.neighbors import NeighborWorker, has_due_work, read_finding
from workflow.projects import managing, progress, standing
from workflow.seat import Seat
from workflow.server.home import Home, open_home

DRAWN = {"control_share": 0.2, "test_share": 0.2}

KILLED = """
import os, signal
from workflow.models.neighbors import NeighborWorker
from workflow.server.home import open_home
from workflow.server.settings import Settings

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

NeighborWorker._learn_while_finding = die
NeighborWorker(open_home(Settings.from_environment()), "killed").find_neighbors()
"""


@pytest.fixture(autouse=True)
def _many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat any number of rows as many."""
    monkeypatch.setattr(build, "graph_takes_long", lambda _pool: True)


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner, **DRAWN))


@pytest.fixture
def worker(home: Home) -> NeighborWorker:
    return NeighborWorker(home, "one")


def answer(seat: Seat, times: int) -> None:
    for number in range(times):
        answer_next(seat.home, seat.person_id, seat.project_id, number % 2)


def folded(seat: Seat) -> ActiveLearner:
    """A new learner with all neighbours, after every entry of the log."""
    settings = LearnerSettings(truth_role="hidden", n_neighbors=4, seed=1, **DRAWN)
    graph = find_pool_graph(OneLabelPool(text_table(), settings))
    learner = ActiveLearner(text_table(), settings, graph)
    with seat.home.database.read() as session:
        assert follow(session, seat.project_id, learner.pool, learner.apply)
    return learner


def assert_as_folded(seat: Seat) -> None:
    whole = folded(seat)
    with seat.learner() as found:
        learner = found.learner
        assert not learner.waits
        assert learner.seq == whole.seq > 0
        np.testing.assert_array_equal(learner.label_distributions, whole.label_distributions)
        np.testing.assert_array_equal(learner.said, whole.said)
        assert learner.curve == whole.curve
        assert learner.next_question("1") == whole.next_question("1")
        assert learner.progress() == whole.progress()


def test_questions_are_random_until_neighbours_are_found(
    seat: Seat, worker: NeighborWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = folded(seat)
    with seat.learner() as found:
        waiting = found.learner
        assert waiting.waits
        assert waiting.graph is None
        assert not waiting.has_model
        assert not waiting.proves_done
        np.testing.assert_array_equal(waiting.pool.control_rows, whole.pool.control_rows)
        np.testing.assert_array_equal(waiting.test_rows, whole.test_rows)
    answer(seat, 6)
    written = log_of(seat)
    assert {one.strategy for one in written} == {"random", "control"}
    assert {one.model_version for one in written} == {0}
    shown = present(loop.next_question(seat))
    assert shown.why == "This row was drawn at random while neighbours are being found."
    assert not standing.standing(seat).has_proof
    view = progress.read_progress(seat)
    assert (view.has_model, view.has_proof, view.accuracy, view.control) == (False, False, None, None)
    batch = batches.next_batch(seat)
    assert isinstance(batch, NoBatch)
    assert "Neighbours are still being found" in batch.why
    assert b",model," not in file_of(seat)
    watched = progress.watched(seat)

    worker.find_neighbors()
    with monkeypatch.context() as looked:  # if nothing is wanted, no project is queried: there may be a thousand
        looked.setattr("db.projects.listed", lambda _: pytest.fail("projects were asked"))
        assert not has_due_work(seat.home)
    assert progress.watched(seat) != watched
    assert_as_folded(seat)
    assert b",model," in file_of(seat)
    answer(seat, 6)
    assert_as_folded(seat)


def test_second_server_loads_neighbours(seat: Seat, worker: NeighborWorker) -> None:
    second = open_home(seat.home.settings)
    try:
        there = Seat(second, seat.person_id, seat.project_id)
        for one in (seat, there, seat):
            answer(one, 2)
        with there.learner() as found:
            assert found.learner.waits
        worker.find_neighbors()
        for one in (there, seat):
            answer(one, 1)
            assert_as_folded(one)
    finally:
        second.close()


@pytest.fixture
def environment(home: Home) -> dict[str, str]:
    return {**os.environ, "WINNOW_HOME": str(home.settings.home), "WINNOW_DATABASE_URL": home.settings.database_url}


def test_killed_neighbour_search_is_continued_by_next_worker(
    seat: Seat, worker: NeighborWorker, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(seat, 3)
    assert run(environment, KILLED) == -signal.SIGKILL
    found = present(read_finding(seat))
    assert found.fault == ""
    worker.find_neighbors()
    assert read_finding(seat) is not None, "the lease of the dead is not over"
    answer(seat, 3)
    later = leases.datetime.now(leases.UTC) + leases.LEASE
    monkeypatch.setattr(leases, "datetime", type("Clock", (), {"now": staticmethod(lambda _zone: later)}))
    worker._next_finding = 0.0
    worker.find_neighbors()
    assert read_finding(seat) is None
    assert_as_folded(seat)


def test_failed_neighbour_search_is_reported_and_retried(
    seat: Seat, home: Home, owner: int, worker: NeighborWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = text_project(home, owner, "other", seed=2)

    def fail(pool: OneLabelPool[LabelTable], tell: ShareProgress) -> Graph:
        if pool.settings.seed == 1:
            raise ValueError("no such features")
        return find_pool_graph(pool, tell)

    with monkeypatch.context() as patch:
        patch.setattr(build, "find_pool_graph", fail)
        worker.find_neighbors()
    found = present(read_finding(seat))
    assert found.fault == "no such features"
    assert read_finding(Seat(home, owner, other)) is None
    worker._next_finding = 0.0
    worker.find_neighbors()
    assert read_finding(seat) is not None, "not again and again"
    answer(seat, 2)
    NeighborWorker(home, "next").find_neighbors()
    assert read_finding(seat) is None
    assert_as_folded(seat)


def test_neighbours_are_found_at_once_without_request_file(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    (wish,) = (seat.home.settings.home / "graphs").glob("*.wish")
    wish.unlink()

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(build, "note_finding", full)
    answer(seat, 2)
    assert_as_folded(seat)


def test_earlier_state_is_exported_with_its_own_model(seat: Seat, worker: NeighborWorker) -> None:
    answer(seat, 2)
    past = file_of(seat, as_of=2)
    assert b",model," in past
    worker.find_neighbors()
    assert past == file_of(seat, as_of=2)


def test_only_kinds_with_neighbours_wait(home: Home, owner: int, world: KindWorld) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner)))
    with seat.learner() as found:
        assert found.learner.waits == (seat.kind.NEIGHBORS is not None)
    assert has_due_work(home) == (seat.kind.NEIGHBORS is not None)


def test_model_without_neighbours_does_not_wait(seat: Seat) -> None:
    assert has_due_work(seat.home)
    managing.change_learner(seat, model="perceptron-max", strategy="margin")
    assert not has_due_work(seat.home)
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        assert not learner.waits
