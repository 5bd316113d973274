"""Convert text columns between Arrow, a DataFrame of str, and CSV, all cells in one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays.types import AnyArray

_TEXT = pa.large_string()
_HASHED = 1 << 14
"""Cells hashed at a time, to stay in the CPU cache."""
_LONGEST = 100
"""Maximum bytes of a hashed cell."""
_MAPPED = {_TEXT: pd.StringDtype(na_value=np.nan)}


def frame_of(columns: Sequence[pa.LargeStringArray | pa.ChunkedArray], names: Sequence[str]) -> pd.DataFrame:
    """Build a DataFrame from columns of large strings without copying cells. Names may be duplicate."""
    table = pa.table(list(columns), [str(place) for place in range(len(columns))])
    frame: pd.DataFrame = table.to_pandas(types_mapper=_MAPPED.get)
    frame.columns = pd.Index(list(names), dtype="str")
    return frame


def columns_of_text(cells: pd.DataFrame) -> Iterator[pa.LargeStringArray]:
    """Yield the columns of a DataFrame of str as one array each; copies cells only if a column has several chunks."""
    for _, series in cells.items():
        yield in_one_piece(pa.array(series.array, _TEXT))


def in_one_piece(column: pa.LargeStringArray | pa.ChunkedArray) -> pa.LargeStringArray:
    """Return a column as a single array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def stripped(cells: pd.DataFrame, column: str) -> pa.LargeStringArray:
    """Return the cells of a column without surrounding white space."""
    return pc.utf8_trim_whitespace(in_one_piece(pa.array(cells[column].array, pa.large_string())))


def chunks_of(column: pa.LargeStringArray | pa.ChunkedArray) -> list[pa.LargeStringArray]:
    """Return the arrays that a column consists of, without copying."""
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def bytes_of(column: pa.LargeStringArray) -> bytes:
    """Return the concatenated text of all cells in UTF-8, for a single search for a character."""
    text = column.buffers()[2]
    if text is None or not len(column):
        return b""
    ends = _ends_of(column)
    return bytes(text[ends[0] : ends[-1]].to_pybytes())


def _ends_of(column: pa.LargeStringArray) -> npt.NDArray[np.int64]:
    """Return the offsets of the cells of a non-empty column in its text: one more than it has cells."""
    ends = np.frombuffer(column.buffers()[1], dtype=np.int64)
    return ends[column.offset : column.offset + len(column) + 1]


def has_sign(column: pa.LargeStringArray | pa.ChunkedArray, sign: bytes) -> bool:
    """Whether this byte occurs in any cell; copies at most one chunk of the text at a time."""
    return any(sign in bytes_of(chunk) for chunk in chunks_of(column))


def has_empty(column: pa.ChunkedArray) -> bool:
    """Whether any cell is empty, if none is missing. Does not read the text itself."""
    each = (_ends_of(chunk) for chunk in column.chunks if len(chunk))
    return any(bool((ends[1:] == ends[:-1]).any()) for ends in each)


def surely_differ(pieces: Iterable[pa.LargeStringArray], n: int) -> bool:
    """Whether n cells, none missing, are certainly distinct and not empty.

    Compares hashes of 8 bytes, where a set of the cells would take ten times as much memory. Also False if different
    cells have the same hash or a cell is long: to be certain, callers must then compare the cells.
    """
    hashes, done = np.empty(n, dtype=np.uint64), 0
    for piece in pieces:
        for start in range(0, len(piece), _HASHED):
            some = piece.slice(start, _HASHED)
            ends = _ends_of(some)
            lengths = np.diff(ends)
            if not 0 < lengths.min() <= lengths.max() <= _LONGEST:
                return False
            hashes[done : done + len(some)] = _hashes(ends, some.buffers()[2])
            done += len(some)
    hashes.sort()
    return not (hashes[1:] == hashes[:-1]).any()


def _hashes(ends: npt.NDArray[np.int64], text: pa.Buffer | None) -> npt.NDArray[np.uint64]:
    """Compute FNV-1a of each cell, byte by byte for all cells at once."""
    found = np.full(len(ends) - 1, 0xCBF29CE484222325, dtype=np.uint64)
    signs = np.frombuffer(text or b"", dtype=np.uint8)
    lengths = np.diff(ends)
    least = lengths.min()
    for place in range(lengths.max()):
        rows = slice(None) if least > place else np.flatnonzero(lengths > place)
        found[rows] = (found[rows] ^ signs[ends[:-1][rows] + place]) * np.uint64(0x100000001B3)
    return found


