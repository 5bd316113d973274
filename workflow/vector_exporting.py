"""Label vectors as CSV: every cell 1, 0 or empty, with the model's probability and where it comes from.

Wide: the original columns, their text exact, but for those of the labels, in whose place stand the cells as they are
now; then ``winnow_probability:LABEL`` and ``winnow_source:LABEL``. Where the labels came as lists, the lists stay and
a column for each label is added. Long: a line for each cell. A cell that nobody answered is empty, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from plcore.tables.csv_text import to_csv_bytes
from workflow import access

if TYPE_CHECKING:
    from plcore import LabelTable
    from plcore.loop.label_vectors.export import LabelVectorExport
    from workflow.home import Home


def wide_frame(home: Home, person_id: int, project_id: int) -> pd.DataFrame:
    """A row for each row of the table, in its order. All cells are text.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotFound, WrongKind
    """
    found, table = _export(home, person_id, project_id)
    return _wide(found, table.cells, table.roles.label_columns)


def _wide(found: LabelVectorExport, original: pd.DataFrame, replaced: Sequence[str]) -> pd.DataFrame:
    """The cells found in the place of the original columns that are replaced."""
    kept = [name for name in original.columns if name not in replaced]
    added = found.wide(kept)
    values, more = added.columns[: len(found.labels)], added.columns[len(found.labels) :]
    place = {column: added[value] for column, value in zip(replaced, values, strict=False)}
    if not place:
        return pd.concat([original, added], axis=1)
    front = {name: place.get(name, original[name]) for name in original.columns}
    return pd.concat([pd.DataFrame(front, dtype="str"), added[list(more)]], axis=1)


def long_frame(home: Home, person_id: int, project_id: int) -> pd.DataFrame:
    """A line for each label of each row: id, label, value, probability, source. Raises as ``wide_frame``."""
    found, _ = _export(home, person_id, project_id)
    return found.long()


def wide_csv(home: Home, person_id: int, project_id: int) -> bytes:
    """``wide_frame`` as CSV, UTF-8."""
    return to_csv_bytes(wide_frame(home, person_id, project_id))


def long_csv(home: Home, person_id: int, project_id: int) -> bytes:
    """``long_frame`` as CSV, UTF-8."""
    return to_csv_bytes(long_frame(home, person_id, project_id))


def summary(home: Home, person_id: int, project_id: int) -> dict[str, int]:
    """How many cells come from each source. Raises as ``wide_frame``."""
    return _export(home, person_id, project_id)[0].counts()


def preview(home: Home, person_id: int, project_id: int, n_rows: int) -> pd.DataFrame:
    """The first rows of the wide export, the row's name and its labels first, for a look before the download."""
    found, table = _export(home, person_id, project_id)
    frame = _wide(found.first(n_rows), table.cells[:n_rows], table.roles.label_columns)
    first = (*([table.roles.id] if table.roles.id else ()), *found.labels)
    front = [name for name in first if name in frame.columns]
    front += [name for name in frame.columns if name.startswith("winnow_")]
    return frame[[*front, *(name for name in frame.columns if name not in front)]]


def _export(home: Home, person_id: int, project_id: int) -> tuple[LabelVectorExport, LabelTable]:
    with home.database.read() as session:
        access.require_owner(session, person_id)
    with home.learners.open_vectors(home, person_id, project_id) as learner:
        return learner.export_cells(), learner.table
