"""Questions about label vectors are put in one form."""

from __future__ import annotations

from tests.workflow.vector_world import vector_project
from tests.workflow.world import opened
from workflow import room
from workflow.home import Home
from workflow.kinds.label_vectors.forms import forms_now
from workflow.seat import Seat


def test_there_is_one_form(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    assert room.forms_of(seat) is None
    with opened(home, owner, seat.project_id) as learner:
        assert forms_now(learner) is None
