"""Zips of a table and its files, good and forged."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
from PIL import Image

from plcore.tables.media.files import FileSource, MediaFiles


def picture(seed: int = 0, kind: str = "PNG", size: tuple[int, int] = (12, 9)) -> bytes:
    """A small picture of noise in this format."""
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, kind)
    return out.getvalue()


WAV = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + bytes(20)


def contents(files: FileSource | MediaFiles, name: str) -> bytes:
    """The bytes of a file by the name that its source gave it."""
    with files.open(name) as file:
        return file.read()


def make_zip(files: dict[str, bytes | zipfile.ZipInfo], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in files.items():
            if isinstance(data, zipfile.ZipInfo):
                file.writestr(data, b"target")
            else:
                file.writestr(zipfile.ZipInfo(name), data, method)  # the same bytes every time: fixed timestamps
    return out.getvalue()


def forged(data: bytes, name: str, offset: int, form: str, value: int) -> bytes:
    """The zip with one field of this entry in its list of contents overwritten.

    offset : of the field in the record (10 method, 8 flags, 24 unpacked size, 42 place of the entry)
    """
    record = data.rindex(b"PK\x01\x02", 0, data.rindex(name.encode()))
    field = struct.pack(form, value)
    return data[: record + offset] + field + data[record + offset + len(field) :]


CSV = b"candidates,image\nwren|robin,a.png\nrobin,pictures/b.png\nwren,\n"


def birds(**more: bytes) -> dict[str, bytes]:
    """Three rows, two pictures."""
    return {"birds.csv": CSV, "a.png": picture(1), "pictures/b.png": picture(2), **more}
