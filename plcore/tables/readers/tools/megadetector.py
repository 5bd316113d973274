"""MegaDetector's batch JSON, with the classes of a classifier such as SpeciesNet in it, read and written back.

Layout: agentmorris/MegaDetector, `megadetector-output-format.md`, versions 1.3 to 1.6, and what Pytorch-Wildlife writes
(`PytorchWildlife/utils/post_process.py`) and AddaxAI (`results_detections.csv`). An item is a file. Its candidates are
the classes over its detections, each with its best score; files without a detection are blank.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

import pandas as pd

from plcore.tables.readers.candidate_rows import (
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    a_list,
    a_name,
    a_number,
    an_object,
    json_text,
    objects_in,
    read_each,
    refuse,
    rows_reading,
    shown,
)
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    names,
    numbers_of,
    refusal,
    texts_of,
)
from plcore.tables.readers.tools.detections import (
    BOXES,
    CONFIDENCE,
    ITEM,
    LEAST_WEIGHT,
    ORIGINAL_ROWS,
    WHOLE_FILE,
    original_row,
    read_original,
)
from plcore.tables.readers.tools.speciesnet import ALONE, BLANK, PATH, Taxon, groups_of
from plcore.tables.writers.disambiguated import Disambiguated, Tell
from plcore.tables.writers.verdicts import PeoplesVerdict, first_original, verdicts
from plcore.tables.writers.writing import FileFormat

if TYPE_CHECKING:
    from plcore.tables.table import LabelTable

IMAGE = "image"
"""The field with an image as it came."""

_IMAGES, _DETECTORS, _CLASSES = "images", "detection_categories", "classification_categories"
_DESCRIPTIONS = "classification_category_descriptions"
_ANIMAL = "animal"
_BLANKS = ("blank", "empty")
_VIDEOS = (".mp4", ".avi", ".mov", ".mkv", ".m4v", ".mpg", ".mpeg", ".wmv", ".flv", ".asf")
_FACTS = ("frame_rate", "failure", "max_detection_conf")
_LIKELY = 0.2
"""The confidence from which on MegaDetector's authors look at detections."""
_FIX = "Run the detector again, or correct the file."


@dataclass(frozen=True)
class _Names:
    """The names of categories by id."""

    detectors: Mapping[str, str]
    classes: Mapping[str, str]
    blank: str


def _read(records: Records, called: str) -> TableReading:
    """One row for each file that could be read. Raises TableError."""
    whole = an_object(records[0] if records else None, None, None)
    images = a_list(whole.get(_IMAGES), None, _IMAGES)
    if not images:
        raise refusal("The file lists no images.", "Choose a file with at least one image.")
    named = _names(whole)
    found = read_each(images, lambda record, row: _image(record, row, named))
    left_out = [an_object(images[place], None, None) for place, one in enumerate(found) if one is None]
    reasons = sorted({str(one.get("failure")) for one in left_out})
    notes = []
    if left_out:
        count = f"{len(left_out)} file{'s' if len(left_out) > 1 else ''}"
        notes.append(
            f"{count} could not be read by MegaDetector and {'are' if len(left_out) > 1 else 'is'} left out: "
            f"{'; '.join(reasons[:3])}. The first is {left_out[0]['file']}."
        )
    rows = [row for row in found if row is not None]
    if not rows:
        raise refusal("MegaDetector could not read any of the files.", _FIX)
    notes += _notes(rows, images)
    header = {name: value for name, value in whole.items() if name != _IMAGES} | {"left_out": left_out}
    for place, row in enumerate(rows):
        row.cells[WHOLE_FILE] = json_text(header) if place == 0 else ""
    known = {label for row in rows for label in row.weights}
    reading = rows_reading(
        rows,
        called,
        describing=(),
        row_id=ITEM,
        classes=[*named.classes.values(), *([named.blank] if known else [])],
        notes=notes,
        groups=_groups(whole, named),
        has_rows=True,
    )
    roles = replace(reading.suggest_roles(), numbers=(CONFIDENCE,))
    return replace(reading, roles=roles, notes=(*reading.notes, ALONE))


