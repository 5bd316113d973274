"""Tools whose records name labels directly, so that a `RecordMap` is enough to read them; exports of doccano;
COCO; aggregated crowd reports with one answer for each item; and lists of addresses with labels and no header, as
Google's AutoML and Vertex AI take them.

Layout of doccano: doccano/doccano, `backend/data_export/pipeline`. Its CSV joins the labels of a line as `A#B`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.columns import Finder
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import (
    OWN_VECTOR,
    OWN_WEIGHTS,
    At,
    Best,
    Cells,
    Json,
    Records,
    Row,
    json_in,
    objects_in,
    read_each,
    rows_reading,
)
from plcore.tables.readers.mapping import LOOK, Fields, LabelFields, RecordFiles, RecordMap, RecordTool, TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    lines_of,
    names,
    number_in,
    plain_name,
    texts_of,
)
from plcore.tables.readers.tools.detections import LEAST_WEIGHT
from plcore.tables.readers.tools.votes import answers_in
from plcore.tables.roles.sample import parts_of
from plcore.tables.text.csv import LINE_INDEX
from plcore.tables.writers.disambiguated import OWN_ID, OWN_TRUTH, OWN_VOTERS

WEIGHTS = ("p", "score", "probability", "confidence", "weight")
LABEL_NAMES = ("label", "class", "category", "name")
_DECIDED = ("candidates_before", "label", "source", "probability", "model_version", "outside", "answers")
"""Result fields in lines that Winnow wrote, which are neither candidates nor truth."""
_TAKEN = ("id", "data", "candidates", "model", "truth")


def _plain_names(records: Records) -> Records:
    """Rename the fields that Winnow writes now to the names that it wrote before."""
    if not records or not isinstance(records[0], dict) or "winnow_candidates" not in records[0]:
        return records
    names = {"winnow_confidence": "probability"}
    return [
        {name if name == OWN_VOTERS else names.get(name, name.removeprefix("winnow_")): one[name] for name in one}
        if isinstance(one, dict)
        else one
        for one in records
    ]


def _own_cells(record: At) -> Cells:
    """Return the id, the other fields, and those of `data`; a duplicate name gets a 2."""
    given = record.object()
    number = record["id"].name_or_none("an id")
    taken = {*_TAKEN, *(_DECIDED if _DECIDED[0] in given else ())}
    cells: Cells = {} if number is None else {"id": number}
    data = [(name, one.value) for name, one in record["data"].fields()]
    for name, value in (*((name, given[name]) for name in given if name not in taken), *data):
        # The id as imported: with spaces, or as a number.
        same = name in cells and str(value).strip() == cells[name]
        cells[name if name not in cells or same else f"{name} 2"] = value
    return cells


def _unread(records: Records) -> Iterator[str]:
    """Name the fields of candidates that are neither labels nor weights, and may change what they mean."""
    known = {*LABEL_NAMES, *WEIGHTS, "logprob"}
    candidates = (one for record in objects_in([*records]) for one in objects_in(record.get("candidates")))
    names = {name: None for one in candidates for name in one if name not in known}
    if names:
        yield f"Only the label and its weight are read of each candidate, not {listed(list(names), 3)}."


_CANDIDATES = RecordMap(
    (LabelFields("candidates", LABEL_NAMES, WEIGHTS),),
    truth="truth",
    model="model",
    cells=_own_cells,
    one_a_row=True,
    notes=_unread,
)


OWN_LINES = RecordTool(
    "lines that Winnow exported",
    (Fields({"candidates_before": list, "candidates": list}, inside={"candidates": ("label",)}),),
    replace(_CANDIDATES, notes=lambda _records: (), added=("winnow_candidates", OWN_VOTERS, OWN_TRUTH)),
    _plain_names,
)
"""The columns of the table keep their names, also if they are called `candidates`."""
MODEL_CANDIDATES = RecordTool(
    "candidates of a model", (Fields({"candidates": list}, inside={"candidates": ("label",)}),), _CANDIDATES
)
"""Several models may have a line each about one row."""

_CELLS = "winnow_cells"


def _vector_row(record: At) -> Row:
    prefix = "winnow_" if "winnow_labels" in record.object() else ""
    own = {f"{prefix}labels", f"{prefix}not_labels", _CELLS}
    cells = record[_CELLS]
    labels = [str(one.value) for one in cells["label"].items()]
    values = [one.value for one in cells["value"].items_for(labels, "a value", "label")]
    found = Row({column: value for column, value in record.object().items() if column not in own})
    found.vector = At(dict(zip(labels, values, strict=True)), record.row, _CELLS).own_vector()
    return found


OWN_VECTORS = RecordTool(
    "label vectors",
    (Fields({_CELLS: dict}, inside={_CELLS: ("label", "value")}),),
    lambda records, name: rows_reading(read_each(records, _vector_row), name, row_id=OWN_ID),
)

_NESTED = (("labels", "scores"), ("label", "score"))


def _lifted(records: Records) -> Records:
    """Return records that hold their labels and scores as two lists in an inner object, such as `output`, with its
    fields among their own. An inner field whose name an outer one has, too, gets a longer name: `output.id`."""
    first = records[0] if records and isinstance(records[0], dict) else {}
    inner = {
        name: pair
        for name, value in first.items()
        for pair in _NESTED
        if isinstance(value, dict) and all(isinstance(value.get(one), list) for one in pair)
    }
    if len(inner) != 1 or "labels" in first:
        return records
    ((name, (labels, scores)),) = inner.items()
    found: list[Json] = []
    for record in records:
        within = record.get(name) if isinstance(record, dict) else None
        if not isinstance(record, dict) or not isinstance(within, dict):
            return records
        outer = {field: value for field, value in record.items() if field != name}
        others = {
            f"{name}.{field}" if field in outer else field: value
            for field, value in within.items()
            if field not in (labels, scores)
        }
        found.append({**outer, **others, "labels": within.get(labels), "scores": within.get(scores)})
    return found


ZERO_SHOT = RecordTool(
    "zero-shot classification",
    (Fields({"labels": list, "scores": list}),),
    RecordMap((LabelFields("labels", scores="scores"),), text="sequence"),
    _lifted,
)


_DOCCANO_NEW = Fields({"id": object, "label": list, "Comments": list})
_DOCCANO_OLD = Fields({"id": object, "text": object, "annotations": list}, inside={"annotations": ("label", "user")})
"""Versions before 1.0: ids of labels with their users."""


def _doccano_cells(record: At) -> Cells:
    about = ("label", "annotations", "Comments", "meta", OWN_ID, OWN_VECTOR, OWN_WEIGHTS)
    given, meta = record.object(), record["meta"].value
    own = {name: value for name, value in given.items() if name not in about}
    named = {"id": given[OWN_ID]} if OWN_ID in given else {}  # doccano numbers its examples
    return {**(meta if isinstance(meta, dict) else {}), **own, **named}


def _weighed(record: Json) -> Json:
    """Return a line that Winnow wrote with its labels' weights, which doccano has no field for."""
    if not isinstance(record, dict) or not record.get(OWN_WEIGHTS):
        return record
    weights, label = json_in(str(record[OWN_WEIGHTS])), record.get("label")
    if not isinstance(weights, dict) or not isinstance(label, list) or set(weights) != set(map(str, label)):
        return record  # people have since chosen other labels
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
DOCCANO = RecordTool("doccano JSONL", (_DOCCANO_NEW, _DOCCANO_OLD), _LINES, lambda records: [*map(_weighed, records)])

