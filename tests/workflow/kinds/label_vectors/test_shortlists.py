"""Questions about labels that may all be right have no shortlists."""

from __future__ import annotations

from tests.workflow.vector_world import vector_project
from workflow.answering import room
from workflow.seat import Seat
from workflow.server.home import Home


def test_there_are_none(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with seat.learner() as opened:
        assert opened.kind.SHORTLISTS is None
    assert room.shortlists_of(seat) is None