_FILE = Fields({_IMAGES: list, _DETECTORS: dict}, inside={_IMAGES: ("file",)})
MEGADETECTOR = RecordTool(
    "MegaDetector JSON", lambda records: len(records) == 1 and _FILE.match(records), _read
)
"""One object with the list of images and the names of the categories."""


def _names(whole: JsonObject) -> _Names:
    detectors = _categories(whole, _DETECTORS)
    classes = _categories(whole, _CLASSES)
    every = (*classes.values(), *detectors.values())
    blank = next((name for name in every if name.lower() in _BLANKS), BLANK)
    return _Names(detectors, classes, blank)


def _categories(whole: JsonObject, field: str) -> dict[str, str]:
    given = an_object(whole.get(field) or {}, None, field)
    return {number: a_name(name, None, f"{field}.{number}", "a name") for number, name in given.items()}


def _image(record: JsonObject, row: int, named: _Names) -> Row | None:
    """The row of an image; None if the detector could not read it."""
    path = a_name(record.get("file"), row, "file", "a path")
    if record.get("failure"):
        return None
    scores: dict[str, float] = {}
    generic: dict[str, float] = {}
    given = record.get("detections")
    detections = [
        an_object(one, row, f"detections[{place}]")
        for place, one in enumerate(a_list(given, row, "detections"))
    ]
    top = None
    boxes = []
    for place, one in enumerate(detections):
        where = f"detections[{place}]"
        category = a_name(one.get("category"), row, f"{where}.category", "an id")
        if category not in named.detectors:
            continue
        confidence = a_number(one.get("conf"), row, f"{where}.conf", "a confidence")
        top = confidence if top is None else max(top, confidence)
        box = {"category": named.detectors[category], "conf": confidence, "bbox": _box(one, row, where)}
        boxes.append(box | ({"frame": one["frame_number"]} if "frame_number" in one else {}))
        of_class = _classes(one, row, where, named)
        into = scores if of_class or named.detectors[category].lower() != _ANIMAL else generic
        for label, score in (of_class or {named.detectors[category]: confidence}).items():
            into[label] = max(score, into.get(label, 0.0))
    if not scores:  # an animal without a class says nothing next to one that has one
        scores = generic
    if given == []:
        scores = {named.blank: 1.0}
    labels = sorted(scores, key=lambda label: -scores[label])
    cells: Cells = {
        ITEM: path,
        PATH: "" if path.lower().endswith(_VIDEOS) else path,
        CONFIDENCE: "" if top is None else repr(top),
        BOXES: json_text(boxes) if boxes else "",
        **{name: record[name] for name in _FACTS if record.get(name) not in (None, "")},
        ORIGINAL_ROWS: json_text([original_row(row - 1, labels[:1], "", {IMAGE: json_text(record)})]),
    }
    found = Row(cells)
    checked = _is_checked(record)
    if checked and len(labels) == 1:
        found.truth = labels[0]
    for label, score in scores.items():
        found.name(label, 1.0 if checked else max(score, LEAST_WEIGHT / 100))
    return found


def _animals(image: Json) -> int:
    """How many detections of an image are likely to be right."""
    detections = objects_in(image.get("detections")) if isinstance(image, dict) else []
    return sum(isinstance(conf := one.get("conf"), float) and conf >= _LIKELY for one in detections)


def _is_checked(image: Json) -> bool:
    return isinstance(image, dict) and image.get("manually_checked") is True


def _box(detection: JsonObject, row: int, where: str) -> list[float]:
    """x, y, width and height as shares of the picture, from its top left corner."""
    box = a_list(detection.get("bbox"), row, f"{where}.bbox")
    if len(box) != 4:
        message = f"expected x, y, width and height, got {len(box)} numbers."
        raise refuse(row, f"{where}.bbox", message, _FIX)
    return [a_number(side, row, f"{where}.bbox[{place}]", "a share") for place, side in enumerate(box)]


@dataclass(frozen=True)
class Box:
    """A detection in a picture: the name of its category, its confidence, and its place.

    place : left, top, width and height as shares of the picture, inside it
    """

    name: str
    confidence: float
    place: tuple[float, float, float, float]


