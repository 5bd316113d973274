"""Files that came with a table, laid out under the names by which they are kept, for another process to take."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from plcore.tables.folder import Folder
from plcore.tables.media_files import MediaFiles


class KeptFiles:
    """Files that were looked at, by their kept names.

    paths : where each lies      of : what has to live as long as they are to be had
    """

    def __init__(self, paths: Mapping[str, Path], of: object = None) -> None:
        self.paths = dict(paths)
        self._of = of

    def open(self, kept_name: str) -> BinaryIO:
        """A file, from its first byte on."""
        return self.paths[kept_name].open("rb")

    def close(self) -> None:
        """Let go of what keeps them; nothing can be read any more."""
        self.paths.clear()
        self._of = None


def lay_out(files: MediaFiles, names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Where the files of these kept names lie: those of a folder where they are, others are written to this one."""
    found = {}
    for kept in names:
        name = files.kept[kept]
        source = files.archive
        tree = getattr(source, "files", source)  # found by base names
        if isinstance(tree, Folder):
            found[kept] = tree.path_of(name)
            continue
        folder.mkdir(exist_ok=True)
        found[kept] = folder / kept
        with files.open(kept) as given, found[kept].open("xb") as file:
            shutil.copyfileobj(given, file, 1 << 20)
    return found
