"""Read a written log back: no program of Winnow does, but files must hold every column of every entry."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from workflow.log.columns import COLUMNS, LATER, NULLABLE, Form, LogError, LogLine, line_of
from workflow.log.lines import check_log_lines


def read_log(data: bytes, project_id: int = 0) -> list[LogLine]:
    """Read a log written by `write_log`, in order. Raises LogError."""
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    missing = [name for name in COLUMNS if name not in (*LATER, *(reader.fieldnames or ()))]
    if missing:
        raise LogError(f"The log has no column {missing[0]!r}. Fix: export it again from the Export page.")
    return [_line(number, cells, project_id) for number, cells in enumerate(reader, start=1)]


def _line(number: int, cells: Mapping[str, str], project_id: int) -> LogLine:
    values: dict[str, object] = {}
    try:
        for name, form in COLUMNS.items():
            values[name] = None if name in NULLABLE and not cells.get(name) else _READ[form](cells[name])
        name = "at"
        return line_of(values, project_id)
    except (ValueError, TypeError) as error:
        raise LogError(
            f"Line {number} of the log, column {name!r}: {cells.get(name)!r} cannot be read. Fix: export the log again."
        ) from error


def _read_object(cell: str) -> dict[str, object]:
    value = json.loads(cell)
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def _parted(text: str) -> list[str]:
    if not text:
        return []
    parts, escaped = [""], False
    for mark in text:
        if escaped or mark not in "\\|":
            parts[-1] += mark
            escaped = False
        elif mark == "|":
            parts.append("")
        else:
            escaped = True
    return parts


_READ: Mapping[Form, Callable[[str], Any]] = {
    Form.WHOLE: int,
    Form.NUMBER: float,
    Form.TEXT: str,
    Form.LIST: _parted,
    Form.FLAG: lambda cell: cell == "yes",
    Form.OBJECT: _read_object,
}


def read_log_lines(lines: Iterable[bytes], project_id: int = 0) -> list[LogLine]:
    """Return the entries written by `write_log_lines`, in order. lines : of a file opened in binary mode

    Raises LogError as `check_log_lines`.
    """
    return [part for part in check_log_lines(lines, project_id) if isinstance(part, LogLine)]
