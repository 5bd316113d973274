"""A change of classes reaches learners and workers: both are rebuilt from table and log."""

from __future__ import annotations

import numpy as np

from tests.workflow.world import answer_next, small_project
from workflow import classes, labeling, training
from workflow.home import Home


def change(home: Home, owner: int, project: int, *names: str) -> None:
    version = classes.classes_view(home, owner, project).version
    classes.change_classes(home, owner, project, version, names[0], names[1:])


def test_the_next_question_has_the_new_names_and_the_learner_equals_one_from_the_log(
    home: Home, owner: int, project: int
) -> None:
    for _ in range(4):
        answer_next(home, owner, project)
    change(home, owner, project, "rename", "ant", "emmet")
    with home.learners.open(home, owner, project) as learner:
        assert learner.classes == ("emmet", "bee", "cat")
    answer_next(home, owner, project)
    change(home, owner, project, "merge", "cat", "bee")
    question = labeling.next_question(home, owner, project)
    assert question is not None
    assert set(question.choices) == {"emmet", "bee"}
    change(home, owner, project, "add", "dog")
    for _ in range(3):
        answer_next(home, owner, project)
    with home.learners.open(home, owner, project) as learner:
        live = learner.progress(), learner.classes, learner.label_distributions
    fresh = type(home)(home.settings, home.database, home.tables_dir)
    with fresh.learners.open(fresh, owner, project) as learner:
        assert (learner.progress(), learner.classes) == live[:2]
        np.testing.assert_array_equal(learner.label_distributions, live[2])


def test_a_trained_model_is_trained_anew_under_the_new_classes(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="plsvc", strategy="margin")
    worker = training.Worker(home, "one")
    for one in training.due(home):
        worker.train(one)
    change(home, owner, project, "merge", "cat", "bee")
    with home.learners.open(home, owner, project) as learner:
        assert learner.version_published is None
        assert learner.classes == ("ant", "bee")
    for one in training.due(home):
        worker.train(one)
    with home.learners.open(home, owner, project) as learner:
        assert learner.version_published == 1
    assert training.due(home) == []
