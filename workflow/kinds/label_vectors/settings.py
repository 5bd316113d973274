"""Settings of projects of label vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plcore.loop.label_vectors import LabelVectorSettings

if TYPE_CHECKING:
    from plcore import LabelTable

NAME = "label_vectors"

STORED_AS = "multilabel"
"""What the settings of such projects call their kind, and always did."""

FEWEST_HELD_OUT = 30
"""Held-out rows below which precision and F1 would say little, so that blind checks are drawn as well."""

DRAWN = {"kind", "seed", "test_share", "control_share"}
"""Settings that decide which rows are held out; they never change."""


def fits(table: LabelTable) -> bool:
    """Whether the table holds label vectors."""
    return table.label_vectors is not None


def is_stored(settings: Mapping[str, Any]) -> bool:
    """Whether these are stored settings of this kind."""
    return settings.get("kind") == STORED_AS


def read_settings(stored: Mapping[str, Any]) -> LabelVectorSettings:
    """The settings as they are stored. Raises ValueError."""
    return LabelVectorSettings.from_json(stored)


def default_settings(table: LabelTable, control_share: float) -> LabelVectorSettings:
    """The settings where nobody has chosen any: controls where fewer than FEWEST_HELD_OUT rows can be held out."""
    assert table.label_vectors is not None  # noqa: S101 - it is of this kind
    held_out = LabelVectorSettings.test_share * int((table.label_vectors >= 0).all(axis=1).sum())
    return LabelVectorSettings(control_share=0.0 if held_out >= FEWEST_HELD_OUT else control_share)


def check_change(before: LabelVectorSettings, after: LabelVectorSettings) -> None:
    """Raise ValueError where questions would be about rows instead of labels, or the reverse, beside blind checks."""
    if before.control_share and before.by_row != after.by_row:
        raise ValueError(
            "question cannot change between whole rows and labels where there are blind checks: these were drawn "
            "as rows, or as labels, when the project was made. Fix: import the table as a new project."
        )
