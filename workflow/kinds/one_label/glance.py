"""How good a project of one true label is at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.evaluation import wilson_interval
from workflow.common.figures import standing_points
from workflow.common.glance import RIGHT, Glance, number, thinned
from workflow.common.proving import answers_to
from workflow.kinds.one_label.progress import Learner, goes_by
from workflow.kinds.one_label.stopping import control_estimate, stop_view

if TYPE_CHECKING:
    from plcore.loop import StopRules


def glance(learner: Learner, rules: StopRules) -> Glance:
    """The figure that leads the Progress page, as a line of a list: by the test rows, else by the blind checks."""
    n_test = int(learner.test_rows.sum())
    points = standing_points(learner.curve)
    if n_test:
        measured, value = n_test, points[-1].accuracy
        low, high = (
            (None, None) if value is None else (float(part) for part in wilson_interval(value, n_test))
        )
    else:
        measured = points[-1].control.asked
        _, low, high = (float(part[0]) for part in control_estimate(learner, [points[-1].control]))
    curve = goes_by(learner)
    more = None if rules.goal is None else answers_to(rules.goal, curve)
    return Glance(
        seq=learner.seq,
        version=learner.model_version,
        what=RIGHT,
        measured=measured,
        curve=thinned(curve.accuracy),
        low=number(low),
        high=number(high),
        goal=rules.goal,
        reached=any(one.rule == "goal" for one in stop_view(learner, rules).reached),
        more=None if more is None else number(more.value),
    )
