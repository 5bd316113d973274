"""Read CSV bytes as the unchanged text of every cell (to write, see `to_csv_bytes`)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from plcore.arrays.words import quoted
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, check_size, refusal, table_error
from plcore.tables.text.arrow import frame_of
from plcore.tables.text.encoding import NoTextError, Text, decode

_END_BYTES = b"\r\n"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LINE_ENDS = re.compile(rb"[\r\n]++")
_QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')
_BEFORE_QUOTES = re.compile(rb"(?<=[,;\t]) +(?=\")")
_UP_TO_LINE_END = re.compile(rb"[^\r\n]*+")


class Record(NamedTuple):
    """A row of the text or the header: data[start:end], starting in 1-based `line`."""

    line: int
    start: int
    end: int
    n_cells: int
    fault: str  # problem with the quotes of a cell; empty if there is none
    fault_cell: int  # 0-based cell of the fault; -1 if there is none


def records(data: bytes, delimiter: bytes, start: int = 0, line: int = 1) -> Iterator[Record]:
    """Yield the rows of a CSV text from byte `start` (in 1-based line `line`), without blank lines."""
    position = start
    while position < len(data):
        if data[position] in _END_BYTES:  # blank lines: a file may have millions
            blank = _LINE_ENDS.match(data, position)
            position, before = blank.end() if blank else len(data), position
            line += count_lines(data, before, position)
            continue
        rest = _UP_TO_LINE_END.match(data, position)
        end = rest.end() if rest else position  # (always matches, possibly the empty string)
        lines_inside, fault, fault_cell = 0, "", -1
        if data.find(b'"', position, end) < 0:  # most rows have no quotes: count delimiters
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
    """Return the cells of one row without their quotes (for headers and messages)."""
    found = []
    for start, end, _ in _walk(data, delimiter, record.start):
        cell = data[start:end]
        if cell.startswith(b'"') and cell.endswith(b'"') and len(cell) > 1:
            cell = cell[1:-1].replace(b'""', b'"')
        found.append(cell)
    return found


def cell_at(data: bytes, delimiter: bytes, record: Record, position: int) -> int:
    """Return the 0-based number of the cell of this row that contains byte `position`."""
    for number, (_, end, _) in enumerate(_walk(data, delimiter, record.start)):
        if position <= end:
            return number
    return record.n_cells - 1


def count_lines(data: bytes, start: int = 0, end: int | None = None) -> int:
    """Count the line ends in data[start:end]; CR LF is one."""
    stop = len(data) if end is None else end
    feeds = data.count(b"\n", start, stop)
    if data.find(b"\r", start, stop) < 0:  # find is four times as fast as count if there is none
        return feeds
    return feeds + data.count(b"\r", start, stop) - data.count(b"\r\n", start, stop)


def quotes_are_regular(data: bytes, delimiter: bytes, start: int = 0) -> bool:
    """Whether every quote from byte `start` opens a cell, closes one, or is half of a doubled quote.

    Quotes then come in pairs, so checking their neighbours is enough: an opening quote follows a delimiter, a line end,
    the start, or directly a closing quote (the two form a doubled quote).
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
    """Yield start, end and fault of each cell of the row at byte `start`."""
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


DELIMITERS = (b",", b";", b"\t")
PIPE = b"|"
_ENOUGH = 10_000
"""Number of rows after which the others are assumed to have the same length."""
SNIFFED_ROWS = 20
"""Rows used to detect the delimiter, including the header."""
_REMARKS = re.compile(rb"(?:#[^\r\n]*\r?\n)+#[ \t]*")
_SAID = re.compile(rb"sep=([,;|\t])[,;|\t]*(?:\r\n|\n|\r)", re.IGNORECASE)


class Dialect(NamedTuple):
    """The delimiter, and the byte and 1-based line at which the header may start."""

    delimiter: bytes
    start: int = 0
    line: int = 1


