"""Setting a person's answers aside, and counting them again, in projects of both kinds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from db import entries
from tests.workflow import vector_world
from tests.workflow.people.conftest import whats
from tests.workflow.world import annotator, opened, small_project
from workflow.access import NotFound
from workflow.answering import loop, undoing
from workflow.answering.turn import StaleQuestion
from workflow.importing import more_rows
from workflow.log.verifying import verify_project
from workflow.people import team
from workflow.people.aside import count_again, set_aside
from workflow.projects import classes, managing, progress, standing
from workflow.projects.classes import ClassError
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

Make = Callable[[Home, int], int]


@pytest.fixture
def owner(home: Home) -> Seat:
    return Seat(home, team.ensure_owner(home).id)


def vectors(home: Home, owner: int) -> int:
    return vector_world.vector_project(home, owner)


def vectors_by_row(home: Home, owner: int) -> int:
    return vector_world.vector_project(home, owner, question="instance")


def doubled(home: Home, owner: int) -> int:
    return small_project(home, owner, overlap=2, fold="majority", test_share=0.5)


MAKERS = [small_project, doubled, vectors, vectors_by_row]


def press(seat: Seat, which: int = 0) -> None:
    """Answer what is asked, whatever the kind of project."""
    question = loop.next_question(seat)
    assert question is not None
    if hasattr(question, "choices"):
        labels = [question.choices[which % len(question.choices)]]
        loop.submit_answer(seat, question.token, "is", labels)
    else:
        vector_world.answer_truly(seat.home, seat.person_id, seat.project_id or 0, question)


def test_classes_and_rows_are_as_they_were_where_somebody_is_set_aside(home: Home, owner: Seat) -> None:
    here = owner.at(small_project(home, owner.person_id))
    eve = annotator(home, owner.person_id, "Eve")
    press(Seat(home, eve, here.project_id))
    before, rows = classes.classes_view(here).version, more_rows.version(here)
    set_aside(here, eve)
    assert classes.classes_view(here).version == before
    assert more_rows.version(here) == rows
    assert classes.change_classes(here, before, "add", ["elk"])[-1] == "elk"
    then = classes.classes_view(here).version
    count_again(here, eve)
    assert classes.classes_view(here).version == then > before
    with pytest.raises(ClassError, match="changed"):
        classes.change_classes(here, before, "add", ["fox"])
    assert "elk" not in classes.take_back(here, then)


def state(home: Home, owner: int, project: int) -> np.ndarray:
    with opened(home, owner, project) as learner:
        pool = learner.pool
        return np.array(pool.candidates if hasattr(pool, "candidates") else pool.cells)


def check_counts(here: Seat) -> None:
    """Home, which counts by table and log, says what the learner does."""
    summary, now, view = managing.get_project(here), standing.standing(here), progress.read_progress(here)
    assert (summary.answered, summary.left) == (now.answered, now.left) == (view.answered, view.left)


@pytest.mark.parametrize("make", MAKERS)
def test_labels_change_and_change_back(home: Home, owner: Seat, make: Make) -> None:
    project = make(home, owner.person_id)
    here = owner.at(project)
    ada, ben = (Seat(home, annotator(home, owner.person_id, name), project) for name in ("Ada", "Ben"))
    first = state(home, owner.person_id, project)
    for _ in range(4):
        press(ada)
    without_ben = state(home, owner.person_id, project)
    assert not np.array_equal(first, without_ben)
    for _ in range(3):
        press(ben, 1)
    before = state(home, owner.person_id, project)
    assert not np.array_equal(before, without_ben)

    set_aside(here, ben.person_id)
    set_aside(here, ben.person_id)  # twice is harmless
    assert np.array_equal(state(home, owner.person_id, project), without_ben)
    check_counts(here)
    verify_project(here)
    set_aside(here, ada.person_id)
    assert np.array_equal(state(home, owner.person_id, project), first)
    check_counts(here)
    count_again(here, ada.person_id)
    count_again(here, ben.person_id)
    count_again(here, ben.person_id)
    assert np.array_equal(state(home, owner.person_id, project), before)
    check_counts(here)
    verify_project(here)
    with home.database.read() as session:
        log = entries.about_project(session, project)
    assert [(one.kind, one.labels) for one in log] == [
        ("aside", (str(ben.person_id),)),
        ("aside", (str(ada.person_id),)),
        ("withdraw", ()),
        ("withdraw", ()),
    ]
    assert whats(owner)[:4] == ["answers counted again"] * 2 + ["answers set aside"] * 2


@pytest.mark.parametrize("make", MAKERS)
def test_a_restart_and_undo_keep_their_laws(home: Home, owner: Seat, make: Make) -> None:
    project = make(home, owner.person_id)
    here = owner.at(project)
    ada = Seat(home, annotator(home, owner.person_id, "Ada"), project)
    first = state(home, owner.person_id, project)
    press(ada)
    set_aside(here, ada.person_id)
    press(ada)  # later answers do not count either
    live = state(home, owner.person_id, project)
    assert np.array_equal(live, first)
    home.shelf.close()
    assert np.array_equal(state(home, owner.person_id, project), live)
    assert undoing.undo(ada) is not None
    verify_project(here)
    count_again(here, ada.person_id)
    assert undoing.undo(ada) is not None
    assert np.array_equal(state(home, owner.person_id, project), first)
    verify_project(here)


def test_an_open_question_is_closed(home: Home, owner: Seat) -> None:
    project = small_project(home, owner.person_id)
    ada, ben = (Seat(home, annotator(home, owner.person_id, name), project) for name in ("Ada", "Ben"))
    press(ben)
    question = loop.next_question(ada)
    assert question is not None
    set_aside(owner.at(project), ben.person_id)
    with pytest.raises(StaleQuestion):
        loop.submit_answer(ada, question.token, "is", [question.choices[0]])


def test_who_has_said_nothing_cannot_be_set_aside(home: Home, owner: Seat) -> None:
    project = small_project(home, owner.person_id)
    ada = annotator(home, owner.person_id, "Ada")
    with pytest.raises(NotFound, match="answered nothing"):
        set_aside(owner.at(project), ada)
    count_again(owner.at(project), ada)
    assert managing.get_project(owner.at(project)).answered == 0


def test_review_shows_no_line_about_no_row(home: Home, owner: Seat) -> None:
    project = small_project(home, owner.person_id)
    ada = Seat(home, annotator(home, owner.person_id, "Ada"), project)
    press(ada)
    set_aside(owner.at(project), ada.person_id)
    found = reviewing.find(owner.at(project), reviewing.Search())
    assert all(one.row >= 0 for one in found.rows)
