"""plcore: learning from partial labels, usable alone as a library. Knows no database and no web."""

from __future__ import annotations

from plcore import evaluation, query
from plcore.candidates import CandidateError
from plcore.compiling import compile_kernels
from plcore.csv_text import read_cells
from plcore.features import FeatureTransformer
from plcore.fold import AnswerError, Entry
from plcore.learner import ActiveLearner
from plcore.margin import (
    PARAMETER_GRIDS,
    PLSVC,
    PRECISE_GRID,
    CLPLClassifier,
    LMPlaneClassifier,
    M3PLClassifier,
    precise_folds,
)
from plcore.neighbors import PLKNeighborsClassifier
from plcore.online import PLPegasos, PLPerceptron, learn_stream
from plcore.problems import Problem, TableError
from plcore.reports import (
    ControlCounts,
    CurvePoint,
    Disambiguation,
    LearnerSettings,
    Progress,
    Question,
    RowState,
)
from plcore.roles import Roles
from plcore.sensing import (
    BMLCSClassifier,
    MLCSClassifier,
    OneVsAllSVC,
    SensingLearner,
    f1_scores,
    precision_at,
)
from plcore.suggestion import suggest_roles
from plcore.table import LabelTable

__all__ = [
    "PARAMETER_GRIDS",
    "PLSVC",
    "PRECISE_GRID",
    "ActiveLearner",
    "AnswerError",
    "BMLCSClassifier",
    "CLPLClassifier",
    "CandidateError",
    "ControlCounts",
    "CurvePoint",
    "Disambiguation",
    "Entry",
    "FeatureTransformer",
    "LMPlaneClassifier",
    "LabelTable",
    "LearnerSettings",
    "M3PLClassifier",
    "MLCSClassifier",
    "OneVsAllSVC",
    "PLKNeighborsClassifier",
    "PLPegasos",
    "PLPerceptron",
    "Problem",
    "Progress",
    "Question",
    "Roles",
    "RowState",
    "SensingLearner",
    "TableError",
    "compile_kernels",
    "evaluation",
    "f1_scores",
    "learn_stream",
    "precise_folds",
    "precision_at",
    "query",
    "read_cells",
    "suggest_roles",
]