def find_dialect(data: bytes) -> Dialect:
    """Return the dialect from Excel's first line `sep=;`, or else guess it from the first rows.

    The last of several first lines that begin with # is the header, as in AudioSet, if it has several cells and no more
    than the row below it.
    """
    said = _SAID.match(data)
    if said is not None:
        return Dialect(said.group(1), said.end(), 2)
    if (above := _REMARKS.match(data)) is not None:
        found = Dialect(_sniffed(data[above.end() :]), above.end(), above[0].count(b"\n") + 1)
        sizes = [one.n_cells for one in islice(records(data, *found), 2)]
        if len(sizes) == 2 and 1 < sizes[0] <= sizes[1]:
            return found
    return Dialect(_sniffed(data))


def _sniffed(data: bytes) -> bytes:
    """Guess the delimiter from the first rows.

    Prefers a delimiter for which their quotes are regular; then the one with which most rows are as long as the header;
    then the one with the most cells. A pipe usually separates lists in cells (`wren|robin`): it is the delimiter only
    if the header has no other, and all rows have the same length.
    """
    best, best_score = DELIMITERS[0], (False, 0.0, 0)
    for delimiter in (*DELIMITERS, PIPE):
        first = list(islice(records(data, delimiter), SNIFFED_ROWS))
        if first and first[0].n_cells > 1:
            even = [record.n_cells == first[0].n_cells and not record.fault for record in first]
            regular = quotes_are_regular(data[: first[-1].end], delimiter)
            score = (regular, sum(even) / len(even), first[0].n_cells)
            if delimiter == PIPE and (best_score[2] or not (regular and all(even))):
                continue
            if score > best_score:
                best, best_score = delimiter, score
    return best


WIDE, SMALL = 1_000, 10_000_000
"""Columns from which on, and bytes up to which, Arrow would take far more memory than a table has: 30 kB a column."""
LINE_INDEX = "line"  # name of the index of `read_cells`: file line in which each row starts

_NOT_LINE_END = re.compile(rb"[^\r\n]")
_BLOCK = 1 << 23
_SAVE_AS = "Save the file as 'CSV UTF-8' (in Excel: File, Save as, CSV UTF-8) and import it again."
_NOT_CSV = {  # first bytes of other formats that are imported by mistake
    b"PK\x03\x04": ("This is a workbook or zip archive, not a CSV file.", _SAVE_AS),
    b"\xd0\xcf\x11\xe0": ("This is an old Excel workbook, not a CSV file.", _SAVE_AS),
    b"\x1f\x8b": ("This is a gzip archive, not a CSV file.", "Unpack it and import the CSV file inside."),
    b"PAR1": ("This is a Parquet file, not a CSV file.", "Export it as CSV in UTF-8 and import that."),
    b"%PDF": ("This is a PDF document, not a CSV file.", "Export the table as CSV in UTF-8."),
}
_OTHER_TEXTS = (
    (
        re.compile(rb"\s*(<\?xml\b(?!.*<html)|<(\w+)>\s*<\w+>)", re.DOTALL),
        "This is XML, not a table: of Pascal VOC it is one picture, of a download perhaps an error message.",
        "Write a table with a row for each item, and import that; or download the file again.",
    ),
    (
        re.compile(rb"version https://git-lfs\."),
        "This is a pointer of Git LFS, not the file that it stands for.",
        "Fetch the file itself, with git lfs pull or by downloading it from its page.",
    ),
    (
        re.compile(rb"\s*(--[^\n]*\n\s*)*(CREATE\s+TABLE|INSERT\s+INTO|DROP\s+TABLE)\b", re.I),
        "This is a dump of SQL, not a table.",
        "Export the table as CSV in UTF-8.",
    ),
    (
        re.compile(rb"(---[ ]*\r?\n|#[^\n]*\n)*-\s+[\"']?\w+[\"']?:\s"),
        "This is YAML, not a table.",
        "Write it as JSON: a list of objects, one a row.",
    ),
    (
        re.compile(rb'\s*(\[\s*)?\{\s*("[^"]*"\s*:|\})'),
        "This is a JSON file, not a CSV file.",
        "Read it as JSON, or export it as CSV in UTF-8, one column for each name.",
    ),
    (
        re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S),
        "This is a web page, not a table: perhaps one that asks to sign in, saved in place of the file.",
        "Open the address in a browser, sign in if it asks, and download the file itself.",
    ),
)
EMPTY = Problem(None, None, None, "The file is empty.", "Choose a CSV file with a header and data rows.")
HEADER_ONLY = Problem(None, None, None, "The file has a header but no data rows.", "Add at least one data row.")
_UNREADABLE = Problem(None, None, None, "The file cannot be read as CSV.", _SAVE_AS)
_QUOTE_FIX = 'Begin and end the cell with a double quote and write every quote inside it twice, as in "a 5"" nail".'


