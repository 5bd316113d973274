"""Progress and hidden truth of a project with one label per row."""

from __future__ import annotations

import threading
from datetime import timedelta

import numpy as np
import pytest

from db import answers
from plcore import LabelTable, LearnerSettings, Roles
from plcore.loop import Place
from tests.workflow.four import ask, four_class_project
from tests.workflow.world import ROLES, answer_next, opened, small_frame, small_project
from workflow.answering import loop, undoing
from workflow.kinds.one_label import exporting
from workflow.models import training
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home

# The Progress page's figures: honest curves, confusion over control answers, counts per class


TRUTH = dict(zip(small_frame()["id"], small_frame()["truth"], strict=True))


def answer_truly(home: Home, owner: int, project: int, n: int) -> int:
    """Answer the next n questions with the table's truth; returns how many were asked."""
    for count in range(n):
        question = loop.next_question(Seat(home, owner, project))
        if question is None:
            return count
        right = TRUTH[question.view.row_id]
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [right])
    return n


def test_truth_and_controls_both_have_curve(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.3)
    answer_truly(home, owner, project, 20)
    view = progress.read_progress(Seat(home, owner, project))
    curve = view.curve
    assert view.n_test == 20
    assert view.n_control == 12
    assert view.control is not None
    assert view.control_asked > 0
    assert curve.answers[-1] == 20
    assert curve.control[-1] == view.control
    assert (curve.control_low[-1], curve.control_high[-1]) == view.control_interval
    known = ~np.isnan(curve.control)
    assert (curve.control_low[known] <= curve.control[known]).all()
    assert (curve.control[known] <= curve.control_high[known]).all()
    assert view.interval is not None
    assert view.interval[0] <= view.accuracy <= view.interval[1]


def test_without_truth_and_controls_nothing_is_claimed(home: Home, owner: int) -> None:
    project = small_project(home, owner, test_share=0.0)
    answer_truly(home, owner, project, 5)
    view = progress.read_progress(Seat(home, owner, project))
    assert (view.accuracy, view.interval, view.control, view.n_control) == (None, None, None, 0)
    assert view.control_interval == (0.0, 1.0)
    assert np.isnan(view.curve.accuracy).all()
    assert np.isnan(view.curve.control_low).all()
    assert view.confusion.total == 0


def test_confusion_uses_predictions_for_control_rows(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    told: dict[int, tuple[str, str]] = {}
    for _ in range(60):
        question = loop.next_question(Seat(home, owner, project))
        if question is None:
            break
        right = TRUTH[question.view.row_id]
        if question.strategy == "control":
            assert question.predicted is not None
            told[question.view.row] = right, question.predicted
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [right])
        seen = progress.read_progress(Seat(home, owner, project)).confusion  # memory and log grow together
        assert seen.total == len(told)
    assert len(told) > 5
    confusion = progress.read_progress(Seat(home, owner, project)).confusion
    for answered in confusion.labels:
        for predicted in confusion.labels:
            at = confusion.labels.index(answered), confusion.labels.index(predicted)
            assert confusion.counts[at] == list(told.values()).count((answered, predicted))
    assert confusion.agreed == sum(a == b for a, b in told.values())


