"""Random order in the background: when it is estimated, by which worker, what is stored, what a page shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import trained
from db.trained import DONE, WAITING, RandomOrderEstimate
from plcore.loop.one_label import RandomOrderFound
from tests.present import present
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.vector_world import vector_project
from tests.workflow.world import small_project
from workflow.importing.encoding_worker import EncodingWorker
from workflow.kinds.one_label.progress import ProgressView
from workflow.models import random_order
from workflow.models.random_order import GROWTH, LEAST_ANSWERS, LEAST_NEW, LogCounts, RandomOrderWorker, is_due
from workflow.projects import progress
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, test_share=0.5)


@pytest.fixture
def worker(home: Home) -> RandomOrderWorker:
    return RandomOrderWorker(home, "one")


def latest(home: Home, project: int) -> RandomOrderEstimate:
    with home.database.read() as session:
        found = trained.RANDOM_ORDERS.latest(session, project)
    assert found is not None
    return found


def view(home: Home, owner: int, project: int) -> ProgressView:
    found = progress.read_progress(Seat(home, owner, project))
    assert isinstance(found, ProgressView)
    return found


@given(st.integers(0, 500), st.integers(0, 500))
def test_estimate_is_due_when_answers_have_grown_by_a_fifth(before: int, more: int) -> None:
    last, now = LogCounts(9, before), LogCounts(99, before + more)
    assert is_due(last, now) == (more >= max(LEAST_NEW, GROWTH * before))
    assert is_due(None, now) == (now.answers >= LEAST_ANSWERS)


def test_estimate_is_due_once_after_first_answers(
    home: Home, owner: int, project: int, worker: RandomOrderWorker
) -> None:
    answer_truly(home, owner, project, LEAST_ANSWERS - 1)
    assert not random_order.has_due_work(home)
    worker.look()
    with home.database.read() as session:
        assert trained.RANDOM_ORDERS.latest(session, project) is None
    answer_truly(home, owner, project, 1)
    assert random_order.has_due_work(home)
    worker.look()
    first = latest(home, project)
    assert (first.state, first.answers, first.asked_by) == (DONE, LEAST_ANSWERS, None)
    assert not random_order.has_due_work(home)
    worker.look()
    assert latest(home, project) == first


def test_estimate_is_stored_for_all_answers(home: Home, owner: int, project: int, worker: RandomOrderWorker) -> None:
    answer_truly(home, owner, project, LEAST_ANSWERS)
    seen = progress.watched(Seat(home, owner, project))
    worker.look()
    assert progress.watched(Seat(home, owner, project)) != seen, "the page has something new to draw"
    report = present(latest(home, project).report)
    found = RandomOrderFound.from_json(report["found"])
    assert (found.how, found.measured, found.given) == ("truth", 30, LEAST_ANSWERS)
    random = present(view(home, owner, project).proof.random)
    assert random.by_truth
    assert random.at == LEAST_ANSWERS
    assert random.answers[-1] >= LEAST_ANSWERS
    assert (random.low <= random.value).all()
    assert (random.value <= random.high).all()
    assert random.saved.low <= random.saved.high


def test_estimate_without_truth_or_checks_says_why(home: Home, owner: int, worker: RandomOrderWorker) -> None:
    project = small_project(home, owner, test_share=0.0)
    answer_truly(home, owner, project, LEAST_ANSWERS)
    worker.look()
    assert latest(home, project).state == DONE
    proof = view(home, owner, project).proof
    assert proof.random is None
    assert "no blind checks" in proof.missing


def test_requested_estimate_is_made_once(home: Home, owner: int, project: int, worker: RandomOrderWorker) -> None:
    answer_truly(home, owner, project, 3)
    for _ in range(2):
        progress.estimate_random_order(Seat(home, owner, project))
    asked = latest(home, project)
    assert (asked.state, asked.asked_by, asked.answers) == (WAITING, owner, 3)
    assert view(home, owner, project).proof.running
    with home.database.write() as session:
        trained.RANDOM_ORDERS.begin(session, asked.id, seq=3, answers=3)
    assert view(home, owner, project).proof.running
    worker.look()
    assert latest(home, project).id == asked.id
    assert latest(home, project).state == DONE
    assert view(home, owner, project).proof.running is False


def test_label_vectors_are_not_replayed(home: Home, owner: int, worker: RandomOrderWorker) -> None:
    project = vector_project(home, owner)
    with pytest.raises(progress.CannotReplay):
        progress.estimate_random_order(Seat(home, owner, project))
    worker.look()
    with home.database.read() as session:
        assert trained.RANDOM_ORDERS.latest(session, project) is None


def test_server_worker_makes_estimate(home: Home, owner: int, project: int) -> None:
    answer_truly(home, owner, project, LEAST_ANSWERS)
    EncodingWorker(home, "all").look()
    assert latest(home, project).state == DONE
