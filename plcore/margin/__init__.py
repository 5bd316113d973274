"""Large-margin learners for partial labels: PL-SVM, LM-PLANE, M3PL, CLPL, and the solvers they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.margin.clpl import CLPLClassifier
    from plcore.margin.lmplane import LMPlaneClassifier
    from plcore.margin.m3pl import M3PLClassifier
    from plcore.margin.plsvm import PLSVC
else:
    __getattr__, __dir__ = lazy_names(__name__)