_MEMBER = Fields({"id": object, "label": list}, one_of=(("text", "filename", "data"),))
_UNKNOWN = "unknown"
"""The file of annotations whose user was deleted."""


def _read_members(members: Mapping[str, Records], name: str) -> TableReading:
    """Read one row for each id in the files of all members. Raises TableError."""
    rows: dict[str, Row] = {}
    silent = 0
    for file, records in members.items():
        voter = file.rpartition(".")[0]
        for place, cells in enumerate(read_each(records, _doccano_cells)):
            found = rows.setdefault(str(cells["id"]), Row(cells))
            labels = list(LabelFields("label").of(At(records[place], place + 1)))
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
"""The export of a project with independent annotators: one `<user>.jsonl` for each, and `unknown.jsonl`."""


def _is_config(records: Records) -> bool:
    """Whether records are doccano's list of labels, `label_config.json`."""
    return bool(records) and all(
        isinstance(one, dict)
        and isinstance(one.get("text"), str)
        and any(name in one for name in ("suffix_key", "suffixKey", "background_color", "backgroundColor"))
        for one in records
    )


def _read_configured(files: Mapping[str, Records], name: str) -> TableReading:
    """Read the lines with the names of their labels. Raises TableError if a label has no name."""
    config = next(one for one in files.values() if _is_config(one))
    lines = next(one for one in files.values() if one is not config)
    called: dict[object, Json] = {one["id"]: one["text"] for one in config if isinstance(one, dict) and "id" in one}
    rows = read_each(read_each(lines, lambda line: _with_names(line, called)), _LINES.row)
    classes = [str(one["text"]) for one in config if isinstance(one, dict)]
    return rows_reading(rows, name, row_id="id", classes=classes)


