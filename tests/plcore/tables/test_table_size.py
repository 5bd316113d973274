"""The size of a table is checked before it is built."""

from __future__ import annotations

import pytest

from plcore.tables import TableError
from plcore.tables.problems import MAX_CELLS, MAX_COLUMNS, check_size, fits_as_cells


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        (MAX_CELLS, 2, "40,000,000 cells; at most 20,000,000"),
        (1, MAX_COLUMNS + 1, "20,001 columns; at most 20,000"),
        (MAX_CELLS // MAX_COLUMNS, MAX_COLUMNS, None),
        (MAX_CELLS, 1, None),
    ],
)
def test_table_size_is_limited_in_cells_and_columns(rows: int, columns: int, said: str | None) -> None:
    assert fits_as_cells(rows, columns) == (said is None)
    if said is None:
        check_size(rows, columns)
    else:
        with pytest.raises(TableError, match=said):
            check_size(rows, columns)