def read_cells(source: bytes | str | Path) -> pd.DataFrame:
    """Read the cells of a CSV file (its bytes or path) as unchanged text: not stripped, no numbers, '' for empty cells.

    The first row holds the column names. Delimiter and encoding are detected (`plcore.tables.text.csv`,
    `plcore.tables.text.encoding`); blank lines are ignored.

    Returns (n_rows, n_columns) of str. The index, named 'line', is the line of the file in which each row starts.
    Raises TableError: empty file, header only, no text, another text format, NUL characters, rows of unequal length,
    unclosed quotes, column names that are empty or duplicate.
    """
    return cells_of_text(as_text(source if isinstance(source, bytes) else Path(source).read_bytes()).data)


def cells_of_text(data: bytes) -> pd.DataFrame:
    """Read the cells as `read_cells` does, from UTF-8 text without a byte order mark and NUL characters.

    Some programs write a blank before the quotes of a cell, which CSV takes for the beginning of an unquoted one. It is
    left out only if the file can be read so and not otherwise.
    """
    try:
        return _cells_of_csv(data)
    except TableError:
        tight = _BEFORE_QUOTES.sub(b"", data)
        if tight == data:
            raise
        with suppress(TableError):
            return _cells_of_csv(tight)
        raise


def _cells_of_csv(data: bytes) -> pd.DataFrame:
    other = is_other_text(data)
    if other is not None:
        raise TableError(other)
    delimiter, start, line = find_dialect(data)
    header = next(records(data, delimiter, start, line), None)
    if header is None:
        raise TableError(EMPTY)
    check_size(1, header.n_cells)
    names = column_names(data, delimiter, header, ends_blank=True)
    body_line = header.line + count_lines(data, header.start, header.end)  # last line of the header
    regular = quotes_are_regular(data, delimiter, header.end)
    table = _of_wide(data, delimiter, names, header.end) if regular else None
    table = table or _parse(data, delimiter, names, header.end)
    if table is None or not regular:
        _refuse_faults(data, delimiter, names, header.end, body_line)
    if table is None:  # allowed by the grammar but rejected by Arrow: only because of size limits for cells
        raise TableError(_UNREADABLE)
    if table.num_rows == 0:
        raise TableError(HEADER_ONLY)
    lines = _line_index(data, delimiter, header.end, body_line, table.num_rows)
    frame = frame_of(table.columns, names)
    frame.index = lines
    if names[-1].strip():
        return frame
    if frame.iloc[:, -1].str.strip().any():
        raise table_error(name_problems(names, header.line))
    return frame.iloc[:, :-1]  # PsychoPy and other programs end every line with a comma


def is_other_file(data: bytes) -> Problem | None:
    """Return the problem with a file that starts like another format; None for text."""
    found = (said for start, said in _NOT_CSV.items() if data.startswith(start))
    return next((Problem(None, None, None, message, fix) for message, fix in found), None)


def is_other_text(data: bytes) -> Problem | None:
    """Return the problem with a text that starts like another format; None for CSV."""
    return next((Problem(None, None, None, *said) for start, *said in _OTHER_TEXTS if start.match(data)), None)


