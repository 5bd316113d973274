"""What programs are told of projects of one true label: a question, the figures, what is predicted; as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plcore import ActiveLearner, LabelTable
from workflow.common.told_values import curve_points, figure, number, told_row
from workflow.kinds.one_label.exporting import disambiguated
from workflow.kinds.one_label.turn import OneLabelTurn

if TYPE_CHECKING:
    from workflow.common.opened import Opened
    from workflow.kinds.one_label.progress import ProgressView
    from workflow.kinds.one_label.showing import ShownQuestion


def tell_question(shown: ShownQuestion) -> dict[str, Any]:
    """See `workflow.kinds.Kind`. The strategy and the scores are left out: they would tell the blind checks."""
    asked = shown.yes_no
    return {
        "token": shown.token,
        "shown": shown.shown,
        **told_row(shown.view),
        "label": None,
        "is_it": None if asked is None else list(asked.labels),
        "choices": [
            {
                "label": one.label,
                "description": one.description,
                "share": number(one.probability),
                "known": None,
            }
            for one in shown.candidates
        ],
        "answers": [str(kind) for kind in OneLabelTurn.ANSWERS],
        "why": shown.why,
    }


def tell_figures(view: ProgressView) -> dict[str, Any]:
    """See `workflow.kinds.Kind`. By test rows where there are any, else by blind checks."""
    curve = view.curve
    if view.n_test:
        by, parts = "test rows", (curve.accuracy, curve.low, curve.high)
    else:
        by, parts = "blind checks", (curve.control, curve.control_low, curve.control_high)
    points = curve_points(curve.answers, *parts)
    return {
        "answered": view.answered,
        "open": view.left,
        "settled": number(view.settled),
        "done": view.done,
        "seconds_per_answer": number(view.seconds_per_answer),
        "measure": figure("accuracy", by, points),
        "curve": points,
        "labels": [{"label": one.label, "answered": one.answered, "given": one.given} for one in view.labels],
    }


def tell_predictions(opened: Opened[ActiveLearner[LabelTable]], rows: Sequence[int]) -> list[dict[str, Any]]:
    """See `workflow.kinds.Kind`. A test row's shares are not told: only its label is."""
    learner = opened.learner
    found, classes = disambiguated(learner), learner.classes
    numbers = np.array([row for row in rows if not learner.test_rows[row]], dtype=np.intp)
    shares = dict(zip(numbers.tolist(), learner.shares_of(numbers), strict=True)) if len(numbers) else {}
    told = []
    for row in rows:
        label = int(found.labels[row])
        of_row = shares.get(row, ())
        told.append(
            {
                "row": row,
                "row_id": learner.table.id_of(row),
                "label": None if label < 0 else classes[label],
                "source": str(found.sources[row]),
                "probability": number(found.confidence[row]),
                "shares": [
                    {"label": classes[place], "share": number(share), "value": None, "source": None}
                    for place, share in enumerate(of_row)
                    if share > 0
                ],
            }
        )
    return told
