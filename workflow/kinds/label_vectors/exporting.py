"""Label vectors as CSV: every cell 1, 0 or empty, with the model's probability and where it comes from.

Wide: the original columns, their text exact, but for those of the labels, in whose place stand the cells as they are
now; then ``winnow_probability:LABEL``, ``winnow_predicted:LABEL``, what the model says of a cell not asked, and
``winnow_source:LABEL``. Where the labels came as lists, the lists stay and a column for each label is added. Long: a
line for each cell. A cell that nobody answered is empty, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorLearner
from plcore.tables import LabelVectorTable, to_csv_bytes

if TYPE_CHECKING:
    from workflow.common.opened import Opened

Learner = LabelVectorLearner[LabelTable]


def wide_frame(opened: Opened[Learner]) -> pd.DataFrame:
    """A row for each row of the table, in its order. All cells are text."""
    return label_vector_table(opened.learner).wide()


def label_vector_table(learner: Learner) -> LabelVectorTable:
    """All cells as they stand, beside the table they came in."""
    return LabelVectorTable(learner.export_cells(), learner.table.cells, learner.table.roles.label_columns)


def long_frame(opened: Opened[Learner]) -> pd.DataFrame:
    """A line for each label of each row: id, label, value, probability, predicted, source. All cells are text."""
    return opened.learner.export_cells().long()


def wide_csv(opened: Opened[Learner]) -> bytes:
    """``wide_frame`` as CSV, UTF-8."""
    return to_csv_bytes(wide_frame(opened))


def long_csv(opened: Opened[Learner]) -> bytes:
    """``long_frame`` as CSV, UTF-8."""
    return to_csv_bytes(long_frame(opened))


FILES: Mapping[str, Callable[[Any], bytes]] = {"table": wide_csv, "cells": long_csv}
"""The files that the project gives out, by name; the table itself first."""


def sources(opened: Opened[Learner]) -> dict[str, int]:
    """How many cells come from each source."""
    return opened.learner.export_cells().counts()


def preview(opened: Opened[Learner], n_rows: int) -> pd.DataFrame:
    """The first rows of the wide export, the row's name and its labels first, for a look before the download."""
    whole, roles = label_vector_table(opened.learner), opened.learner.table.roles
    frame = whole.chosen(np.arange(min(n_rows, len(whole.original)))).wide()
    first = (*([roles.id] if roles.id else ()), *whole.found.labels)
    front = [name for name in first if name in frame.columns]
    front += [name for name in frame.columns if name.startswith("winnow_")]
    return frame[[*front, *(name for name in frame.columns if name not in front)]]
