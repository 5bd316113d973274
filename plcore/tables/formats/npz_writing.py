"""Arrays written into an .npz file some rows at a time: nothing pickled, and never a second copy of a large array."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from plcore.common.types import AnyArray
from plcore.tables.formats.disambiguated import PIECE_ROWS, Tell

_DATE = (1980, 1, 1, 0, 0, 0)  # the same arrays always give the same bytes


@dataclass(frozen=True)
class ArrayRows:
    """An array as it is to be written: its type, its shape, and what gives the rows of a slice."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    rows: Callable[[slice], AnyArray]


def array_rows(array: AnyArray, dtype: Any = None) -> ArrayRows:
    """The rows of an array that is there; objects are written as text of a fixed width."""
    if dtype is None:
        dtype = text_type(array.ravel()) if array.dtype.kind in "OU" else array.dtype
    return ArrayRows(np.dtype(dtype), array.shape, lambda rows: array[rows])


def text_type(texts: Iterable[Any]) -> np.dtype[Any]:
    """The type of fixed width that holds the longest of these texts."""
    return np.dtype(f"<U{max((len(str(text)) for text in texts), default=1) or 1}")


def write_arrays(file: BinaryIO, arrays: Mapping[str, ArrayRows], n_rows: int, tell: Tell) -> None:
    """Write the arrays one after the other. `tell` hears of `n_rows` in parts: as much as of all values is written."""
    sizes = {name: int(np.prod(one.shape)) for name, one in arrays.items()}
    whole, done = max(1, sum(sizes.values())), 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, one in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as member:
                head = {"descr": one.dtype.str, "fortran_order": False, "shape": one.shape}
                np.lib.format.write_array_header_1_0(member, head)
                for start in range(0, one.shape[0], PIECE_ROWS):
                    piece = np.ascontiguousarray(one.rows(slice(start, start + PIECE_ROWS)), dtype=one.dtype)
                    member.write(piece.tobytes())
                    done += piece.size
                    tell(n_rows * done // whole)
