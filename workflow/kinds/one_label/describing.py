"""What a dataset card says of rows with candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore import ActiveLearner, LabelTable
from plcore.evaluation import wilson_interval
from workflow.kinds.one_label.progress import read_progress
from workflow.outgoing.described import Described, Measure

if TYPE_CHECKING:
    from plcore.loop import StopRules
    from workflow.common.opened import Opened


def describe(opened: Opened[ActiveLearner[LabelTable]], rules: StopRules) -> Described:
    """Candidates before and after, and how good the model is on rows that it has not learnt."""
    pool = opened.learner.pool
    view = read_progress(opened, rules)
    measures = []
    if view.accuracy is not None and view.interval is not None:
        measures.append(
            Measure(
                "Accuracy on test rows, whose true labels it never saw",
                view.accuracy,
                *view.interval,
                view.n_test,
            )
        )
    if view.control is not None:
        checked = view.control_asked + view.control_free
        measures.append(
            Measure(
                "Accuracy over all rows, estimated by blind checks",
                view.control,
                *view.control_interval,
                checked,
            )
        )
    if n := view.confusion.total:
        share = view.confusion.agreed / n
        low, high = wilson_interval(share, n)
        words = "Agreement on blind checks: the model, before the answer, had said what the person then said"
        measures.append(Measure(words, share, float(low), float(high), n))
    if (rate := view.shortlists.outside).checks:
        words = (
            "Rows whose truth is none of their candidates at import, of those with several, by blind checks"
        )
        measures.append(Measure(words, rate.share, rate.low, rate.high, rate.checks))
    kept = pool.sizes[~pool.bad]
    after = (
        f"{kept.mean():.2f} on average, without rows set aside"
        if len(kept)
        else "none: all rows are set aside"
    )
    return Described(
        before=f"{pool.original.sum(axis=1).mean():.2f} candidates a row on average",
        after=after,
        labels=view.labels,
        set_aside=int(pool.bad.sum()),
        test_rows=view.n_test,
        blind_checks=view.n_control,
        measures=tuple(measures),
        model=opened.learner.settings.model_in_force,
    )
