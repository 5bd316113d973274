"""The log as JSON Lines in which every line seals the one before it, and back: all of every entry, exactly.

The first line, the header, says of what project, table and settings the log is, and when the file was written. Then
comes a line for each entry with the columns of `workflow.log.columns`: numbers and lists are unchanged, unknown values
are null, and columns of LATER appear only if they have a value. The last line, the footer, closes the file.

The chain. The *seal* of a line is the SHA-256, in 64 lower-case hexadecimal digits, of its bytes in the file without
the newline that ends it. Every line of an entry has, under ``sha256``, the seal of the line of the entry before it;
that of the first entry has the SHA-256 of the table's file at import, which the header names. The footer has, under
``sha256``, the seal of the last entry (of no entries: the table's SHA-256), which is the *head* of the log; under
``header_sha256`` the seal of the header; and the number of entries. So the head depends only on table and log: every
file of a project has the same seals, regardless of its date and settings, and a longer log has the seals of a shorter
one.

A line has one form only: a JSON object, ASCII, no blanks, keys in the order of this module. Other bytes are refused,
even where they mean the same. A file cannot show that everything after some line was rewritten with new seals. To
detect that, compare its head, or the seal of any entry, with one that was noted elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from db.entries import LogEntry
from plcore.arrays import counted
from plcore.loop import EntryKind
from workflow.log.columns import COLUMNS, LATER, NULLABLE, Form, LogError, LogLine, line_of, values_of

VERSION = 2
"""Version of the form of the lines; the header has it under ``winnow_log``. In version 1 no line had a column of
LATER."""

_TYPES: Mapping[Form, tuple[type, ...]] = {
    Form.WHOLE: (int,),
    Form.NUMBER: (float, int),
    Form.TEXT: (str,),
    Form.FLAG: (bool,),
    Form.OBJECT: (dict,),
}


@dataclass(frozen=True)
class LogHeader:
    """Header of a file, before its first entry.

    project : its name      table_sha256 : of the table's file at import      written_at : with its time zone
    settings : as stored, including the seed      version : version of the form of the lines
    """

    project: str
    table_sha256: str
    settings: Mapping[str, object]
    written_at: datetime
    version: int = VERSION

    def values(self) -> dict[str, object]:
        """Return the content of the line."""
        return {
            "winnow_log": self.version,
            "project": self.project,
            "table_sha256": self.table_sha256,
            "settings": dict(self.settings),
            "written_at": self.written_at.isoformat(),
        }


@dataclass(frozen=True)
class LogFooter:
    """Last line of a file. entries : number of entries      head : the seal of the last one"""

    entries: int
    head: str


def write_log_lines(
    log: Iterable[LogEntry], names: Mapping[int, str], ids: Sequence[str], header: LogHeader
) -> Iterator[bytes]:
    """Yield the lines of a file, each with its newline, as they are requested.

    names : {person: name}      ids : of the table's rows
    """
    first = _bytes(header.values())
    yield first + b"\n"
    head, count = header.table_sha256, 0
    for entry in log:
        line = entry_line(head, values_of(entry, names, ids))
        yield line + b"\n"
        head, count = seal(line), count + 1
    yield _footer(head, seal(first), count) + b"\n"


def seal(line: bytes) -> str:
    """Return the SHA-256 of a line without its newline."""
    return hashlib.sha256(line).hexdigest()


def entry_line(before: str, values: Mapping[str, object]) -> bytes:
    """Return the line of an entry, without its newline. before : the seal of the previous entry, or the table's
    SHA-256"""
    said = {name: value for name, value in values.items() if value is not None or name not in LATER}
    return _bytes({"sha256": before, **said})


def first_table(log: Iterable[LogEntry], table_sha256: str) -> str:
    """Return the SHA-256 of the project's table before any rows were added, with which the chain begins.

    table_sha256 : of its current table
    """
    return next((one.before[0] for one in log if one.kind == EntryKind.ROWS and one.before), table_sha256)


def head_of(log: Iterable[LogEntry], names: Mapping[int, str], ids: Sequence[str], table_sha256: str) -> str:
    """Return the seal of the last entry in a file of this log; without entries the table's SHA-256."""
    head = table_sha256
    for entry in log:
        head = seal(entry_line(head, values_of(entry, names, ids)))
    return head


def check_log_lines(lines: Iterable[bytes], project_id: int = 0) -> Iterator[LogHeader | LogLine | LogFooter]:
    """Yield the header, every entry and the footer, each once its line has passed the checks.

    A changed line is detected only when the next one is read, so nothing is certain before the footer.

    Raises LogError, naming the first wrong line and the fault, as far as the chain shows.
    """
    rest = iter(lines)
    first = next(rest, b"")
    header = _read_header(first)
    yield header
    head, count = header.table_sha256, 0
    for number, (line, following) in enumerate(_with_next(rest), start=2):
        values = _parsed(number, line)
        if "entries" in values:
            yield _read_footer(number, line, values, head, seal(first[:-1]), count)
            if following:
                raise LogError(f"Line {number + 1} was added: the log is closed before it. {FIX}")
            return
        found = _read_entry(number, values, project_id)
        if found.entry.seq != count + 1:
            raise LogError(_out_of_order(number, found.entry.seq, count + 1))
        if values["sha256"] != head:
            raise LogError(_changed(number, line, following))
        yield found
        head, count = seal(line[:-1]), count + 1
    raise LogError(
        f"The file ends after {counted(count, 'entry', 'entries')} without the line that closes the log: its end was "
        f"cut off. {FIX}"
    )


