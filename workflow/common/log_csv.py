"""The log as CSV, and back: every column of every entry, exactly.

Lists of labels are joined by ``|``; a bar or backslash inside a label has a backslash before it. Entries about the
classes have kind ``class``, no row, and as labels what was done and to which: ``rename|wren|winter wren``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workflow.common.log_columns import COLUMNS, LATER, NULLABLE, Form, LogError, LogLine, line_of, values_of

if TYPE_CHECKING:
    from db.entries import LogEntry


PIECE = 2**16
"""Characters that are written at once."""


def write_log(log: Iterable[LogEntry], names: Mapping[int, str], ids: Sequence[str]) -> Iterator[bytes]:
    """The entries as CSV, UTF-8, in pieces. names : {person: name}      ids : of the table's rows"""
    text = io.StringIO(newline="")
    writer = csv.writer(
        text
    )  # lines end in CR LF: both marks are then quoted where a label or note holds them
    writer.writerow(COLUMNS)
    for entry in log:
        values = values_of(entry, names, ids)
        writer.writerow(
            "" if values[name] is None else _WRITTEN[form](values[name]) for name, form in COLUMNS.items()
        )
        if text.tell() > PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def read_log(data: bytes, project_id: int = 0) -> list[LogLine]:
    """What `write_log` wrote, in order. Raises LogError."""
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    missing = [name for name in COLUMNS if name not in (*LATER, *(reader.fieldnames or ()))]
    if missing:
        raise LogError(f"The log has no column {missing[0]!r}. Fix: export it again from the Export page.")
    return [_line(number, cells, project_id) for number, cells in enumerate(reader, start=1)]


def _line(number: int, cells: Mapping[str, str], project_id: int) -> LogLine:
    values: dict[str, Any] = {}
    try:
        for name, form in COLUMNS.items():
            values[name] = None if name in NULLABLE and not cells.get(name) else _READ[form](cells[name])
        name = "at"
        return line_of(values, project_id)
    except (ValueError, TypeError) as error:
        raise LogError(
            f"Line {number} of the log, column {name!r}: {cells.get(name)!r} cannot be read. "
            "Fix: export the log again."
        ) from error


def _read_object(cell: str) -> dict[str, Any]:
    value = json.loads(cell)
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def _joined(labels: Sequence[str]) -> str:
    if list(labels) == [""]:
        return "\\"  # one cell that is not asked, which is not no cell at all
    return "|".join(label.replace("\\", "\\\\").replace("|", "\\|") for label in labels)


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


_WRITTEN: Mapping[Form, Callable[[Any], str]] = {
    Form.WHOLE: str,
    Form.NUMBER: repr,
    Form.TEXT: str,
    Form.LIST: _joined,
    Form.FLAG: lambda flag: "yes" if flag else "",
    Form.OBJECT: json.dumps,
}
_READ: Mapping[Form, Callable[[str], Any]] = {
    Form.WHOLE: int,
    Form.NUMBER: float,
    Form.TEXT: str,
    Form.LIST: _parted,
    Form.FLAG: lambda cell: cell == "yes",
    Form.OBJECT: _read_object,
}
