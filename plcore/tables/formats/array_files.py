"""The arrays of .npz and .mat files, read with suspicion: nothing pickled, nothing larger than the file can hold."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import numpy as np
import scipy.io
from scipy import sparse

from plcore.common.types import AnyArray
from plcore.common.words import quoted
from plcore.tables.archive import MAX_UNPACKED_MB
from plcore.tables.formats.reading import check_size, refusal
from plcore.tables.problems import TableError

MAT_START = b"MATLAB 5.0 MAT-file"
HDF_STARTS = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file")
_MB = 1_000_000
_MAT_HEADER = 128
_COMPRESSED = 15  # miCOMPRESSED in "MAT-File Format", MathWorks
_NUMERIC = {
    *("double", "single", "int8", "uint8", "int16", "uint16"),
    *("int32", "uint32", "int64", "uint64", "logical", "sparse"),
}
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
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise refusal(f"The .npz file is damaged ({error}).", _ANEW) from error
    return arrays


def _array(data: bytes, name: str) -> AnyArray:
    try:
        stream = io.BytesIO(data)
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(stream)
        if dtype.hasobject:
            message = f"the array {quoted(name)} is pickled: reading it could run a program."
            raise refusal(message, "Write numbers or text, dtype=str, not objects.")
        if dtype.kind not in _KINDS:
            raise refusal(f"the array {quoted(name)} has the type {dtype}.", "Write numbers or text.")
        size = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
        if size > len(data):  # before NumPy makes room for it
            raise refusal(f"the array {quoted(name)} is cut off.", _ANEW)
        return np.load(io.BytesIO(data), allow_pickle=False)  # type: ignore[no-any-return]
    except TableError:
        raise
    except Exception as error:
        raise refusal(f"the array {quoted(name)} cannot be read ({str(error)[:100]}).", _ANEW) from error


def load_mat(data: bytes) -> dict[str, AnyArray]:
    """The matrices of numbers of a MATLAB file of version 5 to 7, by name, sparse ones made dense."""
    try:
        plain = _unpacked(data)
        found = [
            (name, shape) for name, shape, kind in scipy.io.whosmat(io.BytesIO(plain)) if kind in _NUMERIC
        ]
        for _, shape in found:
            if len(shape) != 2:
                continue
            check_size(*shape)
        names = [name for name, shape in found if len(shape) == 2]
        loaded = scipy.io.loadmat(io.BytesIO(plain), variable_names=names, spmatrix=False) if names else {}
        arrays = {}
        for name in names:
            array = loaded[name]
            if sparse.issparse(array):
                array.check_format(full_check=True)
                array = array.toarray()
            arrays[name] = array
    except TableError:
        raise
    except Exception as error:
        message = f"The MATLAB file cannot be read ({str(error)[:200]})."
        raise refusal(message, "Save it anew with save(name, '-v7').") from error
    return arrays


def _unpacked(data: bytes) -> bytes:
    """The file with its variables unpacked, piece by piece: SciPy would unpack them whatever their size."""
    if len(data) < _MAT_HEADER:
        raise refusal("The MATLAB file ends in its header.", "Copy it anew.")
    order = "<" if data[126:128] == b"IM" else ">"
    pieces, size, position = [data[:_MAT_HEADER]], 0, _MAT_HEADER
    while position + 8 <= len(data):
        kind, length = struct.unpack(f"{order}II", data[position : position + 8])
        body = data[position + 8 : position + 8 + length]
        if kind == _COMPRESSED:
            body = zlib.decompressobj().decompress(body, MAX_UNPACKED_MB * _MB - size + 1)
        else:
            body = data[position : position + 8] + body
        size += len(body)
        if size > MAX_UNPACKED_MB * _MB:
            raise refusal(f"Unpacked, the file has more than {MAX_UNPACKED_MB:,} MB.", "Give fewer rows.")
        pieces.append(body)
        position += 8 + length
    return b"".join(pieces)
