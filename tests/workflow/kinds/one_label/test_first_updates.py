"""The first updates of a learner with one label per row, and its neighbour graphs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import plcore.loop.one_label.asking
from plcore.loop.one_label import OneLabelPool, Trainer
from tests.workflow.world import answer_next, opened, small_project
from workflow.answering import loop, undoing
from workflow.kinds.one_label import build, exporting
from workflow.kinds.one_label.training import FirstUpdates
from workflow.models import training, versions
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.jobs import FairLock

# Answers that a kernel ridge applies before the worker's next version, in a thread of the server


@pytest.fixture
def first_updates_project(home: Home, owner: int) -> int:
    """A project with a first version of its model."""
    made = small_project(home, owner, model="kernelridge", strategy="moves", train_every=99, train_seconds=3600.0)
    train(home)
    return made


def train(home: Home) -> None:
    """Run the fits that are due."""
    (due,) = training.due(home)
    assert training.Worker(home, "one").train(due) is not None


def shares(home: Home, owner: int, project: int) -> np.ndarray:
    """Predictions of the learner for the training rows, once it is idle."""
    with opened(home, owner, project):
        pass  # starts the work that is due
    home.shelf.settle(project)
    with opened(home, owner, project) as learner:
        return np.asarray(learner.label_distributions[learner.pool.train])


def expected(home: Home, owner: int, project: int, version: int) -> np.ndarray:
    """The same by the estimator's own `update`, from a version rebuilt from the log up to it."""
    with opened(home, owner, project) as learner:
        now, table, settings = learner.pool, learner.table, learner.settings
        pool = OneLabelPool(table, settings)
        entries = sorted((e for row in range(len(now.original)) for e in now.fold.entries(row)), key=lambda e: e.seq)
        for entry in entries:
            if entry.seq <= version:
                pool.apply(entry)
        made = Trainer(pool).train()
        assert made.footing is not None
        update = made.footing.update(now.candidates[now.train], made.scores, now.train, with_effects=True, weights=None)
        learner = type(learner)(table, settings)
        for entry in entries:
            learner.apply(entry)
        learner.publish(made.scores, [made.point], made.footing.effects)
        learner.follow(update)
        return np.asarray(learner.label_distributions[learner.pool.train])


def test_answer_changes_shares_before_next_version(home: Home, owner: int, first_updates_project: int) -> None:
    before = shares(home, owner, first_updates_project)
    with opened(home, owner, first_updates_project) as learner:
        curve, said = learner.curve, learner.progress().accuracy
    for _ in range(4):
        answer_next(home, owner, first_updates_project)
    after = shares(home, owner, first_updates_project)
    assert not np.allclose(after, before)
    np.testing.assert_allclose(after, expected(home, owner, first_updates_project, 0), atol=1e-6)
    with opened(home, owner, first_updates_project) as learner:
        assert learner.model_version == 0
        assert learner.curve == curve
        assert learner.progress().accuracy == said
    question = loop.next_question(Seat(home, owner, first_updates_project))
    assert question is not None
    assert (question.strategy, question.model_version) == ("moves", 0)


