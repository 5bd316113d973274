"""Settings of projects of label vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plcore import LabelTable
from plcore.loop.label_vectors import CRITERION_ENTRIES, PREDICTOR_ENTRIES, QUESTION_ENTRIES
from plcore.loop.label_vectors import LabelVectorSettings as LabelVectorSettings

FEWEST_HELD_OUT = 30
"""Number of held-out rows below which precision and F1 mean little, so that blind checks are drawn as well."""

DRAWN = {"kind", "seed", "test_share", "control_share"}
"""Settings that decide which rows are held out; they never change."""


def fits(table: LabelTable) -> bool:
    """Whether the table holds label vectors."""
    return table.label_vectors is not None


def vectors_of(table: LabelTable) -> npt.NDArray[np.int8]:
    """Return (n, L) the cells of a table of this kind: 1 yes, 0 no, -1 not asked. Raises ValueError for another
    table."""
    if table.label_vectors is None:
        raise ValueError("The table holds candidates, not label vectors. Fix: ask the kind that it fits.")
    return table.label_vectors


read_settings = LabelVectorSettings.from_json


def default_settings(table: LabelTable, control_share: float) -> LabelVectorSettings:
    """Return the default settings: with controls if fewer than FEWEST_HELD_OUT rows can be held out."""
    held_out = LabelVectorSettings.test_share * int((vectors_of(table) >= 0).all(axis=1).sum())
    return LabelVectorSettings(control_share=0.0 if held_out >= FEWEST_HELD_OUT else control_share)


def settle_change(before: LabelVectorSettings, after: LabelVectorSettings) -> LabelVectorSettings:
    """Return the settings after a change. Raises ValueError if questions change between rows and labels in a project
    with blind checks."""
    if before.control_share and before.by_row != after.by_row:
        raise ValueError(
            "question cannot change between whole rows and labels if there are blind checks: these were drawn as "
            "rows, or as labels, when the project was made. Fix: import the table as a new project."
        )
    return after


# The words of pages for projects of label vectors: questions, models, and why a label is asked.

TAKES_GROUPS = False
CAN_QUALIFY = False

CLASSES = DISPUTES = None
"""Labels stay as they are in the file, and several labels of a row may be right."""
BATCHING = FORMS = SHORTLISTS = SCORES = HIDDEN_TRUTH = CACHE = NEIGHBORS = WORKER = COMPARING = REPLAYS = None
"""Every question is about a single row or label and has one form; the model is chosen with each fit, in a thread of the
server; tables of label vectors have no scores and hide no truth."""

QUESTIONS = {entry.name: entry.words for entry in QUESTION_ENTRIES.values()}
"""Question types, the default first."""

MODELS = {entry.name: entry.words for entry in PREDICTOR_ENTRIES.values()}
"""Models, the default first."""

CRITERIA = {entry.name: entry.words for entry in CRITERION_ENTRIES.values()}
"""Criteria by which questions are chosen."""


def reason(criterion: str) -> str:
    """Return why a label, or row, is asked."""
    return CRITERION_ENTRIES[criterion].why