class GatheredText:
    """Concatenate pieces of a text column in memory that is reused for the next column.

    Allocating that much memory each time would take as long as reading a file.
    """

    def __init__(self) -> None:
        self._text: npt.NDArray[np.uint8] = np.empty(16, dtype=np.uint8)
        self._ends: npt.NDArray[np.int64] = np.zeros(16, dtype=np.int64)
        self._n = 0

    def add(self, piece: pa.LargeStringArray) -> None:
        """Append these cells, none missing."""
        if not len(piece):
            return
        ends, text = _ends_of(piece), piece.buffers()[2]
        begin, n = int(self._ends[self._n]), self._n + len(piece)
        size = int(ends[-1] - ends[0])
        self._text, self._ends = _with_room(self._text, begin + size), _with_room(self._ends, n + 1)
        if size:
            self._text[begin : begin + size] = np.frombuffer(text, dtype=np.uint8)[ends[0] : ends[-1]]
        np.add(ends[1:], begin - ends[0], out=self._ends[self._n + 1 : n + 1])
        self._n = n

    def take(self) -> pa.LargeStringArray:
        """Return all cells as one column, valid until the next `add`, which starts a new column."""
        n, self._n = self._n, 0
        buffers = pa.py_buffer(self._ends[: n + 1]), pa.py_buffer(self._text[: self._ends[n]])
        return pa.LargeStringArray.from_buffers(n, *buffers)


def _with_room(array: AnyArray, size: int) -> AnyArray:
    """Return the array, or a copy of at least twice the size if it is too small."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


_QUOTE, _COMMA, _LINE_END, _NOTHING = (pa.scalar(text, pa.large_string()) for text in ('"', ",", "\n", ""))
_SIGNS = tuple(sign.encode() for sign in ',;\t"\r\n\ufeff')
_AT_ONCE = 10_000


def to_csv_bytes(frame: pd.DataFrame) -> bytes:
    """Write a DataFrame of str, with at least one row and column, as CSV. Only cells that need quotes have them."""
    table = pa.table(
        [pa.array(frame.iloc[:, place], pa.large_string()) for place in range(frame.shape[1])],
        names=[str(place) for place in range(frame.shape[1])],
    )
    pieces = (table.slice(start, _AT_ONCE) for start in range(0, table.num_rows, _AT_ONCE))
    return b"".join([csv_header([str(name) for name in frame.columns]), *(csv_rows(some.columns) for some in pieces)])


def csv_header(names: Sequence[str]) -> bytes:
    """Return the header line."""
    return csv_rows([pa.array([name], pa.large_string()) for name in names])


def csv_lines(rows: Iterable[Sequence[str]]) -> bytes:
    """Return the lines of some rows, at least one, from the cells of each."""
    return csv_rows([pa.array(list(column), pa.large_string()) for column in zip(*rows, strict=True)])


def csv_rows(columns: Sequence[pa.Array | pa.ChunkedArray]) -> bytes:
    """Return the lines of some rows. columns : large_string, of equal length, none missing"""
    # Quote every cell with a character that may be read as a delimiter, a line end or a byte order mark.
    needs_quotes = '[,;\t"\r\n\ufeff]' if len(columns) > 1 else '[,;\t|"\r\n\ufeff]|^$'
    written = []
    for column in map(in_one_piece, columns):
        text = bytes_of(column)  # search all cells at once: most columns need no quotes
        if len(columns) > 1 and not any(sign in text for sign in _SIGNS):
            written.append(column)
            continue
        needs = pc.match_substring_regex(column, needs_quotes)
        if pc.any(needs).as_py():
            inside = pc.replace_substring(column, '"', '""')
            column = pc.if_else(needs, pc.binary_join_element_wise(_QUOTE, inside, _QUOTE, _NOTHING), column)
        written.append(column)
    *others, last = written
    ended = pc.binary_join_element_wise(last, _LINE_END, _NOTHING)
    return bytes_of(pc.binary_join_element_wise(*others, ended, _COMMA))