def _with_names(line: At, called: Mapping[object, Json]) -> Json:
    """Return a line with the names of its labels in place of their numbers."""
    given = line.object()
    annotations = given.get("annotations")
    if not isinstance(annotations, list):
        return given
    numbered = [one for one in annotations if isinstance(one, dict) and isinstance(one.get("label"), int)]
    if unknown := [one["label"] for one in numbered if one["label"] not in called]:
        raise refusal(
            f"The label {unknown[0]} has no name in the list of labels.",
            "Export both files of the same project again, or leave the list out.",
            row=line.row,
        )
    return {
        **given,
        "annotations": [{**one, "label": called[one["label"]]} if one in numbered else one for one in annotations],
    }


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
    """Whether the labels of some lines are joined as doccano does: half of them must occur alone in another line."""
    labels = [text for text in texts_of(cells, by_plain_name(cells.columns)["label"]) if text]
    joined = [parts for text in labels if len(parts := parts_of(text, _JOINED)) > 1]
    alone = {text for text in labels if len(parts_of(text, _JOINED)) == 1}
    parts = [part for one in joined for part in one]
    if any(re.search(r"\s#|#\s", text) for text in labels):
        return False  # doccano leaves no space: issue #12
    again = sum(one in alone for one in parts)
    return bool(parts) and max(map(len, parts)) <= _MOST_CHARACTERS and 2 * again >= len(parts)


def _read_csv(cells: pd.DataFrame, called: str, classes: Sequence[str] = ()) -> TableReading:
    """Read one row for each line; a line without a label is unfinished, or has none.

    classes : all labels, if known. Raises TableError if a line names others
    """
    columns = by_plain_name(cells.columns)
    labels = texts_of(cells, columns["label"])
    about = {columns["label"], columns.get("comments")}
    lines, rows = lines_of(cells), list[Row]()
    for record, text in zip(cells.to_dict("records"), labels, strict=True):
        row = Row({str(name): str(cell) for name, cell in record.items() if name not in about})
        found = [parts_of(text, _JOINED)] if not classes else list(islice(_ways_to_part(text, classes), 2))
        if len(found) != 1:
            what = "may be joined of them in several ways" if found else "are not in the list of labels"
            raise refusal(
                f"The labels {quoted(text)} {what}.",
                "Export both files of the same project again, as JSONL, or leave the list out.",
                row=len(rows) + 1,
                line=None if lines is None else lines[len(rows)],
            )
        for label in found[0]:
            row.name(label)
        rows.append(row)
    return rows_reading(rows, called, row_id=columns["id"], text=columns.get("text"), classes=classes)


def _ways_to_part(text: str, classes: Collection[str]) -> Iterator[list[str]]:
    """Yield the ways to split a text into different labels of these, which may contain the separator."""
    if text in classes or not text:
        yield [text] if text else []
    for place in (found.start() for found in re.finditer(_JOINED, text)):
        if (first := text[:place]) in classes:
            others = [one for one in classes if one != first]
            yield from ([first, *rest] for rest in _ways_to_part(text[place + 1 :], others) if rest)


DOCCANO_CSV = TableTool(
    "doccano CSV",
    _read_csv,
    Fingerprint(names("id", "label"), one_of=(names("text", "filename", "data"),)),
    _joins_labels,
)
"""A line for each example, its labels joined by #."""


def with_labels(readings: Sequence[TableReading]) -> TableReading | None:
    """Read the lines of doccano's CSV with the list of its labels; None if these are other files.

    Labels without a line are classes, too. Raises TableError if a line has labels that are not in the list.
    """
    lists = [
        one
        for one in readings
        if _is_config([{str(k): v for k, v in row.items()} for row in one.cells.iloc[:LOOK].to_dict("records")])
    ]
    tables = [one for one in readings if DOCCANO_CSV.has_columns(one.cells)]
    if len(readings) != 2 or len(lists) != 1 or len(tables) != 1 or tables[0].roles is not None:
        return None
    classes = texts_of(lists[0].cells, "text")
    found = _read_csv(tables[0].cells, "doccano CSV with the names of its labels", classes)
    return replace(found, notes=(*tables[0].notes, *found.notes))


