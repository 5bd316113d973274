"""The arrays of .npz files, read with suspicion: nothing pickled, nothing larger than the file can hold."""

from __future__ import annotations

import io
import zipfile

import numpy as np

from plcore.common import read_head
from plcore.common.types import AnyArray
from plcore.common.words import quoted
from plcore.tables.archive import ZIP_FAULTS
from plcore.tables.file_tree import MAX_UNPACKED_MB
from plcore.tables.formats.reading import refusal
from plcore.tables.problems import TableError

_MB = 1_000_000
_KINDS = "biufU"
_ANEW = "Write it anew with numpy.savez_compressed."


def load_npz(data: bytes) -> dict[str, AnyArray]:
    """The arrays of numbers, truth values and text of an .npz file, by name."""
    arrays: dict[str, AnyArray] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            if sum(entry.file_size for entry in file.infolist()) > MAX_UNPACKED_MB * _MB:
                raise refusal(
                    f"Unpacked, the arrays have more than {MAX_UNPACKED_MB:,} MB.", "Give fewer rows."
                )
            for entry in file.infolist():
                arrays[entry.filename.removesuffix(".npy")] = _array(file.read(entry), entry.filename)
    except TableError:
        raise
    except ZIP_FAULTS as error:
        raise refusal(f"The .npz file is damaged ({error}).", _ANEW) from error
    return arrays


def _array(data: bytes, name: str) -> AnyArray:
    try:
        shape, _, dtype = read_head(io.BytesIO(data))
        if dtype.hasobject:
            message = f"the array {quoted(name)} is pickled: reading it could run a program."
            raise refusal(message, "Write numbers or text, dtype=str, not objects.")
        if dtype.kind not in _KINDS:
            raise refusal(f"the array {quoted(name)} has the type {dtype}.", "Write numbers or text.")
        size = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
        if size > len(data):  # before NumPy makes room for it
            raise refusal(f"the array {quoted(name)} is cut off.", _ANEW)
        array: AnyArray = np.load(io.BytesIO(data), allow_pickle=False)
        return array.astype(dtype.newbyteorder("="), copy=False)  # Arrow takes no other order of bytes
    except (TableError, MemoryError):
        raise
    except Exception as error:
        raise refusal(f"the array {quoted(name)} cannot be read ({str(error)[:100]}).", _ANEW) from error
