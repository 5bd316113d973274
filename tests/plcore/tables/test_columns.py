"""Columns of numbers that are read together come out as each of them does alone, problems and all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import columns
from plcore.tables.columns import Finder, check_ids, parse_ids, parse_numbers

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
    with TemporaryDirectory() as folder:
        laid, file = Finder(None), Path(folder) / "numbers"
        np.testing.assert_array_equal(parse_numbers(cells, names, laid, file), found)
        np.testing.assert_array_equal(np.fromfile(file), found.ravel())
    assert laid.problems == finder.problems


@pytest.mark.parametrize("rows_at_once", [1, 2, 10**6])
@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_wide_tables_are_read_in_steps(
    at_once: int, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_AT_ONCE", at_once)
    monkeypatch.setattr(columns, "_ROWS_AT_ONCE", rows_at_once)
    wanted = np.arange(3 * 50, dtype=float).reshape(3, 50)
    names = [f"c{k}" for k in range(50)]
    cells = pd.DataFrame(wanted.astype(str), columns=names, dtype="str")
    finder = Finder(None)
    np.testing.assert_array_equal(parse_numbers(cells, names, finder), wanted)
    assert finder.problems == []


def test_a_column_that_turns_out_odd_late_is_read_again_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(columns, "_ROWS_AT_ONCE", 2)
    cells = pd.DataFrame({"a": ["1", "2", "3", " 4", "5"], "b": ["1"] * 5, "c": ["1,5", "", "3", "2,5", "x"]})
    wanted = [[1, 1, 1.5], [2, 1, np.nan], [3, 1, 3], [4, 1, 2.5], [5, 1, np.nan]]
    for file in (None, tmp_path / "numbers"):
        finder = Finder(None)
        np.testing.assert_array_equal(parse_numbers(cells.astype("str"), list("abc"), finder, file), wanted)
        assert [(one.row, one.column) for one in finder.problems] == [(5, "c")]


@pytest.mark.parametrize(
    ("ids", "rows"),
    [
        (["a", "b", "c"], []),
        (["a", " a ", "b"], [2]),  # the same but for the white space around it
        (["a", "", "  "], [2, 3]),
        (["x" * 300, "y", "x" * 300], [3]),  # too long to be hashed
    ],
)
def test_ids_are_checked_as_they_are_parsed(ids: list[str], rows: list[int]) -> None:
    cells, parsed, checked = pd.DataFrame({"id": ids}, dtype="str"), Finder(None), Finder(None)
    parse_ids(cells, "id", parsed)
    check_ids(cells, "id", checked)
    assert [problem.row for problem in checked.problems] == rows
    assert checked.problems == parsed.problems


def test_row_numbers_are_good_ids() -> None:
    check_ids(pd.DataFrame({"a": ["x", "x"]}, dtype="str"), None, finder := Finder(None))
    assert not finder.problems