_PICTURE, _CATEGORY = ("id", "file_name"), ("id", "name")


def _coco(records: Records, name: str) -> TableReading:
    """Read one row for each image of COCO; its candidates are the categories of its annotations, each with its best
    score if there are scores. Raises TableError."""
    whole = At(records[0] if records else None)
    categories = {one["id"].name("an id"): one["name"].name("a category") for one in whole["categories"].objects()}
    found: dict[str, Row] = {}
    for image in whole["images"].objects():
        given = image.object()
        found[image["id"].name("an id")] = Row({key: given[key] for key in _PICTURE if key in given})
    best: defaultdict[str, Best] = defaultdict(dict)
    boxes = elsewhere = scores = 0
    for one in whole["annotations"].objects():
        label = categories.get(one["category_id"].name("an id"))
        if label is None:
            raise one["category_id"].refuse("this category is not in the list of categories.", "Add it to the list.")
        image_id = one["image_id"].name("an id")
        row = found.get(image_id)
        elsewhere += row is None
        boxes += "bbox" in one or "segmentation" in one
        score = one["score"].number_or(None, "a score")
        scores += score is not None
        if row is not None:
            row.name_best(label, score, None, best[image_id])
    rows = list(found.values())
    notes = [f"Boxes and outlines, which are not read: {boxes:,}."] if boxes else []
    if elsewhere:
        notes.append(f"Annotations of images that are not in the list of images, left out: {elsewhere:,}.")
    reading = rows_reading(rows, name, row_id="id", classes=categories.values(), notes=notes)
    several = sum(len(row.weights) > 1 for row in rows)
    if not several or scores:
        return reading
    message = (
        f"{counted(several, 'image')} {either(several, 'has', 'have')} several categories: read here as candidates, "
        "of which one is right, but each may be right, as several things can be in an image."
    )
    fix = "If each is, write a table with a row for each image and a column of 1 and 0 for each category."
    return replace(reading, asks=(*reading.asks, ("several-categories", message, fix)))


COCO = RecordTool(
    "COCO JSON",
    lambda records: (
        len(records) == 1
        and Fields(
            {"images": list, "annotations": list, "categories": list},
            inside={"images": _PICTURE, "annotations": ("image_id", "category_id"), "categories": _CATEGORY},
        ).match(records)
    ),
    _coco,
)


# Aggregated crowd reports: one answer for each item, or several, each with its confidence


