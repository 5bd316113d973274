"""Images and recordings that the cells of a table hold or name, as arrays: names, looks, sounds, segments."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from plcore.tables.columns import Finder, check_images, stripped
from plcore.tables.file_tree import MediaError
from plcore.tables.image_reading import IMAGE_FIX
from plcore.tables.kept_files import KeptFiles
from plcore.tables.media_files import MediaFiles, read_image
from plcore.tables.pictures import Look, is_inline, listed_images, mean_look
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.recordings import parse_recordings
from plcore.tables.roles import Roles


@dataclass(frozen=True)
class Media:
    """What the image and sound columns of a table hold; (n,) or (n, 192), None where nothing of the kind is.

    images, audio : the kept name of each row's first file, '' where the cell is empty or holds the image itself.
    more_images : of each row a tuple of the kept names of its other images; None where no row has more than one.
    looks : what each row's images look like, NaN where it has none; only where the roles ask for it.
    sounds : (n, 128) what each row's recording or segment sounds like, NaN as of looks; see `plcore.tables.sound`.
    segments : (n, 2) seconds at which each row begins and ends in its recording; NaN for the recording's own begin and
        end. None where rows are whole recordings.
    files : where the bytes are to be had until they are kept; None for a table read back.
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
        """The kept names of all files that the rows name."""
        columns = [column for column in (self.images, self.audio) if column is not None]
        more = () if self.more_images is None else self.more_images
        return frozenset(name for column in (*columns, *more) for name in column if name)

    def images_of(self, row: int) -> tuple[str, ...]:
        """The kept names of a row's images, in order."""
        first = () if self.images is None or not self.images[row] else (str(self.images[row]),)
        return first if self.more_images is None else (*first, *self.more_images[row])


def parse_media(cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder) -> Media:
    """What the columns of images and recordings hold. Problems: files missing or unreadable, cells of other kinds."""
    images = more = looks = audio = segments = sounds = None
    if roles.image is not None:
        images, more, looks = _images(cells, roles, files, finder)
    if roles.audio is not None:
        audio, segments, sounds = parse_recordings(cells, roles, files, finder)
    return Media(images, audio, looks, segments, files, more, sounds)


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
    """The bytes of a data URL (`data:image/png;base64,...`). Raises MediaError where it is none."""
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        raise MediaError("the data URL is not base64.", IMAGE_FIX) from None
