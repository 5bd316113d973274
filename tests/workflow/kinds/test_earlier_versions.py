"""Projects of earlier versions: what they do not hold yet is as by default, and can be set as in a new one."""

from __future__ import annotations

import pytest

from db import projects as stored_projects
from tests.workflow.vector_world import vector_project
from tests.workflow.world import answer_next, small_project
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


def forget(home: Home, project: int, *keys: str) -> None:
    """Store the project's settings as a version wrote them that did not know these."""
    with home.database.write() as session:
        known = stored_projects.get(session, project).settings
        assert set(keys) <= set(known)
        left = {key: value for key, value in known.items() if key not in keys}
        stored_projects.change_settings(session, project, left)


def test_a_setting_that_came_later_can_be_changed(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    forget(home, project, "model", "C", "train_every", "train_seconds", "control_share")
    managing.change_learner(Seat(home, owner, project), model="clpl", train_every=9)
    found = managing.learner_settings(Seat(home, owner, project))
    assert (found["model"], found["train_every"], found["control_share"]) == ("clpl", 9, 0.0)
    answer_next(home, owner, project)


def test_a_setting_of_label_vectors_that_came_later_can_be_changed(home: Home, owner: int) -> None:
    project = vector_project(home, owner)
    forget(home, project, "question", "max_iter", "refresh_every")
    managing.change_learner(Seat(home, owner, project), question="instance", max_iter=2)
    found = managing.learner_settings(Seat(home, owner, project))
    assert (found["question"], found["max_iter"], found["refresh_every"]) == ("instance", 2, 10)


def test_label_vectors_of_earlier_versions_keep_their_model(home: Home, owner: int) -> None:
    project = vector_project(home, owner)
    seat = Seat(home, owner, project)
    assert managing.learner_settings(seat)["model"] == "automatic"
    forget(home, project, "model")
    assert managing.learner_settings(seat)["model"] == "bmlcs"
    managing.change_learner(seat, refresh_every=5)
    assert managing.learner_settings(seat)["model"] == "bmlcs"
    managing.change_learner(seat, model="automatic")
    assert managing.learner_settings(seat)["model"] == "automatic"


def test_what_no_version_knows_is_refused_with_what_there_is(home: Home, owner: int) -> None:
    for project, others in (
        (small_project(home, owner), "refresh_every"),
        (vector_project(home, owner), "train_every"),
    ):
        forget(home, project, "control_share")
        for unknown in ("modell", others):  # another kind's setting is none of this one
            with pytest.raises(ValueError, match=f"no setting '{unknown}'. It has .*control_share"):
                managing.change_learner(Seat(home, owner, project), **{unknown: 1})
