"""Small picture files that would cost gigabytes, minutes or the process: name, suffix, bytes."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image

MUCH = 300_000_000
"""Bytes of zeros, compressed to a thousandth."""
SIDE = 7_000
"""Side in pixels of a square that is just small enough to be accepted."""


@dataclass(frozen=True)
class MediaBomb:
    """A bomb of media. make : its bytes, made by code      ending : of its file name      heavy : whether it takes
    seconds"""

    name: str
    make: Callable[[], bytes]
    ending: str
    heavy: bool = False


def zeros(n: int = MUCH, level: int = 9) -> bytes:
    packer = zlib.compressobj(level)
    piece = bytes(10**6)
    return b"".join([*(packer.compress(piece) for _ in range(n // 10**6)), packer.flush()])


def chunk(kind: bytes, data: bytes, length: int | None = None) -> bytes:
    said = len(data) if length is None else length
    return struct.pack(">I", said) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *more: bytes, form: bytes = b"\x08\x02\0\0\0", data: bytes | None = None) -> bytes:
    """For three bytes a point, or of this form; `more` is before the data."""
    idat = zeros(10**6) if data is None else data
    head = chunk(b"IHDR", struct.pack(">II", width, height) + form)
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + chunk(b"IDAT", idat) + chunk(b"IEND", b"")


def square(form: bytes, bits: int, *more: bytes) -> bytes:
    """A whole picture of SIDE, all zeros."""
    return png(SIDE, SIDE, *more, form=form, data=zeros((SIDE * bits // 8 + 1) * SIDE + 10**6, 1))


def saved(kind: str, size: tuple[int, int] = (8, 8), mode: str = "RGB", **how: object) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size).save(out, kind, **how)
    return out.getvalue()


def _pngs() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    small = zlib.compress(bytes(25 * 8))
    tiny = partial(png, 8, 8, data=small)
    yield "sides of two thousand million", lambda: png(2**31 - 1, 2**31 - 1), False
    yield "sides of fifty thousand", lambda: png(50_000, 50_000), False
    yield "sides of a little more than is taken", lambda: png(7_072, 7_072, data=zeros(150 * 10**6)), False
    yield "sides of nothing", lambda: png(0, 0), False
    yield "one column", lambda: png(1, 50_000_000, data=zeros(200 * 10**6)), True
    yield "one row", lambda: png(50_000_000, 1, data=zeros(151 * 10**6)), True
    yield "colours and transparency", lambda: square(b"\x08\x06\0\0\0", 32), True
    yield "sixteen bits of four colours", lambda: square(b"\x10\x06\0\0\0", 64), True
    yield "sixteen bits of grey", lambda: square(b"\x10\x00\0\0\0", 16), True
    yield "one bit", lambda: square(b"\x01\x00\0\0\0", 1), True
    palette = (chunk(b"PLTE", bytes(768)), chunk(b"tRNS", bytes(256)))
    yield "a palette with transparency", lambda: square(b"\x08\x03\0\0\0", 8, *palette), True
    yield "interlaced", lambda: square(b"\x08\x02\0\0\1", 24), True
    yield "a text of 300 MB", lambda: tiny(chunk(b"zTXt", b"a\0\0" + zeros())), False
    yield "a hundred texts of 10 MB", lambda: tiny(*[chunk(b"zTXt", b"a\0\0" + zeros(10**7))] * 100), False
    yield "a text in Unicode of 300 MB", lambda: tiny(chunk(b"iTXt", b"a\0\1\0\0\0" + zeros())), False
    yield "a colour profile of 300 MB", lambda: tiny(chunk(b"iCCP", b"a\0\0" + zeros())), False
    yield "data of 300 MB for eight points", lambda: png(8, 8, data=zeros()), False
    yield "a chunk that says it is huge", lambda: tiny(chunk(b"eXIf", b"II*\0", 2**31 - 1)), False
    yield "data that say they are huge", lambda: tiny()[:33] + chunk(b"IDAT", small, 2**31 - 1), False
    yield "a hundred thousand empty chunks", lambda: tiny(*[chunk(b"IDAT", b"")] * 10**5), False
    yield "a hundred thousand texts", lambda: tiny(*[chunk(b"tEXt", b"a\0b")] * 10**5), False
    yield "two thousand million frames", lambda: tiny(chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))), False
    yield "ten thousand frames", lambda: saved_frames("PNG", 10_000), True
    yield "cut off in the data", lambda: tiny()[:-30], False
    yield "cut off in the head", lambda: tiny()[:20], False
    yield "a signature alone", lambda: tiny()[:8], False
    yield "a wrong sum", lambda: tiny().replace(b"IHDR\0\0\0\x08", b"IHDR\0\0\x70\x08"), False


def saved_frames(kind: str, n: int) -> bytes:
    """n frames of two pixels, each different from the one before."""
    frames = [Image.fromarray(np.full((2, 1), 255 * (k % 2), np.uint8)) for k in range(n)]
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=10)
    return out.getvalue()


def _gifs() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    whole = saved("GIF")

    def screen(width: int, height: int) -> bytes:
        return whole[:6] + struct.pack("<HH", width, height) + whole[10:]

    def frame(width: int, height: int) -> bytes:
        at = whole.index(b",", 13)
        return whole[: at + 5] + struct.pack("<HH", width, height) + whole[at + 9 :]

    yield "a screen of 65,535", lambda: screen(65_535, 65_535), False
    yield "a screen just small enough", lambda: screen(SIDE, SIDE), False
    yield "a frame far larger than its screen", lambda: frame(65_535, 65_535), False
    yield "ten thousand frames", lambda: saved_frames("GIF", 10_000), False
    yield "a hundred thousand comments", lambda: whole[:-1] + b"!\xfe\x01a\0" * 10**5 + b";", False
    yield "comments before the picture", lambda: _before(whole, b"!\xfe\x01a\0" * 10**5), False
    yield "codes of more bits than there are", lambda: whole[:-5] + b"\xff" + whole[-4:], False
    yield "zeros of a square", lambda: saved("GIF", (SIDE, SIDE), "L"), True
    yield "cut off", lambda: whole[: len(whole) // 2], False


def _before(whole: bytes, more: bytes) -> bytes:
    at = whole.index(b",", 13)
    return whole[:at] + more + whole[at:]


def _webps() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    def riff(*chunks: tuple[bytes, bytes], said: int | None = None) -> bytes:
        body = b"WEBP" + b"".join(
            kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for kind, data in chunks
        )
        return b"RIFF" + struct.pack("<I", len(body) if said is None else said) + body

    def u24(value: int) -> bytes:
        return struct.pack("<I", value)[:3]

    pixel = saved("WEBP", (1, 1), lossless=True)[12:]
    vp8l = pixel[8 : 8 + struct.unpack("<I", pixel[4:8])[0]]

    def moving(side: int, frames: int) -> bytes:
        head = (b"VP8X", b"\x02\0\0\0" + u24(side - 1) * 2)
        one = (b"ANMF", bytes(6) + u24(0) * 2 + u24(10) + b"\0" + pixel)
        return riff(head, (b"ANIM", bytes(6)), *[one] * frames)

    huge = vp8l[:1] + struct.pack("<I", 16_383 | 16_383 << 14) + vp8l[5:]
    yield "a canvas of 16,384", lambda: moving(16_384, 2), False
    yield "a canvas just small enough, two frames", lambda: moving(SIDE, 2), True
    yield "a canvas of four million points, five thousand frames", lambda: moving(2_000, 5_000), True
    yield "ten thousand frames", lambda: moving(8, 10_000), False
    yield "a head of 16,384 before one point", lambda: riff((b"VP8L", huge)), False
    yield "zeros of a square", lambda: saved("WEBP", (SIDE, SIDE), lossless=True, method=0), True
    yield "a size that is said to be huge", lambda: riff((b"VP8L", vp8l), said=2**32 - 10), False
    yield ("a profile that is not there", lambda: riff((b"VP8X", b"\x20\0\0\0" + bytes(6)), (b"ICCP", b"")), False)
    yield "cut off", lambda: saved("WEBP", (64, 64))[:40], False


def _jpegs() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    whole = saved("JPEG")

    def sides(width: int, height: int) -> bytes:
        at = whole.index(b"\xff\xc0")
        return whole[: at + 5] + struct.pack(">HH", height, width) + whole[at + 9 :]

    def segment(data: bytes, kind: int = 0xE1) -> bytes:
        return b"\xff" + bytes([kind]) + struct.pack(">H", len(data) + 2) + data

    def with_segments(*more: bytes) -> bytes:
        return whole[:2] + b"".join(more) + whole[2:]

    def exif(*tags: tuple[int, int, int, int], following: int = 0) -> bytes:
        ifd = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
        return segment(b"Exif\0\0II*\0\x08\0\0\0" + ifd + struct.pack("<I", following))

    yield "sides of 65,535", lambda: sides(65_535, 65_535), False
    yield "a head just small enough", lambda: sides(SIDE, SIDE), True
    yield "no height", lambda: sides(8, 0), False
    yield "zeros of a square", lambda: saved("JPEG", (SIDE, SIDE)), True
    yield "fifty thousand segments", lambda: with_segments(*[segment(b"Exif\0\0", 0xEF)] * 50_000), False
    yield "a value of four gigabytes", lambda: with_segments(exif((0x0112, 2, 2**32 - 1, 0))), False
    yield "a value far behind the end", lambda: with_segments(exif((0x0112, 3, 99, 2**32 - 1))), False
    yield "tags that follow themselves", lambda: with_segments(exif((0x0112, 3, 1, 6), following=8)), False
    yield "five thousand tags", lambda: with_segments(exif(*((k, 3, 1, 6) for k in range(5_000)))), False
    yield ("a preview of many pictures", lambda: with_segments(segment(b"MPF\0" + exif_body(2**31), 0xE2)), False)
    yield "255 parts of a profile", lambda: with_segments(*_profile()), False
    yield "five million bytes that mean nothing", lambda: whole[:2] + b"\xff" * 5 * 10**6 + whole[2:], False
    yield "cut off", lambda: saved("JPEG", (300, 300))[:400], False
    yield "five hundred scans of a million points", lambda: scans(1_000, 500), False
    yield "a thousand scans of twenty million points", lambda: scans(4_500, 1_000), True
    yield "four hundred scans that hold nothing", lambda: scans(SIDE, 400, whole=False), True


def scans(side: int, n: int, *, whole: bool = True) -> bytes:
    """A progressive picture whose last scan is repeated n times. whole : with the content"""
    data = saved("JPEG", (side, side), "L", progressive=True)
    at = data.rindex(b"\xff\xda")
    head = at + 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return data[:-2] + data[at : len(data) - 2 if whole else head] * n + data[-2:]


def exif_body(number: int) -> bytes:
    """An EXIF body that claims this many previews."""
    tags = ((0xB000, 7, 4, 0x30303130), (0xB001, 4, 1, number), (0xB002, 7, 16, 0))
    return b"II*\0\x08\0\0\0" + struct.pack("<H", 3) + b"".join(struct.pack("<HHII", *tag) for tag in tags)


def _profile() -> list[bytes]:
    part = bytes(65_000)
    return [
        b"\xff\xe2" + struct.pack(">H", len(part) + 16) + b"ICC_PROFILE\0" + bytes([k, 255]) + part
        for k in range(1, 80)
    ]


def _others() -> Iterator[tuple[str, Callable[[], bytes], bool]]:
    laughs = b'<!DOCTYPE l [<!ENTITY a "ha">' + b"".join(
        b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(9)
    )
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>"
    tiff = struct.pack("<HHII", 256, 4, 1, 2**31) + struct.pack("<HHII", 257, 4, 1, 2**31)
    yield "TIFF of huge sides", lambda: b"II*\0\x08\0\0\0\x02\0" + tiff + bytes(4), False
    yield ("BMP of huge sides", lambda: b"BM" + bytes(12) + struct.pack("<Iii", 40, 2**30, 2**30) + bytes(28), False)
    yield "SVG", lambda: svg + b"<script>alert(1)</script></svg>", False
    yield "SVG of a billion laughs", lambda: laughs + b"]>" + svg + b"&j;</svg>", False
    yield "PostScript that goes on for ever", lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n{} loop\n", False
    yield "PDF", lambda: b"%PDF-1.7\n1 0 obj<</Length 99999999>>stream\n", False
    yield "JPEG 2000", lambda: b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(40), False
    yield "an icon", lambda: b"\0\0\1\0\xff\xff" + bytes(1_000), False
    yield "base64 of a picture", lambda: base64.b64encode(saved("PNG")), False
    yield "nothing", lambda: b"", False


PICTURES = [
    MediaBomb(f"{kind}: {name}", make, kind.lower() if kind != "other" else "png", heavy)
    for kind, bombs in (("PNG", _pngs), ("GIF", _gifs), ("WEBP", _webps), ("JPG", _jpegs), ("other", _others))
    for name, make, heavy in bombs()
]
