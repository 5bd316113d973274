"""Demos that are made on a click: by the way of any import, without a question, once, and ready to be answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from plcore import LabelTable, LearnerSettings, TableError
from tests.workflow.world import annotator, small_project
from workflow import demos, importing
from workflow.access import NotAllowed
from workflow.answering import loop, oracle, room
from workflow.demos import Demo, making
from workflow.importing.crowd import reliability
from workflow.people import team
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

pytestmark = pytest.mark.slow

SMALL = b"id,labels,size\n1,a|b,1\n2,b|c,2\n3,a|c,3\n4,a|b,4\n"
FILES = [demos.CALLS, demos.REMARKS]
PATIENCE = 600
"""Seconds that a demo may take to be made on a busy machine."""


@pytest.fixture(scope="module")
def owner_seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path_factory.mktemp("home"))}))
    yield Seat(home, team.ensure_owner(home).id)
    home.close()


@pytest.fixture(scope="module", params=FILES, ids=lambda one: one.key)
def made(request: pytest.FixtureRequest, owner_seat: Seat) -> tuple[Demo, Seat, list[float]]:
    """A demo, the owner at its project, and how far it was said to be."""
    told: list[float] = []
    project = making.make(owner_seat, request.param, told.append)
    return request.param, owner_seat.at(project), told


def test_it_comes_in_without_a_question(made: tuple[Demo, Seat, list[float]]) -> None:
    demo, seat, _ = made
    assert demo.make_file is not None
    upload = importing.read_upload(demo.make_file(lambda _share: None), demo.file)
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None, checked.problems
    assert (checked.doubts, upload.notes) == ((), ())
    assert importing.doubts_about(checked.table, managing.default_settings(checked.table)) == []
    assert importing.made_before(seat, upload), "the project knows its file"


def test_it_opens_on_a_question_that_the_hidden_truth_can_answer(
    made: tuple[Demo, Seat, list[float]],
) -> None:
    demo, seat, _ = made
    question = loop.next_question(seat)
    assert question is not None
    assert len(question.choices) > 1
    assert oracle.can_answer(seat)
    kept = room.room_of(seat)
    assert kept == demo.room
    assert set(kept.descriptions) == set(room.class_names(seat)), "each class is explained"
    summary = managing.get_project(seat)
    assert (summary.name, summary.description) == (demo.name, demo.description)
    assert summary.left > summary.n_rows / 4


def test_its_first_model_stays_and_how_far_it_is_is_told(made: tuple[Demo, Seat, list[float]]) -> None:
    _, seat, told = made
    settings = managing.learner_settings(seat)
    assert (settings["model"], settings["truth_role"]) == (LearnerSettings().model, "hidden")
    assert told == sorted(told)
    assert 0.4 <= told[-1] <= 1


def test_it_is_made_once(made: tuple[Demo, Seat, list[float]]) -> None:
    demo, seat, _ = made
    assert making.find(seat, demo) == seat.project_id == making.make(seat, demo)
    job = making.ask(seat, demo)
    assert job.wait(PATIENCE)
    assert job.result() == seat.project_id
    assert making.ask(seat, demo) is job, "two tabs of a person wait for one job"


def test_what_was_put_away_is_made_anew(home: Home, owner: int) -> None:
    seat, small = Seat(home, owner), replace(demos.REMARKS, make_file=lambda _on_step: SMALL)
    first = making.ask(seat, small)
    assert first.wait(PATIENCE)
    managing.bin_project(seat.at(first.result()))
    second = making.ask(seat, small)
    assert second is not first
    assert second.wait(PATIENCE)
    assert second.result() != first.result()


def test_a_file_that_cannot_be_read_is_no_project(home: Home, owner: int) -> None:
    seat, broken = Seat(home, owner), replace(demos.REMARKS, make_file=lambda _on_step: b"id,labels\n1,\n")
    with pytest.raises(TableError):
        making.make(seat, broken)
    assert managing.list_projects(seat) == []


def table_of(seat: Seat) -> LabelTable:
    with seat.learner() as opened:
        found: LabelTable = opened.learner.table
    return found


def test_answers_make_its_model_better(home: Home, owner: int) -> None:
    """A demo is to show that questions pay: from the first to the hundredth answer."""
    seat = Seat(home, owner)
    at = seat.at(making.make(seat, demos.CALLS))
    before = progress.read_progress(at).accuracy
    oracle.answer_for_me(at, 100)
    at.settle()
    after = progress.read_progress(at).accuracy
    assert before is not None
    assert after is not None
    assert 0.4 < before < 0.7
    assert after > before + 0.08


def test_the_calls_weigh_what_the_detector_heard(owner_seat: Seat) -> None:
    table = table_of(owner_seat.at(making.make(owner_seat, demos.CALLS)))
    assert table.candidate_weights is not None
    assert table.roles.sound_features
    assert len(table.classes) == len(demos.CALLS.room.descriptions)
    question = loop.next_question(owner_seat.at(making.make(owner_seat, demos.CALLS)))
    assert question is not None
    assert question.view.audio


def test_the_votes_say_who_guesses(owner_seat: Seat) -> None:
    found = reliability(table_of(owner_seat.at(making.make(owner_seat, demos.REMARKS))))
    assert found is not None
    accuracy = {one.name: one.accuracy for one in found.voters}
    assert set(accuracy) == {"Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"}
    assert min(accuracy, key=accuracy.__getitem__) == "Finn"
    assert accuracy["Ada"] > 0.85


def test_where_a_project_has_its_name_that_one_is_opened(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    assert making.find(seat, demos.REMARKS) is None
    mine = small_project(home, owner, demos.REMARKS.name)
    assert making.make(seat, demos.REMARKS) == mine


def test_the_digits_come_back_as_they_were_made_first(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    project = making.make(seat, demos.DIGITS)
    assert managing.get_project(seat.at(project)).n_rows == 1_797


def test_only_an_owner_has_one_made(home: Home, owner: int) -> None:
    other = Seat(home, annotator(home, owner, "Ada"))
    for demo in demos.ALL:
        with pytest.raises(NotAllowed):
            making.make(other, demo)
    assert managing.list_projects(Seat(home, owner)) == []
