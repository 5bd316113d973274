"""When to stop asking about label vectors: what the owner's rules say of the curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plcore import LabelTable
from plcore.loop import LABELS, StopRules, judge
from plcore.loop.label_vectors import LabelVectorLearner, LabelVectorPoint
from workflow.common.figures import StopView, standing_points

Learner = LabelVectorLearner[LabelTable]

DEFAULT_RULES = StopRules(flat_within=None)
"""The rules where nobody has set any: stop once nothing is open. Over how many answers a curve must be flat depends on
the size of the table, so that rule is off until the owner sets it."""


def stop_view(learner: Learner, rules: StopRules) -> StopView:
    """What the rules say now, by the latest points of the curve, one for each version of the model. The budget counts
    all labels answered, also those after the latest version.
    """
    pool = learner.pool
    points = standing_points(learner.curve, rules.flat_over, _labels_answered)
    holes = max(pool.n_holes, 1)
    by_truth = bool(n_test := int(np.count_nonzero(learner.test_rows)))
    if by_truth:
        measured = n_test
        shares = [None if p.held_out is None else p.held_out.micro_f1 for p in points]
    else:
        measured = points[-1].control.cells if points else 0
        shares = [p.control.f1 for p in points]
    verdicts = judge(
        rules,
        np.array([_labels_answered(p) for p in points] or [0]),
        np.array([np.nan if share is None else share.value for share in shares] or [np.nan]),
        np.array([*(1 - p.entropy / holes for p in points[:-1]), share_settled(learner)]),
        done=learner.done,
        measured=measured,
        given=pool.counts["yes"] + pool.counts["no"],
        terms=LABELS if by_truth else replace(LABELS, measured_on="blind labels"),
    )
    return StopView(rules, verdicts, by_truth)


def share_settled(learner: Learner) -> float:
    """The share, in [0, 1], of the doubt at import that is gone, by the latest fit of the model. The "settled" rule
    looks at it, and the card tells it.

    Each label that was empty at import counts one bit of doubt; later its entropy by the model, and nothing once it is
    known. Before the first fit it counts one bit or nothing.
    """
    if learner.done:
        return 1.0
    curve = learner.curve
    left = curve[-1].entropy if curve else float(learner.pool.open.sum())
    return 1 - left / max(learner.pool.n_holes, 1)


def _labels_answered(point: LabelVectorPoint) -> int:
    return point.yes + point.no
