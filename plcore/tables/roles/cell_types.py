"""The types that columns of text had in their source: a Parquet file, or a DataFrame.

Cells are text everywhere; a table remembers what its columns were, so that exports give the types back. They are in the
`attrs` of the frame of cells, as text, and in the metadata of stored tables.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays.types import FloatArray
from plcore.tables.roles.roles import Roles
from plcore.tables.text.arrow import columns_of_text

Types = Mapping[str, pa.DataType]
ATTRIBUTE = "winnow_types"
_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_PLAIN = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_timestamp,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_decimal,
)


def is_kept(kind: pa.DataType) -> bool:
    """Whether exports give a column of this type back: numbers, truth values, dates and times, and lists of these or of
    text."""
    if any(one(kind) for one in _LISTS):
        return any(one(kind.value_type) for one in (*_TEXT[:3], *_PLAIN))
    return any(one(kind) for one in _PLAIN)


def with_types(cells: pd.DataFrame, types: Types) -> pd.DataFrame:
    """The same cells, remembering these types."""
    cells.attrs[ATTRIBUTE] = to_text(types)
    return cells


def types_of(cells: pd.DataFrame) -> dict[str, pa.DataType]:
    """The types that columns of these cells had; those that were text are not among them."""
    return from_text(cells.attrs.get(ATTRIBUTE, ""))


def to_text(types: Types) -> str:
    """Types as text, '' for none."""
    kept = {name: _plain_list(kind) for name, kind in types.items() if is_kept(kind)}
    return base64.b64encode(pa.schema(kept).serialize()).decode() if kept else ""


def _plain_list(kind: pa.DataType) -> pa.DataType:
    """A list of a fixed length is returned as any list."""
    return pa.list_(kind.value_type) if pa.types.is_fixed_size_list(kind) else kind


def from_text(text: str) -> dict[str, pa.DataType]:
    """The types that `to_text` wrote."""
    if not text:
        return {}
    return {field.name: field.type for field in pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))}


def types_of_frame(frame: pd.DataFrame) -> dict[str, pa.DataType]:
    """The types of the columns of any DataFrame, as Arrow has them; columns of mixed values have none."""
    found = {}
    for name, column in frame.items():
        try:
            kind = pa.array(column, from_pandas=True).type
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            continue
        if is_kept(kind):
            found[str(name)] = kind
    return found


def export_types(cells: pd.DataFrame, roles: Roles, numbers: FloatArray) -> dict[str, pa.DataType]:
    """Return the types for exporting columns of these cells: as in their source; for CSV files those of number columns.
    A column with a cell of another type, as after adding rows, stays text.

    numbers : (n, p) of the columns `roles.numbers`
    """
    found = {}
    known = types_of(cells)
    for name, column in zip(map(str, cells.columns), columns_of_text(cells), strict=True):
        kind = known.get(name)
        if kind is None and name in roles.numbers and name != roles.id:
            kind = number_type(column, numbers[:, roles.numbers.index(name)])
        if kind is not None and fits(column, kind):
            found[name] = kind
    return found


def fits(column: pa.LargeStringArray, kind: pa.DataType) -> bool:
    """Whether every cell is one of this type."""
    try:
        typed(column, kind)
    except (ValueError, pa.ArrowNotImplementedError):
        return False
    return True


def number_type(column: pa.LargeStringArray, numbers: FloatArray) -> pa.DataType | None:
    """The type of a column of a CSV file that was read as these numbers (n,): whole ones if every cell is written so,
    else doubles. None if a number says less than its cell: leading zeros, more digits than a double has."""
    stripped = pc.utf8_trim_whitespace(column)
    if pc.any(pc.match_substring_regex(stripped, r"^[+-]?0[0-9]")).as_py():
        return None
    filled = pc.equal(stripped, "")
    if pc.all(pc.or_(filled, pc.match_substring_regex(stripped, r"^-?[0-9]{1,18}$"))).as_py():
        return pa.int64()
    try:
        found = _doubles(pc.if_else(filled, None, stripped))
    except ValueError:
        return None
    same = np.array_equal(found.to_numpy(zero_copy_only=False), numbers, equal_nan=True)
    return pa.float64() if same else None


def typed(column: pa.LargeStringArray, kind: pa.DataType) -> pa.Array:
    """A column of text as the type that it had. Raises ValueError (pa.ArrowInvalid is one) if a cell is none."""
    text = pc.if_else(pc.equal(column, ""), None, column)
    if any(one(kind) for one in _LISTS):
        return pa.array([_list_in(cell) for cell in text.to_pylist()], kind)
    if pa.types.is_boolean(kind):
        return pc.utf8_lower(text).cast(kind)
    if pa.types.is_timestamp(kind):
        fine = pa.timestamp("us" if kind.unit != "ns" else "ns", kind.tz)
        return text.cast(fine).cast(kind)
    if pa.types.is_floating(kind):
        return _doubles(text).cast(kind, safe=False)
    return text.cast(kind)


def _doubles(text: pa.LargeStringArray) -> pa.DoubleArray:
    """Numbers, written with decimal points or, all of them, with decimal commas. Raises ValueError."""
    stripped = pc.utf8_trim_whitespace(text)
    try:
        return stripped.cast(pa.float64())
    except pa.ArrowInvalid:
        return pc.replace_substring(stripped, ",", ".").cast(pa.float64())


def _list_in(cell: str | None) -> list[object] | None:
    """The list in a cell, written as JSON or, of a DataFrame, as Python does. Raises ValueError."""
    if cell is None:
        return None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(cell)
        except (SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError(f"no list: {cell[:40]!r}") from error
    if not isinstance(found, list):
        raise ValueError(f"no list: {cell[:40]!r}")
    return found
