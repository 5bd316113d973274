"""Columns of numbers that are read together come out as each of them does alone, problems and all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import columns
from plcore.tables.columns import Finder, parse_numbers

CELLS = st.sampled_from(["1", "-2.5", "", " 3 ", "1,5", "1,234", "1e99", "1e101", "x", ".5", "inf"])


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=6)
    )
)
def test_columns_read_together_are_as_each_alone(table: list[list[str]]) -> None:
    names = [f"c{k}" for k in range(len(table))]
    cells = pd.DataFrame(dict(zip(names, table, strict=True)), dtype="str")
    together, finder = Finder(None), Finder(None)
    found = parse_numbers(cells, names, together)
    each = np.column_stack([parse_numbers(cells, [name], finder)[:, 0] for name in names])
    np.testing.assert_array_equal(found, each)
    assert together.problems == finder.problems


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_wide_tables_are_read_in_steps(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_AT_ONCE", at_once)
    wanted = np.arange(3 * 50, dtype=float).reshape(3, 50)
    names = [f"c{k}" for k in range(50)]
    cells = pd.DataFrame(wanted.astype(str), columns=names, dtype="str")
    finder = Finder(None)
    np.testing.assert_array_equal(parse_numbers(cells, names, finder), wanted)
    assert finder.problems == []
