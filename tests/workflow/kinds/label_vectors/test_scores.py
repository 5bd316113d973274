"""Label vectors have no scores to judge."""

from __future__ import annotations

from tests.workflow.vector_world import vector_project
from workflow import reviewing
from workflow.home import Home
from workflow.kinds.label_vectors.scores import scores_given
from workflow.seat import Seat


def test_there_are_none(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with seat.learner() as opened:
        assert scores_given(opened.learner) is None
    assert reviewing.scores(seat, 0.5) is None
