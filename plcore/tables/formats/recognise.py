"""Which format a file has, by its first bytes, and the reader that goes with it."""

from __future__ import annotations

from pathlib import Path

from plcore.tables.archive import ZIP_STARTS, Archive
from plcore.tables.csv_text import read_cells
from plcore.tables.formats.reading import Reading
from plcore.tables.media import MediaFiles


def read_table(source: bytes | Path, name: str | None = None) -> Reading:  # noqa: ARG001
    """The table in these bytes, or in the file at this path.

    name : of the file, where only its bytes are given; None: that of the path
    Raises TableError, in words with row, column and fix, where nothing can be read from it.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    if data.startswith(ZIP_STARTS):
        archive = Archive(data)
        return Reading(
            read_cells(archive.table()), "zip of a CSV file and its files", files=MediaFiles(archive)
        )
    return Reading(read_cells(data), "CSV file")
