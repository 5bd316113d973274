"""Arrays in one .npz file that is mapped: what of them is looked at is read from the disk, and costs memory only until
the system wants it back. Each begins at a multiple of 64 bytes, as compiled loops want it; NumPy reads such a file too.
"""

from __future__ import annotations

import io
import math
import mmap
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from plcore.common.types import AnyArray

_ALIGNED = 64
_HEADER = 30  # bytes of a member before its name
_LENGTHS = 26  # where in them the lengths of name and extra fields stand
_ZIP64 = 20  # bytes of the extra field with sizes of 64 bits
_MOST_HEAD = 1 << 16  # bytes of a .npy file before its array
_PADDING = 0x4E57  # an extra field that no program knows, and so passes over


def write_arrays(file: IO[bytes], arrays: Mapping[str, AnyArray]) -> None:
    """Write the arrays under their names, none of them of objects: no pickle. file : open, and empty"""
    with zipfile.ZipFile(file, "w") as packed:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            begun = file.tell() + _HEADER + len(info.filename) + _ZIP64 + 4
            room = -begun % _ALIGNED
            info.extra = struct.pack("<HH", _PADDING, room) + bytes(room)
            with packed.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def map_arrays(file: IO[bytes]) -> dict[str, AnyArray]:
    """The arrays of an .npz file, which lie where they are as long as these live, also when the file is closed and its
    name is gone; what is written to them is nobody else's. Those of files that others wrote may be in memory.

    file : open; nobody may make it shorter meanwhile, or whoever looks at an array ends
    Raises zipfile.BadZipFile where a bit of an array is another than was written, ValueError for objects, OSError.
    """
    try:
        return _mapped(file)
    except (RuntimeError, struct.error, zlib.error) as error:  # of what a damaged directory says of a member
        raise zipfile.BadZipFile(f"The file of arrays is damaged: {error}.") from error


def _mapped(file: IO[bytes]) -> dict[str, AnyArray]:
    found = {}
    with zipfile.ZipFile(file) as packed:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        for info in packed.infolist():
            name = info.filename.removesuffix(".npy")
            lengths = struct.unpack_from("<HH", whole, info.header_offset + _LENGTHS)
            start = info.header_offset + _HEADER + sum(lengths)
            if start % _ALIGNED or info.compress_type != zipfile.ZIP_STORED:
                with packed.open(info) as member:
                    found[name] = np.lib.format.read_array(member, allow_pickle=False)
                continue
            with memoryview(whole) as view, view[start : start + info.file_size] as bytes_of:
                if zlib.crc32(bytes_of) != info.CRC:
                    raise zipfile.BadZipFile(f"{info.filename} is damaged.")
            found[name] = array_at(whole, start)
    return found


def array_at(whole: Any, start: int = 0) -> AnyArray:
    """The array of a .npy file that lies in a map, or another buffer, from this byte on: not copied. Raises ValueError
    for objects, or where there is no such file."""
    with memoryview(whole) as view, view[start : start + _MOST_HEAD] as begun:
        head = io.BytesIO(begun)
    shape, by_column, dtype = read_head(head)
    if dtype.hasobject:
        raise ValueError("The array holds objects, which are not read.")
    flat = np.frombuffer(whole, dtype, math.prod(shape), start + head.tell())
    return flat.reshape(shape, order="F" if by_column else "C")


def read_head(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether it lies column by column, and type of the array in a .npy file, which is read up to the array.
    Raises ValueError where it is none."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)
