"""Values of workbooks, JSON and Parquet -> the text of their cells, the same for all of them."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from plcore.tables.frame_text import numbers_as_text


def column_text(values: Sequence[object]) -> Sequence[str] | pa.LargeStringArray:
    """The text of each value of a column; columns of one kind, which most are, take a tenth of the time."""
    kinds = set(map(type, values))
    if kinds <= {str}:
        return values
    if kinds <= {float, type(None)}:
        return numbers_as_text(np.array(values, dtype=np.float64))
    return [cell_text(value) for value in values]


def cell_text(value: object) -> str:
    """The text of one value: '' for none and NaN, whole numbers without a point, `true` and `false`, dates as ISO 8601
    says, lists and objects as JSON.
    """
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, float):
        return "" if value is None else float_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(plain(value), ensure_ascii=False)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() else ""
    return str(value)


def float_text(value: float) -> str:
    """The shortest text that reads back as this number, whole ones without a point; '' for NaN."""
    if math.isnan(value):
        return ""
    text = repr(value)
    return text.removesuffix(".0")


def plain(value: object) -> Any:
    """The value with what JSON has no word for as text; NaN is null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else repr(value)
    return value if value is None or isinstance(value, (bool, int)) else cell_text(value)