def boxes_of(table: LabelTable, row: int) -> tuple[Box, ...]:
    """Return the detections in the picture of a row, the best first; none if MegaDetector has not looked at it.

    They have no names if the row's true label is known: the category may be that label.
    """
    if not {BOXES, WHOLE_FILE} <= set(table.cells.columns) or table.roles.picture_columns != (PATH,):
        return ()
    (cell,) = table.cells_of(row, (BOXES,))
    try:
        found: Json = json.loads(cell or "[]")
    except (ValueError, RecursionError):
        found = []
    named = table.truth is None or table.truth[row] < 0
    boxes = [_drawn(one, named) for one in objects_in(found)]
    return tuple(sorted((box for box in boxes if box), key=lambda box: -box.confidence))


def _drawn(kept: JsonObject, named: bool) -> Box | None:
    """A box of a cell; None if the cell was written by someone else and holds no such box."""
    name, confidence, box = kept.get("category"), kept.get("conf"), kept.get("bbox")
    if not (isinstance(name, str) and isinstance(confidence, int | float) and isinstance(box, list)):
        return None
    sides = [float(side) for side in box if isinstance(side, int | float) and math.isfinite(side)]
    if len(sides) != 4 or len(box) != 4:
        return None
    left, right = (min(1.0, max(0.0, side)) for side in (sides[0], sides[0] + sides[2]))
    top, bottom = (min(1.0, max(0.0, side)) for side in (sides[1], sides[1] + sides[3]))
    if right <= left or bottom <= top:
        return None
    return Box(name if named else "", float(confidence), (left, top, right - left, bottom - top))


def _classes(detection: JsonObject, row: int, where: str, named: _Names) -> dict[str, float]:
    """The classes of a detection with their scores; of several ids with one name the best score counts."""
    found: dict[str, float] = {}
    for place, pair in enumerate(a_list(detection.get("classifications"), row, f"{where}.classifications")):
        inside = f"{where}.classifications[{place}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise refuse(row, inside, "expected the id of a class and its score.", _FIX)
        number = a_name(pair[0], row, inside, "an id")
        if number not in named.classes:
            message = f"the class {number!r} is not in {_CLASSES}."
            raise refuse(row, inside, message, f"Add it to {_CLASSES}, or remove it here.")
        label = named.classes[number]
        found[label] = max(a_number(pair[1], row, inside, "a score"), found.get(label, 0.0))
    return found


def _notes(rows: Sequence[Row], images: Records) -> list[str]:
    blank = sum(not row.cells[BOXES] and bool(row.weights) for row in rows)
    checked = sum(row.truth is not None for row in rows)
    unclear = sum(_is_checked(one) for one in images) - checked
    several = sum(_animals(one) > 1 for one in images)
    notes = []
    if blank:
        notes.append(
            f"MegaDetector found nothing in {blank} of {len(rows)} files: their only candidate is blank."
        )
    if checked:
        notes.append(f"{checked} files were checked by a person: their class is the true label.")
    if unclear > 0:
        notes.append(
            f"Files that a person checked in which there are several classes, so no single true label: {unclear}."
        )
    if several:
        notes.append(
            f"Several detections are in {several} of {len(rows)} files, which may be several animals. Winnow asks for "
            "one class a file."
        )
    unseen = sum(not row.cells[PATH] for row in rows)
    if unseen:
        notes.append(f"Videos are not shown: {unseen} of {len(rows)} files.")
    if any(
        isinstance(one, dict) and one.get("detections") is None and not one.get("failure") for one in images
    ):
        notes.append(
            "Files without a list of detections were not processed: every class stays possible there."
        )
    return notes


def _groups(whole: JsonObject, named: _Names) -> dict[str, tuple[str, ...]]:
    """Classes below each rank, if the file describes its classes as class;order;family;genus;species;name."""
    labels: dict[Taxon, str] = {}
    described = whole.get(_DESCRIPTIONS)
    for number, text in (described if isinstance(described, dict) else {}).items():
        parts = [part.strip() for part in text.split(";")] if isinstance(text, str) else []
        if number in named.classes and len(parts) in (6, 7):
            *ranks, species, common = parts[-6:]
            labels[Taxon(tuple(ranks), species, common)] = named.classes[number]
    return groups_of(labels)


