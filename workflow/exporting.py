"""The disambiguated table as CSV, every label with its source; and the log it rests on.

Columns added to the original ones (which keep their text exactly): ``winnow_candidates`` the candidates
left, joined by ``|``; ``winnow_label``; ``winnow_source`` one of given, oracle, necessary, model, truth, bad, open;
``winnow_confidence`` in [0, 1]; ``winnow_annotator`` and ``winnow_answered_at`` where a person decided. Labels in
them have the names their classes have now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from db import entries, people
from plcore.tables.csv_text import to_csv_bytes
from workflow import access, projects, vector_exporting
from workflow.log_csv import write_log

if TYPE_CHECKING:
    from plcore import ActiveLearner, LabelTable
    from plcore.loop.one_label.reports import Disambiguation
    from workflow.home import Home

SEPARATOR = "|"
ADDED = (
    "winnow_candidates",
    "winnow_label",
    "winnow_source",
    "winnow_confidence",
    "winnow_annotator",
    "winnow_answered_at",
)


# Read and written only while the learner is open, that is by one thread at a time; the arrays are never changed.
_results: WeakKeyDictionary[ActiveLearner[LabelTable], tuple[tuple[int, int, int | None], Disambiguation]] = (
    WeakKeyDictionary()
)


def export_frame(home: Home, person_id: int, project_id: int) -> pd.DataFrame:
    """The whole table, one row per original row, in the original order. All cells are text.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotFound
        No such project.
    """
    return _frame(home, person_id, project_id, None)


def _frame(home: Home, person_id: int, project_id: int, n_rows: int | None) -> pd.DataFrame:
    """The export of the first rows; None: of all."""
    with home.database.read() as session:
        access.require_owner(session, person_id)
    with home.learners.open(home, person_id, project_id) as learner:
        # Read while the learner stands still, so that every entry it has is in this log.
        with home.database.read() as session:
            names = {one.id: one.name for one in people.listed(session)}
            log = {entry.seq: entry for entry in entries.after(session, project_id, 0)}
        cells = learner.table.cells[:n_rows]
        candidates = learner.candidates[:n_rows]
        result = _disambiguated(learner)
        deciding = [learner.answer_of(row) for row in range(len(cells))]
        classes = np.asarray(learner.classes, dtype=object)
    separator = _separator(learner.classes)
    by = [log[entry.seq] if entry else None for entry in deciding]
    added = {
        "winnow_candidates": [separator.join(classes[row]) for row in candidates],
        "winnow_label": [classes[label] if label >= 0 else "" for label in result.labels[:n_rows]],
        "winnow_source": result.sources[:n_rows],
        "winnow_confidence": [
            "" if np.isnan(share) else f"{share:.4f}" for share in result.confidence[:n_rows]
        ],
        "winnow_annotator": [names[e.person_id] if e else "" for e in by],
        "winnow_answered_at": [e.at.isoformat(timespec="seconds") if e else "" for e in by],
    }
    return pd.concat([_originals(cells), pd.DataFrame(added, dtype="str")], axis=1)


def _disambiguated(learner: ActiveLearner[LabelTable]) -> Disambiguation:
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


def _originals(cells: pd.DataFrame) -> pd.DataFrame:
    """The original columns; those of an earlier export, which came round again, give way to the new ones."""
    names: dict[str, str] = {}
    for name in ADDED:
        new = name
        while new in cells.columns or new in names.values():
            new = f"before_{new}"
        names[name] = new
    return cells.rename(columns=names)


def _separator(classes: Sequence[str]) -> str:
    """The bar, or where a label holds one, the first mark that no label holds."""
    marks = (SEPARATOR, ";", ",", "/", "\t")
    return next((mark for mark in marks if not any(mark in name for name in classes)), SEPARATOR)


def preview(home: Home, person_id: int, project_id: int, n_rows: int) -> pd.DataFrame:
    """The first rows of the export with the added columns first, for a look before the download."""
    frame = _frame(home, person_id, project_id, n_rows)
    return frame[[*ADDED, *(name for name in frame.columns if name not in ADDED)]]


def summary(home: Home, person_id: int, project_id: int) -> dict[str, int]:
    """How many rows have their label from each source. Raises as ``export_frame``."""
    with home.database.read() as session:
        access.require_owner(session, person_id)
    with home.learners.open(home, person_id, project_id) as learner:
        sources = _disambiguated(learner).sources
    return {name: int(count) for name, count in zip(*np.unique(sources, return_counts=True), strict=True)}


def export_csv(home: Home, person_id: int, project_id: int) -> bytes:
    """``export_frame`` as CSV, UTF-8; the original cells read back exactly as they were. Of a project of label vectors
    the wide form of `vector_exporting`.
    """
    if projects.get_project(home, person_id, project_id).vectors:
        return vector_exporting.wide_csv(home, person_id, project_id)
    return to_csv_bytes(export_frame(home, person_id, project_id))


def export_log(home: Home, person_id: int, project_id: int) -> bytes:
    """The project's log as CSV (see `workflow.log_csv`): every answer, skip, withdrawal and change of classes with who,
    when, why and what it changed, in the words it was given in.

    Raises as ``export_frame``.
    """
    with home.database.read() as session:
        access.require_owner(session, person_id)
        names = {one.id: one.name for one in people.listed(session)}
        log = entries.after(session, project_id, 0)
    with home.learners.open_any(home, person_id, project_id) as learner:
        ids = list(map(str, learner.table.ids))
    return write_log(log, names, ids)
