"""Models that a worker trains: under what name versions are kept, and which of them a learner takes in."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import LearnerSettings
from tests.workflow.world import answer_next, newest_version, opened, small_project
from workflow.kinds.one_label.training import FromWorker, version_key, worker_settings
from workflow.models import training
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.jobs import FairLock

CLPL = LearnerSettings(model="clpl")


def test_a_worker_trains_what_cannot_follow_each_answer() -> None:
    assert worker_settings(CLPL) is CLPL
    assert worker_settings(LearnerSettings()) is None


def test_a_version_is_kept_under_what_it_depends_on() -> None:
    key = version_key(CLPL, 0)
    assert version_key(LearnerSettings(model="clpl", strategy="margin", train_every=9), 0) == key
    others = {version_key(CLPL, 3), version_key(LearnerSettings(model="clpl", C=2.0), 0)}
    others |= {
        version_key(LearnerSettings(model="clpl", seed=1), 0),
        version_key(LearnerSettings(model="lmplane"), 0),
    }
    assert len(others) == 4
    assert key not in others


@pytest.fixture
def trained(home: Home, owner: int) -> int:
    """A project with a first version of its model."""
    project = small_project(home, owner, model="clpl", train_every=1)
    worker = training.Worker(home, "one")
    (due,) = training.due(home)
    assert worker.train(due) is not None
    return project


def test_a_learner_takes_in_what_was_published(home: Home, owner: int, trained: int) -> None:
    with opened(home, owner, trained) as learner:
        assert learner.version_published == 0
        assert newest_version(home, trained) == 0
        key = version_key(learner.settings, 0)
        path = home.model_path(trained, key, 0)
        np.testing.assert_array_equal(
            np.load(path).argmax(axis=1).shape, learner.label_distributions.argmax(axis=1).shape
        )


@pytest.mark.parametrize("damage", ["gone", "damaged", "empty"])
def test_a_file_that_cannot_be_read_is_left_until_it_is_made_anew(
    home: Home, owner: int, trained: int, damage: str
) -> None:
    with opened(home, owner, trained) as learner:
        fresh = type(learner)(learner.table, learner.settings)
    path = home.model_path(trained, version_key(fresh.settings, 0), 0)
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"no numbers" if damage == "damaged" else b"")
    look = FromWorker(home, trained, fresh, FairLock())
    look.look()
    assert fresh.version_published is None
    assert not path.exists(), "so that a worker makes it anew"
    path.write_bytes(whole)
    look.look()
    assert fresh.version_published == 0
    for end in (look.settle, look.abandon, look.stop):
        end()
    assert look.fault is None


def test_a_model_under_other_classes_is_another(home: Home, owner: int, trained: int) -> None:
    answer_next(home, owner, trained)
    classes.change_classes(Seat(home, owner, trained), 0, "add", ["zebra"])
    assert newest_version(home, trained) == -1
    (due,) = training.due(home)
    assert due.key.endswith("-c2")
