"""The active-learning loop: log entries, the row states that they produce, the next question, and stopping rules.

This package holds the code shared by all kinds of project. The two kinds are `plcore.loop.one_label` and
`plcore.loop.label_vectors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.baselines.declared import ModelPlugin, model_plugins
    from plcore.loop.base import CONTROL, Learner, Pool
    from plcore.loop.changes import ClassChange, ClassError, asides_after, changed_at, class_changes
    from plcore.loop.classes import ClassMap, with_classes
    from plcore.loop.comparison import (
        FEWEST_ANSWERED,
        FeatureComparison,
        ModelComparison,
        ModelFigures,
        TooFewRowsError,
    )
    from plcore.loop.entries import ONE_LABEL_ANSWERS, VECTOR_ANSWERS, VERDICTS, AnswerError, Entry, EntryKind, Place
    from plcore.loop.registry import MODEL_ENTRIES, ModelEntry, Upkeep, find_model
    from plcore.loop.stopping import LABELS, PREDICTIONS, ROWS, StopRules, Verdict, judge
else:
    __getattr__, __dir__ = lazy_names(__name__)
