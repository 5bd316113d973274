"""Figures of the people of real projects: who is shown what, and that they follow the log."""

from __future__ import annotations

import pytest

from db import entries
from tests.workflow import vector_world
from tests.workflow.people.test_aside import doubled, press, state
from tests.workflow.world import annotator, small_frame, small_project
from workflow.access import NotAllowed
from workflow.answering import loop, undoing
from workflow.people import figures, team
from workflow.people.aside import count_again, set_aside
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def owner(home: Home) -> Seat:
    return Seat(home, team.ensure_owner(home).id)


def people_at(home: Home, owner: Seat, project: int, *names: str) -> list[Seat]:
    return [Seat(home, annotator(home, owner.person_id, name), project) for name in names]


def answer(seat: Seat, *, right: bool) -> bool:
    """Answer what is asked, rightly or not; False where nothing is."""
    question = loop.next_question(seat)
    if question is None:
        return False
    true = str(small_frame().truth[question.view.row])
    wrong = next(one for one in question.choices if one != true)
    loop.submit_answer(seat, question.token, "is", [true if right else wrong])
    return True


def test_two_people_at_the_same_rows(home: Home, owner: Seat) -> None:
    project = doubled(home, owner.person_id)
    here = owner.at(project)
    ada, ben = people_at(home, owner, project, "Ada", "Ben")
    for turn in range(12):
        answer(ada, right=True)
        answer(ben, right=turn % 3 != 0)
    found = {one.name: one for one in figures.team(here).people}
    assert list(found) == ["Ada", "Ben"]
    assert (found["Ada"].answers, found["Ben"].answers) == (12, 12)
    assert (found["Ben"].others.right, found["Ben"].others.of) == (8, 12)
    assert found["Ada"].others == found["Ben"].others
    assert found["Ada"].checks.right == found["Ada"].checks.of
    pair = figures.team(here).agreement.pairs[0]
    assert (pair.n_rows, pair.same) == (12, 8)
    assert undoing.undo(ben) is not None
    assert {one.name: one.answers for one in figures.team(here).people} == {"Ada": 12, "Ben": 11}
    seen = figures.confusion(here, ben.person_id)
    assert seen is not None
    assert seen.shares.sum(axis=1) == pytest.approx(1)
    assert seen.n_shared == 11


def test_one_s_own_figures_are_one_s_own(home: Home, owner: Seat) -> None:
    project = doubled(home, owner.person_id)
    ada, ben = people_at(home, owner, project, "Ada", "Ben")
    for _ in range(11):
        answer(ada, right=True)
        answer(ben, right=True)
    own = figures.mine(ada)
    assert (own.name, own.answers, own.others.of, own.warnings) == ("Ada", 11, 10, ())
    with pytest.raises(NotAllowed):
        figures.team(ada)
    with pytest.raises(NotAllowed):
        set_aside(ada, ben.person_id)
    assert figures.confusion(owner.at(project), owner.person_id) is None


def test_label_vectors_have_figures_too(home: Home, owner: Seat) -> None:
    project = vector_world.vector_project(home, owner.person_id, question="instance")
    (ada,) = people_at(home, owner, project, "Ada")
    for _ in range(3):
        press(ada)
    (found,) = figures.team(owner.at(project)).people
    assert (found.answers, found.others.of) == (3, 0)
    assert figures.team(owner.at(project)).agreement.everywhere.alpha.reason


def test_a_verdict_is_what_checks_are_held_against(home: Home, owner: Seat) -> None:
    project = small_project(home, owner.person_id)
    here = owner.at(project)
    assert figures.team(here).people == ()
    assert "others said" in figures.team(here).against
    (ada,) = people_at(home, owner, project, "Ada")
    for _ in range(10):
        answer(ada, right=True)
    (found,) = figures.team(here).people
    assert found.checks.right == found.checks.of


def test_setting_aside_and_counting_again_is_as_before(home: Home, owner: Seat) -> None:
    project = doubled(home, owner.person_id)
    here = owner.at(project)
    ada, ben = people_at(home, owner, project, "Ada", "Ben")
    for _ in range(6):
        answer(ada, right=True)
        answer(ben, right=False)
    before, rows = figures.team(here).people, state(home, owner.person_id, project)
    assert before[0].others.of == 6
    seq = figures.log_seq(ada)
    set_aside(here, ben.person_id)
    assert figures.log_seq(ada) == seq + 1
    found = {one.name: one for one in figures.team(here).people}
    assert found["Ben"].aside
    assert found["Ada"].others.of == 0
    assert found["Ben"].others.of == 6, "they themselves are still held against the others"
    assert figures.team(here).agreement.pairs == ()
    count_again(here, ben.person_id)
    assert figures.team(here).people == before
    assert (state(home, owner.person_id, project) == rows).all()
    with home.database.read() as session:
        assert entries.last_seq(session, project) == seq + 2
