"""Read JSON and JSON Lines: any objects, exports of tools, and the forms in which pandas writes tables."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from sys import intern

import pandas as pd

from plcore.arrays.words import counted, listed, quoted
from plcore.tables.problems import check_size, refusal
from plcore.tables.readers.candidate_rows import Json, JsonObject, Records, objects_in
from plcore.tables.readers.reading import TableReading, column_text, text_table
from plcore.tables.roles.suggested_labels import CANDIDATE_NAMES
from plcore.tables.text.csv import as_text

OfTool = Callable[[Records], TableReading | None]

_LABELS = CANDIDATE_NAMES | {"label", "prediction", "predictions", "shortlist", "cats"}
"""Fields whose objects are labels, not parts; cats are spaCy's categories."""
_DEEP = 3
"""Maximum depth of objects around the list of the rows."""
MAX_DEPTH = 8
"""Maximum depth of flattened objects; deeper ones stay JSON in one cell."""


def flat_cells(records: Sequence[JsonObject], lines: Sequence[int] | None = None) -> pd.DataFrame:
    """Flatten records, one per row; columns are in the order in which fields first occur.

    Missing fields and null are empty cells; lists stay JSON.

    lines : file line in which each record starts
    Raises TableError: two fields with the same dotted name, too many cells, names or text that cannot be stored.
    """
    labels = _label_fields(records)
    _refuse_lists_by_label(labels)
    flags = _flagged_labels(labels, records)
    weighted = frozenset(name for name, values in labels.items() if all(map(_is_weights, values)))
    names: dict[str, None] = {}
    rows: list[JsonObject] = []
    before: list[str] = []
    for place, record in enumerate(records):
        row = record
        if any(isinstance(value, dict) for value in record.values()):
            row = _flattened(record, place, lines, weighted, flags)
        fields = list(row)
        if fields != before:  # most records have the same fields as the previous one
            names.update(dict.fromkeys(fields))
            before = fields
        check_size(place + 1, len(names))
        rows.append(row)
    if rows and not names:
        raise refusal("The objects have no fields.", "Give every object a field for each column.")
    columns = [column_text(_lists_alike([row.get(name) for row in rows])) for name in names]
    return text_table(list(names), columns, lines)


def _lists_alike(values: list[Json]) -> list[Json]:
    """Return a column in which some rows have a list of texts with the single texts of others as lists of one."""
    if set(map(type, values)) - {type(None)} != {str, list}:
        return values
    if not all(isinstance(each, str) for one in values if isinstance(one, list) for each in one):
        return values
    return [[one] if isinstance(one, str) and one.strip() else one for one in values]


def _label_fields(records: Sequence[JsonObject]) -> dict[str, list[Json]]:
    """Return the fields named like candidates, each with its values other than null."""
    found: defaultdict[str, list[Json]] = defaultdict(list)
    for record in records:
        for name, value in record.items():
            if value is not None and name.strip().lower() in _LABELS:
                found[name].append(value)
    return found


def _flagged_labels(fields: Mapping[str, Sequence[Json]], records: Sequence[JsonObject]) -> frozenset[str]:
    """Return these fields if their objects are all {label: true or false}: the labels alone name the columns, unless
    other fields are named so."""
    objects = {field: [one for one in values if isinstance(one, dict) and one] for field, values in fields.items()}
    if not all(_is_flags(one) for values in objects.values() for one in values):
        return frozenset()
    labels = {field: set().union(*values) for field, values in objects.items() if values}
    names = [one for each in labels.values() for one in each]
    free = len(names) == len(set(names)) and (not names or set().union(*records).isdisjoint(names))
    return frozenset(labels) if free else frozenset()


def _refuse_lists_by_label(fields: Mapping[str, Sequence[Json]]) -> None:
    """Raise TableError if one of these fields is {name: list of texts}, and a text occurs below two names: they are
    rather people below labels than labels, and nothing tells."""
    for field, values in fields.items():
        below: defaultdict[str, set[str]] = defaultdict(set)
        for name, texts in (pair for one in values if isinstance(one, dict) for pair in one.items()):
            if isinstance(texts, list):
                below[name].update(one for one in texts if isinstance(one, str))
        again = [text for texts in below.values() for text in texts]
        if len(again) > len(set(again)):
            message = f"column {quoted(field)}: the lists below {listed(list(below), 3)} hold the same texts."
            raise refusal(
                message, 'If these are people, write their number, as in {"wren": 2}; else write only the labels.'
            )


def _is_flags(value: Mapping[str, Json]) -> bool:
    return all(each is None or isinstance(each, bool) for each in value.values())


def _is_weights(value: Json) -> bool:
    """Whether this is {label: number}, which is not split into columns; null means that the row lacks the key."""
    return isinstance(value, dict) and all(
        each is None or (isinstance(each, (int, float)) and not isinstance(each, bool)) for each in value.values()
    )


