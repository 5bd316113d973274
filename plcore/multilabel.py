"""The answering loop for label vectors with missing labels, by the names programs know: `plcore.loop.label_vectors`."""

from __future__ import annotations

from plcore.loop.label_vectors import KINDS as CELL_KINDS
from plcore.loop.label_vectors import ControlEstimate, HeldOut, Refreshed, RefreshJob, Share
from plcore.loop.label_vectors import FoldedVector as FoldedCells
from plcore.loop.label_vectors import LabelVectorExport as CellExport
from plcore.loop.label_vectors import LabelVectorFold as CellFold
from plcore.loop.label_vectors import LabelVectorLearner as MultiLabelLearner
from plcore.loop.label_vectors import LabelVectorPoint as LabelPoint
from plcore.loop.label_vectors import LabelVectorPool as CellPool
from plcore.loop.label_vectors import LabelVectorProgress as LabelProgress
from plcore.loop.label_vectors import LabelVectorQuestion as LabelQuestion
from plcore.loop.label_vectors import LabelVectorSettings as MultiLabelSettings
from plcore.loop.label_vectors import LabelVectorState as CellState

__all__ = [
    "CELL_KINDS",
    "CellExport",
    "CellFold",
    "CellPool",
    "CellState",
    "ControlEstimate",
    "FoldedCells",
    "HeldOut",
    "LabelPoint",
    "LabelProgress",
    "LabelQuestion",
    "MultiLabelLearner",
    "MultiLabelSettings",
    "RefreshJob",
    "Refreshed",
    "Share",
]
