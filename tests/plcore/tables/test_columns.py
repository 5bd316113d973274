"""Columns of text: ids, numbers, mapped files and the names of classes."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, Roles
from plcore.arrays import let_go
from plcore.tables import TableError, columns
from plcore.tables.columns import Finder, check_ids, parse_ids, parse_numbers
from plcore.tables.growing import with_rows

CELLS = st.sampled_from(["1", "-2.5", "", " 3 ", "1,5", "1,234", "1e99", "1e101", "x", ".5", "inf"])


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=6)))
def test_columns_read_together_equal_columns_read_alone(table: list[list[str]]) -> None:
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
def test_wide_tables_are_read_in_steps(at_once: int, rows_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_AT_ONCE", at_once)
    monkeypatch.setattr(columns, "_ROWS_AT_ONCE", rows_at_once)
    wanted = np.arange(3 * 50, dtype=float).reshape(3, 50)
    names = [f"c{k}" for k in range(50)]
    cells = pd.DataFrame(wanted.astype(str), columns=names, dtype="str")
    finder = Finder(None)
    np.testing.assert_array_equal(parse_numbers(cells, names, finder), wanted)
    assert finder.problems == []


def test_column_with_a_late_irregular_cell_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
        (["a", " a ", "b"], [2]),  # the same except for surrounding white space
        (["a", "", "  "], [2, 3]),
        (["x" * 300, "y", "x" * 300], [3]),  # too long to be hashed
    ],
)
def test_ids_are_checked_while_parsing(ids: list[str], rows: list[int]) -> None:
    cells, parsed, checked = pd.DataFrame({"id": ids}, dtype="str"), Finder(None), Finder(None)
    parse_ids(cells, "id", parsed)
    check_ids(cells, "id", checked)
    assert [problem.row for problem in checked.problems] == rows
    assert checked.problems == parsed.problems


def test_row_numbers_are_valid_ids() -> None:
    check_ids(pd.DataFrame({"a": ["x", "x"]}, dtype="str"), None, finder := Finder(None))
    assert not finder.problems


def test_mapped_columns_outlive_the_deleted_file(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    numbers = np.arange(10_000.0)
    numbers.tofile(path)
    found = columns.mapped_numbers(path)
    path.unlink()
    np.testing.assert_array_equal(found, numbers)
    let_go()
    np.testing.assert_array_equal(found, numbers)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_unnamed_file_is_in_the_folder_and_leaves_no_trace(tmp_path: Path) -> None:
    with columns.nameless_file(tmp_path) as file:
        file.write(b"abc")
        held = columns.mapped_file(file)
    assert held.to_pybytes() == b"abc"
    assert list(tmp_path.iterdir()) == []


def test_read_only_folder_uses_a_file_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = columns.tempfile.TemporaryFile
    asked: list[Path | None] = []

    def refuse(dir: Path | None = None) -> object:  # noqa: A002 - as the library calls it
        asked.append(dir)
        if dir is not None:
            raise OSError(errno.EROFS, "read-only")
        return made()

    monkeypatch.setattr(columns.tempfile, "TemporaryFile", refuse)
    with columns.nameless_file(tmp_path) as file:
        assert file.write(b"abc") == 3
    assert asked == [tmp_path, None]

    def full(**_: object) -> object:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(columns.tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="full"):
        columns.nameless_file(tmp_path)


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.zeros((0, 4))])
def test_array_is_mapped_without_conversion(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    found = columns.mapped_array(tmp_path / "a.npy")
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.size == 0 or not found.flags.writeable


def test_array_of_objects_is_not_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="holds objects"):
        columns.mapped_array(tmp_path / "a.npy")


ESCAPE, TURNED = "wr\x1b[2Jen", "wren\u202eneb"


def of(columns: dict[str, list[str]], roles: Roles) -> LabelTable:
    rows = len(next(iter(columns.values())))
    cells = pd.DataFrame({**columns, "n": [str(row) for row in range(rows)]}, dtype="str")
    return LabelTable.from_cells(cells, replace(roles, numbers=() if roles.text else ("n",)))


@pytest.mark.parametrize(
    ("columns", "roles", "row", "column"),
    [
        ({"heard": ["wren|tit", f"tit|{ESCAPE}", "tit|wren"]}, Roles(candidates="heard"), 2, "heard"),
        ({"heard": ['["a", "b"]', '["b", "\\u001b[1m"]']}, Roles(candidates="heard", form="json"), 2, "heard"),
        ({"a": ["wren", "tit"], "b": ["tit", TURNED]}, Roles(choices=("a", "b")), 2, "b"),
        ({"ada": ["wren", "tit"], "ben": ["tit", ESCAPE]}, Roles(annotators=("ada", "ben")), 2, "ben"),
        ({"wren": ["1", "0"], TURNED: ["1", "1"]}, Roles(label_columns=("wren", TURNED)), None, TURNED),
        (
            {"p_wren": ["0.4", "0"], f"p_{ESCAPE}": ["1", "1"]},
            Roles(score_columns=("p_wren", f"p_{ESCAPE}"), score_prefix="p_"),
            None,
            f"p_{ESCAPE}",
        ),
        (
            {"has": ["wren;tit", "tit"], "not": ["", f"wren;{ESCAPE}"]},
            Roles(candidates="has", not_labels="not", separator=";", label_vectors=True),
            2,
            "not",
        ),
        (
            {"wren": ["1", "0"], ESCAPE: ["1", ""]},
            Roles(label_columns=("wren", ESCAPE), label_vectors=True),
            None,
            ESCAPE,
        ),
    ],
)  # fmt: skip
def test_first_forbidden_cell_or_column_is_named(
    columns: dict[str, list[str]], roles: Roles, row: int | None, column: str
) -> None:
    with pytest.raises(TableError) as refused:
        of(columns, roles)
    (problem,) = refused.value.problems
    assert (problem.row, problem.column) == (row, column)
    assert "which no label may" in problem.message
    assert "terminal escape" in problem.message or "writing direction" in problem.message
    assert not set(str(problem)) & set("\x1b\u202e"), "what is said of it can be shown"


def test_names_in_every_script_and_multiline_texts_are_accepted() -> None:
    table = of(
        {"text": ["two\nlines", "tab\there"], "heard": ["Zaunkönig|سنونو", "🐦‍⬛|日本の鳥"]},
        Roles(candidates="heard", text="text"),
    )
    assert len(table.classes) == 4


def test_added_rows_are_checked_in_the_same_way() -> None:
    table = of({"id": ["a", "b"], "heard": ["wren|tit", "tit|wren"]}, Roles(candidates="heard", id="id"))
    with pytest.raises(TableError) as refused:
        with_rows(table, pd.DataFrame({"id": ["c", "d"], "heard": ["tit", f"tit|{ESCAPE}"], "n": ["1", "2"]}))
    (problem,) = refused.value.problems
    assert (problem.row, problem.column) == (2, "heard")
