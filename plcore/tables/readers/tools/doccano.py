"""Exports of doccano: JSON lines, one file for each member, CSV, and the names of labels that older lines number.

Layout: doccano/doccano, `backend/data_export/pipeline`. CSV joins the labels of a line as `A#B`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from plcore.tables.readers.candidate_rows import (
    OWN_VECTOR,
    OWN_WEIGHTS,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    an_object,
    read_each,
    rows_reading,
)
from plcore.tables.readers.mapping import Fields, LabelFields, RecordFiles, RecordMap, RecordTool, TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, by_plain_name, names, refusal, texts_of
from plcore.tables.roles.sample import parts_of
from plcore.tables.writers.disambiguated import OWN_ID

_DOCCANO_NEW = Fields({"id": object, "label": list, "Comments": list})
_DOCCANO_OLD = Fields(
    {"id": object, "text": object, "annotations": list},
    inside={"annotations": ("label", "user")},
)
"""Versions before 1.0: ids of labels with their users."""


def _doccano_cells(record: JsonObject, _row: int) -> Cells:
    about = ("label", "annotations", "Comments", "meta", OWN_ID, OWN_VECTOR, OWN_WEIGHTS)
    meta: Json = record.get("meta")
    own = {name: value for name, value in record.items() if name not in about}
    named = {"id": record[OWN_ID]} if OWN_ID in record else {}  # doccano numbers its examples
    return {**(meta if isinstance(meta, dict) else {}), **own, **named}


def _doccano_records(records: Records) -> Records:
    """Lines that were written here with the weights of their labels as doccano has no place for."""
    return [_weighed(one) if isinstance(one, dict) and one.get(OWN_WEIGHTS) else one for one in records]


def _weighed(record: JsonObject) -> JsonObject:
    try:
        weights = json.loads(str(record[OWN_WEIGHTS]))
    except (ValueError, RecursionError):
        weights = None
    label = record.get("label")
    if not isinstance(weights, dict) or not isinstance(label, list) or set(weights) != set(map(str, label)):
        return record  # people have chosen other labels since
    return {**record, "label": [{"label": label, "weight": weight} for label, weight in weights.items()]}


def _doccano_notes(records: Records) -> Iterator[str]:
    if any(_DOCCANO_OLD.match([record]) for record in records):
        yield "The labels are ids of doccano, whose names are not in the file."


_LINES = RecordMap(
    (
        LabelFields("label", ("label",), ("weight",)),
        LabelFields("annotations", ("label",), by=("user", "a user"), weight=1.0),
    ),
    cells=_doccano_cells,
    notes=_doccano_notes,
)
DOCCANO = RecordTool(
    "doccano JSONL",
    (_DOCCANO_NEW, _DOCCANO_OLD),
    _LINES,
    _doccano_records,
)

_MEMBER = Fields({"id": object, "label": list}, one_of=(("text", "filename", "data"),))
_UNKNOWN = "unknown"
"""The file of annotations whose user was deleted."""


def _read_members(members: Mapping[str, Records], name: str) -> TableReading:
    """One row for each id in the files of all members. Raises TableError."""
    rows: dict[str, Row] = {}
    silent = 0
    for file, records in members.items():
        voter = file.rpartition(".")[0]
        for row, cells in zip(records, read_each(records, _doccano_cells), strict=True):
            found = rows.setdefault(str(cells["id"]), Row(cells))
            labels = list(LabelFields("label").of(an_object(row, None, None), len(rows)))
            silent += not labels
            for label, _, _ in labels:
                found.name(label, 1.0, None if voter == _UNKNOWN else voter)
    notes = [f"Each file is a voter, called as the file is: {', '.join(sorted(members))}."]
    if silent:
        notes.append(
            f"Lines without a label: {silent}. doccano writes them for what a member has not done yet, too: no vote."
        )
    return rows_reading(list(rows.values()), name, row_id="id", notes=notes)


DOCCANO_MEMBERS = RecordFiles(
    "doccano files of the members",
    lambda members: all(_MEMBER.match(records) for records in members.values()),
    _read_members,
)
"""The export of a project whose members annotate for themselves: `<user>.jsonl` of each, and `unknown.jsonl`."""


def _is_config(records: Records) -> bool:
    """Whether records are doccano's list of labels, `label_config.json`."""
    return bool(records) and all(
        isinstance(one, dict)
        and isinstance(one.get("text"), str)
        and any(name in one for name in ("suffix_key", "suffixKey", "background_color", "backgroundColor"))
        for one in records
    )


