"""Image decoding: upright, within limits, and thumbnails without metadata."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from plcore.tables import MediaError, thumbnail
from plcore.tables.media.images import FORMATS, THUMBNAIL, open_image, small_rgb
from tests.plcore.tables.zips import picture


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def colour(image: Image.Image, x: float, y: float) -> np.ndarray:
    """At this share of its width and height."""
    return np.array(image.getpixel((int(x * image.width), int(y * image.height))), dtype=float)


def halves(left: str, right: str, size: tuple[int, int] = (640, 400), mode: str = "RGB") -> Image.Image:
    image = Image.new(mode, size, left)
    image.paste(Image.new(mode, (size[0] // 2, size[1]), right), (size[0] // 2, 0))
    return image


@given(st.integers(1, 700), st.integers(1, 700))
def test_thumbnail_is_webp_of_the_same_shape_and_never_larger(width: int, height: int) -> None:
    small = opened(thumbnail(saved(Image.new("RGB", (width, height), "red"))))
    assert (small.format, small.mode) == ("WEBP", "RGB")
    longest = max(width, height)
    assert max(small.size) == min(longest, THUMBNAIL)
    scale = min(1, THUMBNAIL / longest)
    assert abs(small.width - width * scale) <= 1
    assert abs(small.height - height * scale) <= 1


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_thumbnail_shows_the_image(kind: str) -> None:
    small = opened(thumbnail(saved(halves("red", "blue"), kind)))
    np.testing.assert_allclose(colour(small, 0.2, 0.5), (255, 0, 0), atol=12)
    np.testing.assert_allclose(colour(small, 0.8, 0.5), (0, 0, 255), atol=12)


def test_equal_images_give_equal_thumbnails() -> None:
    assert thumbnail(picture(1, "JPEG", (500, 400))) == thumbnail(picture(1, "JPEG", (500, 400)))
    assert thumbnail(picture(1)) != thumbnail(picture(2))


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "CMYK", "1", "I", "F", "I;16"])
def test_every_colour_mode_is_shown(mode: str) -> None:
    if mode == "I;16":
        image = Image.fromarray(np.tile(np.linspace(0, 4095, 300).astype(np.uint16), (200, 1)))
    else:
        image = Image.linear_gradient("L").rotate(90).resize((300, 200)).convert(mode)
    # No accepted file holds 32-bit integers or floats, but their conversion is the same.
    held = mode in ("I", "F")
    kind = {"CMYK": "JPEG"}.get(mode, "PNG")
    small = small_rgb(image, (160, 107)) if held else opened(thumbnail(saved(image, kind)))
    assert small.size == (160, 107)
    assert abs(colour(small, 0.05, 0.5).mean() - colour(small, 0.95, 0.5).mean()) > 150


def test_transparent_parts_are_white() -> None:
    image = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
    small = opened(thumbnail(saved(image)))
    np.testing.assert_allclose(colour(small, 0.5, 0.5), (255, 255, 255), atol=3)


@pytest.mark.parametrize("size", [(640, 400), (3200, 2000)])
def test_exif_orientation_is_applied(size: tuple[int, int]) -> None:
    """Even if the JPEG is decoded at a reduced size. Orientation 6: a quarter turn to the right."""
    exif = Image.Exif()
    exif[0x0112] = 6
    small = opened(thumbnail(saved(halves("red", "blue", size), "JPEG", exif=exif)))
    assert small.size == (100, 160)
    np.testing.assert_allclose(colour(small, 0.5, 0.1), (255, 0, 0), atol=12)
    np.testing.assert_allclose(colour(small, 0.5, 0.9), (0, 0, 255), atol=12)
    with open_image(saved(halves("red", "blue", size), "JPEG", exif=exif)) as image:
        assert image.size == size[::-1]
        assert image.format in FORMATS


@given(st.integers(1, 400), st.sampled_from([(640, 400), (401, 900), (1000, 1000)]))
def test_jpeg_is_never_decoded_smaller_than_requested(least: int, size: tuple[int, int]) -> None:
    with open_image(saved(Image.new("RGB", size), "JPEG"), least) as image:
        assert min(image.size) >= min(least, *size)


def declared(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is this large."""

    def piece(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = piece(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + piece(b"IDAT", zlib.compress(b"")) + piece(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an image"),
        (b"RIFF", "not an image"),
        (picture(1)[:-30], "damaged"),
        (declared(8_000, 8_000), "8,000 x 8,000 points; at most 50 million"),
        (declared(60_000, 60_000), "hundreds of millions"),
        (saved(Image.new("RGB", (4, 4)), "BMP"), "not an image"),
    ],
)
def test_invalid_image_is_refused_at_any_size(data: bytes, words: str) -> None:
    with pytest.raises(MediaError, match=words):
        thumbnail(data)
    with pytest.raises(MediaError, match=words), open_image(data):
        pass


def test_error_while_using_an_image_is_reported_as_damage() -> None:
    with pytest.raises(MediaError, match="damaged"), open_image(picture(1)):
        raise OSError("broken data stream")
