"""Reading a table costs as many steps a column, class and label, however many there are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from plcore.tables import LabelTable, find_doubts, read_table, shaped

ROWS = 12
CELLS = ("wren|robin", "robin|jay", "wren", "jay|wren")


def _numbers(n: int) -> str:
    """n features, as of genes or pixels."""
    head = ",".join(f"gene{i}" for i in range(n))
    return _lines(
        f"{head},labels", lambda row: f"{_cells(n, lambda i: f'{(row * 7 + i * 3) % 11}.5')},{CELLS[row % 4]}"
    )


def _tags(n: int) -> str:
    """A label vector of n tags, with holes."""
    return _lines(
        "text," + ",".join(f"tag{i}" for i in range(n)), lambda row: f"bird {row} sang," + _cells(n, _bit(row))
    )


def _scores(n: int) -> str:
    """n classes with a score each, most of them 0."""
    return _lines(
        "text," + ",".join(f"p_bird{i}" for i in range(n)),
        lambda row: f"bird {row} sang," + _cells(n, lambda i: "0" if (row + i) % 9 else f"0.{row % 8 + 1}"),
    )


def _classes(n: int) -> str:
    """n classes, in few rows."""
    return _lines("text,labels", lambda row: f"bird {row} sang," + "|".join(f"bird {i}" for i in range(row % 2, n, 2)))


def _lines(head: str, line: Callable[[int], str]) -> str:
    return "\n".join([head, *map(line, range(ROWS))])


def _cells(n: int, cell: Callable[[int], str]) -> str:
    return ",".join(map(cell, range(n)))


def _bit(row: int) -> Callable[[int], str]:
    return lambda i: ("0", "1", "")[(row * 5 + i) % 3]


def _steps(path: Path) -> int:
    """Read the table, and count the lines of Python that ran."""
    count = 0

    def step(_frame: FrameType, _event: str, _said: object) -> Any:
        nonlocal count
        count += 1
        return step

    sys.settrace(step)
    try:
        read = shaped(read_table(path))
        find_doubts(LabelTable.from_cells(read.cells, read.suggest_roles(), read.files, read.arrays))
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize(("table", "few"), [(_numbers, 40), (_tags, 40), (_scores, 40), (_classes, 300)])
def test_steps_grow_no_faster_than_columns_and_classes(table: Callable[[int], str], few: int, tmp_path: Path) -> None:
    steps = []
    for n in (12, few, 4 * few):  # the first also imports and compiles
        path = tmp_path / "table.csv"
        path.write_text(table(n))
        steps.append(_steps(path))
    assert steps[2] < 5 * steps[1], steps
