"""A table under the effective classes of its project."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from plcore.loop.changes import ClassError
from plcore.loop.classes import ClassMap

TableT = TypeVar("TableT")


def with_classes(table: TableT, class_map: ClassMap) -> TableT:
    """The table under the effective classes: a merged class is a candidate where any of its classes was, with the sum
    of their weights, an added one nowhere, and true labels are mapped. A new dataclass of the same type with the same
    cells. `table.classes` must be those of the import."""
    if not class_map.changes:
        return table
    given: Any = table
    if tuple(given.classes) != class_map.tabled:
        raise ClassError(f"The table has other classes than the map: {given.classes} and {class_map.tabled}.")
    truth, weights = given.truth, given.candidate_weights
    if truth is not None:
        column = np.maximum(class_map.column_of_tabled, 0)
        truth = np.where(truth >= 0, column[truth], -1).astype(np.int64)
    weights = None if weights is None else class_map.onto(class_map.rooted(weights))
    candidates = class_map.onto(class_map.rooted(given.candidates))
    mapped = {"candidates": candidates, "candidate_weights": weights, "truth": truth}
    if (votes := getattr(given, "votes", None)) is not None:
        mapped["votes"] = votes.relabelled(class_map.column_of_tabled)
    changed: TableT = dataclasses.replace(given, classes=class_map.classes, **mapped)
    return changed


def map_labels(class_map: ClassMap, labels: Iterable[str]) -> tuple[str, ...]:
    """The effective names of these classes in their order, each once. Raises ClassError for unknown names."""
    return tuple(dict.fromkeys(class_map.now(label) for label in labels))
