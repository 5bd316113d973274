"""How pages speak of projects of label vectors: what is asked, and why."""

from __future__ import annotations

from collections.abc import Mapping

from plcore.loop.label_vectors import CRITERION_ENTRIES, PREDICTOR_ENTRIES, QUESTION_ENTRIES
from workflow.kinds.kind_words import KindWords

WORDS = KindWords(
    title="label vectors: yes, no or not asked for every label",
    classes="labels",
    finished="Every label is known, or its row is set aside.",
)
CAN_CHANGE_CLASSES = False
TAKES_GROUPS = False
CAN_QUALIFY = False
HAS_DISPUTES = False
REPLAYS_RANDOM_ORDER = False

COMPARED: Mapping[str, str] = {}
"""Models that a worker compares: none, what predicts is chosen with each fit."""

QUESTIONS = {entry.name: entry.words for entry in QUESTION_ENTRIES.values()}
"""What can be asked, the default first."""

MODELS = {entry.name: entry.words for entry in PREDICTOR_ENTRIES.values()}
"""What can predict, the default first."""

CRITERIA = {entry.name: entry.words for entry in CRITERION_ENTRIES.values()}
"""By what the questions are chosen."""


def reason(criterion: str) -> str:
    """Why a label, or row, is asked."""
    return CRITERION_ENTRIES[criterion].why
