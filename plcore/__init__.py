"""plcore: learning from partial labels, usable alone as a library. Knows no database and no web."""

from __future__ import annotations

from plcore import evaluation, query
from plcore.compiling import compile_kernels
from plcore.evaluation.estimates import ControlCounts
from plcore.labels.candidates import CandidateError
from plcore.loop.entries import AnswerError, Entry
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.reports import CurvePoint, Disambiguation, Progress, Question, RowState
from plcore.loop.one_label.settings import LearnerSettings
from plcore.margin import (
    PARAMETER_GRIDS,
    PLSVC,
    PRECISE_GRID,
    CLPLClassifier,
    LMPlaneClassifier,
    M3PLClassifier,
    precise_folds,
)
from plcore.neighbors.classifier import PLKNeighborsClassifier
from plcore.online import PLPegasos, PLPerceptron, learn_stream
from plcore.sensing import (
    BMLCSClassifier,
    MLCSClassifier,
    OneVsAllSVC,
    SensingLearner,
    f1_scores,
    precision_at,
)
from plcore.tables.csv_text import read_cells
from plcore.tables.features import FeatureTransformer
from plcore.tables.problems import Problem, TableError
from plcore.tables.roles import Roles
from plcore.tables.suggestion import suggest_roles
from plcore.tables.table import LabelTable

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
