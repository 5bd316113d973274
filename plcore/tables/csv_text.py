"""CSV bytes -> the text of every cell, exactly as it stands there (and back: `plcore.tables.csv_writing`).

`read_cells` parses with Arrow, which is fast but silent about places; what it refuses is looked at again by
`plcore.tables.csv_lines`, which finds row, line and column. Nothing is guessed about values here: every cell stays
text.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from plcore.common.words import quoted
from plcore.tables.csv_dialect import find_dialect
from plcore.tables.csv_lines import (
    Record,
    cell_at,
    cells,
    count_lines,
    quotes_are_regular,
    records,
)
from plcore.tables.csv_wide import WIDE, wide_columns
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, table_error
from plcore.tables.table_size import check_size
from plcore.tables.text_columns import frame_of
from plcore.tables.text_encoding import NoTextError, Text, decode

LINE_INDEX = "line"  # name of the index of what `read_cells` returns: the line of the file each row begins in

_LINE_END = re.compile(rb"\r\n|\n|\r")
_NOT_LINE_END = re.compile(rb"[^\r\n]")
_BLOCK = 1 << 23
_SAVE_AS = "Save the file as 'CSV UTF-8' (in Excel: File, Save as, CSV UTF-8) and import it again."
_NOT_CSV = {  # first bytes of what people upload by mistake
    b"PK\x03\x04": ("This is a workbook or zip archive, not a CSV file.", _SAVE_AS),
    b"\xd0\xcf\x11\xe0": ("This is an old Excel workbook, not a CSV file.", _SAVE_AS),
    b"\x1f\x8b": ("This is a gzip archive, not a CSV file.", "Unpack it and import the CSV file inside."),
    b"PAR1": ("This is a Parquet file, not a CSV file.", "Export it as CSV in UTF-8 and import that."),
    b"%PDF": ("This is a PDF document, not a CSV file.", "Export the table as CSV in UTF-8."),
}
_OTHER_TEXTS = (
    (
        re.compile(rb'\s*(\[\s*)?\{\s*("[^"]*"\s*:|\})'),
        Problem(
            None,
            None,
            None,
            "This is a JSON file, not a CSV file.",
            "Read it as JSON, or export it as CSV in UTF-8, one column for each name.",
        ),
    ),
    (
        re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S),
        Problem(
            None,
            None,
            None,
            "This is a web page, not a table: perhaps one that asks to sign in, saved in place of the file.",
            "Open the address in a browser, sign in if it asks, and download the file itself.",
        ),
    ),
)
_UNREADABLE = Problem(None, None, None, "The file cannot be read as CSV.", _SAVE_AS)
_QUOTE_FIX = (
    'Begin and end the cell with a double quote and write every quote inside it twice, as in "a 5"" nail".'
)


def read_cells(source: bytes | str | Path) -> pd.DataFrame:
    """The cells of a CSV file (its bytes or its path) as text, untouched: no stripping, no numbers, empty cells are ''.

    The first row holds the column names. The delimiter is found (`plcore.tables.csv_dialect`), and so is the encoding
    (`plcore.tables.text_encoding`); blank lines are ignored.

    Returns (n_rows, n_columns) of str. Its index is named 'line': the line of the file each row begins in.
    Raises TableError: empty file, header only, no text, a text of another kind, NUL characters, ragged rows,
    quotes that do not close, column names empty or used twice.
    """
    return cells_of_text(as_text(source if isinstance(source, bytes) else Path(source).read_bytes()).data)


def cells_of_text(data: bytes) -> pd.DataFrame:
    """`read_cells` of a text in UTF-8 without byte order mark and NUL characters."""
    other = is_other_text(data)
    if other is not None:
        raise TableError(other)
    delimiter, start, line = find_dialect(data)
    header = next(records(data, delimiter, start, line), None)
    if header is None:
        raise TableError(
            Problem(None, None, None, "The file is empty.", "Choose a CSV file with a header and data rows.")
        )
    check_size(1, header.n_cells)
    names = column_names(data, delimiter, header)
    body_line = header.line + count_lines(data, header.start, header.end)  # the line the header ends in
    regular = quotes_are_regular(data, delimiter, header.end)
    table = _parse(data, delimiter, names, header.end, regular)
    if table is None or not regular:
        _refuse_faults(data, delimiter, names, header.end, body_line)
    if table is None:  # Arrow refused what the grammar allows: only cells beyond its size limits can do that
        raise TableError(_UNREADABLE)
    if table.num_rows == 0:
        raise TableError(
            Problem(None, None, None, "The file has a header but no data rows.", "Add at least one data row.")
        )
    frame = frame_of(table.columns, names)
    frame.index = _line_index(data, delimiter, header.end, body_line, table.num_rows)
    return frame


def is_other_file(data: bytes) -> Problem | None:
    """What is wrong with a file that begins as one of another kind does; None for text."""
    found = (said for start, said in _NOT_CSV.items() if data.startswith(start))
    return next((Problem(None, None, None, message, fix) for message, fix in found), None)


def is_other_text(data: bytes) -> Problem | None:
    """What is wrong with a text that begins as one of another kind does; None for CSV."""
    return next((problem for pattern, problem in _OTHER_TEXTS if pattern.match(data)), None)


def as_text(source: bytes) -> Text:
    """The text of a file that is to be CSV, or JSON or another text. Raises TableError where it is none, with place."""
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
    """The problem with the row, line and column that byte `position` lies in."""
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


def column_names(data: bytes, delimiter: bytes, header: Record) -> list[str]:
    """What the columns are called. Raises TableError: names empty, used twice or broken."""
    names = [cell.decode() for cell in cells(data, delimiter, header)]
    if header.fault:
        raise TableError(
            Problem(None, header.line, names[header.fault_cell], f"in the header, {header.fault}", _QUOTE_FIX)
        )
    problems = name_problems(names, header.line)
    if problems:
        raise table_error(problems)
    return names


def name_problems(names: list[str], line: int | None = None) -> list[Problem]:
    """What is wrong with these column names: empty, used twice, or with characters no file can hold."""
    problems = []
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not name.strip():
            fix = "Name the column or remove it (pandas writes such a column for the index: use index=False)."
            problems.append(Problem(None, line, None, f"column {number} of the header has no name.", fix))
        elif name in first:
            message = f"columns {first[name]} and {number} of the header have the same name."
            problems.append(Problem(None, line, name, message, "Give every column a name of its own."))
        elif "\0" in name or not storable(name):
            message = f"the name of column {number} has a character that no file can hold."
            problems.append(Problem(None, line, name, message, "Give the column another name."))
        first.setdefault(name, number)
    return problems


def storable(text: str) -> bool:
    """Whether the text can be written as UTF-8: a lone surrogate, half of a character, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parse(data: bytes, delimiter: bytes, names: list[str], start: int, regular: bool) -> pa.Table | None:
    """The rows from byte `start` (the line end of the header) on; None when Arrow refuses them."""
    line_end = _LINE_END.match(data, start)
    if len(names) >= WIDE and regular and line_end is not None:
        columns = wide_columns(data[line_end.end() :], delimiter, len(names))
        if columns is not None:
            return pa.table(columns, list(map(str, range(len(names)))))
    if _NOT_LINE_END.search(data, start) is None:
        return pa.table({str(number): pa.array([], pa.large_string()) for number in range(len(names))})
    # The line end of the header stays: it is a blank line to Arrow and keeps it from taking the first cell
    # for a byte order mark. The names stay out: Arrow would want them distinct from one another in its own
    # way.
    body = pa.py_buffer(data).slice(start)
    for block in (
        _BLOCK,
        min(len(data) + 1, (1 << 31) - 1),
    ):  # a row longer than a block needs a longer block
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
    """Raise TableError for every ragged row and every broken quote, if there are any."""
    problems = []
    for row, record in enumerate(records(data, delimiter, start, line), start=1):
        if record.fault:
            column = names[min(record.fault_cell, len(names) - 1)]
            problems.append(Problem(row, record.line, column, record.fault, _QUOTE_FIX))
        elif record.n_cells != len(names):
            problems.append(_ragged(row, record, names, delimiter.decode()))
        if len(problems) == MAX_PROBLEMS:
            break
    if problems:
        raise table_error(problems)


