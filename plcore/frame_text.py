"""A DataFrame of any types -> the text of its cells, as `read_cells` would give them for a CSV file.

Strings stay as they are; missing values become ''; numbers become the shortest text that reads back as the
same number, whole ones without a point: pandas turns the label 3 into 3.0 as soon as another cell of its
column is empty. Anything else becomes what `str` makes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.csv_text import storable
from plcore.problems import Problem, TableError


def frame_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as (n_rows, n_columns) of str. Raises TableError for text that no file can hold."""
    columns = [_as_text(frame.iloc[:, place]) for place in range(frame.shape[1])]
    text = pd.DataFrame(dict(enumerate(columns)), dtype="str", index=range(len(frame)), copy=False)
    text.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    return text


def _as_text(column: pd.Series[Any]) -> pd.Series[str]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        values = column.to_numpy()
        if values.dtype.itemsize not in (4, 8):  # Arrow has no long doubles and prints halves as floats
            values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        text = pc.cast(pa.array(values, from_pandas=True), pa.large_string())
        cells: pd.Series[str] = pc.fill_null(text, "").to_pandas()
        return cells
    missing = column.isna().to_numpy()
    texts = ["" if gone else str(value) for value, gone in zip(column, missing, strict=True)]
    for row, value in enumerate(texts):
        if not storable(value):
            message = "the text holds half of a character (a lone surrogate)."
            raise TableError(Problem(row + 1, None, str(column.name), message, "Correct the text."))
    return pd.Series(texts, dtype="str")