def test_withdrawn_answers_leave_confusion(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    while (question := loop.next_question(Seat(home, owner, project))) is not None:
        answer_next(home, owner, project)
        if question.strategy == "control":
            break
    assert progress.read_progress(Seat(home, owner, project)).confusion.total == 1
    undoing.undo(Seat(home, owner, project))
    assert progress.read_progress(Seat(home, owner, project)).confusion.total == 0


def table_of(kind: str) -> LabelTable:
    """240 rows of ants, bees and cats, of which 80 are held out.

    kind : "apart"; "shuffled", so that features say nothing; "like ants", as cats are then
    """
    frame = small_frame(240)
    if kind == "apart":
        frame["x"] += 20.0 * frame.truth.map(["ant", "bee", "cat"].index)
    elif kind == "shuffled":
        frame[["x", "y"]] = frame[["x", "y"]].sample(frac=1.0, random_state=1).to_numpy()
    else:
        cats, ants = frame.truth == "cat", frame[frame.truth == "ant"]
        frame.loc[cats, ["x", "y"]] = ants[["x", "y"]].sample(int(cats.sum()), replace=True, random_state=1).to_numpy()
    return LabelTable.from_frame(frame, ROLES)


def test_weakest_classes_are_those_surely_predicted_wrong(home: Home, owner: int) -> None:
    project = managing.create_project(Seat(home, owner), "alike", table_of("like ants"), LearnerSettings(n_neighbors=4))
    with opened(home, owner, project) as learner:
        classes, truth, said = learner.classes, learner.pool.truth, learner.said
        held = [(classes[truth[row]], classes[said[at]]) for at, row in enumerate(learner.pool.held)]
    found = progress.read_progress(Seat(home, owner, project)).weakest
    assert found
    for one in found:
        answers_given = [predicted for label, predicted in held if label == one.label]
        assert one.rows == len(answers_given) >= 10
        assert one.share == answers_given.count(one.label) / one.rows < 1
        assert one.low <= one.share <= one.high
    assert [one.high for one in found] == sorted(one.high for one in found)
    assert found[0].label in {"ant", "cat"}


def test_blind_checks_show_weakest_classes_without_truth(home: Home, owner: int) -> None:
    settings = LearnerSettings(n_neighbors=4, control_share=0.5, test_share=0.0)
    project = managing.create_project(Seat(home, owner), "alike", table_of("like ants"), settings)
    assert progress.read_progress(Seat(home, owner, project)).weakest == (), "too few of each class are known"
    truth = dict(zip(small_frame(240).id, small_frame(240).truth, strict=True))
    while (question := loop.next_question(Seat(home, owner, project))) is not None:
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [truth[question.view.row_id]])
    found = progress.read_progress(Seat(home, owner, project))
    assert {one.label for one in found.weakest} <= {"ant", "bee", "cat"}
    assert 10 <= sum(one.rows for one in found.weakest) <= found.control_asked


def test_sure_rows_are_counted_where_certainty_is_measured(home: Home, owner: int) -> None:
    project = managing.create_project(Seat(home, owner), "apart", table_of("apart"), LearnerSettings(n_neighbors=4))
    begun = progress.read_progress(Seat(home, owner, project))
    assert begun.sure is not None
    assert 0 < begun.sure <= begun.left
    row = loop.next_question(Seat(home, owner, project))
    assert row is not None
    loop.submit_answer(Seat(home, owner, project), row.token, "bad")
    after = progress.read_progress(Seat(home, owner, project))
    assert (after.bad, after.answered, after.left) == (1, 1, begun.left - 1)
    assert after.sure is not None
    assert after.sure <= after.left


def test_no_row_is_sure_if_certainty_means_nothing(home: Home, owner: int, project: int) -> None:
    assert progress.read_progress(Seat(home, owner, project)).sure is None, "20 held-out rows are too few"
    shuffled = table_of("shuffled")
    other = managing.create_project(Seat(home, owner), "shuffled", shuffled, LearnerSettings(n_neighbors=4))
    assert progress.read_progress(Seat(home, owner, other)).sure is None


def test_labels_are_counted_by_source(home: Home, owner: int, project: int) -> None:
    answer_truly(home, owner, project, 6)
    view = progress.read_progress(Seat(home, owner, project))
    sets = small_frame()["candidates"]
    assert {one.label: one.given for one in view.labels} == {
        name: int((sets == name).sum()) for name in ("ant", "bee", "cat")
    }
    assert sum(one.answered for one in view.labels) == 6
    assert [one.answered for one in view.labels] == sorted((one.answered for one in view.labels), reverse=True)


