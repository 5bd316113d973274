"""Convert a DataFrame of any types to the text of its cells, as `read_cells` would return them for a CSV file.

Strings are unchanged and missing values become ''. Numbers become the shortest text that reads back as the same number,
whole ones without a point, because pandas turns the label 3 into 3.0 as soon as another cell of its column is empty.
Anything else is converted by `str`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays.types import AnyArray
from plcore.tables.problems import refusal
from plcore.tables.text.csv import storable

_POWERS_FROM, _LONGER = 1e10, 1e16
"""Arrow writes powers of ten from the first on; not all whole numbers from the second on are exact."""


def frame_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert a DataFrame to str (n_rows, n_columns). Raises TableError for text that cannot be stored."""
    columns = [_as_text(frame.iloc[:, place]) for place in range(frame.shape[1])]
    text = pd.DataFrame(dict(enumerate(columns)), dtype="str", index=range(len(frame)), copy=False)
    text.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    return text


def _as_text(column: pd.Series[Any]) -> pd.Series[str]:
    numbers = _as_numbers(column)
    if numbers is not None:
        cells: pd.Series[str] = numbers_as_text(numbers).to_pandas()
        return cells
    missing = column.isna().to_numpy()
    values = column.tolist()
    texts = ["" if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    for kind in {type(value) for value in values if isinstance(value, (float, np.floating))}:
        places = [place for place, value in enumerate(values) if type(value) is kind and not missing[place]]
        floats = np.array([values[place] for place in places], dtype=kind)
        for place, text in zip(places, numbers_as_text(floats).to_pylist(), strict=True):
            texts[place] = text
    for row, value in enumerate(texts):
        if not storable(value):
            message = "the text holds half of a character (a lone surrogate)."
            raise refusal(message, "Correct the text.", row=row + 1, column=str(column.name))
    return pd.Series(texts, dtype="str")


def _as_numbers(column: pd.Series[Any]) -> AnyArray | None:
    """Return the column as floats (NaN: missing), or as integers if none is missing; None if it is not numeric."""
    dtype = column.cat.categories.dtype if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
    if pd.api.types.is_float_dtype(dtype):  # including Float64 and Arrow types
        return column.to_numpy(dtype=getattr(dtype, "numpy_dtype", str(dtype)), na_value=np.nan)
    return column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" else None


def numbers_as_text(values: AnyArray) -> pa.LargeStringArray:
    """Return the shortest text of each number, (n,) floats or integers; '' for NaN. Whole numbers of up to 16 digits
    are written without a power of ten, because they may be ids."""
    if values.dtype.itemsize not in (4, 8):  # Arrow has no long doubles, and prints halves as floats
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    text = pc.fill_null(pc.cast(pa.array(values, from_pandas=True), pa.large_string()), "")
    if values.dtype.kind != "f":
        return text
    size = np.abs(values)
    long = (size >= _POWERS_FROM) & (size < _LONGER) & (size == np.floor(size))
    if not long.any():
        return text
    digits = pc.cast(pa.array(values[long].astype(np.int64)), pa.large_string())
    return pc.replace_with_mask(text, pa.array(long), digits)
