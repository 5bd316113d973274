"""A folder with one table and the files its rows name, on the machine that reads it: long recordings need no packing.
Nothing of it is read but the table and what its rows name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from plcore.common.words import quoted
from plcore.tables.file_tree import (
    MAX_FILES,
    MB,
    SMALLER,
    FileTree,
    MediaError,
    in_mb,
    is_litter,
    most_mb,
    normal,
    refused,
)


class Folder(FileTree):
    """The files under a folder, `path`; hidden ones, links to folders and what file managers add are passed over.

    Raises TableError: too many files; two whose names look alike; not exactly one table, as of a zip. OSError where the
    folder cannot be read.
    """

    what = "folder"

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._files: dict[str, Path] = {}
        for parent, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(parent, name)
                inside = normal(path.relative_to(folder).as_posix())
                if is_litter(inside):
                    continue
                if len(self._files) >= MAX_FILES:
                    message = f"The folder holds more than {MAX_FILES:,} files."
                    raise refused(message, "Take the table and its files into a folder of their own.")
                if inside in self._files:
                    fix = "Keep one of them. (Names that look alike on your screen count as the same.)"
                    raise refused(f"The folder holds two files named {quoted(inside)}.", fix)
                self._files[inside] = path
        super().__init__(self._files)

    def open(self, name: str) -> BinaryIO:
        """A file that `find` has named, from its first byte on. Raises MediaError: too large, or it cannot be read."""
        try:
            file = self._files[name].open("rb")
        except OSError as error:
            raise MediaError(
                f"it cannot be read ({error.strerror or error}).", "Make it readable."
            ) from error
        size, most = os.fstat(file.fileno()).st_size, most_mb(name)
        if size > most * MB:
            file.close()
            raise MediaError(f"it has {in_mb(size)} MB; at most {most:,} are taken.", SMALLER)
        return file

    def path_of(self, name: str) -> Path:
        """Where a file lies that `find` has named."""
        return self._files[name]

    def close(self) -> None:
        """Nothing is held."""


def _raise(error: OSError) -> None:
    raise error
