"""Similar answered rows: the nearest answered ones, by brute force; never held-out rows or blind checks."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.disks import no_room_for_arrays
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.vector_world import answer_truly, true_labels, vector_project
from tests.workflow.world import annotator, opened, small_frame, small_project
from workflow.answering import loop, undoing
from workflow.answering.loop import StaleQuestion, similar_rows
from workflow.seat import Seat
from workflow.server.home import Home, NoRoomError


def answer(home: Home, owner: int, project: int, times: int) -> dict[int, str]:
    """Answer this many questions with the truth; returns {row: label}."""
    truth, given = text_frame()["truth"], {}
    for _ in range(times):
        question = loop.next_question(Seat(home, owner, project))
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [truth[question.view.row]])
        given[question.view.row] = truth[question.view.row]
    return given


def test_similar_rows_are_nearest_answered_rows_with_labels(home: Home, owner: int) -> None:
    project = text_project(home, owner, test_share=0.0)
    seat = Seat(home, owner, project)
    given = answer(home, owner, project, 12)
    question = loop.next_question(seat)
    found = similar_rows(seat, question.token)
    assert len(found) == loop.MOST
    with opened(home, owner, project) as learner:
        table = learner.table
        X = table.features().fit(table).transform(table).toarray()
    rows = sorted(given)
    far = {row: np.linalg.norm(X[row] - X[question.view.row]) for row in rows}
    assert [one.view.row for one in found] == sorted(rows, key=far.__getitem__)[:5]
    assert [one.labels for one in found] == [(given[one.view.row],) for one in found]
    assert found[0].view.text == text_frame()["text"][found[0].view.row]


def test_numeric_rows_are_compared_by_their_features(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    seat = Seat(home, owner, project)
    for _ in range(8):
        question = loop.next_question(seat)
        loop.submit_answer(seat, question.token, "is", [small_frame()["truth"][question.view.row]])
    question = loop.next_question(seat)
    points = small_frame()[["x", "y"]].to_numpy()
    scaled = points / np.ptp(points, axis=0)
    far = [
        float(np.linalg.norm(scaled[one.view.row] - scaled[question.view.row]))
        for one in similar_rows(seat, question.token)
    ]
    assert far == sorted(far)
    assert len(far) >= 4


def test_missing_disk_space_for_features_is_reported(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    question = loop.next_question(seat)
    loop.submit_answer(seat, question.token, "is", [small_frame()["truth"][question.view.row]])
    token = loop.next_question(seat).token
    with monkeypatch.context() as patch:
        no_room_for_arrays(patch)
        with pytest.raises(NoRoomError, match=r"no room left on the disk.* Fix: make room there"):
            similar_rows(seat, token)
    assert len(similar_rows(seat, token)) == 1, "and there is room again"


def test_project_without_answers_has_no_similar_rows(home: Home, owner: int) -> None:
    project = text_project(home, owner)
    seat = Seat(home, owner, project)
    assert similar_rows(seat, loop.next_question(seat).token) == ()
    answer(home, owner, project, 1)
    first = loop.next_question(seat)
    assert len(similar_rows(seat, first.token)) == 1
    undoing.undo(seat)
    assert similar_rows(seat, loop.next_question(seat).token) == ()


def test_blind_checks_and_held_out_rows_are_never_shown(home: Home, owner: int) -> None:
    project = text_project(home, owner, control_share=0.5, test_share=0.2)
    seat = Seat(home, owner, project)
    given = answer(home, owner, project, 30)
    with opened(home, owner, project) as learner:
        blind, test = learner.pool.control_rows.copy(), learner.test_rows.copy()
    assert any(blind[row] for row in given), "some answers were to blind checks"
    for _ in range(8):
        question = loop.next_question(seat)
        for one in similar_rows(seat, question.token):
            assert not blind[one.view.row]
            assert not test[one.view.row]
            assert one.labels == (given[one.view.row],)
            assert one.view.row != question.view.row
        given |= answer(home, owner, project, 1)


def test_similar_rows_need_own_open_question(home: Home, owner: int) -> None:
    project, other = text_project(home, owner), text_project(home, owner, "other")
    seat = Seat(home, owner, project)
    ann = annotator(home, owner, "Ann")
    question = loop.next_question(seat)
    for stranger in (Seat(home, ann, project), Seat(home, owner, other)):
        with pytest.raises(StaleQuestion, match="no longer open"):
            similar_rows(stranger, question.token)
    loop.submit_answer(seat, question.token, "skip")
    with pytest.raises(StaleQuestion):
        similar_rows(seat, question.token)


def test_label_vector_answers_are_shown_except_blind_checks(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance", control_share=0.3)
    seat = Seat(home, owner, project)
    seen = 0
    for _ in range(10):
        question = loop.next_question(seat)
        with opened(home, owner, project) as learner:
            answered, controls = learner.pool.answered.copy(), learner.pool.control_cells.copy()
            classes = list(learner.classes)
        for one in similar_rows(seat, question.token):
            row, seen = one.view.row, seen + 1
            wanted = [
                label
                for place, label in enumerate(classes)
                if label in true_labels(row) and answered[row, place] and not controls[row, place]
            ]
            assert list(one.labels) == wanted
            assert wanted
        answer_truly(home, owner, project, question)
    assert seen > 5


def test_number_of_compared_rows_is_limited(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    project = text_project(home, owner)
    answer(home, owner, project, 6)
    monkeypatch.setattr(loop, "COMPARED", 2)
    seat = Seat(home, owner, project)
    assert len(similar_rows(seat, loop.next_question(seat).token)) == 2


def test_comparing_rows_does_not_block_learner(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    project = text_project(home, owner, test_share=0.0)
    answer(home, owner, project, 2)
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    assert question is not None
    came_in = threading.Event()

    def press() -> None:
        with Seat(home, owner, project).learner():
            came_in.set()

    def nearest(comparison: loop.RowComparison) -> list[int]:
        other = threading.Thread(target=press)
        other.start()
        other.join(300)
        return comparison.rows.tolist()

    monkeypatch.setattr(loop.RowComparison, "nearest", nearest)
    assert len(similar_rows(seat, question.token)) == 2
    assert came_in.is_set()
