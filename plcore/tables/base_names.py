"""Files of a zip or folder found by paths of another machine: `C:\\rec\\a.wav` is `rec/a.wav`, or any `a.wav` there."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import BinaryIO

from plcore.common.words import listed, quoted
from plcore.tables.file_tree import FileTree, MediaError

_PARTS = re.compile(r"[\\/]+")


class FilesByBaseName:
    """A source of files (`plcore.tables.media_files.FileSource`) that finds by the last part of a path.

    Of several files of one base name that which shares most folders with the path, counted from the end. Capitals and
    the composition of accents make no difference. Nothing is ever looked for outside.
    """

    def __init__(self, files: FileTree) -> None:
        self.files = files
        self._alike: dict[str, list[str]] = defaultdict(list)
        for name in files.names():
            self._alike[_parts(name)[-1]].append(name)

    def find(self, cell: str) -> str:
        """The file that a path means. Raises MediaError: none, or several of its base name that fit as well."""
        parts = _parts(cell.strip())
        shared = {name: _shared(parts, _parts(name)) for name in self._alike.get(parts[-1], ())}
        best = [name for name, count in shared.items() if count == max(shared.values())]
        if len(best) == 1:
            return best[0]
        if best:
            named = f"the {self.files.what} holds {len(best)} files of that name"
            message = f"{quoted(cell)} may be {listed(best, 3)}: {named}."
            fix = "Put the files into folders called as in the table, or leave all but one of them out."
            raise MediaError(message, fix)
        message = f"the {self.files.what} holds no file named {quoted(base_name(cell))}."
        raise MediaError(
            message, f"Put the file into the {self.files.what}; folders do not matter, its name does."
        )

    def open(self, name: str) -> BinaryIO:
        """A file that `find` has named, from its first byte on. Raises MediaError where it is damaged."""
        return self.files.open(name)

    def close(self) -> None:
        """Let go of the bytes."""
        self.files.close()


def base_name(path: str) -> str:
    """The last part of a path of any machine, as it is written."""
    return _PARTS.split(path.strip().rstrip("\\/"))[-1]


def _parts(path: str) -> list[str]:
    return _PARTS.split(unicodedata.normalize("NFC", path).casefold())


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts at the end are the same."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count
