"""The columns of databases of nature are those of their standards, and no column of a table means two of them."""

from __future__ import annotations

from collections import Counter

import pytest

from plcore.tables.writers.nature import CAMTRAP_DP, COLUMNS, DARWIN_CORE, EBIRD, TYPES


@pytest.mark.parametrize(("columns", "count"), [(CAMTRAP_DP, 28), (DARWIN_CORE, 14), (EBIRD, 19)])
def test_the_columns_are_those_of_the_standards(columns: tuple[str, ...], count: int) -> None:
    """The 28 fields of observations-table-schema.json 1.0, and eBird's 19 columns."""
    assert len(set(columns)) == len(columns) == count


def test_a_column_of_a_table_tells_one_thing_and_is_found_whatever_its_capitals() -> None:
    names = Counter(name for few in COLUMNS.values() for name in few)
    assert set(names.values()) == {1}
    assert all(name == name.strip().lower() for name in names)


def test_types_are_those_that_camtrap_dp_has() -> None:
    assert set(TYPES.values()) <= {"animal", "human", "vehicle", "blank", "unknown", "unclassified"}
