"""How large the sheets of an old Excel workbook (.xls) are, found before a reader makes room for them.

The reader makes the whole rectangle from the first cell to the last of every sheet at once, so twenty sheets of two
cells each, a file of 20 kB, would take 10 GB. Here the stream of the workbook is put together ([MS-CFB]) and the
places of its cells are looked at ([MS-XLS] 2.4), nothing else of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from plcore.tables.formats.reading import refusal

_END = 0xFFFFFFFA  # from here on numbers of sectors mean something else
_ENTRY = 128  # bytes of an entry of the directory
_NAMES = ("Workbook", "Book")
_FIX = "Open it in its program, save it as .xlsx or CSV UTF-8, and import that."
_BOF = (0x0009, 0x0209, 0x0409, 0x0809)
_CELLS = frozenset((0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E, 0x0002, 0x0003, 0x0004))
"""Formulas, several numbers, text and numbers of all versions, truth values, errors."""
_SEVERAL = 0x00BD  # numbers in columns from the first to the last, which the record ends in


def cells_of_xls(data: bytes) -> int:
    """Cells of the rectangles around the cells of each sheet, summed. Raises TableError where it is damaged."""
    try:
        return sum(_areas(_workbook(data)))
    except (struct.error, IndexError, MemoryError) as error:
        raise refusal("The workbook is damaged: a part of it is cut off.", _FIX) from error


class _Sectors(NamedTuple):
    """The parts of a stream that lie anywhere in `data`: part k from byte (k + first) * size on, followed by part
    `next_of[k]`."""

    data: bytes
    size: int
    first: int
    next_of: tuple[int, ...]

    def stream(self, start: int, most: int | None = None) -> bytes:
        """The stream that begins in this part, of at most so many bytes."""
        parts, left = [], len(self.next_of)
        while start < _END:
            if left == 0:
                raise refusal("The workbook is damaged: its parts follow one another in a circle.", _FIX)
            begin = (start + self.first) * self.size
            parts.append(self.data[begin : begin + self.size])
            start, left = self.next_of[start], left - 1
        return b"".join(parts)[:most]


def _workbook(data: bytes) -> bytes:
    """The stream with the sheets."""
    shifts = struct.unpack_from("<HH", data, 30)
    if shifts not in ((9, 6), (12, 6)):
        raise refusal("The workbook is damaged: its parts have no size that there is.", _FIX)
    size, small = (1 << shift for shift in shifts)
    (directory,) = struct.unpack_from("<I", data, 48)
    least, small_table, _, more, n_more = struct.unpack_from("<5I", data, 56)
    places = list(struct.unpack_from("<109I", data, 76))
    for _ in range(min(n_more, len(data) // size)):
        if more >= _END:
            break
        *found, more = struct.unpack_from(f"<{size // 4}I", data, (more + 1) * size)
        places += found
    table = b"".join(data[(k + 1) * size : (k + 2) * size] for k in places if k < _END)
    sectors = _Sectors(data, size, 1, _numbers(table))
    entries = sectors.stream(directory)
    root = entries[:_ENTRY]
    for place in range(0, len(entries) - _ENTRY + 1, _ENTRY):
        entry = entries[place : place + _ENTRY]
        length = min(max(int.from_bytes(entry[64:66], "little") - 2, 0), 64)
        if entry[:length].decode("utf-16-le", errors="replace") in _NAMES:
            start, n_bytes = struct.unpack_from("<II", entry, 116)
            if n_bytes >= least:
                return sectors.stream(start, n_bytes)
            (inner,) = struct.unpack_from("<I", root, 116)
            smalls = _Sectors(sectors.stream(inner), small, 0, _numbers(sectors.stream(small_table)))
            return smalls.stream(start, n_bytes)
    raise refusal("This is no workbook, though it begins like one of old Excel.", _FIX)


def _numbers(table: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(table) // 4}I", table[: len(table) // 4 * 4])


def _areas(stream: bytes) -> Iterator[int]:
    """The cells of the rectangle of each sheet, one that ends before its end included."""
    position = 0
    rows: tuple[int, int] | None = None
    columns = (0, 0)
    while position + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, position)
        position += 4
        if kind in _BOF:
            yield _area(rows, columns)
            rows = None
        elif kind in _CELLS and length >= 4 and position + length <= len(stream):
            row, column = struct.unpack_from("<HH", stream, position)
            last = column
            if kind == _SEVERAL and length >= 6:
                (last,) = struct.unpack_from("<H", stream, position + length - 2)
            if rows is None:
                rows, columns = (row, row), (column, max(column, last))
            rows = min(rows[0], row), max(rows[1], row)
            columns = min(columns[0], column), max(columns[1], column, last)
        position += length
    yield _area(rows, columns)


def _area(rows: tuple[int, int] | None, columns: tuple[int, int]) -> int:
    return 0 if rows is None else (rows[1] - rows[0] + 1) * (columns[1] - columns[0] + 1)
