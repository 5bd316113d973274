"""The loop for one true label among candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.loop.one_label.asking import find_pool_graph, graph_takes_long
    from plcore.loop.one_label.checks import FEWEST_CHECKS, check_scores, known_checks, rate_outside, weighs_own
    from plcore.loop.one_label.comparing import Comparer, StrategyReplays, StrategyRuns
    from plcore.loop.one_label.disambiguation import TakenLabels
    from plcore.loop.one_label.file_scores import FileScores
    from plcore.loop.one_label.fold import ANSWERS, CandidateFold
    from plcore.loop.one_label.heard import undecided_rows
    from plcore.loop.one_label.learner import ActiveLearner
    from plcore.loop.one_label.pool import OneLabelPool
    from plcore.loop.one_label.random_order import TRUTH, CannotEstimateError, RandomOrderFound, RandomOrderRuns
    from plcore.loop.one_label.reports import CurvePoint, Disambiguation, Progress, Question, RowState
    from plcore.loop.one_label.settings import AUTOMATIC, LearnerSettings
    from plcore.loop.one_label.several import View
    from plcore.loop.one_label.training import FirstUpdate, Footing, Trainer, Version
else:
    __getattr__, __dir__ = lazy_names(__name__)
