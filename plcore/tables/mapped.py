"""Files that are mapped into memory: what is looked at is read from the disk, and costs memory only until it is let go.

A table of a million rows has a gigabyte of text that people see a few rows of. It lies in a file, and the system reads
the pages of it that somebody asks for. Whoever has gone through all of it calls `plcore.common.let_go`.
"""

from __future__ import annotations

import errno
import mmap
import tempfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plcore.common import array_at, note_map
from plcore.common.types import AnyArray


def mapped(path: Path) -> pa.Buffer:
    """The bytes of a file, which is not empty. They last as long as this does, also when the file's name is gone."""
    with path.open("rb") as file:
        return mapped_file(file)


def mapped_file(file: BinaryIO) -> pa.Buffer:
    """`mapped` of an open file, which may be closed afterwards."""
    file.flush()
    bytes_of = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    note_map(bytes_of)
    return pa.py_buffer(bytes_of)


def mapped_numbers(path: Path) -> npt.NDArray[np.float64]:
    """The doubles in a file, which is not empty, as `numpy.ndarray.tofile` writes them; read-only."""
    return np.frombuffer(mapped(path))


def mapped_array(path: Path) -> AnyArray:
    """The array in a .npy file, as it lies there; read-only. Raises ValueError for another file, or one of objects."""
    return array_at(mapped(path))


def nameless_file(folder: Path) -> BinaryIO:
    """A file to write and then to map, beside others in this folder; it is gone with whoever has it open.

    Where nobody may write in the folder, it lies in the system's place for such files. Raises OSError.
    """
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return tempfile.TemporaryFile()
