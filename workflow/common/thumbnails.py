"""Small pictures for lists, made when one is first wanted and kept beside the cached neighbours.

`WINNOW_HOME/thumbnails/ab/abcd….webp`, under the name of the picture's content. A cache and nothing more: what is
missing is made anew.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from workflow.common import limited
from workflow.common.files import address, path_of

if TYPE_CHECKING:
    from workflow.home import Home

CONTENT_TYPE = "image/webp"
SMALL_ENOUGH = 4_000
"""Letters of a data URL in a cell that is shown as it is."""

SOUND_SIZE = 96, 80
"""Points of the small picture of a recording, as a list of projects shows it on a fine screen."""
HEARD = 5.0
"""Seconds of a recording that are in it: of more than that one could tell no note."""

MAKERS = threading.BoundedSemaphore(2)
"""How many are made at a time: a picture of 50 million points takes 200 MB while it is."""

logger = logging.getLogger("winnow")


def thumbnail_of(home: Home, image: Path) -> bytes:
    """The small picture of a kept file. Raises MediaError where it is no image, OSError where it cannot be read."""
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

    "" where it cannot be read any more. It is drawn anew each time.
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
    """The small picture of an image with this SHA-256, made and kept where there is none yet.

    given : what the job that makes it is given (`workflow.common.limited.look_jobs`), and the image's bytes
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
        logger.exception("A small picture could not be kept; it will be made anew.")
    return made
