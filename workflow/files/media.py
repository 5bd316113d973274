"""Images and recordings of tables: found for people who may see them (`finding`), and drawn (`spectrograms`)."""

from __future__ import annotations

import base64
import functools
import hashlib
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from workflow.access import NotFound, visible_projects
from workflow.files import limited
from workflow.files.stored import PATH as PATH
from workflow.files.stored import address, path_of
from workflow.rows.row import RowView, row_images, row_view, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.projects import Project
    from workflow.seat import Seat
    from workflow.server.home import Home


# Small pictures for lists, made on first request and cached next to the neighbours.
#
# `WINNOW_HOME/thumbnails/ab/abcd….webp`, under the name of the picture's content. A cache and nothing more: what is
# missing is rebuilt.

CONTENT_TYPE = "image/webp"
SMALL_ENOUGH = 4_000
"""Maximum letters of a data URL in a cell that is shown unchanged."""

SOUND_SIZE = 96, 80
"""Points of the small picture of a recording, as a list of projects shows it on a fine screen."""
HEARD = 5.0
"""Maximum seconds of a recording in a spectrogram: with more, no note would be visible."""

MAKERS = threading.BoundedSemaphore(2)
"""How many are made at a time: a picture of 50 million points takes 200 MB while it is."""

logger = logging.getLogger("winnow")


def thumbnail_of(home: Home, image: Path) -> bytes:
    """The small picture of a kept file. Raises MediaError where it is not an image, OSError where it cannot be read."""
    return _kept(home, image.stem, lambda: ({"path": str(image)}, image.stat().st_size))


def small_address(image: str) -> str:
    """Where the server gives the small picture of an image as a row shows it; a data URL is its own."""
    from plcore.tables import is_inline

    return image if is_inline(image) else f"{image}/small"


def small_url(home: Home, image: str) -> str:
    """A data URL of the small picture of an image as a row shows it, an address of this server or a data URL; "" where
    it cannot be read any more."""
    from plcore.tables import MediaError, is_inline

    if is_inline(image) and len(image) <= SMALL_ENOUGH:
        return image
    try:
        if is_inline(image):
            text = image.partition(",")[2]
            data = base64.b64decode(text)
            found = _kept(home, hashlib.sha256(data).hexdigest(), lambda: ({"inline": text}, len(data)))
        else:
            found = thumbnail_of(home, path_of(home.media_dir, image.removeprefix(address(""))))
    except (MediaError, OSError, ValueError):
        logger.warning("The small picture of %s cannot be made.", image[:80])
        return ""
    return f"data:{CONTENT_TYPE};base64,{base64.b64encode(found).decode()}"


def small_sound_url(home: Home, audio: str, segment: tuple[float | None, float | None] | None) -> str:
    """A data URL of a small spectrogram: the first HEARD seconds of a recording as a row shows it, or of its segment.

    "" if it cannot be read any more. It is redrawn each time.
    """
    from plcore.tables import MediaError

    path = path_of(home.media_dir, audio.removeprefix(address("")))
    start, end = segment or (None, None)
    drawn = {"around": 0.0, "width": SOUND_SIZE[0], "height": SOUND_SIZE[1]}
    given = {"path": str(path), "start": start, "end": end, "longest": HEARD, "heard": None, "dark": False}
    try:
        with MAKERS:
            found = limited.look("spectrogram", {**given, "drawn": drawn}, path.stat().st_size)
    except (MediaError, OSError):
        logger.warning("The small picture of %s cannot be drawn.", path.name)
        return ""
    return f"data:image/png;base64,{found['png']}"


def _kept(home: Home, digest: str, given: Callable[[], tuple[dict[str, str], int]]) -> bytes:
    """The small picture of an image with this SHA-256, made and kept if there is none yet.

    given : what the job that makes it is given (`workflow.files.limited.jobs`), and the image's bytes
    """
    path = path_of(home.thumbnails_dir, f"{digest}.webp")
    if path.is_file():
        return path.read_bytes()
    with MAKERS:
        made = base64.b64decode(limited.look("small_picture", *given()))
    aside = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as aside:
            aside.write(made)
        Path(aside.name).replace(path)
    except OSError:
        if aside is not None:
            Path(aside.name).unlink(missing_ok=True)
        logger.exception("A small picture could not be kept; it will be rebuilt.")
    return made


# Images and recordings, large and small, given to those who may see a row that names them.

SOUND = "sound"
"""In the place of a small picture: the row has none, but a recording."""
BEGINNING = 160
"""Characters of a text that a list shows."""
SHORT = 1_000
"""Maximum letters of an address, or of an inline picture, that is sent for each of 2,000 rows of a map."""


def find(seat: Seat, name: str) -> tuple[Path, str]:
    """The path of the file with this name, and its content type, for a person who may see it.

    Raises
    NotFound : No project in use that this person may see names such a file. The words are the same for a name that no
        file could have.
    NotAllowed : The person is unknown or disabled.
    """
    from plcore.tables import CONTENT_TYPES, is_kept_name

    home = seat.home
    with seat.reading() as reading:
        seen = visible_projects(reading.session, reading)
        tables = {one.table_hash for one, _ in seen if one.in_use and _may_name_files(one)}
    if not is_kept_name(name) or not any(name in _named_by(home.table_path(table)) for table in tables):
        raise NotFound("There is no such file here.")
    path = path_of(home.media_dir, name)
    if not path.is_file():
        raise NotFound("The file is gone from the data folder. Fix: restore it from a backup.")
    return path, CONTENT_TYPES[path.suffix[1:]]


def find_small(seat: Seat, name: str) -> tuple[bytes, str]:
    """The thumbnail of the image with this name, and its content type, for a person who may see the image.

    Raises NotFound: as `find`; and of a recording, or an image that cannot be read any more, there is no small picture.
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
    """Return for each of these rows the address of the small picture of its first image, SOUND, or "" if it
    has neither; None if the project has neither images nor recordings.

    Only pictures that are in their cells and too long for a list are made small here, once."""
    with seat.learner() as opened:
        table = opened.learner.table
    if table.roles.image is None and table.roles.audio is None:
        return None
    sounds = table.media.audio
    found = []
    for row in rows:
        images = row_images(table, row)
        sound = SOUND if sounds is not None and sounds[row] else ""
        found.append(_listed(seat.home, images[0]) if images else sound)
    return tuple(found)


def _listed(home: Home, image: str) -> str:
    from plcore.tables import is_inline

    return small_url(home, image) if is_inline(image) else small_address(image)


def small_addresses(seat: Seat, rows: Sequence[int]) -> dict[int, str]:
    """Return the address of the small picture of each row's first image, for rows that have one: a guarded address of
    this server, or a data URL of at most SHORT letters."""
    with seat.learner() as opened:
        table = opened.learner.table
    if table.roles.image is None:
        return {}
    first = {row: small_address(images[0]) for row in rows if (images := row_images(table, row))}
    return {row: one for row, one in first.items() if len(one) <= SHORT}


def first_words(seat: Seat, rows: Sequence[int]) -> tuple[str, ...] | None:
    """For each of these rows of the project the beginning of its text on one line, "" if it has none; None if the
    project has no texts."""
    with seat.learner() as opened:
        table = opened.learner.table
    if table.roles.text is None:
        return None
    return tuple(" ".join(text_of(table, row)[:BEGINNING].split()) for row in rows)


def row_of(seat: Seat, row: int) -> RowView:
    """A row of the project with its original cells, for people who may see the project."""
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
