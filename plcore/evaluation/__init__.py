"""Evaluation: candidate sets made from exact labels, measures, and labelling runs replayed against known truth."""

from __future__ import annotations

from plcore.evaluation.contamination import contaminate
from plcore.evaluation.metrics import candidate_accuracy, error_rate
from plcore.evaluation.progressive import Progressive, progressive_validation
from plcore.evaluation.replay import Replay, ask_oracle, replay

__all__ = [
    "Progressive",
    "Replay",
    "ask_oracle",
    "candidate_accuracy",
    "contaminate",
    "error_rate",
    "progressive_validation",
    "replay",
]
