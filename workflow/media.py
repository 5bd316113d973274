"""Images and recordings: kept under the SHA-256 of their bytes, given to those who may see a row that names them.

`WINNOW_HOME/media/ab/abcd….png`: two letters of the name make the folder, so that none grows too long. The
files never change; the same file in two tables, or twice in one, is kept once.
"""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from db import projects
from workflow import access
from workflow.access import NotFound

if TYPE_CHECKING:
    from plcore import LabelTable
    from workflow.home import Home

PATH = "/files"
"""Where the server gives them out (Streamlit keeps /media for itself)."""


def address(name: str) -> str:
    """The address of a kept file on this server."""
    return f"{PATH}/{name}"


def keep(folder: Path, table: LabelTable) -> None:
    """Keep the files that the table names; those kept before stay as they are.

    Written aside, brought to disk all at once (a sync for each of 50,000 would take minutes), and named last:
    a file under its name is whole, also after a power cut. A disk that fills leaves nothing under a name.
    """
    if table.media.files is None:
        return
    names = [name for name in sorted(table.media.kept_names()) if not _path(folder, name).exists()]
    if not names:
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    try:
        for name in names:
            (aside / name).write_bytes(table.media.files.read(name))
        _sync()
        for name in names:
            target = _path(folder, name)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            (aside / name).replace(target)
        _sync()  # the names too, before a table names them
    finally:
        shutil.rmtree(aside)


def _sync() -> None:
    if hasattr(os, "sync"):  # elsewhere the system alone decides when
        os.sync()


def _path(folder: Path, name: str) -> Path:
    return folder / name[:2] / name


def find(home: Home, person_id: int, name: str) -> tuple[Path, str]:
    """Where the file of this name is kept, and its content type, for a person who may see it.

    Raises
    ------
    NotFound
        No project in use names such a file; a name that no file could have says no more.
    NotAllowed
        The person is unknown or disabled.
    """
    from plcore.tables.media import CONTENT_TYPES, is_kept_name

    with home.database.read() as session:
        access.require_person(session, person_id)
        tables = {one.table_hash for one in projects.listed(session) if _may_name_files(one)}
    if not is_kept_name(name) or not any(name in _named_by(home.table_path(table)) for table in tables):
        raise NotFound("There is no such file here.")
    path = _path(home.media_dir, name)
    if not path.is_file():
        raise NotFound("The file is gone from the data folder. Fix: restore it from a backup.")
    return path, CONTENT_TYPES[path.suffix[1:]]


def _may_name_files(project: projects.Project) -> bool:
    return bool(project.roles.get("image") or project.roles.get("audio"))


@functools.lru_cache(maxsize=64)
def _named_by(table_path: Path) -> frozenset[str]:
    """The kept names in a stored table. Tables never change: read once."""
    from plcore.tables.table_file import read_kept_names

    return read_kept_names(table_path)
