"""Questions about label vectors are put in one form."""

from __future__ import annotations

from tests.workflow.vector_world import vector_project
from workflow.answering import room
from workflow.seat import Seat
from workflow.server.home import Home


def test_there_is_one_form(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    assert room.forms_of(seat) is None
    with seat.learner() as opened:
        assert opened.kind.FORMS is None