def _read_configured(files: Mapping[str, Records], name: str) -> TableReading:
    """The lines with the names of their labels. Raises TableError: a label that has no name."""
    config = next(one for one in files.values() if _is_config(one))
    lines = next(one for one in files.values() if one is not config)
    called: dict[object, Json] = {
        one["id"]: one["text"] for one in config if isinstance(one, dict) and "id" in one
    }
    named: list[Json] = []
    for row, record in enumerate(lines, start=1):
        one = an_object(record, row, None)
        if isinstance(given := one.get("annotations"), list):
            one = {**one, "annotations": [_named(each, called, row) for each in given]}
        named.append(one)
    rows = read_each(named, _LINES.row)
    classes = [str(one["text"]) for one in config if isinstance(one, dict)]
    return rows_reading(rows, name, row_id="id", classes=classes)


def _named(annotation: Json, called: Mapping[object, Json], row: int) -> Json:
    if not isinstance(annotation, dict) or not isinstance(number := annotation.get("label"), int):
        return annotation
    if number not in called:
        raise refusal(
            f"The label {number} has no name in the list of labels.",
            "Export both files of the same project again, or leave the list out.",
            row=row,
        )
    return {**annotation, "label": called[number]}


DOCCANO_CONFIG = RecordFiles(
    "doccano JSONL with the names of its labels",
    lambda files: (
        len(files) == 2
        and sum(map(_is_config, files.values())) == 1
        and any(DOCCANO.fits(one) or _MEMBER.match(one) for one in files.values())
    ),
    _read_configured,
)
"""Lines, and `label_config.json`, the list of labels: lines before version 1.0 number their labels."""

_MOST_CHARACTERS = 40
_JOINED = "#"


def _joins_labels(cells: pd.DataFrame) -> bool:
    """Whether the labels of some lines are joined as doccano does, half of them standing in other lines, too."""
    labels = [text for text in texts_of(cells, by_plain_name(cells.columns)["label"]) if text]
    joined = [parts for text in labels if len(parts := parts_of(text, _JOINED)) > 1]
    seen = Counter(part for text in set(labels) for part in set(parts_of(text, _JOINED)))
    parts = [part for one in joined for part in one]
    if any(re.search(r"\s#|#\s", text) for text in labels):
        return False  # doccano leaves no blank: issue #12
    again = sum(seen[one] > 1 for one in parts)
    return bool(parts) and max(map(len, parts)) <= _MOST_CHARACTERS and 2 * again >= len(parts)


def _read_csv(cells: pd.DataFrame, called: str) -> TableReading:
    """One row for each line; one without a label has not been done yet, or has none."""
    columns = by_plain_name(cells.columns)
    labels = texts_of(cells, columns["label"])
    about = {columns["label"], columns.get("comments")}
    rows = []
    for record, text in zip(cells.to_dict("records"), labels, strict=True):
        row = Row({str(name): str(cell) for name, cell in record.items() if name not in about})
        for label in parts_of(text, _JOINED):
            row.name(label)
        rows.append(row)
    return rows_reading(rows, called, row_id=columns["id"], text=columns.get("text"))


DOCCANO_CSV = TableTool(
    "doccano CSV",
    _read_csv,
    Fingerprint(names("id", "label"), one_of=(names("text", "filename", "data"),)),
    _joins_labels,
)
"""A line for each example, its labels joined by #."""
