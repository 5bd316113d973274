"""Old Excel workbooks (.xls), written by hand: a BIFF8 stream in a compound file ([MS-XLS], [MS-CFB])."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR = 512
Cell = tuple[int, int, str | float]


def xls(sheets: Mapping[str, Sequence[Cell]]) -> bytes:
    """A workbook with these (row, column, value), from 0, in each sheet."""
    bodies = [
        _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0))
        + b"".join(map(_cell, cells))
        + _record(0x000A)
        for cells in sheets.values()
    ]
    begin = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0))
    names = [struct.pack("<BB", len(name), 0) + name.encode("ascii") for name in sheets]
    place = len(begin) + sum(4 + 6 + len(name) for name in names) + 4
    for name, body in zip(names, bodies, strict=True):
        begin += _record(0x0085, struct.pack("<IBB", place, 0, 0) + name)
        place += len(body)
    return compound(b"".join([begin, _record(0x000A), *bodies]))


def table(rows: Sequence[Sequence[str | float]]) -> list[Cell]:
    return [(r, c, value) for r, row in enumerate(rows) for c, value in enumerate(row)]


def compound(stream: bytes) -> bytes:
    """A compound file with this stream, called Workbook; one of less than 4,096 bytes in small sectors."""
    is_small = len(stream) < 4096
    unit = 64 if is_small else _SECTOR
    n_parts = -(-len(stream) // unit)
    padded = stream.ljust(n_parts * unit, b"\0")
    mini = b"".join(struct.pack("<I", k + 1 if k + 1 < n_parts else _END) for k in range(n_parts))
    mini = mini.ljust(-(-len(mini) // _SECTOR) * _SECTOR, b"\xff") if is_small else b""
    body = padded.ljust(-(-len(padded) // _SECTOR) * _SECTOR, b"\0")
    n_body, n_mini = len(body) // _SECTOR, len(mini) // _SECTOR
    n_fat = 1
    while (n_fat + 1 + n_mini + n_body) * 4 > n_fat * _SECTOR:
        n_fat += 1
    first_body = n_fat + 1 + n_mini
    fat = [_FAT] * n_fat + [_END] + _chain(n_fat + 1, n_mini) + _chain(first_body, n_body)
    table_ = struct.pack(f"<{len(fat)}I", *fat).ljust(n_fat * _SECTOR, b"\xff")
    root = _entry("Root Entry", 5, first_body if is_small else _END, len(body) if is_small else 0, child=1)
    book = _entry("Workbook", 2, 0 if is_small else first_body, len(stream))
    directory = (root + book).ljust(_SECTOR, b"\0")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIII", 0, n_fat, n_fat, 0, 4096)
    head += struct.pack("<IIII", n_fat + 1 if is_small else _END, n_mini, _END, 0)
    head += struct.pack("<109I", *range(n_fat), *[_FREE] * (109 - n_fat))
    return head + table_ + directory + mini + body


def _chain(start: int, count: int) -> list[int]:
    return [start + k + 1 if k + 1 < count else _END for k in range(count)]


def _entry(name: str, kind: int, start: int, size: int, child: int = _FREE) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    named = text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1)
    return named + struct.pack("<III", _FREE, _FREE, child) + bytes(36) + struct.pack("<IQ", start, size)


def _record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def _cell(cell: Cell) -> bytes:
    row, column, value = cell
    place = struct.pack("<HHH", row, column, 0)
    if isinstance(value, str):
        return _record(0x0204, place + struct.pack("<HB", len(value), 1) + value.encode("utf-16-le"))
    return _record(0x0203, place + struct.pack("<d", value))
