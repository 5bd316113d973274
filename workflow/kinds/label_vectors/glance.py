"""How good a project of label vectors is at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workflow.common.glance import F1, Glance, number, thinned
from workflow.kinds.label_vectors.stopping import Learner, stop_view

if TYPE_CHECKING:
    from plcore.loop import StopRules


def glance(learner: Learner, rules: StopRules) -> Glance:
    """The F1, all labels counted together, by the test rows, else by the blind checks."""
    curve = learner.curve
    if n_test := int(np.count_nonzero(learner.test_rows)):
        measured = n_test
        shares = [None if point.held_out is None else point.held_out.micro_f1 for point in curve]
    else:
        measured = curve[-1].control.cells if curve else 0
        shares = [point.control.f1 for point in curve]
    last = shares[-1] if shares else None
    return Glance(
        seq=learner.seq,
        version=learner.model_version,
        what=F1,
        measured=measured,
        curve=thinned([np.nan if share is None else share.value for share in shares]),
        low=None if last is None else number(last.low),
        high=None if last is None else number(last.high),
        goal=rules.goal,
        reached=any(one.rule == "goal" for one in stop_view(learner, rules).reached),
        more=None,
    )
