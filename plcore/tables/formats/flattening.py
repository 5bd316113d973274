"""Objects of JSON -> columns: every field is one, those of objects inside objects with dotted names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from plcore.common.words import quoted
from plcore.tables.formats.reading import check_size, refusal, text_table
from plcore.tables.formats.values import column_text
from plcore.tables.suggested_labels import CANDIDATE_NAMES

_LABELS = CANDIDATE_NAMES | {"label", "prediction", "predictions"}
MAX_DEPTH = 8
"""Objects deeper than this stay JSON in one cell."""


def flat_cells(records: Sequence[Mapping[str, Any]], lines: Sequence[int] | None = None) -> pd.DataFrame:
    """One row a record; columns in the order in which their fields first come. Missing fields and null are empty
    cells; lists stay JSON.

    lines : of the file that the records begin in
    Raises TableError: two fields of one dotted name, too many cells, names or text that no file can hold.
    """
    weighted = _weighted_labels(records)
    names: dict[str, None] = {}
    rows: list[Mapping[str, Any]] = []
    before: list[str] = []
    for place, record in enumerate(records):
        row = record if _is_flat(record) else _flattened(record, place, lines, weighted)
        fields = list(row)
        if fields != before:  # most records have the fields of the one before
            names.update(dict.fromkeys(fields))
            before = fields
        check_size(place + 1, len(names))
        rows.append(row)
    if rows and not names:
        raise refusal("The objects have no fields.", "Give every object a field for each column.")
    columns = [column_text([row.get(name) for row in rows]) for name in names]
    return text_table(list(names), columns, lines)


def _is_flat(record: Mapping[str, Any]) -> bool:
    return not any(isinstance(value, dict) for value in record.values())


def _weighted_labels(records: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Fields called like candidates that hold {label: number} wherever they hold anything: no columns, but lists."""
    found: dict[str, bool] = {}
    for record in records:
        for name, value in record.items():
            if value is not None and name.strip().lower() in _LABELS:
                found[name] = found.get(name, True) and _is_weights(value)
    return frozenset(name for name, good in found.items() if good)


def _is_weights(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, (int, float)) and not isinstance(each, bool) for each in value.values()
    )


def _flattened(
    record: Mapping[str, Any], place: int, lines: Sequence[int] | None, weighted: frozenset[str]
) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in _fields(record, "", MAX_DEPTH, weighted):
        if name in row:
            message = f"two fields would both be column {quoted(name)}."
            line = None if lines is None else lines[place]
            raise refusal(message, "Rename one of them.", row=place + 1, line=line)
        row[name] = value
    return row


def _fields(
    record: Mapping[str, Any], prefix: str, depth: int, whole: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict) and value and depth and name not in whole:
            yield from _fields(value, f"{prefix}{name}.", depth - 1)
        else:
            yield f"{prefix}{name}", None if value == {} else value
