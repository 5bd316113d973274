"""The pieces of a sparse matrix, from a file -> a matrix, dense or sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from plcore.common.types import AnyArray
from plcore.tables.formats.reading import check_size

Sides = tuple[int, int]


def dense_rows(values: AnyArray, columns: AnyArray, starts: AnyArray, sides: Sides) -> AnyArray:
    """The matrix of `sparse_rows`, dense. Raises TableError for more cells than are taken, and as `sparse_rows`."""
    check_size(*sides)
    dense: AnyArray = sparse_rows(values, columns, starts, sides).toarray()
    return dense


def sparse_rows(values: AnyArray, columns: AnyArray, starts: AnyArray, sides: Sides) -> sp.csr_matrix:
    """The matrix of rows i with `values[starts[i]:starts[i + 1]]` in `columns[starts[i]:starts[i + 1]]`; more values
    than the last start says are room that was kept. What names a place twice in a row is added up.

    Raises ValueError where the pieces do not fit. (SciPy's `toarray` writes outside of its memory for some pieces that
    its own `check_format` lets pass.)
    """
    found = sp.csr_matrix(_checked(values, columns, starts, sides), shape=sides, copy=True)
    found.sum_duplicates()
    return found


def _checked(
    values: AnyArray, columns: AnyArray, starts: AnyArray, sides: Sides
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """The values that the rows have, their columns and the rows' starts, as int64."""
    pieces = (values, columns, starts)
    if min(sides) < 0 or any(piece.ndim != 1 or piece.dtype.kind not in "biuf" for piece in pieces):
        raise ValueError("they are no rows of numbers")
    if columns.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise ValueError("places are not whole numbers")
    starts = starts.astype(np.int64)
    if starts.size != sides[0] + 1 or starts[0] != 0 or (starts < 0).any() or (np.diff(starts) < 0).any():
        raise ValueError("the rows do not begin one after the other")
    count = int(starts[-1])
    if count > min(values.size, columns.size):
        raise ValueError("there are fewer values than the rows have")
    at = columns[:count].astype(np.int64)
    if count and not 0 <= at.min() <= at.max() < sides[1]:
        raise ValueError("a place lies outside of the matrix")
    values = values[:count]
    return (
        values.astype(np.float32) if values.dtype == np.float16 else values,
        at,
        starts,
    )  # SciPy has no float16
