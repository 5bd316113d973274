"""Label vectors with missing entries: BML-CS, its baselines, and a learner that asks about single cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.labels.vectors import check_label_vectors
    from plcore.sensing.bml_cs import BMLCSClassifier
    from plcore.sensing.learner import SensingLearner
    from plcore.sensing.metrics import f1_scores, precision_at
    from plcore.sensing.ml_cs import MLCSClassifier
    from plcore.sensing.one_vs_all import OneVsAllSVC
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "BMLCSClassifier",
    "MLCSClassifier",
    "OneVsAllSVC",
    "SensingLearner",
    "check_label_vectors",
    "f1_scores",
    "precision_at",
]
