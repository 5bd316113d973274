"""Images and recordings that the cells of a table name: found, checked, described, named by their content.

An image counts only if it can be decoded. The name under which a file is kept is the SHA-256 of its bytes and
the ending of what it *is*, whatever its own name says, so that a browser is never told a wrong type.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from plcore.tables.archive import MediaError
from plcore.tables.columns import Finder, check_images, stripped
from plcore.tables.descriptor import describe
from plcore.tables.image_reading import FORMATS, IMAGE_FIX, open_image
from plcore.tables.pictures import Look, is_inline, listed_images, mean_look
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.roles import Roles
from plcore.tables.segments import parse_segments

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif")
CONTENT_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "m4a": "audio/mp4",
}
"""What a browser is told of a kept file, by its ending. SVG is not among them: it can carry scripts."""

Kind = Literal["image", "audio"]

_HEAD = 12  # bytes that tell what a recording is
_KEPT_NAME = re.compile(rf"[0-9a-f]{{64}}\.({'|'.join(CONTENT_TYPES)})")
_AUDIO_FIX = "Save it as WAV, MP3, Ogg, FLAC or M4A, or leave the cell empty."


@dataclass(frozen=True)
class Media:
    """What the image and sound columns of a table hold; (n,) or (n, 192), None where nothing of the kind is.

    images, audio : the kept name of each row's first file, '' where the cell is empty or holds the image itself.
    more_images : of each row a tuple of the kept names of its other images; None where no row has more than one.
    looks : what each row's images look like, NaN where it has none; only where the roles ask for it.
    segments : (n, 2) seconds at which each row begins and ends in its recording; NaN for the recording's own begin and
        end. None where rows are whole recordings.
    files : where the bytes are to be had until they are kept; None for a table read back.
    """

    images: npt.NDArray[np.object_] | None = None
    audio: npt.NDArray[np.object_] | None = None
    looks: npt.NDArray[np.float32] | None = None
    segments: npt.NDArray[np.float64] | None = None
    files: MediaFiles | None = None
    more_images: npt.NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        for array in (self.images, self.audio, self.looks, self.segments, self.more_images):
            if array is not None:
                array.flags.writeable = False

    def kept_names(self) -> frozenset[str]:
        """The kept names of all files that the rows name."""
        columns = [column for column in (self.images, self.audio) if column is not None]
        more = () if self.more_images is None else self.more_images
        return frozenset(name for column in (*columns, *more) for name in column if name)

    def images_of(self, row: int) -> tuple[str, ...]:
        """The kept names of a row's images, in order."""
        first = () if self.images is None or not self.images[row] else (str(self.images[row]),)
        return first if self.more_images is None else (*first, *self.more_images[row])


class FileSource(Protocol):
    """Where files that came with a table are: a zip (`plcore.tables.archive.Archive`), a column of the table itself."""

    def find(self, cell: str, /) -> str:
        """The name of the file that a cell means. Raises MediaError."""

    def open(self, name: str, /) -> BinaryIO:
        """A file that `find` has named, seekable, from its first byte on. Raises MediaError."""

    def close(self) -> None:
        """Let go of the bytes."""


class MediaFiles:
    """The files of a source, each looked at once however many rows name it and however often they are read."""

    def __init__(self, archive: FileSource) -> None:
        self.archive = archive
        self._seen: dict[tuple[Kind, str], tuple[str, Look | None] | MediaError] = {}
        self._kept: dict[str, str] = {}

    def look_at(self, kind: Kind, cell: str) -> tuple[str, Look | None]:
        """The kept name of the file this cell names and, of an image, its look. Raises MediaError."""
        name = self.archive.find(cell)
        key = (kind, name)
        if key not in self._seen:
            try:
                with self.archive.open(name) as file:
                    sha = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
                    file.seek(0)
                    ending, look = (
                        read_image(file.read()) if kind == "image" else (audio_ending(file.read(_HEAD)), None)
                    )
                kept = f"{sha}.{ending}"
                self._kept[kept] = name
                self._seen[key] = kept, look
            except MediaError as error:
                self._seen[key] = error
        found = self._seen[key]
        if isinstance(found, MediaError):
            raise MediaError(*found.args)
        return found

    def open(self, kept_name: str) -> BinaryIO:
        """A file that `look_at` has seen."""
        return self.archive.open(self._kept[kept_name])

    def close(self) -> None:
        """Let go of bytes and looks, once the files are kept: the table may live for long."""
        self.archive.close()
        self._seen.clear()


def read_image(data: bytes) -> tuple[str, Look]:
    """The ending of what this image is, and its look. Raises MediaError: no image, too large, damaged."""
    with open_image(data) as image:
        return FORMATS[str(image.format)], describe(image)


