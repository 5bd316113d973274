"""A change of classes reaches learners and workers: both are rebuilt from table and log."""

from __future__ import annotations

import numpy as np
import pytest

from db import entries
from tests.workflow.world import answer_next, opened, small_project
from workflow.answering import loop
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.models import training
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home


def change(home: Home, owner: int, project: int, *names: str) -> None:
    version = classes.classes_view(Seat(home, owner, project)).version
    classes.change_classes(Seat(home, owner, project), version, names[0], names[1:])


def test_the_next_question_has_the_new_names_and_the_learner_equals_one_from_the_log(
    home: Home, owner: int, project: int
) -> None:
    for _ in range(4):
        answer_next(home, owner, project)
    change(home, owner, project, "rename", "ant", "emmet")
    with opened(home, owner, project) as learner:
        assert learner.classes == ("emmet", "bee", "cat")
    answer_next(home, owner, project)
    change(home, owner, project, "merge", "cat", "bee")
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    assert set(question.choices) == {"emmet", "bee"}
    change(home, owner, project, "add", "dog")
    for _ in range(3):
        answer_next(home, owner, project)
    with opened(home, owner, project) as learner:
        live = learner.progress(), learner.classes, learner.label_distributions
    fresh = type(home)(home.settings, home.database, home.tables_dir, home.shared)
    with opened(fresh, owner, project) as learner:
        assert (learner.progress(), learner.classes) == live[:2]
        np.testing.assert_array_equal(learner.label_distributions, live[2])


def test_a_trained_model_is_trained_anew_under_the_new_classes(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="plsvc", strategy="margin")
    worker = training.Worker(home, "one")
    for one in training.due(home):
        worker.train(one)
    change(home, owner, project, "merge", "cat", "bee")
    with opened(home, owner, project) as learner:
        assert learner.version_published is None
        assert learner.classes == ("ant", "bee")
    for one in training.due(home):
        worker.train(one)
    with opened(home, owner, project) as learner:
        assert learner.version_published == 1
    assert training.due(home) == []


def test_a_press_on_a_screen_from_before_a_new_class_counts(home: Home, owner: int, project: int) -> None:
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    change(home, owner, project, "add", "dog")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    assert saved.labels == question.choices[:1]


def test_a_press_on_a_screen_with_names_of_before_counts(home: Home, owner: int, project: int) -> None:
    """A name that was ever used means its class for good, so it says the same on an old screen."""
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    change(home, owner, project, "rename", question.choices[0], "emmet")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    assert saved.labels == ("emmet",)
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == ("emmet",)
    with home.database.read() as session:
        stored = entries.get(session, project, saved.seq)
    assert stored is not None
    assert stored.predicted in {"emmet", "bee", "cat"}, "what the model said, too, in the names of now"


def three(home: Home, owner: int, project: int) -> ShownQuestion:
    """A question with all three classes as candidates."""
    question = loop.next_question(Seat(home, owner, project))
    while question is not None and len(question.choices) < 3:
        answer_next(home, owner, project)
        question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    return question


@pytest.mark.parametrize(("kind", "labels", "left"), [("is", "bee", "ant"), ("is", "cat", "cat")])
def test_a_press_on_a_screen_from_before_a_merge_counts(
    home: Home, owner: int, project: int, kind: str, labels: str, left: str
) -> None:
    question = three(home, owner, project)
    change(home, owner, project, "merge", "bee", "ant")
    saved = loop.submit_answer(
        Seat(home, owner, project), question.token, kind, [labels], shown=question.shown
    )
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == (left,)


def test_one_of_several_of_which_two_were_merged(home: Home, owner: int, project: int) -> None:
    question = three(home, owner, project)
    change(home, owner, project, "merge", "bee", "ant")
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "among", ["ant", "bee"])
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == ("ant",)


@pytest.mark.parametrize("kind", ["not", "none"])
def test_what_speaks_of_the_candidates_counts_after_new_names_and_not_after_a_merge(
    home: Home, owner: int, project: int, kind: str
) -> None:
    """Not a bee says nothing of a class that took the bees in."""
    question = three(home, owner, project)
    labels = ["bee"] if kind == "not" else []
    change(home, owner, project, "add", "dog")
    change(home, owner, project, "rename", "bee", "apis")
    other = small_project(home, owner, "other")
    asked = three(home, owner, other)
    change(home, owner, other, "merge", "bee", "ant")
    with pytest.raises(loop.StaleQuestion, match="have changed since it was shown; they are now ant, cat"):
        loop.submit_answer(Seat(home, owner, other), asked.token, kind, labels, shown=asked.shown)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, kind, labels, shown=question.shown)
    assert saved.labels == (("apis",) if kind == "not" else ())
    with opened(home, owner, project) as learner:
        assert learner.state(saved.row).candidates == (("ant", "cat") if kind == "not" else ("dog",))


def test_a_row_that_a_merge_decided_needs_no_answer(home: Home, owner: int, project: int) -> None:
    question = loop.next_question(Seat(home, owner, project))
    while question is not None and len(question.choices) > 2:
        answer_next(home, owner, project)
        question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    change(home, owner, project, "merge", question.choices[1], question.choices[0])
    with pytest.raises(loop.StaleQuestion, match="owner has merged its classes"):
        loop.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])


def test_a_press_on_a_screen_from_before_a_change_was_taken_back_is_refused(
    home: Home, owner: int, project: int
) -> None:
    """On it `ant` meant the bees too."""
    change(home, owner, project, "merge", "bee", "ant")
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    classes.take_back(Seat(home, owner, project), classes.classes_view(Seat(home, owner, project)).version)
    with pytest.raises(loop.StaleQuestion, match="no longer open"):
        loop.submit_answer(Seat(home, owner, project), question.token, "is", ["ant"], shown=question.shown)
