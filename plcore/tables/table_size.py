"""How large a table may be, asked before room is made for it: a small file can declare far more than it has."""

from __future__ import annotations

from plcore.tables.problems import Problem, TableError

MAX_CELLS = 20_000_000
"""Rows times columns. A small file can declare far more, and a table of more would not fit the memory."""
MAX_COLUMNS = 20_000
"""A libsvm file of ten bytes may declare any number of them (`1 99999:1`), and each takes half a millisecond."""


def fits_as_cells(n_rows: int, n_columns: int) -> bool:
    """Whether a table may have so many columns, a few more of labels among them."""
    return n_rows * n_columns <= MAX_CELLS and n_columns <= MAX_COLUMNS


def check_size(n_rows: int, n_columns: int) -> None:
    """Raise TableError for a table of more cells or columns than are taken; to be asked before they are made."""
    if n_rows * n_columns > MAX_CELLS:
        message = (
            f"The table has {n_rows:,} rows and {n_columns:,} columns, {n_rows * n_columns:,} cells; "
            f"at most {MAX_CELLS:,} are taken."
        )
        fix = "Import fewer rows, or join columns, by principal components, say."
        raise TableError(Problem(None, None, None, message, fix))
    if n_columns > MAX_COLUMNS:
        message = f"The table has {n_columns:,} columns; at most {MAX_COLUMNS:,} are taken."
        fix = "Leave seldom ones out, or join columns, by principal components, say."
        raise TableError(Problem(None, None, None, message, fix))
