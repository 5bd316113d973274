"""Embeddings: a vector of numbers per row, from the owner's own model or of word counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from plcore.arrays import let_go
from plcore.arrays.words import quoted
from plcore.tables.columns import Finder, first_rows
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.roles.sample import LARGEST_NUMBER, numbers_of
from plcore.tables.text.arrow import stripped

MAX_WIDTH = 20_000
"""Maximum length of a vector; embeddings of large models have a few thousand numbers."""
MAX_SPARSE_WIDTH = 1_000_000
"""Maximum length of a sparse vector, of which only non-zero numbers are stored."""

EMBEDDING = "embedding"
"""Name of vectors that are not columns of the table but came in a separate file."""

_ROWS_AT_ONCE = 1 << 16
_NUMBERS_AT_ONCE = 1 << 20
Dense = npt.NDArray[np.float32]
Directions = npt.NDArray[np.float16]
Vectors: TypeAlias = "Dense | sp.csr_matrix"
_FIX = "Write a list of numbers, such as [0.12, -0.5, 3], as long as in the other rows, or leave the cell empty."


@dataclass(frozen=True, eq=False)
class ColumnVectors:
    """The vectors of an encoder for one column of a table.

    column : its name      encoder : the encoder's name when it was used      sha256 : of the encoder, in hex
    values : (n, d) float16, each of length 1; NaN in rows without a vector
    """

    column: str
    encoder: str
    sha256: str
    values: Directions

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Rows without a vector, (n,) bool."""
        return np.isnan(self.values[:, 0])


def directions_of(vectors: Dense) -> Directions:
    """Scale vectors (n, d) to length 1 for storage; NaN and 0 are unchanged.

    Models use only directions. float16 stores three digits: the cosine to the exact vector is more than 0.9999.
    """
    found = np.empty(vectors.shape, np.float16)
    at_once = rows_at_once(vectors.shape[1])
    for start in range(0, len(vectors), at_once):
        exact = vectors[start : start + at_once].astype(np.float64)
        lengths = np.linalg.norm(exact, axis=1, keepdims=True)
        found[start : start + at_once] = exact / np.where(lengths == 0, 1.0, lengths)
    return found


def rows_at_once(width: int) -> int:
    """Return the number of rows of this width to process at a time: copies of all rows would take too much memory."""
    return max(1, _NUMBERS_AT_ONCE // max(width, 1))


def parse_embeddings(
    cells: pd.DataFrame, column: str | None, arrays: Mapping[str, Vectors], finder: Finder
) -> Vectors | None:
    """Return the vectors (n, d) of this column, NaN in rows with an empty cell; None if there is no such column.

    arrays : columns that were imported as vectors, by name, (n, d) each, dense or sparse; other columns are text, in
        JSON or NumPy format. Sparse ones stay sparse and have no empty rows
    Problems: text, numbers that are not finite, lists of another length than the first.
    """
    if column is None:
        return None
    came = arrays.get(column)
    found = _parsed(cells, column, finder) if came is None else as_stored(came)
    if sp.issparse(found):
        return _checked_sparse(found, column, finder)
    is_given = False
    for start in range(0, len(found), _ROWS_AT_ONCE):
        some = found[start : start + _ROWS_AT_ONCE]
        given = ~np.isnan(some).all(axis=1)
        is_given |= bool(given.any())
        for row in first_rows(~np.isfinite(some).all(axis=1) & given):
            finder.add(start + row, column, "not all numbers of the embedding are finite.", _FIX)
    let_go()
    if not is_given:
        finder.add(None, column, "there is no embedding in it.", "Fill the column, or remove its role.")
    elif found.shape[1] > MAX_WIDTH:
        message = f"an embedding has {found.shape[1]:,} numbers; at most {MAX_WIDTH:,} are allowed."
        finder.add(None, column, message, "Make them shorter, by principal components, say.")
    return found


def as_stored(came: Vectors) -> Vectors:
    """Convert vectors to the stored form: float32; sparse rows sorted, without duplicates or zeros. The result is a
    copy, except for a read-only float32 array."""
    with np.errstate(over="ignore"):  # too large numbers become infinite, and are reported
        if not sp.issparse(came):
            if came.dtype == np.float32 and not came.flags.writeable:
                return came
            return np.array(came, dtype=np.float32)
        found = sp.csr_matrix(came, dtype=np.float32, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def _checked_sparse(found: sp.csr_matrix, column: str, finder: Finder) -> sp.csr_matrix:
    if found.shape[1] > MAX_SPARSE_WIDTH:
        message = f"a row has {found.shape[1]:,} numbers; at most {MAX_SPARSE_WIDTH:,} are allowed."
        finder.add(None, column, message, "Leave seldom ones out.")
    for place in first_rows(~(np.abs(found.data) <= LARGEST_NUMBER)):
        row = int(np.searchsorted(found.indptr, place, side="right")) - 1
        finder.add(row, column, f"the number {found.data[place]} is too large to calculate with.", _FIX)
    return found


def _parsed(cells: pd.DataFrame, column: str, finder: Finder) -> Dense:
    """Parse a column of text into vectors (n, d)."""
    rows: list[Dense | None] = []
    first: int | None = None
    width = 1
    limit = len(finder.problems) + MAX_PROBLEMS
    for row, text in enumerate(stripped(cells, column).to_pylist()):
        numbers = numbers_of(text) if text else None
        if text and len(finder.problems) < limit:
            if numbers is None:
                finder.add(row, column, f"expected a list of numbers, got {quoted(text[:60])}.", _FIX)
            elif first is None:
                first, width = row, len(numbers)
            elif len(numbers) != width:
                message = f"the list has {len(numbers):,} numbers; that of row {first + 1} has {width:,}."
                finder.add(row, column, message, _FIX)
        rows.append(numbers)
    found = np.full((len(rows), width), np.nan, dtype=np.float32)
    for row, numbers in enumerate(rows):
        if numbers is not None and len(numbers) == width:
            found[row] = numbers
    return found
