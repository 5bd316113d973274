"""Between columns of text as Arrow has them and a DataFrame of str: in one step for all of them, for what pandas does
for each column costs more than the cells of a wide table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

_TEXT = pa.large_string()
_MAPPED = {_TEXT: pd.StringDtype(na_value=np.nan)}


def frame_of(columns: Sequence[pa.LargeStringArray | pa.ChunkedArray], names: Sequence[str]) -> pd.DataFrame:
    """The cells of these columns of large strings, each under its name; no cell is copied. Names may come twice."""
    table = pa.table(list(columns), [str(place) for place in range(len(columns))])
    frame: pd.DataFrame = table.to_pandas(types_mapper=_MAPPED.get)
    frame.columns = pd.Index(list(names), dtype="str")
    return frame


def columns_of_text(cells: pd.DataFrame) -> Iterator[pa.LargeStringArray]:
    """The columns of a DataFrame of str, in their order, each in one piece; no cell is copied where it is in one."""
    for _, series in cells.items():
        yield in_one_piece(pa.array(series.array, _TEXT))


def in_one_piece(column: pa.LargeStringArray | pa.ChunkedArray) -> pa.LargeStringArray:
    """The same text as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def bytes_of(column: pa.LargeStringArray) -> bytes:
    """The text of all cells, one behind the other, in UTF-8: to ask at once whether a character occurs in any."""
    _, offsets, text = column.buffers()
    if text is None or not len(column):
        return b""
    ends = np.frombuffer(offsets, dtype=np.int64)[[column.offset, column.offset + len(column)]]
    return bytes(text[ends[0] : ends[1]].to_pybytes())


def has_sign(column: pa.LargeStringArray | pa.ChunkedArray, sign: bytes) -> bool:
    """Whether this one byte occurs in any cell; no more than a chunk of the text is copied."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else (column,)
    return any(sign in bytes_of(chunk) for chunk in chunks)
