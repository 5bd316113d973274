"""Files that came with a table: found by cell, read once, and stored under a hash of their content."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

import numpy as np
import pandas as pd

from plcore.arrays.types import FloatArray
from plcore.tables.columns import Finder, first_rows, parse_numbers
from plcore.tables.media.file_tree import FilesByBaseName, FileTree, Folder, MediaError
from plcore.tables.media.images import FORMATS, Look, describe, listed_images, open_image
from plcore.tables.media.sound import Sound, SoundError, describe_sound

Segment = tuple[float | None, float | None]
"""Start and end in seconds; None for the recording's own."""


def parse_segments(cells: pd.DataFrame, start: str | None, end: str | None, finder: Finder) -> FloatArray:
    """Read the start and end of each row in its recording, (n, 2) in seconds; NaN if a cell is empty or a column None.

    Problems: text, seconds below 0, an end that is not after its start.
    """
    segments = np.full((len(cells), 2), np.nan)
    for place, column in enumerate((start, end)):
        if column is None:
            continue
        seconds = segments[:, place] = parse_numbers(cells, [column], finder)[:, 0]
        for row in first_rows(seconds < 0):
            message = f"a recording has no second {seconds[row]:g}."
            finder.add(row, column, message, "Count the seconds from its begin, from 0 on.")
    begins = np.where(np.isnan(segments[:, 0]), 0.0, segments[:, 0])
    for row in first_rows(segments[:, 1] <= begins):
        message = f"the segment ends at second {segments[row, 1]:g}, but begins at second {begins[row]:g}."
        finder.add(row, end, message, "Write seconds from the begin of the recording, the end after the start.")
    return segments


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
"""Content type of a stored file, by its ending. SVG is not among them: it can carry scripts."""

Kind = Literal["image", "audio"]

_HEAD = 12  # bytes that identify the format of a recording
_KEPT_NAME = re.compile(rf"[0-9a-f]{{64}}\.({'|'.join(CONTENT_TYPES)})")
_AUDIO_FIX = "Save it as WAV, MP3, Ogg, FLAC or M4A, or leave the cell empty."


class FileSource(Protocol):
    """A source of the files that came with a table: a zip (`media.file_tree.Archive`), or a column of the table."""

    def find(self, cell: str, /) -> str:
        """Return the name of the file that a cell means. Raises MediaError."""

    def open(self, name: str, /) -> BinaryIO:
        """Open a file by its name from `find`: seekable, at its first byte. Raises MediaError."""

    def close(self) -> None:
        """Release the bytes."""


def _nothing() -> None:
    """Do nothing: the default for `tell`."""


class MediaFiles:
    """The files of a source; each is examined once, no matter how many rows name it and how often it is read."""

    def __init__(self, archive: FileSource) -> None:
        self.archive = archive
        self._seen: dict[tuple[Kind, str], tuple[str, Look | None] | MediaError] = {}
        self._kept: dict[str, str] = {}
        self._heard: dict[tuple[str, Segment], Look | MediaError] = {}

    def look_at(self, kind: Kind, cell: str) -> tuple[str, Look | None]:
        """Return the stored name of a cell's file and, for an image, its features. Raises MediaError."""
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

    def listen(
        self, cell: str, segments: Sequence[Segment], *, describe: bool, tell: Callable[[], None] = _nothing
    ) -> list[Look | MediaError | None]:
        """Return the sound features of these segments of a cell's recording, or the error of an invalid segment.

        describe : False to return None instead of features      tell : called after each new result
        Raises SoundError if the recording cannot be decoded, MediaError as `look_at`.
        """
        name = self.archive.find(cell)
        if all((name, one) in self._heard for one in segments):
            return [self._heard[name, one] for one in segments]
        found: list[Look | MediaError | None] = []
        with self.archive.open(name) as file, Sound(file) as sound:
            for segment in segments:
                said: Look | MediaError | None
                try:
                    sound.span(*segment)
                    said = describe_sound(sound, *segment) if describe else None
                except SoundError as error:
                    said = error
                if said is not None:
                    self._heard[name, segment] = said
                    tell()
                found.append(said)
        return found

    @property
    def inexact(self) -> Mapping[str, str]:
        """Cells that were taken for a file with another path, and the file's path."""
        return self.archive.inexact if isinstance(self.archive, (FileTree, FilesByBaseName)) else {}

    def has_any(self, cells: Iterable[str]) -> bool:
        """Whether any of these cells names a file."""
        return any(self._has(part) for cell in cells for part in listed_images(cell))

    def _has(self, cell: str) -> bool:
        try:
            return bool(self.archive.find(cell))
        except MediaError:
            return False

    def completed(self, cell: str) -> str:
        """Return the path of the file that a cell names without its ending, or the cell itself."""
        return self.archive.completed(cell) if isinstance(self.archive, FileTree) else cell

    @property
    def kept(self) -> Mapping[str, str]:
        """The files read by `look_at`: stored name -> name in the source."""
        return self._kept

    def open(self, kept_name: str) -> BinaryIO:
        """Open a file that `look_at` has read."""
        return self.archive.open(self._kept[kept_name])

    def close(self) -> None:
        """Release bytes and features once the files are stored, as the table may be in use for long."""
        self.archive.close()
        self._seen.clear()
        self._heard.clear()


def read_image(data: bytes) -> tuple[str, Look]:
    """Return an image's file ending, by its content, and its features. Raises MediaError if it cannot be used."""
    with open_image(data) as image:
        return FORMATS[str(image.format)], describe(image)


def audio_ending(data: bytes) -> str:
    """Return the file ending of a recording, by its first 12 bytes; nothing else is checked. Raises MediaError."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if data[:3] == b"ID3" or (len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2):  # MPEG layer III
        return "mp3"
    if data[:4] in (b"OggS", b"fLaC"):
        return "ogg" if data[:1] == b"O" else "flac"
    if data[4:8] == b"ftyp" and data[8:12] in (b"M4A ", b"M4B ", b"mp42", b"mp41", b"isom"):
        return "m4a"
    raise MediaError("this is not a recording that a browser can play.", _AUDIO_FIX)


def is_kept_name(name: str) -> bool:
    """Whether this is a valid stored name. No other name may be used in a path."""
    return _KEPT_NAME.fullmatch(name) is not None


class KeptFiles:
    """Files by their stored names.

    paths : on disk      of : an object to keep alive as long as the files are in use      inexact : as of `MediaFiles`
    """

    def __init__(self, paths: Mapping[str, Path], of: object = None, inexact: Mapping[str, str] | None = None) -> None:
        self.paths = dict(paths)
        self.inexact = inexact or {}
        self._of = of

    def open(self, kept_name: str) -> BinaryIO:
        """Open a file at its first byte."""
        return self.paths[kept_name].open("rb")

    def close(self) -> None:
        """Release the files; they cannot be read afterwards."""
        self.paths.clear()
        self._of = None


def lay_out(files: MediaFiles, names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the paths of these stored names: files in a folder stay there, others are written to `folder`."""
    found = {}
    for kept in names:
        name = files.kept[kept]
        source = files.archive
        tree = getattr(source, "files", source)  # for FilesByBaseName
        if isinstance(tree, Folder):
            found[kept] = tree.path_of(name)
            continue
        folder.mkdir(exist_ok=True)
        found[kept] = folder / kept
        with files.open(kept) as given, found[kept].open("xb") as file:
            shutil.copyfileobj(given, file, 1 << 20)
    return found
