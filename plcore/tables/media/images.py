"""Images: opened with suspicion, several of one row, and what they look like as 192 numbers."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from plcore.arrays.types import FloatArray
from plcore.tables.media.file_tree import MediaError

MAX_PIXELS = 50_000_000  # more than any phone's camera; a small file can declare far more, to fill memory
IMAGE_FIX = "Save it as PNG, JPEG, WebP or GIF, or leave the cell empty."
THUMBNAIL = 160  # points of its longest side
FORMATS = {"PNG": "png", "JPEG": "jpg", "MPO": "jpg", "WEBP": "webp", "GIF": "gif"}
"""Endings by what Pillow calls a format; MPO are the JPEGs of many cameras, with a preview or a second view behind."""

_READERS = ("PNG", "JPEG", "WEBP", "GIF")
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, TypeError, LookupError, ArithmeticError)
_BROKEN = (*_DAMAGED, struct.error, zlib.error)  # what Pillow's readers stumble with over bad bytes
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)


@contextmanager
def open_image(data: bytes, least: int | None = None) -> Iterator[Image.Image]:
    """The image, decoded and upright; its `format` is a key of FORMATS.

    least : a JPEG may be decoded smaller than it is, its shorter side no shorter than this: in a fraction of the time
    Raises MediaError: no image, too large, damaged, also where that shows while it is used.
    """
    try:
        with Image.open(io.BytesIO(data), formats=_READERS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise MediaError(*_too_large(f"{image.width:,} x {image.height:,} points"))
            if least is not None:
                image.draft(None, (least, least))
            image.load()
            ImageOps.exif_transpose(image, in_place=True)
            yield image
    except _BOMB:
        raise MediaError(*_too_large("hundreds of millions of points")) from None
    except MediaError:
        raise
    except _BROKEN as error:
        raise MediaError("this is no image that can be read, or it is damaged.", IMAGE_FIX) from error


def small_rgb(
    image: Image.Image,
    size: tuple[int, int],
    box: tuple[float, float, float, float] | None = None,
    how: Image.Resampling = Image.Resampling.BILINEAR,
) -> Image.Image:
    """The image at this size in RGB, transparent parts white; grey of 16 bits or floats fills 0..255.

    box : the part that is taken, left, top, right and bottom in points of the image; None: all      how : its points
        are weighted
    Made small before anything else: every copy of a large image would cost its size in memory.
    """
    shrunk = partial(_resized, size=size, box=box, how=how)
    if image.mode.startswith(("I", "F")):
        grey = np.asarray(shrunk(image.convert("F")), dtype=np.float64)
        low, high = float(grey.min()), float(grey.max())
        scaled = (grey - low) * (255 / (high - low) if high > low else 0.0)
        return Image.fromarray(scaled.astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        clear = shrunk(image if image.mode in ("RGBA", "LA") else image.convert("RGBA")).convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear).convert("RGB")
    return shrunk(image if image.mode in ("RGB", "L", "CMYK") else image.convert("RGB")).convert("RGB")


def thumbnail(data: bytes) -> bytes:
    """The image as WebP with a longest side of at most THUMBNAIL points, never larger than it is. Raises MediaError."""
    with open_image(data, least=THUMBNAIL) as image:
        scale = min(1.0, THUMBNAIL / max(image.size))
        width, height = (max(1, round(side * scale)) for side in image.size)
        out = io.BytesIO()
        small_rgb(image, (width, height)).save(out, "WEBP", quality=75, method=2)
        return out.getvalue()


def _resized(
    image: Image.Image,
    size: tuple[int, int],
    box: tuple[float, float, float, float] | None,
    how: Image.Resampling,
) -> Image.Image:
    return image.resize(size, how, box, reducing_gap=2.0)


def _too_large(size: str) -> tuple[str, str]:
    message = f"the image has {size}; at most {MAX_PIXELS // 1_000_000} million are taken."
    return message, "Make it smaller: 800 points a side are plenty."


_SIDE = 32  # points a side of the image that is looked at, whatever its own size and shape
_CELLS = 4
_DIRECTIONS = 8
_LEVELS = 4
_ARROWS = "→↗↑↖←↙↓↘"  # towards where it gets brighter

NAMES = tuple(
    [
        f"edges {arrow} row {row + 1} column {column + 1}"
        for row in range(_CELLS)
        for column in range(_CELLS)
        for arrow in _ARROWS
    ]
    + [
        f"colour red {red} green {green} blue {blue}"
        for red in range(_LEVELS)
        for green in range(_LEVELS)
        for blue in range(_LEVELS)
    ]
)
"""One name for each number."""


def describe(image: Image.Image) -> npt.NDArray[np.float32]:
    """(192,) in [0, 1], length 1 (shorter where the image has no edge at all). The same image, the same numbers.

    Transparent parts count as white; the first frame stands for an animation. Single precision: it is kept with
    the table, and never computed again.
    """
    small = small_rgb(image, (_SIDE, _SIDE))
    edges = _edges(np.asarray(small.convert("L"), dtype=np.float64))
    colours = _colours(np.asarray(small))
    return np.concatenate([edges, colours]).astype(np.float32) * np.float32(np.sqrt(0.5))


def _cell_shares() -> FloatArray:
    """(cells, side) how much of each line of points goes to each cell: linear between the cells' centres."""
    places = (np.arange(_SIDE) + 0.5) * _CELLS / _SIDE - 0.5
    shares: FloatArray = np.maximum(0.0, 1.0 - np.abs(places - np.arange(_CELLS)[:, None]))
    return shares