def _ragged(row: int, record: Record, names: list[str], delimiter: str) -> Problem:
    count = f"{record.n_cells} cell" + ("s" if record.n_cells != 1 else "")
    columns = f"{len(names)} column" + ("s" if len(names) != 1 else "")
    if record.n_cells < len(names):
        message = f"the row ends before this column: it has {count}, the header has {columns}."
        fix = f"Add the missing cells; an empty cell still needs its {quoted(delimiter)}."
        return Problem(row, record.line, names[record.n_cells], message, fix)
    message = f"the row goes on after this last column: it has {count}, the header has {columns}."
    fix = (
        f"Remove the extra cells, or put text that contains {quoted(delimiter)} in double quotes: "
        f'"a{delimiter} b".'
    )
    return Problem(row, record.line, names[-1], message, fix)


def _line_index(data: bytes, delimiter: bytes, start: int, line: int, n_rows: int) -> pd.Index[int]:
    ends = count_lines(data, start)  # of the header and of every row but perhaps the last
    last_is_open = not data.endswith((b"\n", b"\r"))
    if ends - 1 + last_is_open == n_rows:  # no blank lines, no line ends inside cells
        lines = np.arange(line + 1, line + 1 + n_rows)
    else:
        lines = np.fromiter((record.line for record in records(data, delimiter, start, line)), int)
        if lines.size != n_rows:  # the two readers disagree: better no table than a wrong one
            raise TableError(_UNREADABLE)
    return pd.Index(lines, name=LINE_INDEX)
