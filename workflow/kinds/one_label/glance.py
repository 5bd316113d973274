"""How good a project of one true label is at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workflow.common.glance import RIGHT, Glance, number, thinned
from workflow.common.proving import answers_to, is_rough
from workflow.kinds.one_label.progress import Learner, measured_by, read_curve
from workflow.kinds.one_label.stopping import stop_view

if TYPE_CHECKING:
    from plcore.loop import StopRules


def glance(learner: Learner, rules: StopRules) -> Glance:
    """The figure that leads the Progress page, as a line of a list: by the test rows, else by the blind checks."""
    n_test = int(learner.test_rows.sum())
    curve = read_curve(learner, n_test)
    if n_test:
        measured, shown = n_test, thinned(curve.accuracy, curve.low, curve.high)
    else:
        measured = learner.curve[-1].control.asked
        shown = thinned(curve.control, curve.control_low, curve.control_high)
    more = None if rules.goal is None else answers_to(rules.goal, measured_by(learner, curve, n_test))
    return Glance(
        seq=learner.seq,
        version=learner.model_version,
        what=RIGHT,
        measured=measured,
        **shown._asdict(),
        goal=rules.goal,
        reached=any(one.rule == "goal" for one in stop_view(learner, rules).reached),
        more=None if more is None or is_rough(more) else number(more.value),
    )
