"""The model of a project with one true label among candidates: which is in force, what compares all, and what replays
the project in random order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from plcore import LearnerSettings
from plcore.loop.one_label import Comparer, OneLabelPool, RandomOrderRuns, StrategyReplays

if TYPE_CHECKING:
    from plcore import LabelTable
    from plcore.loop import ClassChange


def model_of(settings: LearnerSettings) -> str:
    """The model in force."""
    return settings.model_in_force


def is_automatic(settings: LearnerSettings) -> bool:
    """Whether comparisons choose the model."""
    return settings.is_automatic


def choose_model(
    settings: LearnerSettings, model: str, C: float | None, *, automatic: bool
) -> LearnerSettings:
    """The settings with this model in force. Raises ValueError."""
    return settings.adopting(model, C) if automatic else replace(settings, model=model, C=C)


def make_comparer(
    table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()
) -> Comparer:
    """What compares the models, on a pool that has not taken in any entry yet."""
    return Comparer(OneLabelPool(table, settings, changes))


def make_table_comparer(table: LabelTable) -> Comparer:
    """What compares the models on a table that belongs to no project, by its true labels where it has any."""
    return Comparer(OneLabelPool(table, LearnerSettings(test_share=0.0)), by_truth=True)


def make_table_replays(table: LabelTable) -> StrategyReplays:
    """What replays labelling runs on a table that belongs to no project."""
    return StrategyReplays(OneLabelPool(table, LearnerSettings(test_share=0.0)))


def make_random_order(
    table: LabelTable, settings: LearnerSettings, changes: Sequence[ClassChange] = ()
) -> RandomOrderRuns:
    """What replays the project in random order, its pool before the first entry."""
    return RandomOrderRuns(table, settings, changes)
