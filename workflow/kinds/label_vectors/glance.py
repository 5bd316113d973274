"""How good a project of label vectors is at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workflow.common.glance import F1, Glance, thinned
from workflow.kinds.label_vectors.progress import band
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
    known = band(shares)
    return Glance(
        seq=learner.seq,
        version=learner.model_version,
        what=F1,
        measured=measured,
        **thinned(known.value, known.low, known.high)._asdict(),
        goal=rules.goal,
        reached=any(one.rule == "goal" for one in stop_view(learner, rules).reached),
        more=None,
    )
