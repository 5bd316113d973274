"""What is said of each class, said of other classes: where classes are merged, renamed, added and taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plcore.common.candidate_sets import CandidateSets
from plcore.common.types import AnyArray

NAMED = 20
"""Classes that a message names; the others are counted."""


def moved(values: AnyArray, places: AnyArray, m: int) -> Any:
    """(..., m) the sum of what is said of all classes that go to each place; of bools whether any is set.

    values : (..., k), or `CandidateSets`      places : (k,) where each class goes, -1 for nowhere
    """
    if isinstance(values, CandidateSets):
        return values.mapped(places, m)
    sums = np.zeros((*values.shape[:-1], m), dtype=values.dtype)
    if values.ndim == 1:  # a single row, of which there are many
        goes = places >= 0
        np.add.at(sums, places[goes], values[goes])
        return sums
    for number, place in enumerate(places.tolist()):
        if place >= 0:
            sums[..., place] += values[..., number]
    return sums


def class_names(names: Sequence[str]) -> str:
    """The names of classes in a message."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