def as_text(source: bytes) -> Text:
    """Decode a file of CSV, JSON or other text. Raises TableError, with the place, if it is not text."""
    other = is_other_file(source)
    if other is not None:
        raise TableError(other)
    try:
        text = decode(source)
    except NoTextError as error:
        raise TableError(_problem_at(error.good + b"?", len(error.good), str(error), _SAVE_AS)) from None
    nul = text.data.find(b"\0")
    if nul >= 0:
        message = "there is a NUL character (byte 0x00) in the text."
        raise TableError(_problem_at(text.data, nul, message, _SAVE_AS))
    return text


def _problem_at(data: bytes, position: int, message: str, fix: str) -> Problem:
    """Return a problem at the row, line and column of byte `position`."""
    delimiter, start, line = find_dialect(data)
    names: list[str] = []
    for row, record in enumerate(records(data, delimiter, start, line)):
        if row == 0:
            names = [cell.decode(errors="replace") for cell in cells(data, delimiter, record)]
        if record.end > position:
            cell = cell_at(data, delimiter, record, position)
            column = names[cell] if row and cell < len(names) else None
            return Problem(row or None, record.line, column, message, fix)
    return Problem(None, count_lines(data, 0, position) + 1, None, message, fix)


_INDEX = "index"


def with_index(names: Sequence[str]) -> list[str]:
    """Return the column names; if only the first of several is empty, as pandas and R write it, call it `index`."""
    unnamed = len(names) > 1 and not names[0].strip() and names[-1].strip() and _INDEX not in names
    return [_INDEX, *names[1:]] if unnamed else list(names)


def column_names(data: bytes, delimiter: bytes, header: Record, *, ends_blank: bool = False) -> list[str]:
    """Return the column names. ends_blank : whether the last of several may be empty

    Raises TableError if names are empty, except the first (`with_index`), duplicate or broken.
    """
    names = with_index([cell.decode() for cell in cells(data, delimiter, header)])
    if header.fault:
        raise refusal(f"in the header, {header.fault}", _QUOTE_FIX, line=header.line, column=names[header.fault_cell])
    named = names[:-1] if ends_blank and len(names) > 1 and not names[-1].strip() else names
    problems = name_problems(named, header.line)
    if problems:
        raise table_error(problems)
    return names


def name_problems(names: list[str], line: int | None = None) -> list[Problem]:
    """Return the problems with these column names: empty, duplicate, or with characters that cannot be stored."""
    problems = []
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not name.strip():
            fix = "Name the column or remove it."
            problems.append(Problem(None, line, None, f"column {number} of the header has no name.", fix))
        elif name in first:
            message = f"columns {first[name]} and {number} of the header have the same name."
            problems.append(Problem(None, line, name, message, "Give every column a name of its own."))
        elif "\0" in name or not storable(name):
            message = f"the name of column {number} has a character that no file can hold."
            problems.append(Problem(None, line, name, message, "Give the column another name."))
        first.setdefault(name, number)
    return problems


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return the lines of some rows. They end in CR LF: a line break in a cell of either sort is then quoted."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


