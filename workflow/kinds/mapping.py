"""What a kind of project says of rows on the map: how they stand, what they are, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plcore.common import BoolArray, FloatArray, IntArray

NOTHING = -1
"""In the place of a class: nothing is known, or nothing is to be told."""


@dataclass(frozen=True)
class NamedRows:
    """What rows are, as far as it is known. Arrays over r rows.

    classes : number of the class that each row has, or that the model gives it, else NOTHING
    known : bool, it has it: by the file, people, or both; else the model alone says so
    doubt : how likely the model is to be wrong about the row, in [0, 1]; NaN where it is not asked, or cannot say
    """

    classes: IntArray
    known: BoolArray
    doubt: FloatArray


class MapsRows(Protocol):
    """A part of `workflow.kinds.kind.Kind`: the functions of `mapping.py` in each folder."""

    def answered_and_open(self, learner: Any) -> tuple[BoolArray, BoolArray]:
        """(n,) each: rows that have an answer; rows that can still be asked about."""

    def labels_on_map(self, learner: Any, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """The labels that the map names for each of these rows."""

    def named_on_map(self, learner: Any, rows: Sequence[int]) -> NamedRows:
        """What each of these rows is, or what the model takes it for; nothing that tells what others answered where
        people answer for themselves."""

    def label_to_ask(self, learner: Any, row: int) -> str | None:
        """The label of this row that a question would be about; None: all of them, or none is open."""
