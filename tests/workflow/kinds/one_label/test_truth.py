"""True labels that a table hides, and who may answer with them."""

from __future__ import annotations

import pytest

from plcore import LabelTable, LearnerSettings, Roles
from plcore.loop import Place
from tests.workflow.four import ask, four_class_project
from tests.workflow.world import ROLES, small_frame, small_project
from workflow.answering import loop
from workflow.kinds.one_label import exporting
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.mark.parametrize(("truth_role", "hides"), [("hidden", True), ("given", False)])
def test_truth_is_hidden_where_neither_model_nor_people_know_it(
    home: Home, owner: int, truth_role: str, hides: bool
) -> None:
    seat = Seat(home, owner, small_project(home, owner, truth_role=truth_role))
    with seat.learner() as opened:
        assert exporting.hides_truth(opened.learner) == hides
        learner = type(opened.learner)(
            LabelTable.from_frame(small_frame(), Roles(candidates="candidates", numbers=("x", "y"))),
            opened.learner.settings,
        )
    assert not exporting.hides_truth(learner)
    assert exporting.known_places(learner) == []


def test_the_true_answer_is_a_label_or_none_of_these_with_it(home: Home, owner: int, project: int) -> None:
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


def test_known_places_are_open_and_blind_checks_come_in_their_draw(home: Home, owner: int) -> None:
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
