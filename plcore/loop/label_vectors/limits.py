"""What a model of label vectors can be fitted to: checked when a project is made, not at its first fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from plcore.common.limits import LARGEST_FEATURE
from plcore.sensing.regression import LARGEST

MATRICES = 9
"""Matrices of the smaller of rows and features, squared, that are in memory at most: those of the model in place and
of the one fitted anew beside it (measured: docs/decisions/0012)."""


def check_fit(X: Any, names: Sequence[str], memory: int | None = None) -> None:
    """Raise ValueError, saying what to do, where no model could be fitted to these features.

    X : (n, d) features of all rows, dense or CSR      names : (d,) of the columns they come from
    memory : bytes that may be used; None: any number
    """
    n, d = X.shape
    side, counted = min(n, d), f"{n:,} rows of {d:,} features"
    fix = "Fix: import fewer rows, or without the text column, whose words are features each."
    if side > LARGEST:
        raise ValueError(
            f"{counted} are too many: of rows or features, whichever are fewer, at most {LARGEST:,} are taken. {fix}"
        )
    needed = MATRICES * side**2 * np.dtype(np.float64).itemsize
    if memory is not None and needed > memory:
        raise ValueError(
            f"{counted} need about {needed / 1e9:.1f} GB of memory; {memory / 1e9:.1f} GB may be used, half of what "
            f"this machine has. {fix}"
        )
    values = np.abs(X.data if sparse.issparse(X) else X)
    if not values.max(initial=0.0) <= LARGEST_FEATURE:
        places = sparse.coo_array(X) if sparse.issparse(X) else None
        at = int(values.argmax())
        row, column = np.unravel_index(at, X.shape) if places is None else (places.row[at], places.col[at])
        raise ValueError(
            f"Row {int(row) + 1}, column {names[int(column)]!r}: the number is {float(values.flat[at]):.3g} times as "
            f"large as the range of that column in the rows that train; at most {LARGEST_FEATURE:g} times is taken. "
            "Fix: correct the number, or leave its cell empty."
        )