def _read_wildlife(records: Records, called: str) -> TableReading:
    """One row for each image of Pytorch-Wildlife's lists. Boxes are pixels of pictures of unknown size: left out.
    Raises TableError."""
    whole = an_object(records[0] if records else None, None, None)
    detectors = whole.get("det_categories", whole.get("categories"))
    images = read_each(a_list(whole.get("annotations"), None, "annotations"), _wildlife_image)
    inside: JsonObject = {
        _DETECTORS: detectors if isinstance(detectors, dict) else {},
        _CLASSES: whole.get("clf_categories"),
        _IMAGES: [*images],
    }
    reading = _read([inside], called)
    # It is no batch file of MegaDetector, so it goes back in no such file.
    return replace(reading, cells=reading.cells.drop(columns=[BOXES, WHOLE_FILE, ORIGINAL_ROWS]))


def _wildlife_image(record: JsonObject, row: int) -> JsonObject:
    """An image in the layout of MegaDetector."""
    lists = {}
    for name in ("category", "confidence"):
        for start in ("det_", "clf_"):
            field = start + name if start == "clf_" or start + name in record else name
            lists[start + name] = a_list(record.get(field), row, field)
    number = len(lists["det_category"])
    if wrong := [name for name, one in lists.items() if len(one) not in (number, 0 if "clf" in name else -1)]:
        message = f"expected a value for each of the {number} detections, got {len(lists[wrong[0]])}."
        raise refuse(row, wrong[0], message, _FIX)
    detections: list[Json] = []
    for place in range(number):
        found: JsonObject = {
            "category": lists["det_category"][place],
            "conf": lists["det_confidence"][place],
            "bbox": [0, 0, 1, 1],
        }
        if lists["clf_category"]:
            found["classifications"] = [[lists["clf_category"][place], lists["clf_confidence"][place]]]
        detections.append(found)
    return {"file": record.get("img_id"), "detections": detections}


_LISTS = Fields(
    {"annotations": list}, (("categories", "det_categories"),), inside={"annotations": ("img_id", "bbox")}
)
PYTORCH_WILDLIFE = RecordTool(
    "Pytorch-Wildlife JSON",
    lambda records: len(records) == 1 and _LISTS.match(records),
    _read_wildlife,
)
"""One object with lists of the boxes, categories and scores of each image. Categories are counted from 0."""


def _read_addax(cells: pd.DataFrame, called: str) -> TableReading:
    """One row for each file, in the order in which they first occur. Raises TableError."""
    columns = by_plain_name(cells.columns)
    labels, paths = texts_of(cells, columns["label"]), texts_of(cells, columns["relative_path"])
    scores = numbers_of(cells, columns["confidence"], "a confidence from 0 to 1", most=1.0)
    verified = [text.lower() == "true" for text in texts_of(cells, columns["human_verified"])]
    rows: dict[str, Row] = {}
    checked: dict[str, set[str]] = {}
    for path, label, score, by_person in zip(paths, labels, scores, verified, strict=True):
        shown_path = "" if path.lower().endswith(_VIDEOS) else path
        row = rows.setdefault(path, Row({ITEM: path, PATH: shown_path, CONFIDENCE: ""}))
        if by_person:
            checked.setdefault(path, set()).add(label)
        row.weights[label] = max(score or LEAST_WEIGHT, row.weights.get(label) or 0.0)
        row.cells[CONFIDENCE] = repr(max(row.weights.values(), key=lambda weight: weight or 0.0))
    for path, names_ in checked.items():  # what a person saw stands in place of what the model said
        rows[path].weights = dict.fromkeys(sorted(names_), 1.0)
        rows[path].truth = min(names_) if len(names_) == 1 else None
    unclear = sum(len(names_) > 1 for names_ in checked.values())
    notes = [f"Files that a person verified, whose class is the true label: {len(checked) - unclear}."]
    if unclear:
        notes.append(f"Files that a person verified with several classes: {unclear}: no single true label.")
    reading = rows_reading(
        list(rows.values()), called, describing=(), row_id=ITEM, notes=notes, has_rows=True
    )
    roles = replace(reading.suggest_roles(), numbers=(CONFIDENCE,))
    return replace(reading, roles=roles, notes=(*reading.notes, ALONE))


ADDAXAI = TableTool(
    "AddaxAI detections",
    _read_addax,
    Fingerprint(names("relative_path", "data_type", "label", "confidence", "human_verified")),
)
"""`results_detections.csv` of AddaxAI, once EcoAssist: a detection in each line."""


