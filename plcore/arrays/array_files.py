"""Memory-mapped arrays in one .npz file: pages are read from the disk on access, and the system may reclaim
their memory at any time. Each array is aligned to 64 bytes for compiled loops; NumPy can read the file too.
"""

from __future__ import annotations

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

from plcore.arrays.disk import no_room
from plcore.arrays.types import AnyArray, FeatureMatrix, is_sparse

_ALIGNED = 64
_HEADER = 30  # bytes of a member's header before its name
_LENGTHS = 26  # offset in the header of the lengths of the name and the extra fields
_ZIP64 = 20  # bytes of the extra field for 64-bit sizes
_MOST_HEAD = 1 << 16  # bytes of a .npy file before its array data
_PADDING = 0x4E57  # an unassigned extra field id, which every program skips


def write_arrays(file: IO[bytes], arrays: Mapping[str, AnyArray]) -> None:
    """Write the arrays under their names. Object arrays are refused (no pickle). file : open and empty"""
    with zipfile.ZipFile(file, "w") as packed:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            begun = file.tell() + _HEADER + len(info.filename) + _ZIP64 + 4
            room = -begun % _ALIGNED
            info.extra = struct.pack("<HH", _PADDING, room) + bytes(room)
            with packed.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def map_arrays(file: IO[bytes]) -> dict[str, AnyArray]:
    """Map the arrays of an .npz file. They stay valid after the file is closed or deleted. Writes to them are
    private to this process. Arrays of files that other programs wrote may be copied into memory.

    file : open; truncating it while an array is in use kills the process that reads the array
    Raises zipfile.BadZipFile if an array is corrupt, ValueError for object arrays, OSError.
    """
    try:
        return _mapped(file)
    except (RuntimeError, struct.error, zlib.error) as error:  # errors that a damaged directory can cause
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
    """Return the array of a .npy file that begins at this byte of a map or another buffer, without a copy.
    Raises ValueError for object arrays, or if there is no such file."""
    with memoryview(whole) as view, view[start : start + _MOST_HEAD] as begun:
        head = io.BytesIO(begun)
    shape, by_column, dtype = read_head(head)
    if dtype.hasobject:
        raise ValueError("The array holds objects, which are not read.")
    flat = np.frombuffer(whole, dtype, math.prod(shape), start + head.tell())
    return flat.reshape(shape, order="F" if by_column else "C")


def read_head(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Read a .npy file up to its array: return the shape, whether the order is by column, and the type.
    Raises ValueError if it is not an .npy file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


# Arrays whose size follows the rows of a table: small ones in memory, large ones in mapped files without a
# name.
# Pages of a mapped file are in memory only until the system reclaims them or `let_go` is called.

IN_MEMORY = 1 << 23
"""Bytes up to which an array stays in memory."""
ON_DISK = "/var/tmp"  # noqa: S108 - the files have no names
"""Default folder of the files; not /tmp, which many systems have in memory."""
_ZEROS = bytes(1 << 20)
# Not a WeakSet: no thread may add to it while another iterates. Copying a plain set is atomic.
_maps: set[ref[mmap.mmap]] = set()


def large_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> AnyArray:
    """Return a new array of zeros, in row order. Above `IN_MEMORY` bytes it is in a file in the folder
    `TMPDIR`, or else `ON_DISK`; all its bytes are allocated at once. The file is deleted with the array.
    Forked processes share the array. Raises OSError with a clear message if the disk is full."""
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
    """Register a map for `let_go`. The map must be shared with its file: private changes would be lost."""
    _maps.add(ref(mapped, _maps.discard))


def let_go() -> None:
    """Release the memory of all mapped pages of this process. They are read again on access."""
    if hasattr(mmap, "MADV_DONTNEED"):  # other systems reclaim it themselves when memory is short
        for one in _maps.copy():
            if (mapped := one()) is not None:
                mapped.madvise(mmap.MADV_DONTNEED)


def _folder() -> str:
    if "TMPDIR" in os.environ or not os.access(ON_DISK, os.W_OK | os.X_OK):
        return tempfile.gettempdir()
    return ON_DISK


def _make_room(file: BinaryIO, size: int) -> None:
    """Allocate this many bytes of zeros in a file. On a full disk, writing to a hole in a map would kill the
    process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for begin in range(0, size, len(_ZEROS)):
        file.write(_ZEROS[: size - begin])
    file.flush()


# Limits shared by several families of learners.

LARGEST_FEATURE = 1e50
"""Absolute value of a feature above which squares and sums could overflow."""


def check_feature_size(X: FeatureMatrix) -> None:
    """Raise ValueError if a feature of X (n, d), dense or sparse, exceeds LARGEST_FEATURE in absolute
    value."""
    # Not abs(X): for a sparse X it would sort the caller's matrix in place.
    largest = float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0))
    if largest > LARGEST_FEATURE:
        raise ValueError(
            f"The features must be at most {LARGEST_FEATURE:g} in size, got {largest:g}. Fix: scale them, for example "
            "with sklearn.preprocessing.StandardScaler in a pipeline."
        )
