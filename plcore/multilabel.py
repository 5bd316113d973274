"""The answering loop for label vectors with holes, by the names programs know: `plcore.loop.label_vectors`."""

from __future__ import annotations

from plcore.loop.label_vectors.export import LabelVectorExport as CellExport
from plcore.loop.label_vectors.fold import KINDS as CELL_KINDS
from plcore.loop.label_vectors.fold import FoldedVector as FoldedCells
from plcore.loop.label_vectors.fold import LabelVectorFold as CellFold
from plcore.loop.label_vectors.learner import LabelVectorLearner as MultiLabelLearner
from plcore.loop.label_vectors.model import Refreshed, RefreshJob
from plcore.loop.label_vectors.pool import LabelVectorPool as CellPool
from plcore.loop.label_vectors.reports import ControlEstimate, HeldOut, Share
from plcore.loop.label_vectors.reports import LabelVectorPoint as LabelPoint
from plcore.loop.label_vectors.reports import LabelVectorProgress as LabelProgress
from plcore.loop.label_vectors.reports import LabelVectorQuestion as LabelQuestion
from plcore.loop.label_vectors.reports import LabelVectorState as CellState
from plcore.loop.label_vectors.settings import LabelVectorSettings as MultiLabelSettings

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
