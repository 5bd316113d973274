"""The answering loop for label vectors with holes: yes, no, or not asked, for every label of every row."""

from __future__ import annotations

from plcore.multilabel.export import CellExport
from plcore.multilabel.fold import CELL_KINDS, CellFold, FoldedCells
from plcore.multilabel.learner import MultiLabelLearner
from plcore.multilabel.model import Refreshed, RefreshJob
from plcore.multilabel.pool import CellPool
from plcore.multilabel.reports import (
    CellState,
    ControlEstimate,
    HeldOut,
    LabelPoint,
    LabelProgress,
    LabelQuestion,
    Share,
)
from plcore.multilabel.settings import MultiLabelSettings

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
