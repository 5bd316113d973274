"""Where the rows and cells of a CSV text begin and end, in plain Python.

The fast reader (`plcore.tables.csv_text`) knows cells but not lines, and its errors name neither row nor column.
This module finds the line of every row, and says what is wrong with a text the fast reader refuses. It works
on UTF-8 bytes: every byte that matters to CSV is ASCII, and no such byte occurs inside a longer UTF-8
character.

The grammar is that of RFC 4180, with the line ends CR LF, LF and CR, blank lines ignored, and one freedom: a
quote inside a cell that does not begin with one is an ordinary character (`5" pipe`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

_END_BYTES = b"\r\n"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LINE_ENDS = re.compile(rb"[\r\n]++")
_QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')
_UP_TO_LINE_END = re.compile(rb"[^\r\n]*+")


class Record(NamedTuple):
    """One row of the text, the header included: data[start:end], beginning in 1-based `line`."""

    line: int
    start: int
    end: int
    n_cells: int
    fault: str  # what is wrong with the quotes of a cell; empty: nothing
    fault_cell: int  # 0-based cell of the fault; -1 without


def records(data: bytes, delimiter: bytes, start: int = 0, line: int = 1) -> Iterator[Record]:
    """The rows of a CSV text from byte `start` (in 1-based line `line`) on, blank lines left out."""
    position = start
    while position < len(data):
        if data[position] in _END_BYTES:  # blank lines, of which a file may have millions
            blank = _LINE_ENDS.match(data, position)
            position, before = blank.end() if blank else len(data), position
            line += count_lines(data, before, position)
            continue
        rest = _UP_TO_LINE_END.match(data, position)
        end = rest.end() if rest else position  # (it always matches, if only the empty string)
        lines_inside, fault, fault_cell = 0, "", -1
        if data.find(b'"', position, end) < 0:  # most rows: no quote, so a cell per delimiter
            n_cells = data.count(delimiter, position, end) + 1
        else:
            walked = list(_walk(data, delimiter, position))
            end, n_cells = walked[-1][1], len(walked)
            faults = [(cell_fault, cell) for cell, (_, _, cell_fault) in enumerate(walked) if cell_fault]
            fault, fault_cell = faults[0] if faults else ("", -1)
            lines_inside = count_lines(data, position, end)
        yield Record(line, position, end, n_cells, fault, fault_cell)
        line_end = _LINE_END.match(data, end)
        position = line_end.end() if line_end else len(data)
        line += 1 + lines_inside


def cells(data: bytes, delimiter: bytes, record: Record) -> list[bytes]:
    """The cells of one row without their quotes (for a header, and to say which cell a byte lies in)."""
    found = []
    for start, end, _ in _walk(data, delimiter, record.start):
        cell = data[start:end]
        if cell.startswith(b'"') and cell.endswith(b'"') and len(cell) > 1:
            cell = cell[1:-1].replace(b'""', b'"')
        found.append(cell)
    return found


def cell_at(data: bytes, delimiter: bytes, record: Record, position: int) -> int:
    """The 0-based number of the cell of this row that byte `position` lies in."""
    for number, (_, end, _) in enumerate(_walk(data, delimiter, record.start)):
        if position <= end:
            return number
    return record.n_cells - 1


def count_lines(data: bytes, start: int = 0, end: int | None = None) -> int:
    """How many line ends lie in data[start:end]; CR LF is one."""
    stop = len(data) if end is None else end
    feeds = data.count(b"\n", start, stop)
    if (
        data.find(b"\r", start, stop) < 0
    ):  # found at once; to count what is not there takes four times as long
        return feeds
    return feeds + data.count(b"\r", start, stop) - data.count(b"\r\n", start, stop)


def quotes_are_regular(data: bytes, delimiter: bytes, start: int = 0) -> bool:
    """Whether every quote from byte `start` on opens a cell, closes one, or is half of a doubled quote.

    Quotes then come in pairs, so one look at their neighbours settles it without walking the text: an opening
    quote follows a delimiter, a line end, the start, or directly a closing quote (together they are a doubled
    quote).
    """
    if data.find(b'"', start) < 0:
        return True
    text = np.frombuffer(data, dtype=np.uint8)
    quote = np.flatnonzero(text[start:] == ord('"')) + start
    if quote.size % 2:
        return False
    opening, closing = quote[0::2], quote[1::2]
    edges = np.array([ord(delimiter), ord("\r"), ord("\n")], dtype=np.uint8)
    doubled = closing[:-1] + 1 == opening[1:]
    opens = np.isin(text[opening - 1], edges) | (opening == start)
    opens[1:] |= doubled
    closes = np.isin(text[np.minimum(closing + 1, text.size - 1)], edges) | (closing == text.size - 1)
    closes[:-1] |= doubled
    return bool(opens.all() and closes.all())


def _walk(data: bytes, delimiter: bytes, start: int) -> Iterator[tuple[int, int, str]]:
    """Start, end and fault of each cell of the row at byte `start`."""
    plain = _plain(delimiter)
    position = start
    while True:
        first, fault = position, ""
        if data.startswith(b'"', first):
            closed = _QUOTED.match(data, first)
            if closed is None:
                yield first, len(data), "a double quote opens this cell and is never closed."
                return
            position = closed.end()
        rest = plain.match(data, position)
        if rest is not None and rest.end() > position:
            if position > first:
                fault = "there is text after the double quote that closes this cell."
            position = rest.end()
        yield first, position, fault
        if not data.startswith(delimiter, position):
            return
        position += 1


@cache
def _plain(delimiter: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"[^\r\n" + re.escape(delimiter) + rb"]*+")