def is_megadetector(cells: pd.DataFrame) -> bool:
    """Whether a table was read from MegaDetector's JSON."""
    return WHOLE_FILE in cells.columns and first_original(cells).keys() == {IMAGE}


def write_megadetector(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """The JSON as it came, with the verdicts of people in it.

    The class of a verdict stands first in each detection, with the score 1; `manually_checked` and `human_verified_by`
    are added to its image. An image that is blank has no detections. Files that could not be read come last.
    """
    header = _header(table.cells)
    left_out = objects_in(header.pop("left_out", []))
    classes, detectors = (_texts(header.get(field)) for field in (_CLASSES, _DETECTORS))
    file.write(f'{{"{_IMAGES}": ['.encode())
    before, done = "\n", 0
    for piece in table.pieces():
        said = verdicts(piece)
        texts = [
            json_text(_verified(record, one, classes, detectors))
            for record, one in zip(_originals(piece.cells), said, strict=True)
            if record is not None
        ]
        if texts:
            file.write((before + ",\n".join(texts)).encode())
            before = ",\n"
        done += len(piece.ids)
        tell(done)
    for record in left_out:
        file.write((before + json_text(record)).encode())
        before = ",\n"
    if classes:
        header[_CLASSES] = dict(classes)
    rest = "".join(f",\n{json_text(name)}: {json_text(value)}" for name, value in header.items())
    file.write(f"\n]{rest}}}\n".encode())
    tell(len(table.ids))


def _header(cells: pd.DataFrame) -> JsonObject:
    if WHOLE_FILE not in cells.columns:
        return {}
    filled = cells[WHOLE_FILE][cells[WHOLE_FILE] != ""]
    return _stored_object(filled.iloc[0], WHOLE_FILE) if len(filled) else {}


def _stored_object(text: str, column: str) -> JsonObject:
    """The object in a cell that was made when the file was read. Raises TableError if somebody has changed it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    message = f"expected a part of MegaDetector's file as JSON, got {shown(text)}."
    raise refuse(None, column, message, "Import the file as MegaDetector wrote it, and export that project.")


def _texts(value: Json) -> dict[str, str]:
    """The names in an object of a file that was read before."""
    return {number: str(name) for number, name in value.items()} if isinstance(value, dict) else {}


def _originals(cells: pd.DataFrame) -> Iterator[JsonObject | None]:
    """The image of each row as it came; None for rows of another file."""
    for cell in cells[ORIGINAL_ROWS]:
        kept = read_original(cell)
        whole = kept and IMAGE in kept[0]["cells"]
        yield _stored_object(str(kept[0]["cells"][IMAGE]), ORIGINAL_ROWS) if whole else None


def _verified(
    record: JsonObject, said: PeoplesVerdict, classes: dict[str, str], detectors: Mapping[str, str]
) -> JsonObject:
    """An image with the verdict about it. A class that the file has no id for is added to `classes`."""
    if not said.label:
        return record
    marked: JsonObject = {**record, "manually_checked": True, "human_verified_by": said.person}
    if said.label.lower() in _BLANKS:
        return {**marked, "detections": []}
    of_detector = next((number for number, name in detectors.items() if name == said.label), None)
    detections = objects_in(record.get("detections")) or [
        {"category": of_detector or next(iter(detectors)), "conf": 1.0, "bbox": [0, 0, 1, 1]}
    ]
    if of_detector is not None:
        kept: list[Json] = [one for one in detections if one.get("category") == of_detector]
        return {**marked, "detections": kept or [{**detections[0], "category": of_detector}]}
    number = next((number for number, name in classes.items() if name == said.label), None)
    if number is None:
        number = str(max((int(one) for one in classes if one.isdecimal()), default=-1) + 1)
        classes[number] = said.label
    return {
        **marked,
        "detections": [{**one, "classifications": [[number, 1.0]]} for one in detections],
    }


MEGADETECTOR_FORMAT = FileFormat(
    "megadetector",
    "MegaDetector JSON, verified",
    ".megadetector.json",
    "The batch file as it came, with the classes that people named in its detections, as Timelapse reads it.",
    write_megadetector,
    is_megadetector,
)
