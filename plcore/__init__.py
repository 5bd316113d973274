"""plcore: learning from partial labels, usable alone as a library. Knows no database and no web."""

from __future__ import annotations

from plcore import evaluation, query
from plcore.candidates import CandidateError
from plcore.compiling import compile_kernels
from plcore.csv_text import read_cells
from plcore.features import FeatureTransformer
from plcore.fold import AnswerError, Entry
from plcore.learner import ActiveLearner
from plcore.margin import PLSVC, CLPLClassifier, LMPlaneClassifier, M3PLClassifier
from plcore.neighbors import PLKNeighborsClassifier
from plcore.problems import Problem, TableError
from plcore.reports import CurvePoint, Disambiguation, LearnerSettings, Progress, Question, RowState
from plcore.roles import Roles
from plcore.suggestion import suggest_roles
from plcore.table import LabelTable

__all__ = [
    "PLSVC",
    "ActiveLearner",
    "AnswerError",
    "CLPLClassifier",
    "CandidateError",
    "CurvePoint",
    "Disambiguation",
    "Entry",
    "FeatureTransformer",
    "LMPlaneClassifier",
    "LabelTable",
    "LearnerSettings",
    "M3PLClassifier",
    "PLKNeighborsClassifier",
    "Problem",
    "Progress",
    "Question",
    "Roles",
    "RowState",
    "TableError",
    "compile_kernels",
    "evaluation",
    "query",
    "read_cells",
    "suggest_roles",
]
