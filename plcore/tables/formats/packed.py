"""Files that are packed: gzip, and zips of a table with its images and recordings."""

from __future__ import annotations

import io
import zipfile
import zlib

from plcore.tables.archive import ZIP_FAULTS
from plcore.tables.columns import Finder, first_rows, stripped
from plcore.tables.csv_text import LINE_INDEX
from plcore.tables.file_tree import MAX_ZIP_MB, FileTree
from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.problems import table_error

GZIP_START = b"\x1f\x8b"
_PIECE = 1 << 20
_MB = 1_000_000
_ANEW = "Pack it anew, or import the file without packing it."


def gunzip(data: bytes) -> bytes:
    """What a gzip file holds. Raises TableError: damaged, or larger than is taken, found out while unpacking."""
    pieces, size = [], 0
    rest = data
    while rest.startswith(GZIP_START):  # a file may be several, one after the other
        unpacker = zlib.decompressobj(wbits=31)
        try:
            while not unpacker.eof:
                piece = unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
                if not piece and not rest and not unpacker.eof:
                    raise refusal("The gzip file ends in the middle.", _ANEW)
                pieces.append(piece)
                size += len(piece)
                if size > MAX_ZIP_MB * _MB:
                    message = f"Unpacked, the file has more than {MAX_ZIP_MB} MB, the most that is taken."
                    raise refusal(message, "Import the table in parts.")
        except zlib.error as error:
            raise refusal(f"The gzip file is damaged ({error}).", _ANEW) from error
        rest = unpacker.unused_data
    return b"".join(pieces)


def names_in_zip(data: bytes) -> frozenset[str]:
    """The names of a zip's entries; none where it cannot be read, which is for `Archive` to say."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return frozenset(file.namelist())
    except ZIP_FAULTS:
        return frozenset()


def refuse_drawings(reading: TableReading, archive: FileTree) -> None:
    """Raise TableError where cells name SVG files of the zip, which would be dropped without a word."""
    drawings = {name.rpartition("/")[2] for name in archive.names() if name.lower().endswith(".svg")}
    if not drawings:
        return
    lines = reading.cells.index if reading.cells.index.name == LINE_INDEX else None
    finder = Finder(None if lines is None else lines.tolist())
    for column in reading.cells.columns:
        last = stripped(reading.cells, column).to_pandas().str.rpartition("/")[2]
        for row in first_rows(last.isin(drawings).to_numpy()):
            message = "SVG images are not taken: they can carry programs."
            finder.add(row, column, message, "Save it as PNG, JPEG, WebP or GIF, and name that file.")
    if finder.problems:
        raise table_error(finder.problems)
