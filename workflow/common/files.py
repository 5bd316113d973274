"""Images and recordings of all tables: kept under the SHA-256 of their bytes.

`WINNOW_HOME/media/ab/abcd….png`: two letters of the name make the folder, so that none grows too long. The
files never change; the same file in two tables, or twice in one, is kept once.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from workflow.common.left_behind import NEW

if TYPE_CHECKING:
    from pathlib import Path

    from plcore import LabelTable

PATH = "/files"
"""Where the server gives them out (Streamlit keeps /media for itself)."""


def address(name: str) -> str:
    """The address of a kept file, from that of a page: nothing is before the pages that is not before the files."""
    return f"{PATH.lstrip('/')}/{name}"


def path_of(folder: Path, name: str) -> Path:
    """Where the file of this name is kept inside the folder of all files."""
    return folder / name[:2] / name


def keep(folder: Path, table: LabelTable) -> None:
    """Keep the files that the table names; those kept before stay as they are.

    Written aside, brought to disk all at once (a sync for each of 50,000 would take minutes), and named last:
    a file under its name is whole, also after a power cut. A disk that fills leaves nothing under a name.
    """
    if table.media.files is None:
        return
    names = [name for name in sorted(table.media.kept_names()) if not path_of(folder, name).exists()]
    if not names:
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    aside = tempfile.mkdtemp(dir=folder, prefix=NEW)
    new = folder / aside
    try:
        for name in names:
            with table.media.files.open(name) as given, (new / name).open("xb") as kept:
                shutil.copyfileobj(given, kept, 1 << 20)
        _sync()
        for name in names:
            target = path_of(folder, name)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            (new / name).replace(target)
        _sync()  # the names too, before a table names them
    finally:
        shutil.rmtree(new)


def _sync() -> None:
    if hasattr(os, "sync"):  # elsewhere the system alone decides when
        os.sync()
