"""Evaluation: candidate sets made from exact labels, and measures that need no exact labels."""

from __future__ import annotations

from plcore.evaluation.contamination import contaminate
from plcore.evaluation.metrics import candidate_accuracy

__all__ = ["candidate_accuracy", "contaminate"]
