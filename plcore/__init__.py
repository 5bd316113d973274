"""plcore: partial-label learning as a standalone library, without database or web code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.extras import missing_for_tables
from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore import crowd, evaluation, query
    from plcore.baselines import (
        LSBCMMClassifier,
        PLAGGDClassifier,
        PLCLClassifier,
        PLGPClassifier,
        PLProgressiveClassifier,
        RegISLClassifier,
        SUREClassifier,
    )
    from plcore.baselines.adaptive import PLAdaptiveNeighborsClassifier
    from plcore.compiling import compile_kernels
    from plcore.evaluation import PARAMETER_GRIDS, PRECISE_GRID, AutoPLClassifier, ControlCounts, precise_folds
    from plcore.kernel import PLKernelRidge
    from plcore.labels import CandidateError
    from plcore.loop import AnswerError, Entry
    from plcore.loop.one_label import (
        ActiveLearner,
        CurvePoint,
        Disambiguation,
        LearnerSettings,
        Progress,
        Question,
        RowState,
    )
    from plcore.margin import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
    from plcore.neighbors import PLKNeighborsClassifier
    from plcore.online import PLPegasos, PLPerceptron, learn_stream
    from plcore.sensing import BMLCSClassifier, MLCSClassifier, OneVsAllSVC, SensingLearner, f1_scores, precision_at
    from plcore.tables import FeatureTransformer, LabelTable, Problem, Roles, TableError, read_cells, suggest_roles
    from plcore.trees import PLForest
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "PARAMETER_GRIDS",
    "PLSVC",
    "PRECISE_GRID",
    "ActiveLearner",
    "AnswerError",
    "AutoPLClassifier",
    "BMLCSClassifier",
    "CLPLClassifier",
    "CandidateError",
    "ControlCounts",
    "CurvePoint",
    "Disambiguation",
    "Entry",
    "FeatureTransformer",
    "LMPlaneClassifier",
    "LSBCMMClassifier",
    "LabelTable",
    "LearnerSettings",
    "M3PLClassifier",
    "MLCSClassifier",
    "OneVsAllSVC",
    "PLAGGDClassifier",
    "PLAdaptiveNeighborsClassifier",
    "PLCLClassifier",
    "PLForest",
    "PLGPClassifier",
    "PLKNeighborsClassifier",
    "PLKernelRidge",
    "PLPegasos",
    "PLPerceptron",
    "PLProgressiveClassifier",
    "Problem",
    "Progress",
    "Question",
    "RegISLClassifier",
    "Roles",
    "RowState",
    "SUREClassifier",
    "SensingLearner",
    "TableError",
    "compile_kernels",
    "crowd",
    "evaluation",
    "f1_scores",
    "learn_stream",
    "precise_folds",
    "precision_at",
    "query",
    "read_cells",
    "suggest_roles",
]
_OF_TABLES = frozenset(
    {"FeatureTransformer", "LabelTable", "Problem", "Roles", "TableError", "read_cells", "suggest_roles"}
)
if missing_for_tables():  # without the extra
    __all__[:] = [name for name in __all__ if name not in _OF_TABLES]
