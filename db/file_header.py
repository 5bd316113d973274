"""What the first bytes of an SQLite file say, read without SQLite: sqlite.org/fileformat.html, part 1.3."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"SQLite format 3\0"
"""What every file of SQLite begins with."""
_FIELDS = struct.Struct(">16xH10xI8xI16xI4xI")  # offsets 16, 28, 40, 60, 68
_LARGEST_PAGE = 65_536


@dataclass(frozen=True)
class FileHeader:
    """As of the last time that SQLite brought its log (`-wal`) into the file.

    mark : 31 bits of the database's id; 0 before it has one      height : as `db.identity.Identity` has it
    cookie : changes with every change of the tables; that of a copy by VACUUM is another one
    size : of the whole file in bytes, or more
    """

    mark: int
    height: int
    cookie: int
    size: int


def read_header(descriptor: int) -> FileHeader | None:
    """The header of this open file; None where it is no file of SQLite. Takes microseconds."""
    found = os.pread(descriptor, 100, 0)
    if len(found) < _FIELDS.size or not found.startswith(MAGIC):
        return None
    page, pages, cookie, height, mark = _FIELDS.unpack_from(found)
    return FileHeader(mark, height, cookie, pages * (_LARGEST_PAGE if page == 1 else page))


def is_empty(path: Path) -> bool:
    """Whether there is a file of 0 bytes. A database that SQLite has opened for writing has a header."""
    return path.is_file() and not path.stat().st_size


def is_no_sqlite(path: Path) -> bool:
    """Whether there is a file that does not begin as those of SQLite do. To be asked before SQLite opens it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) != MAGIC
