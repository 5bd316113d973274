"""Arrays in one .npz file that is mapped: what of them is looked at is read from the disk, and costs memory only until
the system wants it back. Each begins at a multiple of 64 bytes, as compiled loops want it; NumPy reads such a file too.
"""

from __future__ import annotations

import errno
import io
import math
import mmap
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, BinaryIO
from weakref import ref

import numpy as np
import numpy.typing as npt

from plcore.arrays.types import AnyArray, FeatureMatrix, is_sparse

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
    name is gone; what is written to them is no one else's. Those of files that others wrote may be in memory.

    file : open; no one may make it shorter meanwhile, or anyone who looks at an array ends
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


def array_at(whole: mmap.mmap | bytes | memoryview, start: int = 0) -> AnyArray:
    """The array of a .npy file that is in a map, or another buffer, from this byte on: not copied. Raises ValueError
    for objects, or where there is no such file."""
    with memoryview(whole) as view, view[start : start + _MOST_HEAD] as begun:
        head = io.BytesIO(begun)
    shape, by_column, dtype = read_head(head)
    if dtype.hasobject:
        raise ValueError("The array holds objects, which are not read.")
    flat = np.frombuffer(whole, dtype, math.prod(shape), start + head.tell())
    return flat.reshape(shape, order="F" if by_column else "C")


def read_head(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Shape, whether it lies column by column, and type of the array in a .npy file, which is read up to the array.
    Raises ValueError where it is none."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


# Whether it is for want of room on the disk that something could not be done.


def no_room(error: BaseException) -> bool:
    """Whether the system says that a disk, or someone's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


# Arrays that grow with the rows of a table: small ones in memory, large ones in files without a name that are mapped.
#
# What was looked at or written of a mapped file is in memory only until the system wants it back, or someone lets it
# go.

IN_MEMORY = 1 << 23
"""Bytes of an array that is not worth a file."""
ON_DISK = "/var/tmp"  # noqa: S108 - the files have no names
"""Where they lie if nothing else is wanted: many systems have /tmp in memory."""
_ZEROS = bytes(1 << 20)
# No WeakSet: while one thread goes through it, none may put anything in. To copy a set no one can come between.
_maps: set[ref[mmap.mmap]] = set()


def large_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> AnyArray:
    """A new array of zeros, by row. Beyond `IN_MEMORY` bytes it is in a file in the folder that `TMPDIR` names, or
    `ON_DISK`, all of whose bytes are there from the start. The file is gone with the array; processes that are forked
    meanwhile write to the same. Raises OSError, in words, if there is no room for it."""
    kind: np.dtype[np.generic] = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size <= IN_MEMORY:
        return np.zeros(shape, kind)
    folder = _folder()
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            _make_room(file, size)
        except OSError as error:
            if not no_room(error):
                raise
            raise OSError(
                error.errno,
                f"There is no room for {size / 1e6:,.0f} MB of what is made of a table's rows, which are in a file. "
                "Fix: make room there, or let TMPDIR name a folder with more",
                folder,
            ) from error
        whole = mmap.mmap(file.fileno(), size)
    note_map(whole)
    return np.frombuffer(whole, kind).reshape(shape)


def note_map(mapped: mmap.mmap) -> None:
    """Have `let_go` know of a map. Nothing may be in it that is not in its file."""
    _maps.add(ref(mapped, _maps.discard))


def let_go() -> None:
    """Give back the memory of all pages that this process has looked at: they are read again if they are wanted."""
    if hasattr(mmap, "MADV_DONTNEED"):  # other systems take it back themselves, when it grows short
        for one in _maps.copy():
            if (mapped := one()) is not None:
                mapped.madvise(mmap.MADV_DONTNEED)


def _folder() -> str:
    if "TMPDIR" in os.environ or not os.access(ON_DISK, os.W_OK | os.X_OK):
        return tempfile.gettempdir()
    return ON_DISK


def _make_room(file: BinaryIO, size: int) -> None:
    """Have this many bytes of zeros in a file: a map with holes ends the process that writes there on a full disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for begin in range(0, size, len(_ZEROS)):
        file.write(_ZEROS[: size - begin])
    file.flush()


# Limits that several families of learners keep.

LARGEST_FEATURE = 1e50
"""Size of a feature beyond which squares and sums of them could overflow."""


def check_feature_size(X: FeatureMatrix) -> None:
    """Raise ValueError where a feature of X (n, d), dense or sparse, is larger than LARGEST_FEATURE."""
    # Not abs(X) of a sparse X: that sorts the caller's own matrix.
    largest = float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0))
    if largest > LARGEST_FEATURE:
        raise ValueError(
            f"The features must be at most {LARGEST_FEATURE:g} in size, got {largest:g}. Fix: scale them, for example "
            "with sklearn.preprocessing.StandardScaler in a pipeline."
        )
