"""At a glance a project of label vectors shows its F1, as its Progress page does."""

from __future__ import annotations

import pytest

from tests.workflow.vector_world import answer_truly, vector_project
from workflow.kinds import stop_rules
from workflow.kinds.label_vectors.progress import glance
from workflow.projects import progress
from workflow.projects.figures import F1, Glance
from workflow.seat import Seat
from workflow.server.home import Home


def glance_of(seat: Seat) -> Glance:
    with seat.learner() as opened:
        assert opened.kind.glance is glance
        return glance(opened.learner, stop_rules(opened.project))


def test_it_is_what_progress_says(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    answer_truly(home, owner, seat.project_id or 0)
    home.shelf.settle(seat.project_id or 0)
    view = progress.read_progress(seat)
    seen = glance_of(seat)
    assert (seen.what, seen.measured) == (F1, view.n_test)
    assert view.held_out is not None
    assert seen.curve[-1] == pytest.approx(view.held_out.micro_f1.value, abs=1e-4)
    assert seen.interval == pytest.approx((view.held_out.micro_f1.low, view.held_out.micro_f1.high), abs=1e-4)
    assert seen.lows == pytest.approx(view.curve.micro_f1.low, abs=1e-4), "each point with its own"
    assert seen.highs == pytest.approx(view.curve.micro_f1.high, abs=1e-4)
    assert seen.more is None
