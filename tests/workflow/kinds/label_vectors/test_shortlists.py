"""Questions about labels that may all be right have no shortlists."""

from __future__ import annotations

from tests.workflow.vector_world import vector_project
from workflow import room
from workflow.home import Home
from workflow.kinds.label_vectors.shortlists import shortlist_view
from workflow.seat import Seat


def test_there_are_none(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with seat.learner() as opened:
        assert shortlist_view(opened) is None
    assert room.shortlists_of(seat) is None
