"""Training in the background: what is due, leases, versions and their files."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from db import trained
from tests.workflow.world import answer_next, small_project
from workflow import labeling, projects, training
from workflow.home import Home

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="plsvc", strategy="margin", train_every=3, train_seconds=3600.0)


@pytest.fixture
def worker(home: Home) -> training.Worker:
    return training.Worker(home, "one")


def train_due(home: Home, worker: training.Worker) -> list[int]:
    versions = [worker.train(one) for one in training.due(home)]
    return [version.number for version in versions if version is not None]


def test_the_first_version_is_due_at_once_and_the_next_after_so_many_answers(
    home: Home, owner: int, project: int, worker: training.Worker
) -> None:
    assert train_due(home, worker) == [0]
    assert train_due(home, worker) == []
    for _ in range(2):
        answer_next(home, owner, project)
    assert train_due(home, worker) == []
    answer_next(home, owner, project)
    assert train_due(home, worker) == [3]
    with home.learners.open(home, owner, project) as learner:
        assert learner.model_version == 3
        assert [point.model_version for point in learner.curve] == [0, 3]


def test_one_answer_is_learnt_after_a_while(home: Home, owner: int, worker: training.Worker) -> None:
    project = small_project(home, owner, model="clpl", strategy="margin", train_every=99, train_seconds=0.3)
    assert train_due(home, worker) == [0]
    answer_next(home, owner, project)
    assert train_due(home, worker) == []
    time.sleep(0.4)
    assert train_due(home, worker) == [1]


def test_the_question_names_the_version_it_was_asked_by(
    home: Home, owner: int, project: int, worker: training.Worker
) -> None:
    before = labeling.next_question(home, owner, project)
    assert before is not None
    assert before.model_version == 0
    train_due(home, worker)
    for _ in range(3):
        answer_next(home, owner, project)
    train_due(home, worker)
    after = labeling.next_question(home, owner, project)
    assert after is not None
    assert after.model_version == 3
    assert after.strategy == "margin"


def test_a_project_that_follows_each_answer_needs_no_worker(home: Home, owner: int) -> None:
    small_project(home, owner, "near")
    assert not training.anything_to_train(home)
    assert training.due(home) == []


def test_two_workers_do_not_train_the_same(home: Home, project: int, worker: training.Worker) -> None:
    now = datetime.now(UTC)
    with home.database.write() as session:
        assert trained.take_lease(session, project, "other", now, now + timedelta(seconds=30))
    assert train_due(home, worker) == []
    assert training.training_state(home, project).running
    with home.database.write() as session:  # the other one went silent
        trained.take_lease(session, project, "other", now, now - timedelta(seconds=1))
    assert train_due(home, worker) == [0]
    assert not training.training_state(home, project).running


def test_a_lost_or_damaged_file_is_made_again(
    home: Home, owner: int, project: int, worker: training.Worker
) -> None:
    train_due(home, worker)
    (path,) = (home.settings.home / "models").rglob("*.npy")
    kept = np.load(path)
    path.write_bytes(b"no numbers")
    with home.learners.open(home, owner, project) as learner:
        assert learner.version_published is None
    assert not path.exists()
    assert train_due(home, worker) == [0]
    np.testing.assert_array_equal(np.load(path), kept)
    with home.learners.open(home, owner, project) as learner:
        assert learner.version_published == 0


def test_a_training_that_fails_says_why_and_is_not_tried_again_before_there_is_news(
    home: Home, owner: int, project: int, worker: training.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def fail(self: object) -> None:
        calls.append(self)
        raise ValueError("the features are too large")

    monkeypatch.setattr(training.Trainer, "train", fail)
    assert train_due(home, worker) == []
    assert training.training_state(home, project).fault == "the features are too large"
    assert train_due(home, worker) == []
    assert len(calls) == 1
    monkeypatch.undo()
    answer_next(home, owner, project)
    assert train_due(home, worker) == [1]
    assert training.training_state(home, project).fault is None


def test_another_model_starts_anew_and_the_way_back_is_short(
    home: Home, owner: int, project: int, worker: training.Worker
) -> None:
    train_due(home, worker)
    projects.change_learner(home, owner, project, model="clpl")
    with home.learners.open(home, owner, project) as learner:
        assert learner.version_published is None
    assert train_due(home, worker) == [0]
    projects.change_learner(home, owner, project, model="plsvc")
    assert train_due(home, worker) == []  # its version is still there
    with home.learners.open(home, owner, project) as learner:
        assert learner.version_published == 0


def test_a_worker_process_publishes_and_ends_with_its_parent(home: Home, owner: int, project: int) -> None:
    settings = home.settings
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "worker.py"), "--with-parent"],
        stdin=subprocess.PIPE,
        env={"WINNOW_HOME": str(settings.home), "PATH": "/usr/bin:/bin"},
        cwd=settings.home,
    )
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with home.learners.open(home, owner, project) as learner:
                if learner.version_published == 0:
                    break
            time.sleep(0.2)
        else:
            pytest.fail("no version was published within a minute")
    finally:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
