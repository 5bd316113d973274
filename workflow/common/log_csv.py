"""The log as CSV, and back: every column of every entry, exactly.

Lists of labels are joined by ``|``; a bar or backslash inside a label has a backslash before it. Entries about the
classes have kind ``class``, no row, and as labels what was done and to which: ``rename|wren|winter wren``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from db.entries import NO_ROW, LogEntry

COLUMNS = (
    "seq",
    "at",
    "annotator",
    "kind",
    "row",
    "row_id",
    "labels",
    "withdraws_seq",
    "token",
    "strategy",
    "score",
    "model_version",
    "seconds",
    "before",
    "after",
    "predicted",
    "flagged",
    "note",
    "revision",
    "label",
)


class LogError(ValueError):
    """The file is not a log that Winnow wrote; the message names the line and the column."""


@dataclass(frozen=True)
class LogLine:
    """An entry as the file has it: people by name, its row by number and by id. The entry's own `person_id` is 0."""

    entry: LogEntry
    annotator: str
    row_id: str


def write_log(log: Iterable[LogEntry], names: Mapping[int, str], ids: Sequence[str]) -> bytes:
    """The entries as CSV, UTF-8. names : {person: name}      ids : of the table's rows"""
    text = io.StringIO(newline="")
    writer = csv.writer(
        text
    )  # lines end in CR LF: both marks are then quoted where a label or note holds them
    writer.writerow(COLUMNS)
    for e in log:
        writer.writerow(
            (
                e.seq,
                e.at.isoformat(),
                names.get(e.person_id, ""),
                e.kind,
                "" if e.row == NO_ROW else e.row + 1,
                "" if e.row == NO_ROW else ids[e.row],
                _joined(e.labels),
                "" if e.target_seq is None else e.target_seq,
                e.token,
                e.strategy or "",
                "" if e.score is None else repr(e.score),
                e.model_version,
                "" if e.seconds is None else repr(e.seconds),
                _joined(e.before),
                _joined(e.after),
                "" if e.predicted is None else e.predicted,
                "yes" if e.flagged else "",
                e.note or "",
                e.revision,
                e.label or "",
            )
        )
    return text.getvalue().encode()


def read_log(data: bytes, project_id: int = 0) -> list[LogLine]:
    """What `write_log` wrote, in order. Raises LogError."""
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise LogError(f"The log has no column {missing[0]!r}. Fix: export it again from the Export page.")
    return [_line(number, cells, project_id) for number, cells in enumerate(reader, start=1)]


def _line(number: int, cells: Mapping[str, str], project_id: int) -> LogLine:
    column = ""
    try:
        column = "seq"
        seq = int(cells[column])
        column = "at"
        at = datetime.fromisoformat(cells[column])
        column = "row"
        row = int(cells[column]) - 1 if cells[column] else NO_ROW
        column = "withdraws_seq"
        target = int(cells[column]) if cells[column] else None
        column = "score"
        score = float(cells[column]) if cells[column] else None
        column = "seconds"
        seconds = float(cells[column]) if cells[column] else None
        column = "model_version"
        version = int(cells[column])
        column = "revision"
        revision = int(cells[column])
    except (ValueError, TypeError) as error:
        raise LogError(
            f"Line {number} of the log, column {column!r}: {cells.get(column)!r} cannot be read. "
            "Fix: export the log again."
        ) from error
    entry = LogEntry(
        project_id=project_id,
        seq=seq,
        kind=cells["kind"],
        row=row,
        person_id=0,
        token=cells["token"],
        revision=revision,
        at=at,
        label=cells["label"] or None,
        labels=_parted(cells["labels"]),
        target_seq=target,
        strategy=cells["strategy"] or None,
        score=score,
        model_version=version,
        before=_parted(cells["before"]),
        after=_parted(cells["after"]),
        seconds=seconds,
        note=cells["note"] or None,
        predicted=cells["predicted"] or None,
        flagged=cells["flagged"] == "yes",
    )
    return LogLine(entry, cells["annotator"], cells["row_id"])


def _joined(labels: Sequence[str]) -> str:
    if tuple(labels) == ("",):
        return "\\"  # one cell that is not asked, which is not no cell at all
    return "|".join(label.replace("\\", "\\\\").replace("|", "\\|") for label in labels)


def _parted(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    parts, escaped = [""], False
    for mark in text:
        if escaped or mark not in "\\|":
            parts[-1] += mark
            escaped = False
        elif mark == "|":
            parts.append("")
        else:
            escaped = True
    return tuple(parts)
