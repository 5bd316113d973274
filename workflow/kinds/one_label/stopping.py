"""When to stop asking about rows with candidates: what the owner's rules say of the curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plcore import ActiveLearner, ControlCounts, LabelTable
from plcore.evaluation import Estimate, control_accuracy
from plcore.loop import PREDICTIONS, ROWS, StopRules, judge
from workflow.common.figures import StopView, standing_points

Learner = ActiveLearner[LabelTable]

DEFAULT_RULES = StopRules()
"""The rules where nobody has set any."""


def stop_view(learner: Learner, rules: StopRules) -> StopView:
    """What the rules say now. Looks at the end of the curve only: cheap enough to ask after every answer."""
    points = standing_points(learner.curve, rules.flat_over)
    by_truth = bool(n_test := int(np.count_nonzero(learner.test_rows)))
    if by_truth:
        measured = n_test
        accuracy = np.array([np.nan if p.accuracy is None else p.accuracy for p in points])
    else:
        measured = points[-1].control.asked + points[-1].control.free
        accuracy = control_estimate(learner, [point.control for point in points]).value
    verdicts = judge(
        rules,
        np.array([p.answers for p in points]),
        accuracy,
        np.array([p.settled for p in points]),
        done=learner.done,
        measured=measured,
        given=learner.pool.answers,  # a trained version knows those before it alone
        terms=PREDICTIONS if learner.settings.proves_done else ROWS,
    )
    return StopView(rules, verdicts, by_truth)


def share_settled(learner: Learner) -> float:
    """Share of the decisions that no answer can change any more; without a proof, of the rows that are decided."""
    return learner.progress().settled


def control_estimate(learner: Learner, counts: Sequence[ControlCounts]) -> Estimate:
    """Accuracy over all rows by the control answers counted at each of these points; NaN while there is no model."""
    if learner.settings.is_trained and learner.version_published is None:
        counts = [ControlCounts()] * len(counts)
    return control_accuracy(counts, learner.pool.share_ambiguous)