def _read_aggregated(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each unit of a report with an answer for each, and its confidence. Raises TableError."""
    columns = by_plain_name(cells.columns)
    of_toloka = "_unit_id" not in columns
    mark, label_mark = ("confidence:", "output:") if of_toloka else (":confidence", "")
    named = {columns.get(plain.replace(mark, label_mark)): score for plain, score in columns.items() if mark in plain}
    pairs = {label: score for label, score in named.items() if label is not None}
    if len(pairs) != 1:
        raise refusal(f"Several questions were answered: {listed(list(pairs))}.", "Keep the columns of one question.")
    ((question, scored),) = pairs.items()
    finder = Finder.of(cells)
    labels = [answers_in(text) for text in texts_of(cells, question)]
    shares = [
        [_percent(text, row, scored, finder) for text in answers_in(texts)]
        for row, texts in enumerate(texts_of(cells, scored))
    ]
    for row, (names_, weights) in enumerate(zip(labels, shares, strict=True)):
        if len(names_) != len(weights):
            message = f"expected a confidence for each answer ({len(names_)}), got {len(weights)}."
            finder.add(row, scored, message, "Write one for each, each on a line of its own.")
    finder.refuse()
    plain_question = plain_name(question)
    gold = columns.get(plain_question.replace("output:", "golden:") if of_toloka else f"{plain_question}_gold")
    golds = texts_of(cells, gold)
    every = sorted({label for one in labels for label in one} | {gold for gold in golds if gold and "\n" not in gold})
    own = [
        name
        for plain, name in columns.items()
        if name not in (question, scored) and not plain.startswith("_") and not plain.endswith(("_gold", ":variance"))
    ]
    records = cells[own].to_dict("records")
    ids = texts_of(cells, columns.get("_unit_id"))
    rows = []
    for row, (names_, weights) in enumerate(zip(labels, shares, strict=True)):
        found = Row({**({} if of_toloka else {"_unit_id": ids[row]}), **{str(k): v for k, v in records[row].items()}})
        for label, weight in zip(names_, weights, strict=True):
            found.name(label, weight)
        others, rest = [label for label in every if label not in names_], 1.0 - sum(weights)
        for label in others if names_ and rest > LEAST_WEIGHT else []:
            found.name(label, round(rest / len(others), 6))
        found.truth = golds[row] if golds[row] in every else None
        rows.append(found)
    note = "Each answer weighs its confidence; the other classes share what that leaves."
    return rows_reading(rows, called, describing=own, row_id=None if of_toloka else "_unit_id", notes=[note])


def _percent(text: str, row: int, column: str, finder: Finder) -> float:
    """Read a share such as 0.66 or 66%."""
    number = number_in(text.removesuffix("%").strip())
    share = -1.0 if number is None else number / (100 if text.endswith("%") else 1)
    if not 0 <= share <= 1:
        finder.add(row, column, f"expected a share from 0 to 1, got {quoted(text)}.", "Correct the cell.")
    return share


TOLOKA_AGGREGATED = TableTool(
    "Toloka aggregated answers",
    _read_aggregated,
    Fingerprint(frozenset(), starts=("input:", "output:", "confidence:"), never=names("assignment:worker_id")),
    has_rows=False,
)

APPEN_AGGREGATED = TableTool(
    "Appen aggregated report",
    _read_aggregated,
    Fingerprint(names("_unit_id", "_unit_state"), never=names("_worker_id")),
    lambda cells: any(plain_name(name).endswith(":confidence") for name in cells.columns),
)
"""An answer for each unit, several on separate lines, with confidences that sum to 1."""


ADDRESSES = "list of addresses without a header"
_USE = r'"?(?:TRAIN(?:ING)?|TEST|VALIDAT(?:E|ION)|UNASSIGNED)"?'
_ADDRESS = r'"?(?:gs|s3)://[^,\r\n]+'
_ADDRESS_FIRST = re.compile(rf"(?:{_ADDRESS}|{_USE},\S[^\r\n]*[\r\n]+{_USE}),", re.ASCII)
_CORNER = re.compile(r"[+-]?\d*\.\d+", re.ASCII)


def is_list_of_addresses(data: bytes) -> bool:
    """Whether a text (UTF-8) begins with an address, or with the parts of a data set that two rows belong to."""
    return _ADDRESS_FIRST.match(data[:10_000].decode(errors="replace")) is not None


def read_addresses(data: bytes) -> TableReading:
    """Read one row for each line: perhaps the part of the data set, then the item, then its labels.

    Raises TableError for the corners of boxes among the labels.
    """
    used = re.compile(_USE)
    rows: list[tuple[str, str, list[str]]] = []
    lines = []
    reader = csv.reader(io.StringIO(data.decode(), newline=""))
    try:
        found = [(reader.line_num, [cell.strip() for cell in line]) for line in reader]
    except csv.Error as error:
        raise refusal(f"The list cannot be read ({error}).", "Export it again.", line=reader.line_num) from error
    for number, cells in found:
        if not any(cells):
            continue
        part = cells.pop(0) if used.fullmatch(cells[0]) else ""
        item, *labels = cells or [""]
        if odd := next(filter(_CORNER.fullmatch, labels), None):
            message = f"expected labels behind the address, got {quoted(odd)}, as of the corner of a box."
            fix = "Boxes are not read: write one line for each item, with its labels."
            raise refusal(message, fix, line=number)
        rows.append((part, item, list(filter(None, labels))))
        lines.append(number)
    index = pd.Index(lines, name=LINE_INDEX)
    alone = all(len(labels) < 2 for *_, labels in rows)  # in other tools' lists, a cell may list several
    texts = ["".join(labels) if alone else json.dumps(labels, ensure_ascii=False) for *_, labels in rows]
    named = {"ml_use": [part for part, *_ in rows], "item": [item for _, item, _ in rows], "labels": texts}
    table = pd.DataFrame(named, dtype="str", index=index)
    return TableReading(table if any(named["ml_use"]) else table.drop(columns="ml_use"), ADDRESSES)
