"""The disambiguated table, every label with its source.

Columns added to the original ones (which keep their text exactly): ``winnow_candidates`` the candidates
left, joined by ``|`` or as `cell_form` says; ``winnow_label``; ``winnow_source`` one of given, oracle, necessary,
model, truth, bad, open; ``winnow_confidence`` in [0, 1]; ``winnow_annotator`` and ``winnow_answered_at`` where a
person decided. Labels in them have the names their classes have now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from db import entries, people
from plcore import ActiveLearner, Disambiguation, LabelTable
from plcore.tables import cell_form, names_beside, to_csv_bytes

if TYPE_CHECKING:
    from workflow.common.opened import Opened

Learner = ActiveLearner[LabelTable]

ADDED = (
    "winnow_candidates",
    "winnow_label",
    "winnow_source",
    "winnow_confidence",
    "winnow_annotator",
    "winnow_answered_at",
)


# Read and written only while the learner is open, that is by one thread at a time; the arrays are never changed.
_results: WeakKeyDictionary[Learner, tuple[tuple[int, int, int | None], Disambiguation]] = WeakKeyDictionary()


def export_frame(opened: Opened[Learner], n_rows: int | None = None) -> pd.DataFrame:
    """One row per original row, in the original order. All cells are text.

    n_rows : of the first rows alone; None: of all
    """
    learner, session = opened.learner, opened.session
    names = {one.id: one.name for one in people.listed(session)}
    log = {entry.seq: entry for entry in entries.after(session, opened.project_id, 0)}
    cells = learner.table.cells[:n_rows]
    result = _disambiguated(learner)
    deciding = [learner.answer_of(row) for row in range(len(cells))]
    classes = np.asarray(learner.classes, dtype=object)
    form = cell_form(learner.classes)
    by = [log[entry.seq] if entry else None for entry in deciding]
    added = {
        "winnow_candidates": [form.listed(classes[row].tolist()) for row in learner.candidates[:n_rows]],
        "winnow_label": [classes[label] if label >= 0 else "" for label in result.labels[:n_rows]],
        "winnow_source": result.sources[:n_rows],
        "winnow_confidence": [
            "" if np.isnan(share) else f"{share:.4f}" for share in result.confidence[:n_rows]
        ],
        "winnow_annotator": [names[e.person_id] if e else "" for e in by],
        "winnow_answered_at": [e.at.isoformat(timespec="seconds") if e else "" for e in by],
    }
    originals = cells.rename(columns=names_beside(cells.columns, ADDED))
    return pd.concat([originals, pd.DataFrame(added, dtype="str")], axis=1)


def export_table(opened: Opened[Learner]) -> bytes:
    """``export_frame`` as CSV, UTF-8; the original cells read back exactly as they were."""
    return to_csv_bytes(export_frame(opened))


FILES: Mapping[str, Callable[[Any], bytes]] = {"table": export_table}
"""The files that the project gives out, by name; the table itself first."""


def preview(opened: Opened[Learner], n_rows: int) -> pd.DataFrame:
    """The first rows of the export with the added columns first, for a look before the download."""
    frame = export_frame(opened, n_rows)
    return frame[[*ADDED, *(name for name in frame.columns if name not in ADDED)]]


def sources(opened: Opened[Learner]) -> dict[str, int]:
    """How many rows have their label from each source."""
    found = _disambiguated(opened.learner).sources
    return {name: int(count) for name, count in zip(*np.unique(found, return_counts=True), strict=True)}


def _disambiguated(learner: Learner) -> Disambiguation:
    """A label for every row, computed once for each state of the log and the model: a page asks for it twice."""
    state = (
        learner.seq,
        learner.model_version,
        learner.version_published,
    )  # None before the first, which may be 0
    known = _results.get(learner)
    if known is None or known[0] != state:
        known = _results[learner] = state, learner.disambiguate()
    return known[1]
