"""Images and recordings, large and small, given to those who may see a row that names them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.access import NotFound, visible_projects
from workflow.common.files import PATH, path_of
from workflow.common.rows import RowView, row_images, row_view, text_of
from workflow.common.thumbnails import CONTENT_TYPE, small_address, small_url, thumbnail_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.projects import Project
    from workflow.seat import Seat

__all__ = [
    "PATH",
    "SOUND",
    "find",
    "find_small",
    "first_words",
    "row_of",
    "small_addresses",
    "small_pictures",
]

SOUND = "sound"
"""In the place of a small picture: the row has none, but a recording."""
BEGINNING = 160
"""Characters of a text that a list shows."""
SHORT = 1_000
"""Letters of an address, or of a picture that is its own, which goes along for each of 2,000 rows of a map."""


def find(seat: Seat, name: str) -> tuple[Path, str]:
    """Where the file of this name is kept, and its content type, for a person who may see it.

    Raises
    ------
    NotFound
        No project in use that this person may see names such a file. The words are the same for a name that no file
        could have.
    NotAllowed
        The person is unknown or disabled.
    """
    from plcore.tables import CONTENT_TYPES, is_kept_name

    home = seat.home
    with seat.reading() as reading:
        seen = visible_projects(reading.session, reading.person)
        tables = {one.table_hash for one, _ in seen if one.in_use and _may_name_files(one)}
    if not is_kept_name(name) or not any(name in _named_by(home.table_path(table)) for table in tables):
        raise NotFound("There is no such file here.")
    path = path_of(home.media_dir, name)
    if not path.is_file():
        raise NotFound("The file is gone from the data folder. Fix: restore it from a backup.")
    return path, CONTENT_TYPES[path.suffix[1:]]


def find_small(seat: Seat, name: str) -> tuple[bytes, str]:
    """The small picture of the image of this name, and its content type, for a person who may see the large one.

    Raises
    ------
    NotFound
        As `find`; and of a recording, or an image that cannot be read any more, there is no small picture.
    NotAllowed
    """
    from plcore.tables import MediaError

    path, content_type = find(seat, name)
    if not content_type.startswith("image/"):
        raise NotFound("There is no small picture of a recording.")
    try:
        return thumbnail_of(seat.home, path), CONTENT_TYPE
    except MediaError as error:
        raise NotFound(f"There is no small picture of it: {error.args[0]}") from error


def small_pictures(seat: Seat, rows: Sequence[int]) -> tuple[str, ...] | None:
    """Of each of these rows of the project a data URL of its first image made small, SOUND, or "" where it has neither;
    None where the project has neither images nor recordings.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        table = opened.learner.table
    if table.roles.image is None and table.roles.audio is None:
        return None
    sounds = table.media.audio
    found = []
    for row in rows:
        images = row_images(table, row)
        sound = SOUND if sounds is not None and sounds[row] else ""
        found.append(small_url(seat.home, images[0]) if images else sound)
    return tuple(found)


def small_addresses(seat: Seat, rows: Sequence[int]) -> dict[int, str]:
    """Where the small picture of the first image of each of these rows of the project is given out, for those that have
    one: an address of this server, which is guarded, or a data URL of at most SHORT letters.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        table = opened.learner.table
    if table.roles.image is None:
        return {}
    first = {row: small_address(images[0]) for row in rows if (images := row_images(table, row))}
    return {row: one for row, one in first.items() if len(one) <= SHORT}


def first_words(seat: Seat, rows: Sequence[int]) -> tuple[str, ...] | None:
    """Of each of these rows of the project the beginning of its text on one line, "" where it has none; None where the
    project has no texts.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        table = opened.learner.table
    if table.roles.text is None:
        return None
    return tuple(" ".join(text_of(table, row)[:BEGINNING].split()) for row in rows)


def row_of(seat: Seat, row: int) -> RowView:
    """A row of the project as the file had it, for whoever may see the project.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        table = opened.learner.table
    if not 0 <= row < table.n_rows:
        raise NotFound(f"There is no row {row + 1}; the project has {table.n_rows:,}.")
    return row_view(table, row)


def _may_name_files(project: Project) -> bool:
    return bool(project.roles.get("image") or project.roles.get("audio"))


@functools.lru_cache(maxsize=64)
def _named_by(table_path: Path) -> frozenset[str]:
    """The kept names in a stored table. Tables never change: read once."""
    from plcore.tables import read_kept_names

    return read_kept_names(table_path)