def audio_ending(data: bytes) -> str:
    """The ending of what this recording is, by its first 12 bytes; no more is checked. Raises MediaError."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if data[:3] == b"ID3" or (len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2):  # MPEG layer III
        return "mp3"
    if data[:4] in (b"OggS", b"fLaC"):
        return "ogg" if data[:1] == b"O" else "flac"
    if data[4:8] == b"ftyp" and data[8:12] in (b"M4A ", b"M4B ", b"mp42", b"mp41", b"isom"):
        return "m4a"
    raise MediaError("this is no recording that a browser can play.", _AUDIO_FIX)


def is_kept_name(name: str) -> bool:
    """Whether a file could be kept under this name; nothing else may ever come near a path."""
    return _KEPT_NAME.fullmatch(name) is not None


def parse_media(cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder) -> Media:
    """What the columns of images and recordings hold. Problems: files missing or unreadable, cells of other kinds."""
    images = more = looks = audio = segments = None
    if roles.image is not None:
        images, more, looks = _images(cells, roles, files, finder)
    if roles.audio is not None:
        audio = _audio(cells, roles.audio, files, finder)
    if roles.start is not None or roles.end is not None:
        segments = parse_segments(cells, roles.start, roles.end, finder)
    return Media(images, audio, looks, segments, files, more)


def look_through(
    files: MediaFiles, cells: pd.DataFrame, roles: Roles, on_step: Callable[[float], None]
) -> None:
    """Look at every file that the rows name, telling the share done now and then; `parse_media` is quick afterwards.

    Stops early where there are more bad files than would be shown.
    """
    columns: list[tuple[Kind, str | None]] = [("image", name) for name in roles.picture_columns]
    columns.append(("audio", roles.audio))
    named = [
        (kind, part)
        for kind, column in columns
        if column is not None and column in cells
        for cell in dict.fromkeys(_texts(cells, column))
        for part in (listed_images(cell) if kind == "image" else [cell])
        if part and not is_inline(part)
    ]
    bad = 0
    for place, (kind, cell) in enumerate(named):
        if place % 50 == 0:
            on_step(place / len(named))
        try:
            files.look_at(kind, cell)
        except MediaError:
            bad += 1
            if bad >= MAX_PROBLEMS:
                return


def _images(
    cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder
) -> tuple[npt.NDArray[np.object_] | None, npt.NDArray[np.object_] | None, Look | None]:
    """Fields of `Media`: images, more_images, looks."""
    n_rows = len(cells)
    kept: list[list[str]] = [[] for _ in range(n_rows)]
    seen: list[list[Look]] = [[] for _ in range(n_rows)]
    for column in roles.picture_columns:
        listed = list(map(listed_images, _texts(cells, column)))
        inline = np.array([any(map(is_inline, parts)) for parts in listed])
        check_images(cells, column, finder, None if files is None else inline)
        if finder.problems and files is None:
            return None, None, None
        limit = len(finder.problems) + MAX_PROBLEMS
        for row, parts in enumerate(listed):
            if (inline[row] and not roles.image_features) or len(finder.problems) >= limit:
                continue
            try:
                for part in parts:
                    if inline[row]:
                        look: Look | None = read_image(_decoded(part))[1]
                    else:
                        assert files is not None  # noqa: S101 - check_images has refused the cell without them
                        name, look = files.look_at("image", part)
                        kept[row].append(name)
                    if look is not None and roles.image_features:
                        seen[row].append(look)
            except MediaError as error:
                finder.add(row, column, *error.args)
    if roles.image_features and not finder.problems and not any(seen):
        fix = "Choose other features, or fill the column."
        finder.add(None, roles.image, "there is no image to learn from: every cell is empty.", fix)
    images = more = looks = None
    if any(kept):
        images = np.array([names[0] if names else "" for names in kept], dtype=object)
    if any(len(names) > 1 for names in kept):
        more = np.empty(n_rows, dtype=object)
        more[:] = [tuple(names[1:]) for names in kept]
    if roles.image_features:
        looks = np.array([mean_look(one) for one in seen], dtype=np.float32)
    return images, more, looks


def _audio(
    cells: pd.DataFrame, column: str, files: MediaFiles | None, finder: Finder
) -> npt.NDArray[np.object_]:
    texts = _texts(cells, column)
    names = np.full(len(texts), "", dtype=object)
    limit = len(finder.problems) + MAX_PROBLEMS
    for row, text in enumerate(texts):
        if not text or len(finder.problems) >= limit:
            continue
        try:
            if files is None:
                raise MediaError("the recording is not there: this is a CSV alone.", _ZIP_FIX)
            names[row], _ = files.look_at("audio", text)
        except MediaError as error:
            finder.add(row, column, *error.args)
    return names


_ZIP_FIX = "Import a zip of the CSV and its files, or take the column's role away."


def _texts(cells: pd.DataFrame, column: str) -> list[str]:
    return [str(text) for text in stripped(cells, column).to_pylist()]


def _decoded(url: str) -> bytes:
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        raise MediaError("the data URL is not base64.", IMAGE_FIX) from None
