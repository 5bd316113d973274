"""Rows of very many columns of CSV -> the columns, at once for all cells.

Arrow's reader keeps kilobytes for each column of each block, more than a gigabyte for 10,000 columns of 100 rows. Where
nothing but line ends and delimiters parts the cells, as in nearly all wide tables, their places tell all there is to
know.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

WIDE = 256
"""Columns from which on a table is read this way, if it can be."""

_BLANK_LINE = re.compile(rb"\n\n|\A\n")


def wide_columns(body: bytes, delimiter: bytes, n_columns: int) -> list[pa.LargeStringArray] | None:
    """The columns of text, or None where a quote, a blank line or a row of another length has to be looked at.

    body : from the first row on, in UTF-8, its quotes regular (`plcore.tables.csv_lines.quotes_are_regular`)
    """
    text = body.replace(b"\r\n", b"\n") if b"\r" in body else body
    if b'"' in text:
        letters = np.frombuffer(text, dtype=np.uint8)
        inside = np.searchsorted(np.flatnonzero(letters == ord('"')), _ends(letters, delimiter)) % 2
        if b'""' in text or inside.any():  # a quote, a delimiter or a line end in a cell
            return None
        text = text.replace(b'"', b"")
    text = text.removesuffix(b"\n")
    if b"\r" in text or not text or _BLANK_LINE.search(text):
        return None
    letters = np.frombuffer(text, dtype=np.uint8)
    ends = _ends(letters, delimiter)
    n_cells = len(ends) + 1
    n_rows = n_cells // n_columns
    if n_rows * n_columns != n_cells:
        return None
    is_line = np.append(letters[ends] == ord("\n"), True).reshape(n_rows, n_columns)
    if is_line[:, :-1].any() or not is_line[:, -1].all():
        return None
    # Without what parts them the cells lie one behind the other: each begins as many bytes earlier as there were ends.
    offsets = np.concatenate([[0], ends - np.arange(len(ends)), [len(text) - len(ends)]])
    cells = pa.LargeStringArray.from_buffers(
        n_cells,
        pa.py_buffer(offsets.astype(np.int64)),
        pa.py_buffer(text.translate(None, delimiter + b"\n")),
    )
    by_column = cells.take(pa.array(np.arange(n_cells).reshape(n_rows, n_columns).T.ravel()))
    return [by_column.slice(place * n_rows, n_rows) for place in range(n_columns)]


def _ends(letters: npt.NDArray[np.uint8], delimiter: bytes) -> npt.NDArray[np.intp]:
    """Where cells end: the places of delimiters and line ends."""
    return np.flatnonzero((letters == ord(delimiter)) | (letters == ord("\n")))
