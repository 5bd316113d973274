"""Read the images and recordings in table cells into arrays: file names, visual features, sound features, segments."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from plcore.arrays.types import FloatArray
from plcore.tables.columns import Finder, check_images
from plcore.tables.media.file_tree import MediaError
from plcore.tables.media.files import KeptFiles, Kind, MediaFiles, Segment, parse_segments, read_image
from plcore.tables.media.images import IMAGE_FIX, Look, is_inline, listed_images, mean_look
from plcore.tables.media.sound import SOUND_NAMES, SoundError
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.roles.roles import Roles
from plcore.tables.text.arrow import stripped

_ZIP_FIX = "Import a zip of the CSV and its files, or remove the column's role."


class Recordings(NamedTuple):
    """The fields of `Media` about recordings."""

    names: npt.NDArray[np.object_]
    segments: FloatArray | None
    sounds: npt.NDArray[np.float32] | None


def parse_recordings(cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder) -> Recordings:
    """Read the columns of recordings.

    Problems: missing files, files that are not recordings, invalid segments or ones beyond the end of their recording.
    A recording that cannot be decoded is not a problem, because browsers play more formats.
    """
    column = str(roles.audio)
    segments = None
    if roles.start is not None or roles.end is not None:
        segments = parse_segments(cells, roles.start, roles.end, finder)
    names = np.full(len(cells), "", dtype=object)
    sounds = np.full((len(cells), len(SOUND_NAMES)), np.nan, dtype=np.float32) if roles.sound_features else None
    limit = len(finder.problems) + MAX_PROBLEMS
    for cell, rows in rows_by_recording(cells, column).items():
        if len(finder.problems) >= limit:
            break
        try:
            if files is None:
                raise MediaError("the recording is not there: this is a CSV alone.", _ZIP_FIX)
            names[rows], _ = files.look_at("audio", cell)
        except MediaError as error:
            for row in rows[:MAX_PROBLEMS]:
                finder.add(row, column, *error.args)
            continue
        if segments is None and sounds is None:
            continue
        asked = [segment_of(segments, row) for row in rows]
        try:
            heard = files.listen(cell, asked, describe=sounds is not None)
        except SoundError:
            continue
        for row, one in zip(rows, heard, strict=True):
            if isinstance(one, MediaError):
                finder.add(row, roles.start or roles.end or column, *one.args)
            elif sounds is not None:
                sounds[row] = one
    others = roles.numbers or roles.categories or roles.text or roles.embedding or roles.image_features
    if sounds is not None and not others and not finder.problems and np.isnan(sounds).all():
        message = "there is no recording to learn from: every cell is empty, or names one that cannot be decoded."
        finder.add(None, column, message, "Choose other features, or save them as WAV, FLAC, Ogg or MP3.")
    return Recordings(names, segments, sounds)


def rows_by_recording(cells: pd.DataFrame, column: str) -> Mapping[str, list[int]]:
    """Return the row numbers, from 0, of each distinct non-empty cell, in order of first occurrence."""
    found: dict[str, list[int]] = {}
    for row, cell in enumerate(stripped(cells, column).to_pylist()):
        if cell:
            found.setdefault(cell, []).append(row)
    return found


def segment_of(segments: FloatArray | None, row: int) -> Segment:
    """Return the segment of a row; the whole recording if there are no segments."""
    if segments is None:
        return None, None
    start, end = (None if np.isnan(second) else float(second) for second in segments[row])
    return start, end


@dataclass(frozen=True)
class Media:
    """The content of a table's image and sound columns; a field is None if the table has no such content.

    images, audio : (n,) stored name of each row's first file, '' if the cell is empty or holds the image itself.
    more_images : (n,) tuples with the stored names of a row's other images; None if no row has more than one.
    looks : (n, 192) visual features of each row's images, NaN if it has none; only if the roles ask for them.
    sounds : (n, 128) sound features of each row's recording or segment, NaN as for looks; see `media.sound`.
    segments : (n, 2) start and end of each row in its recording in seconds; NaN for the recording's own start and end.
        None if rows are whole recordings.
    files : source of the bytes until they are stored; None for a table read from storage.
    """

    images: npt.NDArray[np.object_] | None = None
    audio: npt.NDArray[np.object_] | None = None
    looks: npt.NDArray[np.float32] | None = None
    segments: npt.NDArray[np.float64] | None = None
    files: MediaFiles | KeptFiles | None = None
    more_images: npt.NDArray[np.object_] | None = None
    sounds: npt.NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        for array in (self.images, self.audio, self.looks, self.segments, self.more_images, self.sounds):
            if array is not None:
                array.flags.writeable = False

    def kept_names(self) -> frozenset[str]:
        """Return the stored names of all files in the rows."""
        columns = [column for column in (self.images, self.audio) if column is not None]
        more = () if self.more_images is None else self.more_images
        return frozenset(name for column in (*columns, *more) for name in column if name)

    def images_of(self, row: int) -> tuple[str, ...]:
        """Return the stored names of a row's images, in order."""
        first = () if self.images is None or not self.images[row] else (str(self.images[row]),)
        return first if self.more_images is None else (*first, *self.more_images[row])


