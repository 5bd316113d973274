"""Evaluation: candidate sets made from exact labels, measures and intervals, labelling runs against known truth, the
choice of a learner without known truth, ensembles, and shortlists with guaranteed coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.evaluation.automatic import AutoPLClassifier
    from plcore.evaluation.comparison import compare_learners
    from plcore.evaluation.contamination import contaminate
    from plcore.evaluation.ensembles import PLBaggingClassifier, PLVotingClassifier
    from plcore.evaluation.estimates import (
        ControlCounts,
        Estimate,
        Progressive,
        control_accuracy,
        control_rows_measured,
        exact_interval,
        progressive_validation,
        stratified_accuracy,
        wilson_interval,
    )
    from plcore.evaluation.learners import PARAMETER_GRIDS, PRECISE_GRID, precise_folds
    from plcore.evaluation.learning_curves import LearningCurve, Reach, fit_learning_curve
    from plcore.evaluation.metrics import (
        OutsideRate,
        Precision,
        ScoredCandidates,
        error_rate,
        outside_probabilities,
        outside_rate,
        precision_above,
        precision_by_label,
        precision_by_score,
        scored_candidates,
    )
    from plcore.evaluation.random_order import RandomOrderLine
    from plcore.evaluation.replays import Replay, ReplayedRuns, ask_oracle, replay, replay_in_blocks
    from plcore.evaluation.shortlists import (
        MarginThresholds,
        PLCalibratedClassifier,
        checks_needed,
        conformal_sets,
        conformal_threshold,
        conformity_scores,
    )
    from plcore.kernels.scores import margins
    from plcore.labels.accuracy import PartialKFold, candidate_accuracy
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "PARAMETER_GRIDS",
    "PRECISE_GRID",
    "AutoPLClassifier",
    "ControlCounts",
    "Estimate",
    "LearningCurve",
    "MarginThresholds",
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
    "margins",
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
