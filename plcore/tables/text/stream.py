"""Read a plain CSV file of any size as the text of its cells, block by block.

Nearly all large files are plain: UTF-8, regular quotes, and each row on its own line with as many cells as the header.
Only one block and its cells are in memory. Any other file is left to `plcore.tables.text.csv`, which reads it as a
whole and handles all errors and special cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from plcore.tables.problems import TableError
from plcore.tables.text.csv import (
    DELIMITERS,
    PIPE,
    SNIFFED_ROWS,
    Dialect,
    column_names,
    count_lines,
    find_dialect,
    is_other_text,
    records,
)

_BLOCK = 1 << 20
_HEAD = 1 << 20
"""Bytes that must contain the header and the rows that determine the dialect."""
_WIDE = 256
"""Columns of a table whose blocks would have too few rows each."""
_MARK = b"\xef\xbb\xbf"

Batch = list[pa.LargeStringArray]


class PlainCsv(NamedTuple):
    """A file that seems plain.

    names, delimiter : column names and delimiter
    start, line : byte of the header's line end, and the header's last line, 1-based
    line_ends : number of line ends from `start` on      last_is_open : whether the last line has no line end
    is_ascii, has_quotes : of everything from `start` on
    """

    names: list[str]
    delimiter: bytes
    start: int
    line: int
    line_ends: int
    last_is_open: bool
    is_ascii: bool
    has_quotes: bool

    def has_lines_of_their_own(self, n_rows: int) -> bool:
        """Whether its n rows are one line each, without blank lines."""
        return self.line_ends - 1 + self.last_is_open == n_rows


def find_plain(path: Path, refuses: Callable[[bytes], bool]) -> PlainCsv | None:
    """Find the dialect of a plain CSV file; None for any other file. Reads the whole file once, without parsing cells.

    refuses : returns whether a text with this beginning, without byte order mark, is in another format
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        mark = len(_MARK) if head.startswith(_MARK) else 0
        head = _whole_lines(head[mark:])
        if b"\0" in head or not _is_text(head) or is_other_text(head) or refuses(head):
            return None
        dialect = find_dialect(head)
        header = next(records(head, dialect.delimiter, dialect.start, dialect.line), None)
        if header is None or header.n_cells >= _WIDE:
            return None
        if mark + len(head) < path.stat().st_size and not _tells_the_dialect(head):
            return None
        try:
            names = column_names(head, dialect.delimiter, header)
        except TableError:
            return None
        line = header.line + count_lines(head, header.start, header.end)
        start = mark + header.end
        counted = _count(file, dialect, start)
    return None if counted is None else PlainCsv(names, dialect.delimiter, start, line, *counted)


def batches(path: Path, csv: PlainCsv) -> Iterator[Batch]:
    """Yield the cells, a few thousand rows at a time. Raises pa.ArrowInvalid if the file is not plain after all."""
    columns = [str(number) for number in range(len(csv.names))]
    with path.open("rb") as file:
        file.seek(csv.start)
        with pa.csv.open_csv(
            file,
            read_options=pa.csv.ReadOptions(column_names=columns, block_size=_BLOCK, use_threads=False),
            # Without quotes, no cell has a line end, so Arrow need not parse a block to find its last row.
            parse_options=pa.csv.ParseOptions(delimiter=csv.delimiter.decode(), newlines_in_values=csv.has_quotes),
            convert_options=pa.csv.ConvertOptions(
                check_utf8=not csv.is_ascii,
                column_types={name: pa.large_string() for name in columns},
                strings_can_be_null=False,
            ),
        ) as reader:
            for batch in reader:
                yield batch.columns


def _whole_lines(head: bytes) -> bytes:
    """Return the bytes up to the last certain line end; all of them if they are the whole file."""
    return head if len(head) < _HEAD - len(_MARK) else head[: head.rfind(b"\n") + 1]


def _tells_the_dialect(head: bytes) -> bool:
    """Whether it has enough rows to detect any delimiter, so that the rest of the file cannot change it."""
    return all(
        len(list(islice(records(head, delimiter), SNIFFED_ROWS + 1))) > SNIFFED_ROWS
        for delimiter in (*DELIMITERS, PIPE)
    )


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError:
        return False
    return True


def _count(file: BinaryIO, dialect: Dialect, start: int) -> tuple[int, bool, bool, bool] | None:
    """Count the line ends from byte `start` on, and return `PlainCsv`'s other facts about the text.

    None if the file is not plain because of a NUL or an irregular quote (`plcore.tables.text.csv.quotes_are_regular`).
    """
    edges = np.frombuffer(dialect.delimiter + b'\r\n"', dtype=np.uint8)
    file.seek(start)
    line_ends, n_quotes, is_ascii = 0, 0, True
    before, block = b"\n", file.read(_BLOCK)
    while block:
        after = file.read(_BLOCK)
        if b"\0" in block:
            return None
        is_ascii = is_ascii and block.isascii()
        line_ends += count_lines(block) - (before == b"\r" and block.startswith(b"\n"))
        if b'"' in block:
            text = np.frombuffer(before + block + (after[:1] or b"\n"), dtype=np.uint8)
            quotes = np.flatnonzero(text[1:-1] == ord('"')) + 1
            opening, closing = quotes[n_quotes % 2 :: 2], quotes[1 - n_quotes % 2 :: 2]
            # A quote next to a regular one is half of a doubled quote.
            if not (np.isin(text[opening - 1], edges).all() and np.isin(text[closing + 1], edges).all()):
                return None
            n_quotes += len(quotes)
        before, block = block[-1:], after
    return None if n_quotes % 2 else (line_ends, before not in (b"\n", b"\r"), is_ascii, n_quotes > 0)