FIX = "Fix: take the original file, or export the log again."
"""Fix for a file that was changed."""


def _with_next(lines: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield every line with the next one, b"" after the last."""
    line = next(lines, b"")
    while line:
        following = next(lines, b"")
        yield line, following
        line = following


def _bytes(values: Mapping[str, object]) -> bytes:
    return json.dumps(values, separators=(",", ":"), allow_nan=False).encode("ascii")


def _footer(head: str, header: str, count: int) -> bytes:
    return _bytes({"sha256": head, "header_sha256": header, "entries": count})


def _parsed(number: int, line: bytes) -> dict[str, Any]:
    """Return the object of a line, which must be in its only valid form. Raises LogError."""
    try:
        values = json.loads(line)
        same = isinstance(values, dict) and _bytes(values) + b"\n" == line
    except (ValueError, RecursionError) as error:
        raise LogError(f"Line {number} was changed: it is not JSON object. {FIX}") from error
    if not same:
        raise LogError(
            f"Line {number} was changed: it is not JSON object as Winnow writes it, to the blank and the digit. {FIX}"
        )
    found: dict[str, Any] = values
    return found


def _read_header(line: bytes) -> LogHeader:
    if not line.startswith(b'{"winnow_log":'):
        raise LogError(f"Line 1 must be the header of a log that Winnow wrote as JSON Lines; it is not. {FIX}")
    values = _parsed(1, line)
    try:
        version = values["winnow_log"]
        if version not in range(1, VERSION + 1):
            raise LogError(
                f"Line 1: the form of this log has number {version!r}; this version of Winnow reads 1 to "
                f"{VERSION}. Fix: verify it with the version that wrote it."
            )
        header = LogHeader(
            values["project"],
            values["table_sha256"],
            values["settings"],
            datetime.fromisoformat(values["written_at"]),
            version,
        )
        same = header.values() == values
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, LogError):
            raise
        same = False
    if not same:
        raise LogError(f"Line 1 was changed: it is not a header as Winnow writes it. {FIX}")
    return header


def _read_entry(number: int, values: Mapping[str, object], project_id: int) -> LogLine:
    columns = [name for name in COLUMNS if name not in LATER or values.get(name) is not None]
    if list(values) != ["sha256", *columns]:
        wrong = next((name for name in values if name not in ("sha256", *columns)), "")
        missing = next((name for name in ("sha256", *columns) if name not in values), "")
        how = f"it has {wrong!r}" if wrong else f"it lacks {missing!r}" if missing else "its keys are in another order"
        raise LogError(f"Line {number} was changed: {how}. {FIX}")
    for name in columns:
        form = COLUMNS[name]
        if not _holds(form, values[name]) and not (values[name] is None and name in NULLABLE):
            raise LogError(f"Line {number} was changed: {name!r} must be {form.value}. Got {values[name]!r:.80}. {FIX}")
    try:
        return line_of({**dict.fromkeys(LATER), **values}, project_id)
    except ValueError as error:
        raise LogError(f"Line {number} was changed: 'at' must be a time. Got {values['at']!r:.80}. {FIX}") from error


def _holds(form: Form, value: object) -> bool:
    if form is Form.LIST:
        return type(value) is list and all(type(one) is str for one in value)
    return type(value) in _TYPES[form]


def _read_footer(
    number: int, line: bytes, values: Mapping[str, object], head: str, header: str, count: int
) -> LogFooter:
    if line[:-1] != _footer(head, header, count):
        if values["entries"] != count:
            said = f"{values['entries']!r:.80}"
            found = counted(count, "entry", "entries")
            how = f"it counts {said} and the file has {found}: lines before it were cut off or added"
        elif values.get("sha256") != head:
            how = f"it does not fit line {number - 1}: one of the two was changed"
        else:
            how = "it does not fit line 1: one of the two was changed"
        raise LogError(f"Line {number} closes the log, but {how}. {FIX}")
    return LogFooter(count, head)


def _out_of_order(number: int, seq: int, expected: int) -> str:
    if seq > expected:
        missing = f"entry {expected} is" if seq == expected + 1 else f"entries {expected} to {seq - 1} are"
        return f"Line {number} holds entry {seq}, but {missing} not before it: removed, or moved. {FIX}"
    return f"Line {number} holds entry {seq}, which belongs before: it was added or moved. {FIX}"


def _changed(number: int, line: bytes, following: bytes) -> str:
    """Return the message for a line without the seal of the previous one. If the next line has its seal, the line
    itself is unchanged, so the previous one was changed."""
    untouched = f'"sha256":"{seal(line[:-1])}"'.encode() in following
    wrong = number - 1 if untouched else number
    return f"Line {wrong} was changed: it and line {number if untouched else number - 1} do not belong together. {FIX}"
