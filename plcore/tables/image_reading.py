"""Bytes of an image, opened with suspicion: decoded only if small enough, upright, made smaller for whoever wants."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from PIL import Image, ImageOps

from plcore.tables.file_tree import MediaError

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


def small_rgb(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The image at this size in RGB, transparent parts white; grey of 16 bits or floats fills 0..255.

    Made small before anything else: every copy of a large image would cost its size in memory.
    """
    if image.mode.startswith(("I", "F")):
        grey = np.asarray(_shrunk(image.convert("F"), size), dtype=np.float64)
        low, high = float(grey.min()), float(grey.max())
        scaled = (grey - low) * (255 / (high - low) if high > low else 0.0)
        return Image.fromarray(scaled.astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        clear = _shrunk(image if image.mode in ("RGBA", "LA") else image.convert("RGBA"), size).convert(
            "RGBA"
        )
        return Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear).convert("RGB")
    return _shrunk(image if image.mode in ("RGB", "L", "CMYK") else image.convert("RGB"), size).convert("RGB")


def thumbnail(data: bytes) -> bytes:
    """The image as WebP with a longest side of at most THUMBNAIL points, never larger than it is. Raises MediaError."""
    with open_image(data, least=THUMBNAIL) as image:
        scale = min(1.0, THUMBNAIL / max(image.size))
        width, height = (max(1, round(side * scale)) for side in image.size)
        out = io.BytesIO()
        small_rgb(image, (width, height)).save(out, "WEBP", quality=75, method=2)
        return out.getvalue()


def _shrunk(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    return image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)


def _too_large(size: str) -> tuple[str, str]:
    message = f"the image has {size}; at most {MAX_PIXELS // 1_000_000} million are taken."
    return message, "Make it smaller: 800 points a side are plenty."
