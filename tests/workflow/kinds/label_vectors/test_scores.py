"""Label vectors have no scores to judge."""

from __future__ import annotations

from tests.workflow.vector_world import vector_project
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


def test_there_are_none(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with seat.learner() as opened:
        assert opened.kind.SCORES is None
    assert reviewing.scores(seat, 0.5) is None
