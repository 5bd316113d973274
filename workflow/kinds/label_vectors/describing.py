"""What a dataset card says of label vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorLearner
from workflow.kinds.label_vectors.progress import read_progress
from workflow.outgoing.described import Described, Measure

if TYPE_CHECKING:
    from plcore.loop import StopRules
    from workflow.common.opened import Opened


def describe(opened: Opened[LabelVectorLearner[LabelTable]], rules: StopRules) -> Described:
    """Known labels before and after, and how good the model is on those that it has not learnt."""
    pool = opened.learner.pool
    view = read_progress(opened, rules)
    shares = []
    if view.held_out is not None:
        rows = view.held_out.rows
        shares = [
            (f"Precision of the {t} likeliest labels on test rows", one, rows)
            for t, one in view.held_out.precision
        ]
        shares += [
            ("Micro F1 on test rows", view.held_out.micro_f1, rows),
            ("Macro F1 on test rows", view.held_out.macro_f1, rows),
        ]
    for words, share in (
        ("Agreement on blind checks: the model says of a label what the person said", view.control.accuracy),
        ("F1 on blind checks", view.control.f1),
    ):
        if share is not None:
            shares.append((words, share, view.control.cells))
    return Described(
        before=f"{100 * (pool.original >= 0).mean():.1f} % of the labels of rows known",
        after=f"{100 * (pool.cells >= 0).mean():.1f} % known",
        labels=view.labels,
        set_aside=int(pool.bad.sum()),
        test_rows=view.n_test,
        blind_checks=view.n_control,
        measures=tuple(Measure(words, one.value, one.low, one.high, n) for words, one, n in shares),
        model=opened.learner.settings.model if view.predictor is None else view.predictor.title,
    )
