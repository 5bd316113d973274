"""A project as a line of the list on Home, made of its log alone."""

from __future__ import annotations

import pytest

from db import entries
from db import projects as stored
from tests.workflow.kind_worlds import KindWorld
from workflow.access import Role
from workflow.answering import loop
from workflow.kinds import KINDS
from workflow.projects.managing import ProjectSummary, summarised
from workflow.seat import Seat
from workflow.server.home import Home


def summary_of(home: Home, project: int) -> ProjectSummary:
    with home.database.read() as session:
        return summarised(home, session, stored.get(session, project), Role.OWNER)


def test_a_new_project_has_no_last_answer(world: KindWorld, seat: Seat) -> None:
    view = summary_of(seat.home, seat.project_id)
    assert (view.id, view.kind) == (seat.project_id, world.kind)
    assert (view.answered, view.last_answer) == (0, None)
    assert view.n_to_ask > 0
    # Of label vectors asked row by row the 12 of 40 rows that are full were never open.
    assert view.left == (28 if world.name == "label_vectors-rows" else view.n_to_ask)


def test_an_answer_is_counted_and_dated_as_the_log_has_it(world: KindWorld, seat: Seat) -> None:
    before = summary_of(seat.home, seat.project_id)
    question = loop.next_question(seat)
    assert question is not None
    given = world.true(question)
    loop.submit_answer(seat, question.token, given.kind, given.labels)
    with seat.home.database.read() as session:
        last = entries.last_about_a_row(session, seat.project_id)
    view = summary_of(seat.home, seat.project_id)
    assert last is not None
    assert view.last_answer == last.at
    assert view.answered > before.answered
    assert view.left < before.left


def test_no_learner_is_built_for_it(
    world: KindWorld, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make(Seat(home, owner))

    def built(*_: object, **__: object) -> None:
        raise AssertionError("a list of projects built a learner")

    for kind in KINDS.values():
        monkeypatch.setattr(kind, "build_learner", built)
    assert summary_of(home, project).n_rows == world.table().n_rows
