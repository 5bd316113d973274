"""Arrays that grow with the rows of a table: small ones in memory, large ones in files without a name that are mapped.

What was looked at or written of a mapped file is in memory only until the system wants it back, or somebody lets it go.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from typing import Any, BinaryIO
from weakref import ref

import numpy as np
import numpy.typing as npt

from plcore.common.disk_room import no_room
from plcore.common.types import AnyArray

IN_MEMORY = 1 << 23
"""Bytes of an array that is not worth a file."""
ON_DISK = "/var/tmp"  # noqa: S108 - the files have no names
"""Where they lie if nothing else is wanted: many systems have /tmp in memory."""
_ZEROS = bytes(1 << 20)
# No WeakSet: while one thread goes through it, none may put anything in. To copy a set nobody can come between.
_maps: set[ref[mmap.mmap]] = set()


def large_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> AnyArray:
    """A new array of zeros, by row. Beyond `IN_MEMORY` bytes it lies in a file in the folder that `TMPDIR` names, or
    `ON_DISK`, all of whose bytes are there from the start. The file is gone with the array; processes that are forked
    meanwhile write to the same. Raises OSError, in words, where there is no room for it."""
    kind: np.dtype[Any] = np.dtype(dtype)
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
                f"There is no room for {size / 1e6:,.0f} MB of what is made of a table's rows, which lie in a file. "
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
    """Give back the memory of all pages that this process has looked at: they are read again where they are wanted."""
    if hasattr(mmap, "MADV_DONTNEED"):  # other systems take it back themselves, when it grows short
        for one in _maps.copy():
            if (mapped := one()) is not None:
                mapped.madvise(mmap.MADV_DONTNEED)


def _folder() -> str:
    if "TMPDIR" in os.environ or not os.access(ON_DISK, os.W_OK | os.X_OK):
        return tempfile.gettempdir()
    return ON_DISK


def _make_room(file: BinaryIO, size: int) -> None:
    """Have so many bytes of zeros in a file: a map with holes ends the process that writes there on a full disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for begin in range(0, size, len(_ZEROS)):
        file.write(_ZEROS[: size - begin])
    file.flush()
