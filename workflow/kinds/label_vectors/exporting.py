"""Exports of a project of label vectors: every cell 1, 0 or empty, with the model's probability and the source of the
value. A cell that no one answered is empty, never 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plcore import LabelTable
from plcore.arrays import counted
from plcore.loop import EntryKind
from plcore.loop.label_vectors import LabelVectorLearner
from plcore.tables import FileFormat, LabelVectorTable, export_types
from workflow.exporting.snapshot import Described, Measure, Snapshot
from workflow.kinds.kind import ForPrograms
from workflow.kinds.label_vectors.answering import WHOLE_ROW
from workflow.kinds.label_vectors.progress import read_progress
from workflow.kinds.label_vectors.turn import LabelVectorTurn
from workflow.log.reading import curve_points, figure, number, told_row

if TYPE_CHECKING:
    from plcore.loop import StopRules
    from plcore.loop.label_vectors import LabelVectorExport
    from workflow.kinds.label_vectors.progress import VectorProgress
    from workflow.kinds.label_vectors.showing import ShownVector
    from workflow.opened import Opened


GIVEN_BACK: Mapping[str, FileFormat[LabelVectorTable]] = {}
"""None: tools that read scored lists expect one true label for each row."""

Learner = LabelVectorLearner[LabelTable]


def snapshot(opened: Opened[Learner]) -> Snapshot:
    """Return the rows in their current state. A row is as certain as its least certain label."""
    learner = opened.learner
    found, table = learner.export_cells(), learner.table
    return Snapshot(
        seq=learner.seq,
        answered=found.answered,
        certainty=lambda: found.certainty,
        undecided=lambda: found.undecided,
        labels_of=lambda entry: entry.labels,
        sources_of=lambda rows: found.part(rows).counts(),
        finish=lambda answers: LabelVectorTable(
            found,
            table.cells,
            table.roles.label_columns,
            export_types(table.cells, table.roles, table.numbers),
            answers,
        ),
    )


# Dataset card texts for label vectors.


def describe(opened: Opened[LabelVectorLearner[LabelTable]], rules: StopRules) -> Described:
    """Describe known labels before and after, and the model's quality on labels it was not trained on."""
    pool = opened.learner.pool
    view = read_progress(opened, rules)
    shares = []
    if view.held_out is not None:
        rows = view.held_out.rows
        shares = [
            (f"Precision of the {counted(t, 'likeliest label')} on test rows", one, rows)
            for t, one in view.held_out.precision
        ]
        shares += [
            ("Micro F1 on test rows", view.held_out.micro_f1, rows),
            ("Macro F1 on test rows", view.held_out.macro_f1, rows),
        ]
    for words, share in (
        (
            "Agreement on blind checks: the model's prediction for a label equals the person's answer",
            view.control.accuracy,
        ),
        ("F1 on blind checks", view.control.f1),
    ):
        if share is not None:
            shares.append((words, share, view.control.cells))
    return Described(
        before=f"{100 * (pool.original >= 0).mean():.1f}% of the labels of rows known",
        after=f"{100 * (pool.cells >= 0).mean():.1f}% known",
        labels=view.labels,
        set_aside=int(pool.bad.sum()),
        test_rows=view.n_test,
        blind_checks=view.n_control,
        measures=tuple(Measure(words, one.value, one.low, one.high, n) for words, one, n in shares),
        model=opened.learner.settings.model if view.predictor is None else view.predictor.title,
    )


# API data of projects of label vectors, as plain values: a question, the figures, the predictions.

_SAID = {1: True, 0: False, -1: None}


def describe_question(shown: ShownVector) -> dict[str, object]:
    """See `workflow.kinds.Kind`. Leaves out the criterion and the score, which would reveal the blind checks."""
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


def describe_figures(view: VectorProgress) -> dict[str, object]:
    """See `workflow.kinds.Kind`. Micro F1 of the test rows if there are any, else F1 of the blind checks."""
    curve = view.curve
    by, band = ("test rows", curve.micro_f1) if view.n_test else ("blind checks", curve.control)
    points = curve_points(curve.answers, band.value, band.low, band.high)
    return {
        "answered": view.answered,
        "open": view.left,
        "pending": view.pending,
        "disputed": view.disputed,
        "settled": number(view.settled),
        "done": view.left == 0,
        "stop": [one.words for one in view.stop.reached],
        "seconds_per_answer": number(view.seconds_per_answer),
        "measure": figure("F1", by, points),
        "curve": points,
        "labels": [{"label": one.label, "answered": one.answered, "given": one.given} for one in view.labels],
    }


def describe_predictions(
    opened: Opened[LabelVectorLearner[LabelTable]], rows: Sequence[int]
) -> list[dict[str, object]]:
    """See `workflow.kinds.Kind`. For each label, whether it is known, or else predicted, to be right."""
    return _told_cells(opened.learner.export_cells(np.asarray(rows, dtype=np.intp)), rows)


def take_predictions(
    opened: Opened[LabelVectorLearner[LabelTable]],
) -> Callable[[Sequence[int]], list[dict[str, object]]]:
    """See `workflow.kinds.Kind`."""
    found = opened.learner.export_cells()
    return lambda rows: _told_cells(found.part(np.asarray(rows, dtype=np.intp)), rows)


def _told_cells(found: LabelVectorExport, rows: Sequence[int]) -> list[dict[str, object]]:
    said, sources = np.where(found.cells >= 0, found.cells, found.predicted), found.sources
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
                    "source": str(sources[place, column]),
                }
                for column, label in enumerate(found.labels)
            ],
        }
        for place, row in enumerate(rows)
    ]


_ANSWERS = tuple(map(str, LabelVectorTurn.ANSWERS))
PROGRAMS = ForPrograms(_ANSWERS, describe_question, describe_figures, describe_predictions, take_predictions)
