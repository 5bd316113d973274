"""Owners choose a model, take it back, have the models compared, here or by a worker."""

from __future__ import annotations

import pytest

from db import entries, trained
from plcore import LabelTable
from tests.workflow.compared import Findings, findings
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame, vector_project
from tests.workflow.world import (
    ROLES,
    annotator,
    answer_next,
    count_entries,
    file_of,
    opened,
    small_frame,
    small_project,
)
from workflow.access import NotAllowed
from workflow.answering import undoing
from workflow.log.columns import read_log
from workflow.models import choosing, showing
from workflow.models.choosing import CannotCompare
from workflow.models.comparing import ComparingWorker
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["findings"]


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="automatic")


@pytest.fixture
def seat(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


def test_the_way_back_and_to_automatic_again(seat: Seat, findings: Findings) -> None:
    findings.parameters = {"clpl": {"C": 10.0}}
    ComparingWorker(seat.home, "one").look()
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    choosing.adopt(seat, "plknn")
    choosing.adopt(seat, "plknn")
    now = managing.learner_settings(seat)
    assert (now["model"], now["C"]) == ("plknn", None)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        assert not learner.settings.is_trained
        assert learner.pool.answers == 1
        assert learner.progress().accuracy is not None, "it answers at once"
    choosing.back_to_automatic(seat)
    choosing.back_to_automatic(seat)
    now = managing.learner_settings(seat)
    assert (now["model"], now["adopted"]) == ("automatic", "plknn"), "the one in force stays"
    found = [
        (one.before, one.model, one.automatic, one.by_comparison)
        for one in showing.model_story(seat).adoptions
    ]
    assert found == [
        ("plknn", "clpl", True, True),
        ("clpl", "plknn", False, False),
        ("plknn", "plknn", True, False),
    ]
    choosing.adopt(seat, "clpl")
    assert managing.learner_settings(seat)["C"] == 10.0, "as the comparison found it"


def test_the_settings_page_changes_the_model_by_the_same_line_of_the_log(
    seat: Seat, findings: Findings
) -> None:
    ComparingWorker(seat.home, "one").look()
    managing.change_learner(seat, model="plsvc", C=3.0)
    managing.change_learner(seat, C=4.0)
    managing.change_learner(seat, strategy="random")
    managing.change_learner(seat, model="automatic")
    now = managing.learner_settings(seat)
    assert (now["model"], now["adopted"], now["C"]) == ("automatic", "plsvc", 4.0)
    story = showing.model_story(seat)
    assert [(one.model, one.automatic) for one in story.adoptions] == [
        ("clpl", True),
        ("plsvc", False),
        ("plsvc", True),
    ], "no line for a change that brings no other model"
    assert (story.automatic, story.model) == (True, "plsvc")


def test_a_change_of_the_model_is_nobodys_answer(seat: Seat, findings: Findings) -> None:
    home, owner, project = seat.home, seat.person_id, seat.project_id or 0
    first = answer_next(home, owner, project)
    choosing.adopt(seat, "clpl")
    undone = undoing.undo(seat)
    assert undone is not None
    assert undone.row == first.row, "undo takes the answer back, not the model"
    assert undoing.undo(seat) is None
    log = read_log(file_of(seat, "log"))
    assert [(line.entry.kind, line.entry.labels, line.annotator) for line in log] == [
        ("is", first.labels, "owner"),
        ("model", ("clpl",), "owner"),
        ("withdraw", (), "owner"),
    ]
    changed = log[1].entry
    assert (changed.before, changed.after, changed.row, changed.strategy) == (
        ("plknn",),
        ("clpl",),
        entries.NO_ROW,
        None,
    )
    assert managing.get_project(seat).answered == 0


def test_only_owners_choose(seat: Seat) -> None:
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    for act in (choosing.compare_now, choosing.cancel, choosing.back_to_automatic, choosing.measure):
        with pytest.raises(NotAllowed):
            act(ada)
    with pytest.raises(NotAllowed):
        choosing.adopt(ada, "clpl")
    assert count_entries(seat.home) == 0
    assert showing.running_now(ada) is None
    assert showing.model_story(ada).model == "plknn", "what answers is no secret"


def test_a_model_that_there_is_not_is_refused(seat: Seat) -> None:
    with pytest.raises(ValueError, match="model"):
        choosing.adopt(seat, "best")
    assert count_entries(seat.home) == 0


def test_one_comparison_at_a_time_and_none_to_cancel_is_no_fault(seat: Seat) -> None:
    choosing.cancel(seat)
    choosing.compare_now(seat)
    choosing.compare_now(seat)
    with seat.reading() as reading:
        last = trained.latest_comparison(reading.session, reading.project.id)
    assert last is not None
    assert last.id == 1
    choosing.cancel(seat)
    choosing.cancel(seat)
    assert showing.running_now(seat) is None


def test_a_project_is_measured_here_and_nothing_is_stored(seat: Seat, findings: Findings) -> None:
    told: list[tuple[int, int, str]] = []
    found = choosing.measure(seat, lambda *step: told.append(step))
    assert found.best == "clpl"
    assert found.rows == 40
    assert told == [(0, 2, "clpl"), (1, 2, "plknn")]
    with seat.reading() as reading:
        assert trained.latest_comparison(reading.session, reading.project.id) is None
    assert count_entries(seat.home) == 0


def test_a_table_of_no_project_is_measured_by_its_truth(findings: Findings) -> None:
    found = choosing.measure_table(LabelTable.from_frame(small_frame(), ROLES))
    assert (found.rows, found.checks) == (60, 60)


def test_what_cannot_be_compared_says_why(home: Home, owner: int, seat: Seat, findings: Findings) -> None:
    with pytest.raises(CannotCompare, match="nothing to compare"):
        choosing.measure(Seat(home, owner, vector_project(home, owner)))
    with pytest.raises(CannotCompare, match="nothing to compare"):
        choosing.measure_table(LabelTable.from_cells(vector_frame(), VECTOR_ROLES))

    def fail(*_: object) -> None:
        raise ValueError("fewer rows than folds")

    findings.before = fail
    with pytest.raises(CannotCompare, match="cannot be compared: fewer rows than folds"):
        choosing.measure(seat)
