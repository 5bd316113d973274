"""Types used in annotations throughout plcore: arrays, what is told of progress, what the learner needs of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
AnyArray = NDArray[Any]

RoundProgress = Callable[[int, float], object]
"""Called after each round of a fit with (rounds done, the figure they bring down). What it raises ends the fit."""
StepProgress = Callable[[int, int, str], object]
"""Called with (steps done, steps in all, name of the next step). What it raises ends them."""


class Features(Protocol):
    """What turns rows of a table into numbers, fitted on training rows only."""

    def fit(self, table: Any, rows: Any) -> Any: ...
    def transform(self, table: Any, rows: Any) -> Any: ...


class Table(Protocol):
    """What the learner needs of a `plcore.tables.table.LabelTable`."""

    @property
    def candidates(self) -> BoolArray: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def truth(self) -> IntArray | None: ...
    @property
    def candidate_weights(self) -> FloatArray | None: ...
    def features(self) -> Features: ...
