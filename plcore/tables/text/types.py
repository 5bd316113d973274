"""Types of text columns in their source: a Parquet file or a DataFrame.

All cells are text. A table remembers the original types of its columns, so that exports restore them. They are stored
as text in the `attrs` of the DataFrame of cells, and in the metadata of stored tables.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays.types import FloatArray
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.written_lists import plain_list
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


def is_list(kind: pa.DataType) -> bool:
    """Whether this is a type of lists, of equal length or not."""
    return any(one(kind) for one in _LISTS)


def is_kept(kind: pa.DataType) -> bool:
    """Whether exports restore this type: numbers, booleans, dates and times, lists of these or of text, categories of
    text, and columns without a value."""
    if is_list(kind):
        return any(one(kind.value_type) for one in (*_TEXT[:3], *_PLAIN))
    return is_categorical(kind) or any(one(kind) for one in (*_PLAIN, pa.types.is_null))


def is_categorical(kind: pa.DataType) -> bool:
    """Whether this is a type of categories of text."""
    return pa.types.is_dictionary(kind) and any(one(kind.value_type) for one in _TEXT[:3])


def with_types(cells: pd.DataFrame, types: Types) -> pd.DataFrame:
    """Attach these types to the cells, and return the cells."""
    cells.attrs[ATTRIBUTE] = to_text(types)
    return cells


def types_of(cells: pd.DataFrame) -> dict[str, pa.DataType]:
    """Return the original types of the columns; text columns have no entry."""
    return from_text(cells.attrs.get(ATTRIBUTE, ""))


def to_text(types: Types) -> str:
    """Serialise types as text; '' if there are none to restore."""
    kept = {name: _plain(kind) for name, kind in types.items() if is_kept(kind)}
    return base64.b64encode(pa.schema(kept).serialize()).decode() if kept else ""


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type, with a list of fixed length as a list of any length, and categories without an order, which the
    cells do not tell."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, pa.string())
    return pa.list_(kind.value_type) if pa.types.is_fixed_size_list(kind) else kind


def from_text(text: str) -> dict[str, pa.DataType]:
    """Read the types that `to_text` wrote."""
    if not text:
        return {}
    return {field.name: field.type for field in pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))}


def types_of_frame(frame: pd.DataFrame) -> dict[str, pa.DataType]:
    """Return the Arrow types of the columns of any DataFrame; columns of mixed values have no entry."""
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
    """Return the types for exporting the columns of these cells.

    These are the types of the source; for CSV files, the types of columns of numbers, except those that name rows,
    classes or files. A column stays text if one of its cells has another type, for example after rows were added.

    numbers : (n, p) of the columns `roles.numbers`
    """
    found = {}
    known, places = types_of(cells), {name: place for place, name in enumerate(roles.numbers)}
    names = {column for role, column in roles.used() if role not in ("numbers", "caption")}
    for name, column in zip(map(str, cells.columns), columns_of_text(cells), strict=True):
        kind = known.get(name)
        if kind is None and name not in names:
            kind = number_type(column, numbers[:, places[name]] if name in places else None)
        if kind is not None and fits(column, kind):
            found[name] = kind
    return found


def fits(column: pa.LargeStringArray, kind: pa.DataType) -> bool:
    """Whether every cell can be converted to this type."""
    try:
        typed(column, kind)
    except (ValueError, pa.ArrowNotImplementedError):
        return False
    return True


def number_type(column: pa.LargeStringArray, numbers: FloatArray | None = None) -> pa.DataType | None:
    """Return the type of a CSV column: int64 if every cell is a whole number, float64 if every cell is a number, else
    None. Return None, too, if conversion would lose information: leading zeros, or more digits than a double has.

    numbers : (n,) if the column was read as these numbers; None: it was not, so that each cell must be as a program
        writes the number: 1.10 may be a version
    """
    stripped = pc.utf8_trim_whitespace(column)
    if pc.all(pc.equal(stripped, "")).as_py():
        return None
    if pc.any(pc.match_substring_regex(stripped, r"^[+-]?0[0-9]")).as_py():
        return None
    filled = pc.equal(stripped, "")
    if pc.all(pc.or_(filled, pc.match_substring_regex(stripped, r"^-?[0-9]{1,18}$"))).as_py():
        return pa.int64()
    if numbers is None:
        plain = pc.match_substring_regex(stripped, r"^-?[0-9]{1,9}(\.([0-9]|[0-9]{1,5}[1-9]))?$")
        return pa.float64() if pc.all(pc.or_(filled, plain)).as_py() else None
    try:
        found = _doubles(pc.if_else(filled, None, stripped))
    except ValueError:
        return None
    same = np.array_equal(found.to_numpy(zero_copy_only=False), numbers, equal_nan=True)
    return pa.float64() if same else None


def typed(column: pa.LargeStringArray, kind: pa.DataType, words: pa.StringArray | None = None) -> pa.Array:
    """Convert a column of text to this type. Raises ValueError (pa.ArrowInvalid is one) if a cell does not fit.

    words : for categories, those of the whole column, if this is a part of it (`words_of`)
    """
    text = pc.if_else(pc.equal(column, ""), None, column)
    if pa.types.is_null(kind):
        if text.null_count < len(text):
            raise ValueError("a column without values has one")
        return pa.nulls(len(text))
    if pa.types.is_dictionary(kind):
        words = words_of(column) if words is None else words
        places = pc.index_in(text.cast(pa.string()), words)
        return pa.DictionaryArray.from_arrays(places.cast(kind.index_type), words)
    if is_list(kind):
        return pa.array([_list_in(cell) for cell in text.to_pylist()], kind)
    if pa.types.is_time(kind):  # Arrow casts no text to these
        return pa.array([None if cell is None else time.fromisoformat(cell) for cell in text.to_pylist()], kind)
    if pa.types.is_boolean(kind):
        return pc.utf8_lower(text).cast(kind)
    if pa.types.is_timestamp(kind):
        fine = pa.timestamp("us" if kind.unit != "ns" else "ns", kind.tz)
        return text.cast(fine).cast(kind)
    if pa.types.is_floating(kind):
        return _doubles(text).cast(kind, safe=False)
    return text.cast(kind)


def words_of(column: pa.LargeStringArray) -> pa.StringArray:
    """Return the distinct cells that are not empty, in the order in which each first occurs."""
    return pc.unique(column.filter(pc.not_equal(column, ""))).cast(pa.string())


def _doubles(text: pa.LargeStringArray) -> pa.DoubleArray:
    """Convert text to numbers with decimal points or, if all cells have them, decimal commas. Raises ValueError."""
    stripped = pc.utf8_trim_whitespace(text)
    try:
        return stripped.cast(pa.float64())
    except pa.ArrowInvalid:
        return pc.replace_substring(stripped, ",", ".").cast(pa.float64())


def _list_in(cell: str | None) -> list[object] | None:
    """Return the list in a cell. Raises ValueError."""
    if cell is not None and (found := plain_list(cell)) is None:
        raise ValueError(f"no list: {cell[:40]!r}")
    return None if cell is None else found