def test_export_includes_first_update_after_answers(
    home: Home, owner: int, first_updates_project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares(home, owner, first_updates_project)
    with monkeypatch.context() as patch:  # the update comes later than the first look at the labels
        patch.setattr(FirstUpdates, "look", lambda _: None)
        answer_next(home, owner, first_updates_project)
        with opened(home, owner, first_updates_project) as learner:
            before = exporting.disambiguated(learner)
    shares(home, owner, first_updates_project)
    with opened(home, owner, first_updates_project) as learner:
        after, anew = exporting.disambiguated(learner), learner.take_labels().whole
    assert np.array_equal(after.confidence, anew.confidence)
    assert not np.array_equal(after.confidence, before.confidence)


def test_withdrawn_answer_is_removed_from_first_updates(home: Home, owner: int, first_updates_project: int) -> None:
    answer_next(home, owner, first_updates_project)
    one = shares(home, owner, first_updates_project)
    answer_next(home, owner, first_updates_project)
    assert not np.allclose(shares(home, owner, first_updates_project), one)
    undoing.undo(Seat(home, owner, first_updates_project))
    np.testing.assert_array_equal(shares(home, owner, first_updates_project), one)


def test_new_version_replaces_first_updates(home: Home, owner: int, first_updates_project: int) -> None:
    for _ in range(3):
        answer_next(home, owner, first_updates_project)
    first = shares(home, owner, first_updates_project)
    managing.change_learner(Seat(home, owner, first_updates_project), train_every=1)  # as if it were due
    train(home)
    second = shares(home, owner, first_updates_project)
    with opened(home, owner, first_updates_project) as learner:
        assert learner.model_version == 3
    assert not np.array_equal(first, second)
    answer_next(home, owner, first_updates_project)
    np.testing.assert_allclose(
        shares(home, owner, first_updates_project), expected(home, owner, first_updates_project, 3), atol=1e-6
    )


def test_restart_reproduces_first_updates(home: Home, owner: int, first_updates_project: int) -> None:
    for _ in range(3):
        answer_next(home, owner, first_updates_project)
    before = shares(home, owner, first_updates_project)
    again = open_home(home.settings)
    np.testing.assert_array_equal(shares(again, owner, first_updates_project), before)
    again.close()


@pytest.mark.parametrize("damage", ["gone", "damaged", "no rounds", "too large"])
def test_answers_wait_for_next_version_without_stored_state(
    home: Home, owner: int, damage: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if damage == "too large":
        monkeypatch.setattr(versions, "MOST_BYTES", 100)
    project = small_project(home, owner, model="kernelridge", strategy="margin", train_every=99, train_seconds=3600.0)
    train(home)
    (state,) = home.settings.home.glob("models/*/0.npz")
    rounds = list(state.parent.glob("rounds-*.npz"))
    assert len(rounds) == (damage != "too large")
    if damage == "gone":
        state.unlink()
    elif damage == "damaged":
        state.write_bytes(b"PK no zip")
    elif damage == "no rounds":
        rounds[0].unlink()
    before = shares(home, owner, project)
    answer_next(home, owner, project)
    after = shares(home, owner, project)
    changed = np.flatnonzero((before != after).any(axis=1))
    assert len(changed) == 1  # the row itself has one candidate now, and that is all
    answer_next(home, owner, project)
    assert ("cannot be read" in caplog.text) == (damage == "damaged")


def test_added_class_takes_effect_with_new_version(home: Home, owner: int, first_updates_project: int) -> None:
    answer_next(home, owner, first_updates_project)
    shares(home, owner, first_updates_project)
    seat = Seat(home, owner, first_updates_project)
    classes.change_classes(seat, classes.classes_view(seat).version, "add", ["dog"])
    with opened(home, owner, first_updates_project) as learner:
        assert learner.version_published is None
        assert len(learner.classes) == 4
    answer_next(home, owner, first_updates_project)
    assert shares(home, owner, first_updates_project).shape[1] == 4
    train(home)
    with opened(home, owner, first_updates_project) as learner:
        version = learner.version_published
    assert version is not None
    answer_next(home, owner, first_updates_project)
    assert (shares(home, owner, first_updates_project).sum(axis=1) > 0.99).all()


def test_answering_does_not_wait_for_first_update(
    home: Home, owner: int, first_updates_project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is running, questions are shown and answered; those answers are applied after it."""
    begun, go_on = threading.Event(), threading.Event()
    real = FirstUpdates._update

    def slow(self: FirstUpdates, *args: object) -> object:
        begun.set()
        assert go_on.wait(60)
        return real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(FirstUpdates, "_update", slow)
    answer_next(home, owner, first_updates_project)
    with opened(home, owner, first_updates_project):
        pass
    assert begun.wait(60)
    for _ in range(3):
        answer_next(home, owner, first_updates_project)
    go_on.set()
    np.testing.assert_allclose(
        shares(home, owner, first_updates_project), expected(home, owner, first_updates_project, 0), atol=1e-6
    )


def test_replaced_first_updates_change_nothing(home: Home, owner: int, first_updates_project: int) -> None:
    answer_next(home, owner, first_updates_project)
    with opened(home, owner, first_updates_project) as learner:
        lock = FairLock()
        updates = FirstUpdates(learner, lock)
        (path,) = home.settings.home.glob("models/*/0.npy")
        updates.begin(0, np.load(path), path)
        assert not updates.abandon(), "nothing is under way"
        updates.look()
        updates.settle()
        updates.stop()
        assert updates._thread is None


# Stored neighbours: the learner is the same with and without them, and a damaged file only costs time


def test_restart_reads_stored_neighbours(home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_next(home, owner, project)
    shown = loop.next_question(Seat(home, owner, project))

    def never(*_: object) -> None:
        raise AssertionError("the neighbours were searched again")

    monkeypatch.setattr(plcore.loop.one_label.asking, "find_graph", never)
    again = open_home(home.settings)
    try:
        assert loop.next_question(Seat(again, owner, project)) == shown
    finally:
        again.close()


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_damaged_neighbour_file_is_rebuilt(
    home: Home,
    owner: int,
    project: int,
    damage: bytes | None,
    mapped: bool,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(build, "IN_MEMORY", -1 if mapped else build.IN_MEMORY)
    shown = loop.next_question(Seat(home, owner, project))
    (kept,) = (home.settings.home / "graphs").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = open_home(home.settings)
    try:
        assert loop.next_question(Seat(again, owner, project)) == shown
    finally:
        again.close()
    assert "found again" in caplog.text
    assert kept.read_bytes() == whole, "and it is whole again"


def test_neighbours_of_many_rows_have_their_own_file(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = loop.next_question(Seat(home, owner, project))
    with Seat(home, owner, project).learner() as opened:
        wanted = opened.learner.graph
    (kept,) = (home.settings.home / "graphs").iterdir()
    monkeypatch.setattr(build, "IN_MEMORY", 0)
    again = open_home(home.settings)
    try:
        seat = Seat(again, owner, project)
        assert loop.next_question(seat) == shown
        with seat.learner() as opened:
            found = opened.learner.graph
        kept.write_bytes(b"")  # another server finds them again
        for name in ("neighbors", "weights", "test_neighbors", "test_weights"):
            array = getattr(found, name)
            np.testing.assert_array_equal(array, getattr(wanted, name))
            assert not array.flags.owndata
        assert list(kept.parent.iterdir()) == [kept], "it has no name"
        answer_next(again, owner, project)
    finally:
        again.close()