def _flattened(
    record: JsonObject, place: int, lines: Sequence[int] | None, weighted: frozenset[str], flags: frozenset[str]
) -> JsonObject:
    row: JsonObject = {}
    for name, value in _fields(record, "", MAX_DEPTH, weighted, flags):
        if name in row:
            message = f"two fields would both be column {quoted(name)}."
            line = None if lines is None else lines[place]
            raise refusal(message, "Rename one of them.", row=place + 1, line=line)
        row[name] = value
    return row


def _fields(
    record: JsonObject, prefix: str, depth: int, whole: frozenset[str] = frozenset(), bare: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Json]]:
    for name, value in record.items():
        if isinstance(value, dict) and value and depth and name not in whole:
            yield from _fields(value, "" if name in bare else f"{prefix}{name}.", depth - 1)
        else:
            yield f"{prefix}{name}", None if value == {} else value


_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{\]"])')
_OBJECTS = "Write a list of objects, one a row: [{...}, {...}], or one object on every line."


def looks_like_json(data: bytes) -> bool:
    """Whether a text (UTF-8) starts like JSON or JSON Lines with objects."""
    return _START.match(data[:1000]) is not None


@dataclass(frozen=True)
class _Found:
    """The records of a file, its format in words, and the lines in which they start."""

    records: list[JsonObject]
    format: str
    notes: tuple[str, ...]
    lines: Sequence[int] | None = None


def read_json(data: bytes, of_tool: OfTool | None = None) -> TableReading:
    """Read the table in a JSON or JSON Lines file (UTF-8).

    of_tool : returns the table in the records of a tool, or None for other records

    A list of objects, or an object on every line, gives a row for each; so does the only list of objects in an object
    (`{"data": [...]}`). An object of lists gives a column for each. Other objects are read as `pandas` writes them.
    Raises TableError: invalid JSON, with line and column; a duplicate key in an object; no table.
    """
    try:
        for found in _found(data.decode()):
            reading = None if of_tool is None else of_tool(found.records)
            if reading is not None:
                return reading
    except RecursionError:
        raise refusal("The JSON is nested too deep.", "Write flat objects, one a row.") from None
    return TableReading(flat_cells(found.records, found.lines), found.format, notes=found.notes, typed=True)


def records_in(data: bytes) -> Records:
    """Return the records of a JSON or JSON Lines file, unchanged. Raises TableError."""
    try:
        return next(_found(as_text(data).data.decode())).records
    except RecursionError:
        raise refusal("The JSON is nested too deep.", "Write flat objects, one a row.") from None


def _found(text: str) -> Iterator[_Found]:
    """Yield the possible records of a file; the last are its rows. Raises TableError if it has no table."""
    parser = _Parser()
    lines = _lines(text)
    if len(lines) == 1 or not lines or not _is_whole(lines[0][1]):
        yield from _in_value(parser.parse(text), parser.notes())
        return
    records: list[JsonObject] = []
    for place, (line, each) in enumerate(lines):
        value = parser.parse(each, row=place + 1, line=line)
        if not isinstance(value, dict):
            message = f"this line holds {_kind(value)}, not an object."
            raise refusal(message, 'Write {"name": value, ...} on every line.', row=place + 1, line=line)
        records.append(value)
    yield _Found(records, "JSON Lines", parser.notes(), [line for line, _ in lines])


