"""Tools whose records name labels plainly: a `RecordMap` says which fields are which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plcore.tables.readers.candidate_rows import (
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    a_name_or_none,
    an_object,
    read_each,
    rows_reading,
)
from plcore.tables.readers.mapping import Fields, LabelFields, RecordFiles, RecordMap, RecordTool
from plcore.tables.readers.reading import TableReading

WEIGHTS = ("p", "score", "probability", "confidence", "weight")
LABEL_NAMES = ("label", "class", "category", "name")
_DECIDED = ("candidates_before", "label", "source", "probability", "model_version", "outside", "answers")
"""Results of a row, in lines that Winnow wrote: neither candidates nor truth."""
_TAKEN = ("id", "data", "candidates", "model", "truth")


def _own_cells(record: JsonObject, row: int) -> Cells:
    """The id, the other fields, and those of `data`; a name that is taken gets a 2."""
    data = {} if record.get("data") is None else an_object(record["data"], row, "data")
    number = a_name_or_none(record.get("id"), row, "id", "an id")
    taken = {*_TAKEN, *(_DECIDED if _DECIDED[0] in record else ())}
    cells: Cells = {} if number is None else {"id": number}
    for name, value in (*((name, record[name]) for name in record if name not in taken), *data.items()):
        # The id as it came: with spaces, as a number.
        same = name in cells and str(value).strip() == cells[name]
        cells[name if name not in cells or same else f"{name} 2"] = value
    return cells


MODEL_CANDIDATES = RecordTool(
    "candidates of a model",
    (Fields({"candidates": list}, inside={"candidates": ("label",)}),),
    RecordMap(
        (LabelFields("candidates", LABEL_NAMES, WEIGHTS),),
        truth="truth",
        model="model",
        cells=_own_cells,
        one_a_row=True,
    ),
)
"""Several models may have a line each about one row. Winnow writes such lines, too."""

ZERO_SHOT = RecordTool(
    "zero-shot classification",
    (Fields({"labels": list, "scores": list}),),
    RecordMap((LabelFields("labels", scores="scores"),), text="sequence"),
)

_DOCCANO_NEW = Fields({"id": object, "label": list, "Comments": list})
_DOCCANO_OLD = Fields(
    {"id": object, "text": object, "annotations": list},
    inside={"annotations": ("label", "user")},
)
"""Versions before 1.0: ids of labels with their users."""


def _doccano_cells(record: JsonObject, _row: int) -> Cells:
    about = ("label", "annotations", "Comments", "meta")
    meta: Json = record.get("meta")
    own = {name: value for name, value in record.items() if name not in about}
    return {**(meta if isinstance(meta, dict) else {}), **own}


def _doccano_notes(records: Records) -> Iterator[str]:
    if any(_DOCCANO_OLD.match([record]) for record in records):
        yield "The labels are ids of doccano, whose names are not in the file."


DOCCANO = RecordTool(
    "doccano JSONL",
    (_DOCCANO_NEW, _DOCCANO_OLD),
    RecordMap(
        (LabelFields("label"), LabelFields("annotations", ("label",), by=("user", "a user"), weight=1.0)),
        cells=_doccano_cells,
        notes=_doccano_notes,
    ),
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
