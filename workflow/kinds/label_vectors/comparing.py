"""The model of a project of label vectors: what predicts is chosen with each fit, so that no worker compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from plcore import LabelTable
    from plcore.loop import ClassChange
    from plcore.loop.label_vectors import LabelVectorSettings


def model_of(settings: LabelVectorSettings) -> str:
    """What the settings say of the model; which of two predicts under "automatic" is found with each fit."""
    return settings.model


def is_automatic(settings: LabelVectorSettings) -> bool:  # noqa: ARG001
    """Whether comparisons of a worker choose the model: never."""
    return False


def choose_model(settings: LabelVectorSettings, model: str, C: float | None, *, automatic: bool) -> NoReturn:  # noqa: ARG001
    """Raises ValueError: there is nothing to choose."""
    raise ValueError(f"What predicts label vectors is chosen with each fit; {model!r} cannot be adopted.")


def make_comparer(
    table: LabelTable,  # noqa: ARG001
    settings: LabelVectorSettings,  # noqa: ARG001
    changes: Sequence[ClassChange] = (),  # noqa: ARG001
) -> NoReturn:
    """Raises ValueError: there is nothing to compare."""
    raise ValueError("What predicts label vectors is chosen with each fit; there is nothing to compare.")


def make_table_comparer(table: LabelTable) -> NoReturn:  # noqa: ARG001
    """Raises ValueError: there is nothing to compare."""
    raise ValueError("What predicts label vectors is chosen with each fit; there is nothing to compare.")


def make_table_replays(table: LabelTable) -> NoReturn:  # noqa: ARG001
    """Raises ValueError: nothing replays labelling runs of label vectors."""
    raise ValueError("Labelling runs of label vectors are not replayed.")


def make_random_order(
    table: LabelTable,  # noqa: ARG001
    settings: LabelVectorSettings,  # noqa: ARG001
    changes: Sequence[ClassChange] = (),  # noqa: ARG001
) -> NoReturn:
    """Raises ValueError: nothing replays label vectors in random order."""
    raise ValueError("What random order would have reached is not estimated for label vectors.")
