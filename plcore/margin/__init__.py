"""Large-margin learners for partial labels: PL-SVM, LM-PLANE, M3PL, CLPL, and the solvers they share."""

from __future__ import annotations

from plcore.margin.clpl import CLPLClassifier
from plcore.margin.grids import PARAMETER_GRIDS, PRECISE_GRID, precise_folds
from plcore.margin.lmplane import LMPlaneClassifier
from plcore.margin.m3pl import M3PLClassifier
from plcore.margin.plsvm import PLSVC

__all__ = [
    "PARAMETER_GRIDS",
    "PLSVC",
    "PRECISE_GRID",
    "CLPLClassifier",
    "LMPlaneClassifier",
    "M3PLClassifier",
    "precise_folds",
]