def storable(text: str) -> bool:
    """Whether the text can be encoded as UTF-8: a lone surrogate, half of a character, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of_wide(data: bytes, delimiter: bytes, names: list[str], start: int) -> pa.Table | None:
    """Parse a small table of very many columns; None for any other, and for rows of unequal length."""
    if len(names) < WIDE or len(data) > SMALL:
        return None
    lines = csv.reader(io.StringIO(data[start:].decode(), newline=""), delimiter=delimiter.decode())
    with suppress(csv.Error):  # a cell is too long for it
        rows = [row for row in lines if row]
        if rows and all(len(row) == len(names) for row in rows):
            columns = [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)]
            return pa.table(columns, list(map(str, range(len(names)))))
    return None


def _parse(data: bytes, delimiter: bytes, names: list[str], start: int) -> pa.Table | None:
    """Parse the rows from byte `start` (the line end of the header); None if Arrow rejects them."""
    if _NOT_LINE_END.search(data, start) is None:
        return pa.table({str(number): pa.array([], pa.large_string()) for number in range(len(names))})
    # The line end of the header is kept: Arrow skips it as a blank line, and does not mistake the first cell for a byte
    # order mark. The names are left out because Arrow has its own rule for distinct names.
    body = pa.py_buffer(data).slice(start)
    for block in (_BLOCK, min(len(data) + 1, (1 << 31) - 1)):  # a row must fit into a block
        try:
            return pa.csv.read_csv(
                pa.BufferReader(body),
                read_options=pa.csv.ReadOptions(
                    column_names=[str(number) for number in range(len(names))], block_size=block
                ),
                parse_options=pa.csv.ParseOptions(delimiter=delimiter.decode(), newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    column_types={str(number): pa.large_string() for number in range(len(names))},
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            continue
    return None


def _refuse_faults(data: bytes, delimiter: bytes, names: list[str], start: int, line: int) -> None:
    """Raise TableError that lists rows of unequal length and broken quotes, if there are any."""
    problems: list[Problem] = []
    counts: set[int] = set()
    for row, record in enumerate(records(data, delimiter, start, line), start=1):
        counts.add(0 if record.fault else record.n_cells)
        if len(problems) >= MAX_PROBLEMS:
            if len(counts) > 1 or row > _ENOUGH:
                break
            continue
        if record.fault:
            column = names[min(record.fault_cell, len(names) - 1)]
            problems.append(Problem(row, record.line, column, record.fault, _QUOTE_FIX))
        elif record.n_cells != len(names):
            problems.append(_ragged(row, record, names, delimiter.decode()))
    if len(counts) == 1 and len(problems) > 1 and (every := counts.pop()) > len(names):
        raise TableError(_other_header(line, names, every))
    if problems:
        raise table_error(problems)


def _other_header(line: int, names: list[str], n_cells: int) -> Problem:
    """Return the problem if all rows have the same number of cells, more than the header."""
    if n_cells == len(names) + 1:
        message = f"every row has one cell more than the header, which has {len(names)}: R writes the names of rows so."
        return Problem(None, line, None, message, "Write a name for the first column before the others of the header.")
    message = f"this line has {len(names)} cell{'s' if len(names) > 1 else ''}, and every row has {n_cells}."
    fix = "If it is a title or a comment, remove the lines above the names of the columns."
    return Problem(None, line, None, message, fix)


def _ragged(row: int, record: Record, names: list[str], delimiter: str) -> Problem:
    count = f"{record.n_cells} cell" + ("s" if record.n_cells != 1 else "")
    columns = f"{len(names)} column" + ("s" if len(names) != 1 else "")
    if record.n_cells < len(names):
        message = f"the row ends before this column: it has {count}, the header has {columns}."
        fix = f"Add the missing cells; an empty cell still needs its {quoted(delimiter)}."
        return Problem(row, record.line, names[record.n_cells], message, fix)
    message = f"the row goes on after this last column: it has {count}, the header has {columns}."
    fix = f'Remove the extra cells, or put text that contains {quoted(delimiter)} in double quotes: "a{delimiter} b".'
    return Problem(row, record.line, names[-1], message, fix)


def _line_index(data: bytes, delimiter: bytes, start: int, line: int, n_rows: int) -> pd.Index[int]:
    ends = count_lines(data, start)  # of the header and the rows, perhaps except the last
    last_is_open = not data.endswith((b"\n", b"\r"))
    if ends - 1 + last_is_open == n_rows:  # no blank lines, no line ends in cells
        lines = np.arange(line + 1, line + 1 + n_rows)
    else:
        lines = np.fromiter((record.line for record in records(data, delimiter, start, line)), int)
        if lines.size != n_rows:  # the two parsers disagree: no table is better than a wrong one
            raise TableError(_UNREADABLE)
    return pd.Index(lines, name=LINE_INDEX)
