"""JSON and JSON Lines: objects of any fields, those of a tool's export, and the forms in which pandas writes tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from sys import intern
from typing import Any

import pandas as pd

from plcore.arrays.words import listed, quoted
from plcore.tables.problems import check_size
from plcore.tables.readers.reading import TableReading, column_text, refusal, text_table
from plcore.tables.readers.registry import RECORD_FORMATS
from plcore.tables.roles.suggested_labels import CANDIDATE_NAMES

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
    """null stands for a key that the row lacks."""
    return isinstance(value, dict) and all(
        each is None or (isinstance(each, (int, float)) and not isinstance(each, bool))
        for each in value.values()
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


_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{\]"])')
_OBJECTS = "Write a list of objects, one a row: [{...}, {...}], or one object on every line."


def looks_like_json(data: bytes) -> bool:
    """Whether a text (UTF-8) begins as JSON or JSON Lines with objects do."""
    return _START.match(data[:1000]) is not None


def read_json(data: bytes) -> TableReading:
    """The table in a JSON or JSON Lines file (UTF-8).

    A list of objects, or an object on every line, has a row for each; so has the only list of objects in an object
    (`{"data": [...]}`). An object of lists has a column for each. Of other objects the forms of `pandas` are read.
    Records that a tool has written (`RECORD_FORMATS`) are read as what they mean.
    Raises TableError: no JSON, with line and column; a key twice in an object; nothing that is a table.
    """
    try:
        return _read(data.decode())
    except RecursionError:
        raise refusal("The JSON is nested too deep.", "Write flat objects, one a row.") from None


def _read(text: str) -> TableReading:
    parser = _Parser()
    lines = _lines(text)
    if len(lines) > 1 and _is_whole(lines[0][1]):
        records = []
        for place, (line, each) in enumerate(lines):
            value = parser.parse(each, row=place + 1, line=line)
            if not isinstance(value, dict):
                message = f"this line holds {_kind(value)}, not an object."
                raise refusal(message, 'Write {"name": value, ...} on every line.', row=place + 1, line=line)
            records.append(value)
        return _of_records(records, "JSON Lines", parser.notes(), [line for line, _ in lines])
    return _of_value(parser.parse(text), parser.notes())


def _lines(text: str) -> list[tuple[int, str]]:
    """Number and text of every line that is not blank. Only LF and CR LF end one: JSON text may hold the others."""
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _is_whole(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _Parser:
    """json.loads with places, duplicate keys refused, and a note of what JSON does not know."""

    def __init__(self) -> None:
        self._nan = 0

    def notes(self) -> tuple[str, ...]:
        if not self._nan:
            return ()
        return (f"NaN stands {self._nan:,} times in the file, which JSON does not know: read as empty.",)

    def parse(self, text: str, row: int | None = None, line: int | None = None) -> Any:
        try:
            return json.loads(text, object_pairs_hook=_object, parse_constant=self._constant)
        except _KeyTwiceError as error:
            message = f"an object has the key {quoted(error.args[0])} twice."
            raise refusal(message, "Keep one of them, or rename one.", row=row, line=line) from None
        except json.JSONDecodeError as error:
            where = (
                f"character {error.colno}"
                if line is not None
                else f"line {error.lineno}, character {error.colno}"
            )
            message = f"this is no JSON at {where}: {error.msg[:1].lower()}{error.msg[1:]}."
            fix = "Correct the place, or write the file by a program."
            raise refusal(message, fix, row=row, line=line if line is not None else error.lineno) from None
        except ValueError as error:  # a number of more than 4,300 digits
            raise refusal(
                f"a number cannot be read ({error}).", "Write it as text.", row=row, line=line
            ) from None

    def _constant(self, name: str) -> float:
        self._nan += name == "NaN"
        return float(name)


class _KeyTwiceError(ValueError):
    """An object has this key twice."""


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = {
        intern(name): value for name, value in pairs
    }  # a million rows then share the names of their fields
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _KeyTwiceError(name)
            seen.add(name)
    return found


def _of_records(
    records: list[dict[str, Any]], name: str, notes: tuple[str, ...], lines: Sequence[int] | None = None
) -> TableReading:
    for tool in RECORD_FORMATS:
        if tool.fits(records):
            return tool.read(records)
    return TableReading(flat_cells(records, lines), name, notes=notes, typed=True)


def _of_value(value: Any, notes: tuple[str, ...]) -> TableReading:
    if isinstance(value, list):
        if not value:
            raise refusal("The file holds an empty list.", _OBJECTS)
        for place, each in enumerate(value):
            if not isinstance(each, dict):
                raise refusal(f"the list holds {_kind(each)}, not an object.", _OBJECTS, row=place + 1)
        return _of_records(value, "JSON", notes)
    if not isinstance(value, dict) or not value:
        raise refusal(f"The file holds {_kind(value)}, not a table.", _OBJECTS)
    for tool in RECORD_FORMATS:
        if tool.fits([value]):
            return tool.read([value])
    if set(value) >= {"columns", "data"} and _are_rows(value["columns"], value["data"]):
        names = [str(name) for name in value["columns"]]
        if len(set(names)) < len(names):
            raise refusal("Two columns have the same name.", "Give every column a name of its own.")
        rows = [dict(zip(names, row, strict=True)) for row in value["data"]]
        return _of_records(rows, "JSON, a table split into columns and rows", notes)
    tables = [name for name, each in value.items() if _are_objects(each)]
    if len(tables) == 1:
        others = [name for name in value if name not in tables]
        left = (f"Only the list {quoted(tables[0])} was read, not {listed(others)}.",) if others else ()
        return _of_records(value[tables[0]], "JSON", (*notes, *left))
    if len(tables) > 1:
        fix = "Keep the one with the rows, as a list of its own."
        raise refusal(f"The file holds several tables: {listed(tables)}.", fix)
    if all(isinstance(each, list) for each in value.values()):
        return _of_columns(value, notes)
    if all(isinstance(each, dict) for each in value.values()):
        return _of_objects(value, notes)
    return _of_records([value], "JSON, one object", notes)


def _are_rows(columns: Any, data: Any) -> bool:
    return (
        isinstance(columns, list)
        and isinstance(data, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in data)
    )


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _of_columns(value: Mapping[str, list[Any]], notes: tuple[str, ...]) -> TableReading:
    lengths = {name: len(column) for name, column in value.items()}
    if len(set(lengths.values())) > 1:
        first, other = next((a, b) for a, b in pairwise(lengths) if lengths[a] != lengths[b])
        message = (
            f"The columns are not equally long: {quoted(first)} has {lengths[first]:,}, "
            f"{quoted(other)} {lengths[other]:,}."
        )
        raise refusal(message, "Give every row a value in every column, null where there is none.")
    check_size(next(iter(lengths.values())), len(lengths))
    rows = [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    return _of_records(rows, "JSON, a list for each column", notes)


def _of_objects(value: Mapping[str, dict[str, Any]], notes: tuple[str, ...]) -> TableReading:
    """Objects in an object: columns with the same row names (as pandas writes a table), else rows with names."""
    objects = list(value.values())
    rows = list(objects[0])
    are_numbers = bool(rows) and all(name.isdecimal() for name in rows)
    if are_numbers and all(each.keys() == objects[0].keys() for each in objects):
        check_size(len(rows), len(value))
        records = [{name: column[row] for name, column in value.items()} for row in rows]
        return _of_records(records, "JSON, an object for each column", notes)
    is_numbered = all(name.isdecimal() for name in value)
    if not is_numbered and not any("id" in each for each in objects):
        objects = [{"id": name, **each} for name, each in value.items()]
    return _of_records(objects, "JSON, an object for each row", notes)


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else f"{json.dumps(value)[:40]}"
