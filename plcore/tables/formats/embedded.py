"""Files that lie in the cells of a table file itself, as Hugging Face writes images and recordings into Parquet."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import BinaryIO

from plcore.common.words import quoted
from plcore.tables.file_tree import MediaError

_ENDINGS = (
    (b"\x89PNG", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"fLaC", ".flac"),
    (b"OggS", ".ogg"),
    (b"ID3", ".mp3"),
    (b"\xff\xfb", ".mp3"),
)


class EmbeddedFiles:
    """Files by name, in memory; a `plcore.tables.media_files.FileSource`."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def find(self, cell: str) -> str:
        """The file of this name. Raises MediaError where there is none."""
        name = cell.strip()
        if name not in self.files:
            fix = "Leave the cell empty, or put the file into the table."
            raise MediaError(f"the table holds no file {quoted(cell)}.", fix)
        return name

    def open(self, name: str) -> BinaryIO:
        """A file that `find` has named."""
        return io.BytesIO(self.files[name])

    def close(self) -> None:
        """Let go of the bytes."""
        self.files.clear()


def file_name(data: bytes, path: str | None, column: str, row: int) -> str:
    """What to call a file: the last part of its path, or its column and 1-based row with the ending of what it is."""
    name = PurePosixPath((path or "").replace("\\", "/")).name.strip()
    if name and name.isprintable():
        return name
    ending = next((ending for start, ending in _ENDINGS if data.startswith(start)), "")
    if data[:4] == b"RIFF":
        ending = {b"WEBP": ".webp", b"WAVE": ".wav"}.get(data[8:12], "")
    return f"{column}_{row}{ending}"
