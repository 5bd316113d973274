"""MATLAB files of versions 5 to 7: their matrices of numbers, dense and sparse ("MAT-File Format", MathWorks).

SciPy's reader ends the whole process (a segmentation fault) over some damaged files, and unpacks variables whatever
their size; so this one, which reads what tables are made of and passes over text, cells, structures and objects.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plcore.common.types import AnyArray
from plcore.tables.file_tree import MAX_UNPACKED_MB
from plcore.tables.formats.reading import check_size, refusal
from plcore.tables.formats.sparse_pieces import dense_rows
from plcore.tables.problems import TableError

MAT_START = b"MATLAB 5.0 MAT-file"
_MB = 1_000_000
_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_SPARSE, _DENSE = 5, range(6, 16)  # classes of arrays
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_ANEW = "Save it anew with save(name, '-v7')."


class _Element(NamedTuple):
    kind: int
    body: bytes


def load_mat(data: bytes) -> dict[str, AnyArray]:
    """The matrices of a file by name, (rows, columns), sparse ones made dense; the real part of complex ones.

    Raises TableError: damaged, or larger than is taken.
    """
    order = "<" if data[126:128] == b"IM" else ">"
    arrays: dict[str, AnyArray] = {}
    size = 0
    try:
        for element in _elements(data[_HEADER:], order):
            body = element.body
            if element.kind == _COMPRESSED:
                unpacked = zlib.decompressobj().decompress(body, MAX_UNPACKED_MB * _MB - size + 1)
                size += len(unpacked)
                if size > MAX_UNPACKED_MB * _MB:
                    raise refusal(
                        f"Unpacked, the file has more than {MAX_UNPACKED_MB:,} MB.", "Give fewer rows."
                    )
                element = next(_elements(unpacked, order))
                body = element.body
            if element.kind == _MATRIX:
                arrays.update(_matrix(body, order))
    except (_DamagedError, zlib.error, struct.error, StopIteration) as error:
        raise refusal(f"The MATLAB file is damaged: {str(error) or 'it is cut off'}.", _ANEW) from error
    return arrays


class _DamagedError(Exception):
    """These bytes are not what the format says."""


def _elements(data: bytes, order: str) -> Iterator[_Element]:
    position = 0
    while position < len(data):
        kind, length = struct.unpack_from(f"{order}II", data, position)
        start = position + 8
        if kind >> 16:  # up to four bytes, in the second half of the tag
            kind, length, start = kind & 0xFFFF, kind >> 16, position + 4
        body = data[start : start + length]
        if len(body) < length or (start == position + 4 and length > 4):
            raise _DamagedError("a part of it is cut off")
        yield _Element(kind, body)
        end = start + length
        position = end if kind == _COMPRESSED else -(-end // 8) * 8


def _matrix(data: bytes, order: str) -> dict[str, AnyArray]:
    """The matrix of an element under its name; none where it is of another class."""
    parts = _elements(data, order)
    flags = next(parts).body
    (kind,) = struct.unpack_from(f"{order}I", flags)
    kind &= 0xFF
    if kind != _SPARSE and kind not in _DENSE:
        return {}
    sides = [int(side) for side in _values(next(parts), order)]
    name = next(parts).body.decode("latin-1")
    if len(sides) != 2:
        return {}
    if min(sides) < 0:
        raise _DamagedError(f"{name} has a negative side")
    check_size(*sides)
    if kind == _SPARSE:
        return {name: _sparse(sides, parts, order)}
    values = _values(next(parts), order)
    if values.size != sides[0] * sides[1]:
        raise _DamagedError(f"{name} has {values.size} values for {sides[0]} x {sides[1]}")
    return {name: values.reshape(sides, order="F")}


def _sparse(sides: list[int], parts: Iterator[_Element], order: str) -> AnyArray:
    rows, starts, values = (_values(next(parts), order) for _ in range(3))
    try:
        return dense_rows(values, rows, starts, (sides[1], sides[0])).T
    except TableError:
        raise
    except ValueError as error:
        raise _DamagedError(f"a sparse matrix does not fit, {error}") from error


def _values(element: _Element, order: str) -> AnyArray:
    if element.kind not in _TYPES:
        raise _DamagedError(f"a part has the type {element.kind}, no numbers")
    dtype = np.dtype(order + _TYPES[element.kind])
    if len(element.body) % dtype.itemsize:
        raise _DamagedError("a part of it is cut off")
    return np.frombuffer(element.body, dtype).astype(dtype.newbyteorder("="))