def parse_media(cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder) -> Media:
    """Read the columns of images and recordings. Problems: missing or unreadable files, unsuitable cells."""
    images = more = looks = audio = segments = sounds = None
    if roles.image is not None:
        images, more, looks = _images(cells, roles, files, finder)
    if roles.audio is not None:
        audio, segments, sounds = parse_recordings(cells, roles, files, finder)
    return Media(images, audio, looks, segments, files, more, sounds)


def _images(
    cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder
) -> tuple[npt.NDArray[np.object_] | None, npt.NDArray[np.object_] | None, Look | None]:
    """Return the fields images, more_images and looks of `Media`."""
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
                        look: Look | None = read_image(image_of_url(part))[1]
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


def _texts(cells: pd.DataFrame, column: str) -> list[str]:
    return [str(text) for text in stripped(cells, column).to_pylist()]


def image_of_url(url: str) -> bytes:
    """Return the bytes of a data URL (`data:image/png;base64,...`). Raises MediaError if it is not base64."""
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        raise MediaError("the data URL is not base64.", IMAGE_FIX) from None


def check_media(files: MediaFiles, cells: pd.DataFrame, roles: Roles, on_step: Callable[[float], None]) -> None:
    """Read every file in the rows and compute the sound features, so that `parse_media` is quick afterwards.

    on_step : called now and then with the share done
    Stops early if there are more bad files than are reported.
    """
    columns: list[tuple[Kind, str | None]] = [("image", name) for name in roles.picture_columns]
    columns.append(("audio", roles.audio))
    named = [
        (kind, part)
        for kind, column in columns
        if column is not None and column in cells
        for cell in dict.fromkeys(stripped(cells, column).to_pylist())
        for part in (listed_images(cell) if kind == "image" else [cell])
        if part and not is_inline(part)
    ]
    hear = roles.sound_features and roles.audio is not None and roles.audio in cells
    heard = rows_by_recording(cells, str(roles.audio)) if hear else {}
    segments = parse_segments(cells, roles.start, roles.end, Finder(None)) if heard else None
    total = len(named) + sum(map(len, heard.values()))
    done = bad = 0

    def step() -> None:
        nonlocal done
        if done % 50 == 0:
            on_step(done / total)
        done += 1

    for kind, cell in named:
        step()
        try:
            files.look_at(kind, cell)
            if kind == "audio" and cell in heard:
                asked = [segment_of(segments, row) for row in heard[cell]]
                files.listen(cell, asked, describe=True, tell=step)
        except SoundError:
            pass
        except MediaError:
            bad += 1
            if bad >= MAX_PROBLEMS:
                return
