"""What is exported of a project of label vectors: every cell 1, 0 or empty, with the model's probability and where it
comes from. A cell that nobody answered is empty, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorLearner
from plcore.tables import VECTOR_FORMATS as FORMATS
from plcore.tables import FileFormat, LabelVectorTable
from workflow.common.snapshot import Snapshot

if TYPE_CHECKING:
    from workflow.common.opened import Opened

__all__ = ["FORMATS", "GIVEN_BACK", "snapshot"]

GIVEN_BACK: Mapping[str, FileFormat[LabelVectorTable]] = {}
"""None: tools that give scored lists ask for one true label of each."""

Learner = LabelVectorLearner[LabelTable]


def snapshot(opened: Opened[Learner]) -> Snapshot:
    """The rows as they stand. A row is as certain as the label that is least so, whether it is yes or no."""
    learner = opened.learner
    found, table = learner.export_cells(), learner.table
    surely = np.maximum(found.probabilities, 1 - found.probabilities)
    return Snapshot(
        seq=learner.seq,
        answered=found.answered,
        certainty=lambda: surely.min(axis=1),
        labels_of=lambda entry: entry.labels,
        sources=found.counts,
        finish=lambda _answers: LabelVectorTable(found, table.cells, table.roles.label_columns),
    )
