"""What rows are, as far as it is known: what the map colours them by."""

from __future__ import annotations

from dataclasses import dataclass

from plcore.common import BoolArray, FloatArray, IntArray

NOTHING = -1
"""In the place of a class: nothing is known, or nothing is to be told."""


@dataclass(frozen=True)
class NamedRows:
    """Arrays over r rows.

    classes : number of the class that each row has, or that the model gives it, else NOTHING
    known : bool, it has it: by the file, people, or both; else the model alone says so
    doubt : how likely the model is to be wrong about the row, in [0, 1]; NaN where it is not asked, or cannot say
    """

    classes: IntArray
    known: BoolArray
    doubt: FloatArray
