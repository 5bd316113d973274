"""Large-margin learners for partial labels: PL-SVM, LM-PLANE, M3PL, CLPL, and the solvers they share."""

from __future__ import annotations

from plcore.margin.clpl import CLPLClassifier
from plcore.margin.lmplane import LMPlaneClassifier
from plcore.margin.m3pl import M3PLClassifier
from plcore.margin.plsvm import PLSVC
