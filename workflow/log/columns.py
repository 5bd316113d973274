"""The columns of the log in files: their contents, and conversion of entries in both directions; the log as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from db.entries import NO_ROW, LogEntry


class LogError(ValueError):
    """A log is not as Winnow wrote it; the message names the line, and the column if there is one."""


class Form(Enum):
    """The content of a column, described by its value."""

    WHOLE = "a whole number"
    NUMBER = "a number"
    TEXT = "text"
    LIST = "a list of texts"
    FLAG = "true or false"
    OBJECT = "an object"


COLUMNS: Mapping[str, Form] = {
    "seq": Form.WHOLE,
    "at": Form.TEXT,
    "annotator": Form.TEXT,
    "kind": Form.TEXT,
    "row": Form.WHOLE,
    "row_id": Form.TEXT,
    "labels": Form.LIST,
    "withdraws_seq": Form.WHOLE,
    "token": Form.TEXT,
    "strategy": Form.TEXT,
    "score": Form.NUMBER,
    "model_version": Form.WHOLE,
    "seconds": Form.NUMBER,
    "before": Form.LIST,
    "after": Form.LIST,
    "predicted": Form.TEXT,
    "flagged": Form.FLAG,
    "note": Form.TEXT,
    "revision": Form.WHOLE,
    "label": Form.TEXT,
    "asked": Form.OBJECT,
}
"""Every column, in order."""

LATER = ("asked",)
"""Columns at the end that were added after logs had been written and sealed. An empty value is left out of the seal, as
before; a file may lack the column."""

NULLABLE = frozenset({"row", "withdraws_seq", "strategy", "score", "seconds", "predicted", "note", "label", "asked"})
"""Columns that may be empty."""


@dataclass(frozen=True)
class LogLine:
    """An entry in a file: people by name, its row by number and id. The entry's own `person_id` is 0."""

    entry: LogEntry
    annotator: str
    row_id: str


def values_of(entry: LogEntry, names: Mapping[int, str], ids: Sequence[str] | Mapping[int, str]) -> dict[str, Any]:
    """Values of the entry in each column. names : {person: name}      ids : of the table's rows, or of the entry's

    Rows count from 1 here, as people count them; entries about no row have None, and "" as the row's id.
    """
    about_row = entry.row != NO_ROW
    return {
        "seq": entry.seq,
        "at": entry.at.isoformat(),
        "annotator": names.get(entry.person_id, ""),
        "kind": str(entry.kind),
        "row": entry.row + 1 if about_row else None,
        "row_id": ids[entry.row] if about_row else "",
        "labels": list(entry.labels),
        "withdraws_seq": entry.target_seq,
        "token": entry.token,
        "strategy": entry.strategy,
        "score": entry.score,
        "model_version": entry.model_version,
        "seconds": entry.seconds,
        "before": list(entry.before),
        "after": list(entry.after),
        "predicted": entry.predicted,
        "flagged": entry.flagged,
        "note": entry.note,
        "revision": entry.revision,
        "label": entry.label,
        "asked": entry.asked,
    }


def line_of(values: Mapping[str, Any], project_id: int = 0) -> LogLine:
    """Return the line with these values, from `values_of`. Raises ValueError if `at` is not a time; other values are
    checked before."""
    entry = LogEntry(
        project_id=project_id,
        seq=values["seq"],
        kind=values["kind"],
        row=NO_ROW if values["row"] is None else values["row"] - 1,
        person_id=0,
        token=values["token"],
        revision=values["revision"],
        at=datetime.fromisoformat(values["at"]),
        label=values["label"],
        labels=tuple(values["labels"]),
        target_seq=values["withdraws_seq"],
        strategy=values["strategy"],
        score=values["score"],
        model_version=values["model_version"],
        before=tuple(values["before"]),
        after=tuple(values["after"]),
        seconds=values["seconds"],
        note=values["note"],
        predicted=values["predicted"],
        flagged=values["flagged"],
        asked=values["asked"],
    )
    return LogLine(entry, values["annotator"], values["row_id"])


# The log as CSV: every column of every entry, exactly.
#
# Lists of labels are joined by ``|``; a bar or backslash inside a label has a backslash before it. Entries about the
# classes have kind ``class``, no row, and as labels the change and its classes: ``rename|wren|winter wren``.

PIECE = 2**16
"""Characters written at once."""


def write_log(log: Iterable[LogEntry], names: Mapping[int, str], ids: Sequence[str]) -> Iterator[bytes]:
    """Yield the entries as CSV, UTF-8, in pieces. names : {person: name}      ids : of the table's rows"""
    text = io.StringIO(newline="")
    writer = csv.writer(text)  # lines end in CR LF, so both characters are quoted inside a label or note
    writer.writerow(COLUMNS)
    for entry in log:
        values = values_of(entry, names, ids)
        writer.writerow("" if values[name] is None else _WRITTEN[form](values[name]) for name, form in COLUMNS.items())
        if text.tell() > PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _joined(labels: Sequence[str]) -> str:
    if list(labels) == [""]:
        return "\\"  # one cell that was not asked about, unlike no cell at all
    return "|".join(label.replace("\\", "\\\\").replace("|", "\\|") for label in labels)


_WRITTEN: Mapping[Form, Callable[[Any], str]] = {
    Form.WHOLE: str,
    Form.NUMBER: repr,
    Form.TEXT: str,
    Form.LIST: _joined,
    Form.FLAG: lambda flag: "yes" if flag else "",
    Form.OBJECT: json.dumps,
}
