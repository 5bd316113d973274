"""What is exported of a project of one true label: each row's candidates before and after, its label and the source of
it. Labels have the names that their classes have now.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from plcore import ActiveLearner, Disambiguation, LabelTable
from plcore.common import AnyArray, FloatArray, IntArray
from plcore.loop import ClassMap, EntryKind
from plcore.loop.one_label import TakenLabels
from plcore.tables import FILE_FORMATS as FORMATS
from plcore.tables import NATURE_FORMATS as GIVEN_BACK
from plcore.tables import Disambiguated
from workflow.common.present_names import names_now
from workflow.common.snapshot import Snapshot

if TYPE_CHECKING:
    from db.entries import LogEntry
    from workflow.common.opened import Opened

__all__ = ["FORMATS", "GIVEN_BACK", "disambiguated", "snapshot"]

Learner = ActiveLearner[LabelTable]

Objects = npt.NDArray[np.object_]
_KNOWN = ("oracle", "verdict", "given", "necessary", "truth")
"""Sources of labels that need no model."""

# Read and written only while the learner is open, that is by one thread at a time; what was taken may be looked at by
# several.
_results: WeakKeyDictionary[Learner, tuple[tuple[int, int, int | None, int], TakenLabels]] = (
    WeakKeyDictionary()
)


def snapshot(opened: Opened[Learner]) -> Snapshot:
    """The rows as they stand."""
    learner = opened.learner
    pool, taken, table = learner.pool, _taken(learner), learner.table
    classes, class_map, version = pool.classes, pool.class_map, str(learner.model_version)
    several = learner.settings.several
    before, after, weights = pool.original, learner.candidates, pool.table.candidate_weights

    def finish(answers: Sequence[dict[str, Any]]) -> Disambiguated:
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
            renamed={name: now for name in class_map.known_names if (now := class_map.now(name)) != name},
        )

    def certainty() -> FloatArray:
        found = taken.whole
        return np.where(np.isin(found.sources, _KNOWN), 1.0, found.confidence)

    return Snapshot(
        seq=learner.seq,
        answered=taken.answered,
        certainty=certainty,
        labels_of=partial(_labels_of, class_map),
        sources=lambda: _counts(taken.whole.sources),
        finish=finish,
    )


def _labels_of(class_map: ClassMap, entry: LogEntry) -> tuple[str, ...]:
    """The labels that an answer names, as they are called now. A `not` about a class that another was merged with since
    names none: it does not say that the row is not of the merged class."""
    if entry.kind == EntryKind.NOT:
        return class_map.called_now(entry.labels, entry.seq) or ()
    return names_now(class_map, entry.labels)


def _counts(found: AnyArray) -> dict[str, int]:
    return {name: int(count) for name, count in zip(*np.unique(found, return_counts=True), strict=True)}


def disambiguated(learner: Learner) -> Disambiguation:
    """A label for every row."""
    return _taken(learner).whole


def _taken(learner: Learner) -> TakenLabels:
    """The labels of all rows, taken once for each state of the log and the model: a page asks for them twice."""
    # What is published is None before the first version, which may be 0.
    state = learner.seq, learner.model_version, learner.version_published, learner.n_followed
    known = _results.get(learner)
    if known is None or known[0] != state:
        known = _results[learner] = state, learner.take_labels()
    return known[1]
