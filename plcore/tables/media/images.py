"""Open untrusted images, combine several of one row, and describe them by 192 numbers."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from plcore.arrays.types import FloatArray
from plcore.tables.media.file_tree import MediaError

MAX_PIXELS = 50_000_000  # more than phone cameras have; a small file can declare far more, to fill memory
IMAGE_FIX = "Save it as PNG, JPEG, WebP or GIF, or leave the cell empty."
THUMBNAIL = 160  # pixels of its longest side
FORMATS = {"PNG": "png", "JPEG": "jpg", "MPO": "jpg", "WEBP": "webp", "GIF": "gif"}
"""File endings by Pillow format. MPO files are JPEGs of many cameras, with a preview or a second view appended."""

_READERS = ("PNG", "JPEG", "WEBP", "GIF")
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, TypeError, LookupError, ArithmeticError)
_BROKEN = (*_DAMAGED, struct.error, zlib.error)  # raised by Pillow's readers for invalid bytes
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)


@contextmanager
def open_image(data: bytes, least: int | None = None) -> Iterator[Image.Image]:
    """Open an image, decoded and upright; its `format` is a key of FORMATS.

    least : a JPEG may be decoded at a smaller size, its shorter side no shorter than this: much faster
    Raises MediaError: no image, too large, or damaged, even if that shows only while it is used.
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
        raise MediaError("this is not an image that can be read, or it is damaged.", IMAGE_FIX) from error


def small_rgb(
    image: Image.Image,
    size: tuple[int, int],
    box: tuple[float, float, float, float] | None = None,
    how: Image.Resampling = Image.Resampling.BILINEAR,
) -> Image.Image:
    """Resize the image to RGB, with white for transparent parts; 16-bit and float grey is scaled to 0..255.

    box : part of the image to use, (left, top, right, bottom) in pixels; None: all      how : resampling method
    The image is resized first, because every copy of a large image costs its size in memory.
    """

    def shrunk(image: Image.Image) -> Image.Image:
        return image.resize(size, how, box, reducing_gap=2.0)

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
    """Return the image as WebP with a longest side of at most THUMBNAIL pixels, never enlarged. Raises MediaError."""
    with open_image(data, least=THUMBNAIL) as image:
        scale = min(1.0, THUMBNAIL / max(image.size))
        width, height = (max(1, round(side * scale)) for side in image.size)
        out = io.BytesIO()
        small_rgb(image, (width, height)).save(out, "WEBP", quality=75, method=2)
        return out.getvalue()


def _too_large(size: str) -> tuple[str, str]:
    message = f"the image has {size}; at most {MAX_PIXELS // 1_000_000} million are allowed."
    return message, "Make it smaller: 800 points a side are plenty."


_SIDE = 32  # pixels per side of the resized image, no matter its original size and shape
_CELLS = 4
_DIRECTIONS = 8
_LEVELS = 4
_ARROWS = "→↗↑↖←↙↓↘"  # direction of increasing brightness

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
"""Name of each number."""


def describe(image: Image.Image) -> npt.NDArray[np.float32]:
    """Describe an image by (192,) numbers in [0, 1], of length 1 (less if it has no edges). Deterministic.

    Transparent parts count as white; only the first frame of an animation is used. The numbers are in single precision,
    because they are stored with the table and never recomputed.
    """
    small = small_rgb(image, (_SIDE, _SIDE))
    edges = _edges(np.asarray(small.convert("L"), dtype=np.float64))
    colours = _colours(np.asarray(small))
    return np.concatenate([edges, colours]).astype(np.float32) * np.float32(np.sqrt(0.5))


def _cell_shares() -> FloatArray:
    """Return the share (cells, side) of each line of pixels in each cell: linear between the cells' centres."""
    places = (np.arange(_SIDE) + 0.5) * _CELLS / _SIDE - 0.5
    shares: FloatArray = np.maximum(0.0, 1.0 - np.abs(places - np.arange(_CELLS)[:, None]))
    return shares


_SHARES = _cell_shares()


def _edges(grey: FloatArray) -> FloatArray:
    """Compute the histogram of edges, (cells * cells * directions,), of length 1; zeros if there are none."""
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
    """Compute the colour histogram, (levels ** 3,), of length 1."""
    levels = rgb.astype(np.intp) * _LEVELS // 256
    box = (levels[..., 0] * _LEVELS + levels[..., 1]) * _LEVELS + levels[..., 2]
    return np.sqrt(np.bincount(box.ravel(), minlength=_LEVELS**3) / box.size)


Look = npt.NDArray[np.float32]  # (192,), see plcore.tables.media.images


def listed_images(cell: str) -> list[str]:
    """Split a cell into its images, separated by `|`; an empty cell has none."""
    return [part for part in map(str.strip, cell.split("|")) if part]


def is_inline(image: str) -> bool:
    """Whether this is the image itself, as a data URL, and not a file name."""
    return image.startswith("data:")


def mean_look(looks: Sequence[Look]) -> Look:
    """Combine the features of a row's images: the mean of their histograms, whose square roots the features are.

    The result has the same length as the features of one image; NaN if there are no images.
    """
    if len(looks) == 1:
        return looks[0]
    if not looks:
        return np.full(len(NAMES), np.nan, dtype=np.float32)
    mean: Look = np.sqrt(np.mean(np.square(looks, dtype=np.float64), axis=0)).astype(np.float32)
    return mean
