"""Evaluation: candidate sets made from exact labels, measures and intervals, labelling runs against known truth, the
choice of a learner without it, ensembles, and shortlists that hold the truth as often as promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plcore.evaluation.automatic import AutoPLClassifier
from plcore.evaluation.calibration import PLCalibratedClassifier
from plcore.evaluation.comparison import compare_learners
from plcore.evaluation.contamination import contaminate
from plcore.evaluation.estimates import (
    ControlCounts,
    Estimate,
    control_accuracy,
    control_rows_measured,
    stratified_accuracy,
)
from plcore.evaluation.grids import PARAMETER_GRIDS, PRECISE_GRID, precise_folds
from plcore.evaluation.intervals import exact_interval, wilson_interval
from plcore.evaluation.learning_curves import LearningCurve, Reach, fit_learning_curve
from plcore.evaluation.metrics import error_rate
from plcore.evaluation.outside import OutsideRate, outside_probabilities, outside_rate
from plcore.evaluation.parts.replays import ReplayedRuns, replay_in_blocks
from plcore.evaluation.progressive import Progressive, progressive_validation
from plcore.evaluation.random_order import RandomOrderLine
from plcore.evaluation.replay import Replay, ask_oracle, replay
from plcore.evaluation.scores import (
    Precision,
    ScoredCandidates,
    precision_above,
    precision_by_label,
    precision_by_score,
    scored_candidates,
)
from plcore.evaluation.shortlists import (
    checks_needed,
    conformal_sets,
    conformal_threshold,
    conformity_scores,
)
from plcore.labels.accuracy import candidate_accuracy
from plcore.labels.folds import PartialKFold

if TYPE_CHECKING:
    from plcore.evaluation.ensembles import PLBaggingClassifier, PLVotingClassifier

__all__ = [
    "PARAMETER_GRIDS",
    "PRECISE_GRID",
    "AutoPLClassifier",
    "ControlCounts",
    "Estimate",
    "LearningCurve",
    "OutsideRate",
    "PLBaggingClassifier",
    "PLCalibratedClassifier",
    "PLVotingClassifier",
    "PartialKFold",
    "Precision",
    "Progressive",
    "RandomOrderLine",
    "Reach",
    "Replay",
    "ReplayedRuns",
    "ScoredCandidates",
    "ask_oracle",
    "candidate_accuracy",
    "checks_needed",
    "compare_learners",
    "conformal_sets",
    "conformal_threshold",
    "conformity_scores",
    "contaminate",
    "control_accuracy",
    "control_rows_measured",
    "error_rate",
    "exact_interval",
    "fit_learning_curve",
    "outside_probabilities",
    "outside_rate",
    "precise_folds",
    "precision_above",
    "precision_by_label",
    "precision_by_score",
    "progressive_validation",
    "replay",
    "replay_in_blocks",
    "scored_candidates",
    "stratified_accuracy",
    "wilson_interval",
]


def __getattr__(name: str) -> Any:
    """The ensembles, loaded when somebody asks for one: scikit-learn's take 10 MB in every process that loads them."""
    if name in ("PLBaggingClassifier", "PLVotingClassifier"):
        from plcore.evaluation import ensembles

        return getattr(ensembles, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
