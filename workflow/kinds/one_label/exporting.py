"""Exports of a project of one true label: each row's candidates before and after, its label and the source of
it. Labels have the names that their classes have now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from plcore import ActiveLearner, Disambiguation, LabelTable
from plcore.arrays import AnyArray, FloatArray, IntArray
from plcore.evaluation import wilson_interval
from plcore.loop import ClassMap, EntryKind, Place
from plcore.loop.one_label import TakenLabels
from plcore.tables import Disambiguated, export_types
from workflow.answering.asked import Given
from workflow.exporting.snapshot import Described, Measure, Snapshot
from workflow.kinds.kind import ForPrograms, HiddenTruth
from workflow.kinds.one_label.progress import read_progress
from workflow.kinds.one_label.settings import doubts
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.kinds.one_label.turn import OneLabelTurn
from workflow.log.reading import curve_points, figure, number, told_row
from workflow.projects.class_names import names_now

if TYPE_CHECKING:
    from db.entries import LogEntry
    from plcore.loop import StopRules
    from workflow.kinds.one_label.progress import ProgressView
    from workflow.opened import Opened

Learner = ActiveLearner[LabelTable]

Objects = npt.NDArray[np.object_]
_KNOWN = ("person", "verdict", "truth")
"""Sources of labels that are certain by themselves."""

# Used only while the learner is open, by one thread at a time; several threads may read what was taken.
_results: WeakKeyDictionary[Learner, tuple[tuple[int, int, int | None, int], TakenLabels]] = WeakKeyDictionary()


def snapshot(opened: Opened[Learner]) -> Snapshot:
    """Return the rows in their current state."""
    learner = opened.learner
    pool, taken, table = learner.pool, _taken(learner), learner.table
    classes, class_map, version = pool.classes, pool.class_map, str(learner.model_version)
    several = learner.settings.several
    before, after, weights = pool.original, learner.candidates, pool.table.candidate_weights

    def finish(answers: Sequence[dict[str, object]]) -> Disambiguated:
        return Disambiguated(
            ids=table.ids,
            cells=table.cells,
            classes=classes,
            candidates_before=before,
            candidates_after=after,
            weights=weights,
            label=cast("IntArray", taken.column("labels")),
            source=cast("Objects", taken.column("sources")),
            probability=cast("FloatArray", taken.column("confidence")),
            answers=answers,
            model_version=version,
            several=several,
            outside=cast("FloatArray", taken.column("outside")) if taken.has_outside else None,
            likeliest=cast("IntArray", taken.column("likeliest")) if several else None,
            likelihood=cast("FloatArray", taken.column("likelihood")) if several else None,
            probabilities=taken.probabilities(),
            types=export_types(table.cells, table.roles, table.numbers),
            truth=pool.table.truth,
            votes=pool.table.votes,
            renamed={name: now for name in class_map.known_names if (now := class_map.now(name)) != name},
        )

    def certainty() -> FloatArray:
        found = taken.whole
        sure = np.where(np.isin(found.sources, _KNOWN), 1.0, found.confidence)
        return np.where(found.sources == "pending", np.nan, sure)

    return Snapshot(
        seq=learner.seq,
        answered=taken.answered,
        certainty=certainty,
        undecided=lambda: np.isin(taken.whole.sources, ("disputed", "pending")),
        labels_of=partial(_labels_of, class_map),
        sources_of=lambda rows: _counts(taken.whole.sources[rows]),
        finish=finish,
    )


def _labels_of(class_map: ClassMap, entry: LogEntry) -> tuple[str, ...]:
    """Return the present names of the labels that an answer names. A `not` about a class that has since absorbed
    another names none: it does not exclude the merged class."""
    if entry.kind == EntryKind.NOT:
        return class_map.called_now(entry.labels, entry.seq) or ()
    return names_now(class_map, entry.labels)


def _counts(found: AnyArray) -> dict[str, int]:
    return {name: int(count) for name, count in zip(*np.unique(found, return_counts=True), strict=True)}


def disambiguated(learner: Learner) -> Disambiguation:
    """Return a label for every row."""
    return _taken(learner).whole


def _taken(learner: Learner) -> TakenLabels:
    """Return the labels of all rows, computed once per state of the log and the model: a page asks for them twice."""
    # The published version is None before the first one, which may be 0.
    state = learner.seq, learner.model_version, learner.version_published, learner.n_followed
    known = _results.get(learner)
    if known is None or known[0] != state:
        known = _results[learner] = state, learner.take_labels()
    return known[1]


# Dataset card texts for rows with candidates.


def describe(opened: Opened[ActiveLearner[LabelTable]], rules: StopRules) -> Described:
    """Describe the candidates before and after, and the model's quality on rows it was not trained on."""
    pool = opened.learner.pool
    view = read_progress(opened, rules)
    measures = []
    if view.accuracy is not None and view.interval is not None:
        measures.append(
            Measure("Accuracy on test rows, whose true labels it never saw", view.accuracy, *view.interval, view.n_test)
        )
    if view.control is not None:
        checked = view.control_asked + view.control_free
        measures.append(
            Measure("Accuracy over all rows, estimated by blind checks", view.control, *view.control_interval, checked)
        )
    if n := view.confusion.total:
        share = view.confusion.agreed / n
        low, high = wilson_interval(share, n)
        words = "Agreement on blind checks: the model's prediction before the answer equals the answer"
        measures.append(Measure(words, share, float(low), float(high), n))
    if (rate := view.shortlists.outside).checks:
        words = "Rows whose truth is outside their imported candidates, of those with several, by blind checks"
        measures.append(Measure(words, rate.share, rate.low, rate.high, rate.checks))
    kept = pool.sizes[~pool.bad]
    after = f"{kept.mean():.2f} on average, without excluded rows" if len(kept) else "none: all rows are excluded"
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


