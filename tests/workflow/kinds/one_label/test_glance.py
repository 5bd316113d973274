"""At a glance a project of one true label shows the figure that leads its Progress page."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.loop import StopRules
from tests.workflow.world import answer_next, small_project
from workflow.kinds import stop_rules
from workflow.kinds.one_label.progress import glance
from workflow.projects import progress
from workflow.projects.figures import RIGHT, Glance
from workflow.seat import Seat
from workflow.server.home import Home


def glance_of(seat: Seat) -> Glance:
    with seat.learner() as opened:
        assert opened.kind.glance is glance
        return glance(opened.learner, stop_rules(opened.project))


def test_it_is_what_progress_says_by_test_rows(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    for _ in range(3):
        answer_next(home, owner, seat.project_id or 0)
    seen, view = glance_of(seat), progress.read_progress(seat)
    assert (seen.what, seen.measured, seen.seq) == (RIGHT, view.n_test, 3)
    assert seen.curve[-1] == pytest.approx(view.accuracy, abs=1e-4)
    assert seen.interval == pytest.approx(view.interval, abs=1e-4)
    assert seen.curve == pytest.approx(view.curve.accuracy, abs=1e-4)
    assert seen.lows == pytest.approx(view.curve.low, abs=1e-4), "each point with its own"
    assert seen.highs == pytest.approx(view.curve.high, abs=1e-4)
    assert (seen.goal, seen.reached) == (view.proof.goal, view.proof.reached)


def test_it_is_what_progress_says_by_blind_checks(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, test_share=0.0, control_share=0.4))
    assert glance_of(seat).measured == 0
    for _ in range(8):
        answer_next(home, owner, seat.project_id or 0)
    seen, view = glance_of(seat), progress.read_progress(seat)
    assert seen.measured == view.control_asked > 0
    assert seen.curve[-1] == pytest.approx(view.control, abs=1e-4)
    assert seen.interval == pytest.approx(view.control_interval, abs=1e-4)
    known = ~np.isnan(view.curve.control)
    assert seen.lows == pytest.approx(view.curve.control_low[known], abs=1e-4)
    assert seen.highs == pytest.approx(view.curve.control_high[known], abs=1e-4)


def test_the_goal_is_the_owners(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    progress.change_stop_rules(seat, StopRules(goal=0.9))
    seen = glance_of(seat)
    assert seen.goal == 0.9
    assert not seen.reached