def _lines(text: str) -> list[tuple[int, str]]:
    """Return number and text of every non-blank line. Only LF and CR LF end it: JSON text may contain others."""
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _is_whole(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _Parser:
    """json.loads with positions in errors, errors for duplicate keys, and a note about NaN."""

    def __init__(self) -> None:
        self._nan = 0

    def notes(self) -> tuple[str, ...]:
        if not self._nan:
            return ()
        return (f"NaN stands {counted(self._nan, 'time')} in the file, which JSON does not know: read as empty.",)

    def parse(self, text: str, row: int | None = None, line: int | None = None) -> Json:
        try:
            value: Json = json.loads(text, object_pairs_hook=_object, parse_constant=self._constant)
            return value
        except _KeyTwiceError as error:
            message = f"an object has the key {quoted(error.args[0])} twice."
            raise refusal(message, "Keep one of them, or rename one.", row=row, line=line) from None
        except json.JSONDecodeError as error:
            where = f"character {error.colno}" if line is not None else f"line {error.lineno}, character {error.colno}"
            message = f"this is not JSON at {where}: {error.msg[:1].lower()}{error.msg[1:]}."
            fix = "Correct the place, or write the file by a program."
            raise refusal(message, fix, row=row, line=line if line is not None else error.lineno) from None
        except ValueError as error:  # a number with more than 4,300 digits
            raise refusal(f"a number cannot be read ({error}).", "Write it as text.", row=row, line=line) from None

    def _constant(self, name: str) -> float:
        self._nan += name == "NaN"
        return float(name)


class _KeyTwiceError(ValueError):
    """An object has a duplicate key."""


def _object(pairs: Sequence[tuple[str, Json]]) -> JsonObject:
    found = {intern(name): value for name, value in pairs}  # shares field names among a million rows
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _KeyTwiceError(name)
            seen.add(name)
    return found


def _in_value(value: Json, notes: tuple[str, ...]) -> Iterator[_Found]:
    if isinstance(value, list):
        if not value:
            raise refusal("The file holds an empty list.", _OBJECTS)
        for place, each in enumerate(value):
            if not isinstance(each, dict):
                raise refusal(f"the list holds {_kind(each)}, not an object.", _OBJECTS, row=place + 1)
        yield _Found(objects_in(value), "JSON", notes)
        return
    if not isinstance(value, dict) or not value:
        raise refusal(f"The file holds {_kind(value)}, not a table.", _OBJECTS)
    yield _Found([value], "JSON, one object", notes)
    names, data = value.get("columns"), value.get("data")
    tables = [name for name, each in value.items() if _are_objects(each)]
    if isinstance(names, list) and isinstance(data, list) and _are_rows(names, data):
        columns = [str(name) for name in names]
        if len(set(columns)) < len(columns):
            raise refusal("Two columns have the same name.", "Give every column a name of its own.")
        rows = [dict(zip(columns, row, strict=True)) for row in data if isinstance(row, list)]
        yield _Found(rows, "JSON, a table split into columns and rows", notes)
    elif len(tables) == 1:
        others = [name for name in value if name not in tables]
        left = (f"Only the list {quoted(tables[0])} was read, not {listed(others)}.",) if others else ()
        yield _Found(objects_in(value[tables[0]]), "JSON", (*notes, *left))
    elif len(tables) > 1:
        fix = "Keep the one with the rows, as a list of its own."
        raise refusal(f"The file holds several tables: {listed(tables)}.", fix)
    else:
        lists = {name: each for name, each in value.items() if isinstance(each, list)}
        objects = {name: each for name, each in value.items() if isinstance(each, dict)}
        are_rows = len(objects) == len(value) > 1 and set.intersection(*map(set, objects.values()))
        inner = None if are_rows else _only_table(value)
        if inner is not None:
            path, table = inner
            yield _Found(objects_in(table), "JSON", (*notes, f"Only {quoted(path)} was read."))
        elif len(lists) == len(value):
            yield _of_columns(lists, notes)
        elif len(objects) == len(value):
            yield _of_objects(objects, notes)


def _only_table(value: JsonObject, depth: int = _DEEP) -> tuple[str, list[Json]] | None:
    """Return the only list of objects in the objects inside this one, or the objects in its only field, each with its
    key as id; and the path to it. None if there is none, or several."""
    found: list[tuple[str, list[Json]]] = []
    for name, each in value.items():
        if _are_objects(each):
            found.append((name, each))  # type: ignore[arg-type]
        elif isinstance(each, dict) and depth and (inner := _only_table(each, depth - 1)) is not None:
            found.append((f"{name}.{inner[0]}", inner[1]))
    if not found and len(value) == 1 and depth == _DEEP:
        ((name, only),) = value.items()
        objects = [*only.values()] if isinstance(only, dict) else []
        if len(objects) > 1 and all(isinstance(one, dict) for one in objects):
            return name, [{"id": key, **one} for key, one in only.items()]  # type: ignore[union-attr, dict-item]
    return found[0] if len(found) == 1 else None


def _are_rows(columns: list[Json], data: list[Json]) -> bool:
    return all(isinstance(row, list) and len(row) == len(columns) for row in data)


def _are_objects(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _of_columns(value: Mapping[str, list[Json]], notes: tuple[str, ...]) -> _Found:
    lengths = {name: len(column) for name, column in value.items()}
    if len(set(lengths.values())) > 1:
        if all(isinstance(one, str) for column in value.values() for one in column):
            named: list[JsonObject] = [{"id": name, "labels": column} for name, column in value.items()]
            return _Found(named, "JSON, a list of labels for each row", notes)
        first, other = next((a, b) for a, b in pairwise(lengths) if lengths[a] != lengths[b])
        message = (
            f"The columns are not equally long: {quoted(first)} has {lengths[first]:,}, "
            f"{quoted(other)} {lengths[other]:,}."
        )
        raise refusal(message, "Give every row a value in every column, null where there is none.")
    check_size(next(iter(lengths.values())), len(lengths))
    rows = [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    return _Found(rows, "JSON, a list for each column", notes)


def _of_objects(value: Mapping[str, JsonObject], notes: tuple[str, ...]) -> _Found:
    """Read objects in an object: columns if they share row numbers (as pandas writes a table), else rows with names."""
    objects = list(value.values())
    rows = list(objects[0])
    are_numbers = bool(rows) and all(name.isdecimal() for name in rows)
    if are_numbers and all(each.keys() == objects[0].keys() for each in objects):
        check_size(len(rows), len(value))
        records = [{name: column[row] for name, column in value.items()} for row in rows]
        return _Found(records, "JSON, an object for each column", notes)
    is_numbered = all(name.isdecimal() for name in value)
    if not is_numbered and not any("id" in each for each in objects):
        objects = [{"id": name, **each} for name, each in value.items()]
    return _Found(objects, "JSON, an object for each row", notes)


def _kind(value: Json) -> str:
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else f"{json.dumps(value)[:40]}"