def test_curve_follows_versions_of_trained_model(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="clpl", strategy="margin", control_share=0.3, train_seconds=0.0)
    before = progress.read_progress(Seat(home, owner, project))
    assert before.trained
    assert not before.has_model
    assert before.accuracy is None
    assert before.control is None, "no model: nothing is claimed"
    assert progress.watched(Seat(home, owner, project)) == (0, -1, None, "")
    worker = training.Worker(home, "test")
    for answered in (0, 6, 12):
        answer_truly(home, owner, project, answered - progress.watched(Seat(home, owner, project))[0])
        (due,) = training.due(home)
        assert worker.train(due) is not None
    assert progress.watched(Seat(home, owner, project))[:2] == (12, 12)
    view = progress.read_progress(Seat(home, owner, project))
    assert view.has_model
    assert view.curve.model_version.tolist() == [0, 6, 12]
    assert view.curve.answers.tolist() == [0, 6, 12]
    assert view.accuracy is not None
    assert view.control is not None


def test_pace_and_time_left_are_estimated(home: Home, owner: int, project: int) -> None:
    assert progress.read_progress(Seat(home, owner, project)).time_left is None
    answer_truly(home, owner, project, 3)
    view = progress.read_progress(Seat(home, owner, project))
    assert view.seconds_per_answer is not None
    assert view.time_left is not None
    assert view.time_left.total_seconds() == pytest.approx(view.seconds_per_answer * view.left, abs=1e-6)


def test_time_left_covers_all_required_annotators(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, overlap=3))
    before = progress.read_progress(seat)
    assert before.answers_left == 3 * before.left > 0
    answer_next(home, owner, seat.project_id)
    view = progress.read_progress(seat)
    assert (view.left, view.answers_left) == (before.left, before.answers_left - 1)
    assert view.time_left == timedelta(seconds=view.seconds_per_answer * view.answers_left)


def test_long_break_does_not_change_pace(home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "latest_seconds", lambda *_, **__: [2.0, 3.0, 3600.0, 2.5, 2.0])
    assert progress.read_progress(Seat(home, owner, project)).seconds_per_answer == 2.5


def test_concurrent_readers_see_same_figures(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5)
    answer_truly(home, owner, project, 15)
    found: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(progress.read_progress(Seat(home, owner, project)).confusion.total)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


# Hidden true labels of a table, and the people who may answer with them


@pytest.mark.parametrize(("truth_role", "hides"), [("hidden", True), ("given", False)])
def test_oracle_needs_truth_hidden_from_model_and_people(home: Home, owner: int, truth_role: str, hides: bool) -> None:
    seat = Seat(home, owner, small_project(home, owner, truth_role=truth_role))
    with seat.learner() as opened:
        assert exporting.hides_truth(opened.learner) == hides
        learner = type(opened.learner)(
            LabelTable.from_frame(small_frame(), Roles(candidates="candidates", numbers=("x", "y"))),
            opened.learner.settings,
        )
    assert not exporting.hides_truth(learner)
    assert exporting.known_places(learner) == []


def test_true_answer_is_label_or_none_with_label(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, four_class_project(home, owner))
    question = ask(home, owner, seat.project_id)
    right = str(small_frame().truth[question.view.row])
    with seat.learner() as opened:
        given = exporting.true_answer(opened.learner, question)
    assert given is not None
    assert (given.kind, given.labels, given.shown) == ("is", (right,), question.shown)
    loop.submit_answer(seat, question.token, "not", [right], shown=question.shown)
    again = loop.ask_next(seat, question.view.row)
    assert right not in again.choices
    with seat.learner() as opened:
        given = exporting.true_answer(opened.learner, again)
    assert given is not None
    assert (given.kind, given.labels, given.shown) == ("none", (right,), again.shown)


def test_known_places_are_open_and_include_drawn_blind_checks(home: Home, owner: int) -> None:
    frame = small_frame()
    frame.loc[::2, "truth"] = ""
    table = LabelTable.from_frame(frame, ROLES)
    settings = LearnerSettings(n_neighbors=4, control_share=0.3)
    seat = Seat(home, owner, managing.create_project(Seat(home, owner), "half", table, settings))
    with seat.learner() as opened:
        learner = opened.learner
        places = exporting.known_places(learner)
        controls = [row for row in learner.pool.control_left().tolist() if row % 2]
        assert controls
        assert places[: len(controls)] == [Place(row) for row in controls]
        assert all(place.row % 2 and learner.pool.is_open(place.row) for place in places)
        assert len(set(places)) == len(places)
