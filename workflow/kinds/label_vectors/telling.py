"""What programs are told of projects of label vectors: a question, the figures, what is predicted; as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plcore import LabelTable
from plcore.loop import EntryKind
from workflow.common.told_values import curve_points, figure, number, told_row
from workflow.kinds.label_vectors.turn import WHOLE_ROW, LabelVectorTurn

if TYPE_CHECKING:
    from plcore.loop.label_vectors import LabelVectorLearner
    from workflow.common.opened import Opened
    from workflow.kinds.label_vectors.progress import VectorProgress
    from workflow.kinds.label_vectors.showing import ShownVector

_SAID = {1: True, 0: False, -1: None}


def tell_question(shown: ShownVector) -> dict[str, Any]:
    """See `workflow.kinds.Kind`. The criterion and the score are left out: they would tell the blind checks."""
    others = (EntryKind.YES, EntryKind.NO) if shown.label is None else (WHOLE_ROW,)
    return {
        "token": shown.token,
        "shown": shown.shown,
        **told_row(shown.view),
        "label": shown.label,
        "is_it": None,
        "choices": [
            {
                "label": one.label,
                "description": one.description,
                "share": number(one.probability),
                "known": _SAID[int(one.cell)],
            }
            for one in shown.lines
        ],
        "answers": [str(kind) for kind in LabelVectorTurn.ANSWERS if kind not in others],
        "why": shown.why,
    }


def tell_figures(view: VectorProgress) -> dict[str, Any]:
    """See `workflow.kinds.Kind`. Micro F1 of test rows where there are any, else F1 of the blind checks."""
    curve = view.curve
    by, band = ("test rows", curve.micro_f1) if view.n_test else ("blind checks", curve.control)
    points = curve_points(curve.answers, band.value, band.low, band.high)
    return {
        "answered": view.answered,
        "open": view.left,
        "settled": number(view.settled),
        "done": view.left == 0,
        "seconds_per_answer": number(view.seconds_per_answer),
        "measure": figure("F1", by, points),
        "curve": points,
        "labels": [{"label": one.label, "answered": one.answered, "given": one.given} for one in view.labels],
    }


def tell_predictions(
    opened: Opened[LabelVectorLearner[LabelTable]], rows: Sequence[int]
) -> list[dict[str, Any]]:
    """See `workflow.kinds.Kind`. Of each label whether it is known, or else predicted, to be right."""
    found = opened.learner.export_cells(np.asarray(rows, dtype=np.intp))
    said = np.where(found.cells >= 0, found.cells, found.predicted)
    return [
        {
            "row": row,
            "row_id": str(found.ids[place]),
            "label": None,
            "source": None,
            "probability": None,
            "shares": [
                {
                    "label": label,
                    "share": number(found.probabilities[place, column]),
                    "value": _SAID[int(said[place, column])],
                    "source": str(found.sources[place, column]),
                }
                for column, label in enumerate(found.labels)
            ],
        }
        for place, row in enumerate(rows)
    ]