_SHARES = _cell_shares()


def _edges(grey: FloatArray) -> FloatArray:
    """(cells * cells * directions,) of length 1; zeros if nothing changes."""
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    angle = np.arctan2(-down, right) % (2 * np.pi) * (_DIRECTIONS / (2 * np.pi))
    lower = np.floor(angle)
    upper_share = angle - lower
    first = lower.astype(np.intp) % _DIRECTIONS
    planes = np.zeros((_DIRECTIONS, _SIDE, _SIDE))
    rows, columns = np.indices(grey.shape)
    planes[first, rows, columns] = strength * (1 - upper_share)
    planes[(first + 1) % _DIRECTIONS, rows, columns] += strength * upper_share
    cells = np.einsum("ar,drc,bc->abd", _SHARES, planes, _SHARES).ravel()
    total = float(cells.sum())
    shares: FloatArray = cells / total if total > 0 else cells
    return np.sqrt(shares)


def _colours(rgb: npt.NDArray[np.uint8]) -> FloatArray:
    """(levels ** 3,) of length 1."""
    levels = rgb.astype(np.intp) * _LEVELS // 256
    box = (levels[..., 0] * _LEVELS + levels[..., 1]) * _LEVELS + levels[..., 2]
    return np.sqrt(np.bincount(box.ravel(), minlength=_LEVELS**3) / box.size)


Look = npt.NDArray[np.float32]  # (192,), see plcore.tables.media.images


def listed_images(cell: str) -> list[str]:
    """The images that a cell holds or names: one, or several with a `|` between them; none of an empty cell."""
    return [part for part in map(str.strip, cell.split("|")) if part]


def is_inline(image: str) -> bool:
    """Whether the cell holds this image itself, as a data URL, and does not name its file."""
    return image.startswith("data:")


def mean_look(looks: Sequence[Look]) -> Look:
    """Joint features of the images of a row: the mean of their histograms, of which a look is the root. So it
    has the length that the look of one image has. NaN if there is none."""
    if len(looks) == 1:
        return looks[0]
    if not looks:
        return np.full(len(NAMES), np.nan, dtype=np.float32)
    mean: Look = np.sqrt(np.mean(np.square(looks, dtype=np.float64), axis=0)).astype(np.float32)
    return mean
