"""Images and recordings, given to those who may see a row that names them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from db import projects
from workflow.access import NotFound
from workflow.common.files import PATH, path_of

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["PATH", "find"]


def find(seat: Seat, name: str) -> tuple[Path, str]:
    """Where the file of this name is kept, and its content type, for a person who may see it.

    Raises
    ------
    NotFound
        No project in use names such a file. The words are the same for a name that no file could have.
    NotAllowed
        The person is unknown or disabled.
    """
    from plcore.tables import CONTENT_TYPES, is_kept_name

    home = seat.home
    with seat.reading() as reading:
        tables = {one.table_hash for one in projects.listed(reading.session) if _may_name_files(one)}
    if not is_kept_name(name) or not any(name in _named_by(home.table_path(table)) for table in tables):
        raise NotFound("There is no such file here.")
    path = path_of(home.media_dir, name)
    if not path.is_file():
        raise NotFound("The file is gone from the data folder. Fix: restore it from a backup.")
    return path, CONTENT_TYPES[path.suffix[1:]]


def _may_name_files(project: projects.Project) -> bool:
    return bool(project.roles.get("image") or project.roles.get("audio"))


@functools.lru_cache(maxsize=64)
def _named_by(table_path: Path) -> frozenset[str]:
    """The kept names in a stored table. Tables never change: read once."""
    from plcore.tables import read_kept_names

    return read_kept_names(table_path)