# API data of projects of one true label, as plain values: a question, the figures, the predictions.


def describe_question(shown: ShownQuestion) -> dict[str, object]:
    """See `workflow.kinds.Kind`. Leaves out the strategy and the scores, which would reveal the blind checks."""
    asked = shown.yes_no
    return {
        "token": shown.token,
        "shown": shown.shown,
        **told_row(shown.view),
        "label": None,
        "is_it": None if asked is None else list(asked.labels),
        "choices": [
            {"label": one.label, "description": one.description, "share": number(one.probability), "known": None}
            for one in shown.candidates
        ],
        "answers": list(_ANSWERS),
        "why": shown.why,
    }


def describe_figures(view: ProgressView) -> dict[str, object]:
    """See `workflow.kinds.Kind`. From test rows if there are any, else from blind checks."""
    curve = view.curve
    if view.n_test:
        by, parts = "test rows", (curve.accuracy, curve.low, curve.high)
    else:
        by, parts = "blind checks", (curve.control, curve.control_low, curve.control_high)
    points = curve_points(curve.answers, *parts)
    return {
        "answered": view.answered,
        "open": view.left,
        "pending": view.pending,
        "disputed": view.disputed,
        "settled": number(view.settled),
        "done": view.done,
        "stop": [one.words for one in view.stop.reached],
        "seconds_per_answer": number(view.seconds_per_answer),
        "measure": figure("accuracy", by, points),
        "curve": points,
        "labels": [{"label": one.label, "answered": one.answered, "given": one.given} for one in view.labels],
    }


def take_predictions(opened: Opened[ActiveLearner[LabelTable]]) -> Callable[[Sequence[int]], list[dict[str, object]]]:
    """See `workflow.kinds.Kind`. The shares are the probabilities of the files. A test row has only its label, no
    shares."""
    learner = opened.learner
    taken, table, classes, test_rows = _taken(learner), learner.table, learner.classes, learner.test_rows
    probabilities = taken.probabilities()

    def told(rows: Sequence[int]) -> list[dict[str, object]]:
        if not len(rows):
            return []
        place = slice(rows.start, rows.stop) if isinstance(rows, range) else np.asarray(rows, dtype=np.intp)
        found = taken.of(place)
        numbers = np.array([row for row in rows if not test_rows[row]], dtype=np.intp)
        shares = dict(zip(numbers.tolist(), probabilities[numbers], strict=True)) if len(numbers) else {}
        return [
            {
                "row": row,
                "row_id": table.id_of(row),
                "label": None if label < 0 else classes[label],
                "source": str(source),
                "probability": number(probability),
                "shares": [
                    {"label": classes[place], "share": number(share), "value": None, "source": None}
                    for place, share in enumerate(shares.get(row, ()))
                    if share > 0
                ],
            }
            for row, label, source, probability in zip(
                rows, found.labels.tolist(), found.sources, found.confidence, strict=True
            )
        ]

    return told


def describe_predictions(opened: Opened[ActiveLearner[LabelTable]], rows: Sequence[int]) -> list[dict[str, object]]:
    """See `workflow.kinds.Kind`."""
    return take_predictions(opened)(rows)


_ANSWERS = tuple(map(str, OneLabelTurn.ANSWERS))
PROGRAMS = ForPrograms(_ANSWERS, describe_question, describe_figures, describe_predictions, take_predictions)


# The true labels that a table hides, for a dry run.


def hides_truth(learner: Learner) -> bool:
    """Whether the table has true labels that are hidden from both model and annotators."""
    known = (_truth(learner) >= 0) & ~learner.test_rows
    return learner.settings.truth_role == "hidden" and bool(known.any())


def true_answer(learner: Learner, shown: ShownQuestion) -> Given | None:
    """Return the answer of someone who knows the truth; None if the row's truth is unknown."""
    label = int(_truth(learner)[shown.view.row])
    if label < 0:
        return None
    name = learner.classes[label]
    kind = EntryKind.IS if name in shown.choices else EntryKind.NONE
    return Given(kind, (name,), shown=shown.shown)


def known_places(learner: Learner) -> list[Place]:
    """Return the open places whose truth is known: blind checks in the order they were drawn, then the others in the
    order of asking."""
    truth = _truth(learner)
    order = [*learner.pool.control_left().tolist(), *learner.ranking()[0].tolist()]
    return [Place(row) for row in order if truth[row] >= 0]


def _truth(learner: Learner) -> npt.NDArray[np.int64]:
    """Return (n,) the class number of each row's true label, -1 if unknown."""
    truth = learner.table.truth
    return np.full(learner.table.n_rows, -1, dtype=np.int64) if truth is None else truth


HIDDEN_TRUTH = HiddenTruth(hides_truth, true_answer, known_places, doubts)
