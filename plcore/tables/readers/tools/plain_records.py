"""Tools whose records name labels plainly: a `RecordMap` says which fields are which."""

from __future__ import annotations

from plcore.tables.readers.candidate_rows import (
    Cells,
    JsonObject,
    Records,
    Row,
    a_list,
    a_name_or_none,
    an_object,
    own_vector,
    read_each,
    refuse,
    rows_reading,
)
from plcore.tables.readers.mapping import Fields, LabelFields, RecordMap, RecordTool
from plcore.tables.readers.reading import TableReading
from plcore.tables.writers.disambiguated import OWN_ID, OWN_VOTERS

WEIGHTS = ("p", "score", "probability", "confidence", "weight")
LABEL_NAMES = ("label", "class", "category", "name")
_DECIDED = ("candidates_before", "label", "source", "probability", "model_version", "outside", "answers")
"""Results of a row, in lines that Winnow wrote: neither candidates nor truth."""
_TAKEN = ("id", "data", "candidates", "model", "truth")


def _plain_names(records: Records) -> Records:
    """Lines that Winnow writes now, by the names that it wrote before."""
    if not records or not isinstance(records[0], dict) or "winnow_candidates" not in records[0]:
        return records
    names = {"winnow_confidence": "probability"}
    return [
        {
            name if name == OWN_VOTERS else names.get(name, name.removeprefix("winnow_")): one[name]
            for name in one
        }
        if isinstance(one, dict)
        else one
        for one in records
    ]


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
    _plain_names,
)
"""Several models may have a line each about one row. Winnow writes such lines, too, with `winnow_` before names."""

_CELLS = "winnow_cells"


def _read_vectors(records: Records, name: str) -> TableReading:
    """One row for each line of label vectors that Winnow wrote. Raises TableError."""

    def read(record: JsonObject, row: int) -> Row:
        prefix = "winnow_" if "winnow_labels" in record else ""
        own = {f"{prefix}labels", f"{prefix}not_labels", _CELLS}
        cells = an_object(record.get(_CELLS), row, _CELLS)
        labels, values = (a_list(cells.get(one), row, f"{_CELLS}.{one}") for one in ("label", "value"))
        if len(labels) != len(values):
            message = f"expected a value for each of the {len(labels)} labels, got {len(values)}."
            raise refuse(row, _CELLS, message, "Leave the field as Winnow wrote it.")
        found = Row({column: value for column, value in record.items() if column not in own})
        found.vector = own_vector(dict(zip(map(str, labels), values, strict=True)), row, _CELLS)
        return found

    return rows_reading(read_each(records, read), name, row_id=OWN_ID)


OWN_VECTORS = RecordTool(
    "label vectors", (Fields({_CELLS: dict}, inside={_CELLS: ("label", "value")}),), _read_vectors
)

ZERO_SHOT = RecordTool(
    "zero-shot classification",
    (Fields({"labels": list, "scores": list}),),
    RecordMap((LabelFields("labels", scores="scores"),), text="sequence"),
)
