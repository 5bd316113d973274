"""Settings of projects with one true label among candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plcore import LearnerSettings

if TYPE_CHECKING:
    from plcore import LabelTable

__all__ = [
    "DRAWN",
    "NAME",
    "LearnerSettings",
    "check_change",
    "default_settings",
    "fits",
    "is_stored",
    "read_settings",
]

NAME = "one_label"

DRAWN = {"seed", "test_share", "control_share", "truth_role"}
"""Settings that decide which rows are held out; they never change."""


def fits(table: LabelTable) -> bool:
    """Whether the table holds candidates."""
    return table.label_vectors is None


def is_stored(settings: Mapping[str, Any]) -> bool:
    """Whether these are stored settings of this kind; the first ones ever stored name none."""
    return settings.get("kind") in (None, NAME)


def read_settings(stored: Mapping[str, Any]) -> LearnerSettings:
    """The settings as they are stored. Raises ValueError."""
    return LearnerSettings.from_json(stored)


def default_settings(table: LabelTable, control_share: float) -> LearnerSettings:
    """The settings where nobody has chosen any: blind checks where the table holds no true label."""
    known = table.truth is not None and bool((table.truth >= 0).any())
    return LearnerSettings(control_share=0.0 if known else control_share)


def check_change(before: LearnerSettings, after: LearnerSettings) -> None:
    """Raises nothing: every setting but the drawn ones may change."""
