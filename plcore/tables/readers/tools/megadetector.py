"""MegaDetector's batch JSON, perhaps with the classes of a classifier such as SpeciesNet.

Layout: agentmorris/MegaDetector, `megadetector-output-format.md`, versions 1.3 to 1.6, and the outputs of
Pytorch-Wildlife (`PytorchWildlife/utils/post_process.py`) and AddaxAI (`results_detections.csv`). An item is a file, or
on request a detection in it, or a frame of a video. Its candidates are the classes of all its detections, each with its
best score; files without a detection are blank. `plcore.tables.writers.nature` writes the file back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from plcore.arrays.words import counted
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import (
    At,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    json_in,
    json_text,
    read_each,
)
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, by_plain_name, names, scores_of, texts_of
from plcore.tables.readers.tools.detections import (
    BOX_SIDES,
    BOXES,
    CONFIDENCE,
    ITEM,
    LEAST_WEIGHT,
    ORIGINAL_ROWS,
    WHOLE_FILE,
    fill_unscored,
    original_row,
    read_original,
    scored_reading,
    unscored_notes,
)
from plcore.tables.readers.tools.speciesnet import ALONE, ALONE_WITH_BOXES, BLANK, PATH, Taxon, groups_of, with_pictures
from plcore.tables.writers.verdicts import first_original

if TYPE_CHECKING:
    from plcore.tables.table import LabelTable

IMAGE = "image"
"""The field with the original image record."""

IMAGES, DETECTORS, CLASSES = "images", "detection_categories", "classification_categories"
_DESCRIPTIONS = "classification_category_descriptions"
_ANIMAL = "animal"
BLANKS = ("blank", "empty")
_VIDEOS = (".mp4", ".avi", ".mov", ".mkv", ".m4v", ".mpg", ".mpeg", ".wmv", ".flv", ".asf")
_FACTS = ("frame_rate", "failure", "max_detection_conf")
LIKELY = 0.2
"""The confidence above which MegaDetector's authors consider detections."""
PICTURE, DETECTION, FRAME = ITEMS = "picture", "detection", "frame"
"""Possible kinds of item: a file, a detection in it, or a frame of a video."""
OWN, OTHERS = "own", "others"
"""Fields with the positions of an item's detections in its file, and, at the first item of a file, the detections that
belong to no item by their positions."""
SECOND = "second"
"""The column with the second of a video that a frame is from."""
_FIX = "Run the detector again, or correct the file."


@dataclass(frozen=True)
class _Names:
    """The names of categories by id."""

    detectors: Mapping[str, str]
    classes: Mapping[str, str]
    blank: str


def _read(records: Records, called: str, item: str = PICTURE) -> TableReading:
    """Read one row for each item of the readable files. Raises TableError. item : one of `ITEMS`"""
    whole = At(records[0] if records else None)
    images = [one.value for one in whole[IMAGES].items()]
    if not images:
        raise refusal("The file lists no images.", "Choose a file with at least one image.")
    named = _names(whole)
    cut = _likely(whole)
    found = read_each(images, lambda record: _items(record, named, item, cut))
    left_out = [At(images[place]).object() for place, one in enumerate(found) if one is None]
    reasons = sorted({str(one.get("failure")) for one in left_out})
    notes = []
    if left_out:
        count = counted(len(left_out), "file")
        notes.append(
            f"{count} could not be read by MegaDetector and {'are' if len(left_out) > 1 else 'is'} left out: "
            f"{'; '.join(reasons[:3])}. The first is {left_out[0]['file']}."
        )
    rows = [row for one in found for row in one or ()]
    if not rows:
        raise refusal("MegaDetector could not read any of the files.", _FIX)
    notes += _notes(rows, images, item, cut)
    header = {name: value for name, value in whole.object().items() if name != IMAGES} | {"left_out": left_out}
    for place, row in enumerate(rows):
        row.cells[WHOLE_FILE] = json_text(header) if place == 0 else ""
    known = {label for row in rows for label in row.weights}
    classes = [*named.classes.values(), *([named.blank] if known else [])]
    # A score is the detector's opinion, so a weight; it is learnt from only if nothing else can be.
    numbers, alone = (BOX_SIDES, ALONE_WITH_BOXES) if item == DETECTION else ((CONFIDENCE,), ALONE)
    caption = (SECOND,) if any(SECOND in row.cells for row in rows) else ()
    learned = {"numbers": numbers, "caption": caption}
    groups = _groups(whole, named)
    return scored_reading(rows, called, alone, learned, classes=classes, notes=notes, groups=groups)


def _likely(whole: At) -> float:
    """Return the confidence from which a detection is an item: the file's own typical threshold."""
    given = whole["info"].get("detector_metadata").get("typical_detection_threshold").value
    return given if isinstance(given, float) and 0 < given < 1 else LIKELY


def items_of(reading: TableReading) -> tuple[str, ...]:
    """Return the possible kinds of item of a MegaDetector file, in its default reading; none for other files, or joined
    ones."""
    if not is_megadetector(reading.cells) or reading.suggest_roles().voters is not None:
        return ()
    has_frames = reading.cells[BOXES].str.contains('"frame"', regex=False).any()
    return ITEMS if has_frames else (PICTURE, DETECTION)


def read_by(reading: TableReading, item: str) -> TableReading:
    """Read the same file with another kind of item. item : one of `items_of`. Raises TableError"""
    if item == PICTURE:
        return reading
    header = json.loads(reading.cells[WHOLE_FILE].iloc[0])
    left_out = header.pop("left_out")
    images = [json.loads(str(read_original(cell)[0]["cells"][IMAGE])) for cell in reading.cells[ORIGINAL_ROWS]]
    records: Records = [{**header, IMAGES: [*images, *left_out]}]
    known = _read(records, MEGADETECTOR.name).notes
    found = _read(records, MEGADETECTOR.name, item)
    what = reading.format.replace(MEGADETECTOR.name, f"{MEGADETECTOR.name}, an item a {item}")
    notes = (*found.notes, *(one for one in reading.notes if one not in known))
    return with_pictures(replace(found, format=what, files=reading.files, notes=notes, asks=reading.asks))


_FILE = Fields({IMAGES: list, DETECTORS: dict}, inside={IMAGES: ("file",)})
MEGADETECTOR = RecordTool("MegaDetector JSON", lambda records: len(records) == 1 and _FILE.match(records), _read)
"""One object with the list of images and the names of the categories."""


def _names(whole: At) -> _Names:
    given = (whole[field].or_empty.fields() for field in (DETECTORS, CLASSES))
    detectors, classes = ({number: name.name("a name") for number, name in fields} for fields in given)
    every = (*classes.values(), *detectors.values())
    blank = next((name for name in every if name.lower() in BLANKS), BLANK)
    return _Names(detectors, classes, blank)


@dataclass(frozen=True)
class _Found:
    """A detection. place : in the list of its file, from 1      box : as it is stored      classes : with their
    scores"""

    place: int
    category: str
    confidence: float
    box: JsonObject
    classes: dict[str, float]

    @property
    def frame(self) -> Json:
        return self.box.get("frame")


def _items(record: At, named: _Names, item: str, cut: float) -> list[Row] | None:
    """Return the rows of a file; None if the detector could not read it. A file without a likely detection is one
    item."""
    path = record["file"].name("a path")
    if record["failure"].value:
        return None
    whole, given = record.object(), record["detections"].items()
    found = [one for place, each in enumerate(given, start=1) if (one := _found(each, place, named)) is not None]
    likely = [one for one in found if one.confidence >= cut]
    if item == DETECTION and likely:
        groups = {f"{path}#{one.place}": [one] for one in likely}
    elif item == FRAME and any(one.frame is not None for one in found):
        by_frame: dict[str, list[_Found]] = {}
        for one in found:
            by_frame.setdefault(f"{path}#frame{one.frame}", []).append(one)
        groups = by_frame
    else:
        groups = {path: found}
    rows = [_row(whole, named, name, own, item) for name, own in groups.items()]
    kept: list[dict[str, object]]
    if item == PICTURE:
        kept = [{IMAGE: json_text(whole)}]
    else:
        of_items = {one.place for own in groups.values() for one in own}
        rest = {str(place): one.value for place, one in enumerate(given, start=1) if place not in of_items}
        kept = [
            {
                IMAGE: json_text({**whole, "detections": [given[one.place - 1].value for one in own]}),
                OWN: [one.place for one in own],
                OTHERS: rest if first == 0 else {},
            }
            for first, own in enumerate(groups.values())
        ]
    for made, cells in zip(rows, kept, strict=True):
        top = sorted(made.weights, key=lambda label: -(made.weights[label] or 0.0))[:1]
        made.cells[ORIGINAL_ROWS] = json_text([original_row((record.row or 1) - 1, top, "", cells)])
    return rows


def _found(detection: At, place: int, named: _Names) -> _Found | None:
    """Return a detection of a known category, else None."""
    category = detection["category"].name("an id")
    if category not in named.detectors:
        return None
    confidence = detection["conf"].number("a confidence")
    sides = [side.number("a share") for side in detection["bbox"].items()]
    if len(sides) != 4:
        raise detection["bbox"].refuse(f"expected x, y, width and height, got {len(sides)} numbers.", _FIX)
    # As shares of the picture, from its top left corner.
    box: JsonObject = {"category": named.detectors[category], "conf": confidence, "bbox": [*sides]}
    if (frame := detection["frame_number"].value) is not None:
        box["frame"] = frame
    return _Found(place, named.detectors[category], confidence, box, _classes(detection, named))


def _row(record: JsonObject, named: _Names, name: str, found: Sequence[_Found], item: str) -> Row:
    # Boxes drawn by a person have confidence 1; about the other items of a checked file nothing is known.
    sure = [one for one in found if one.confidence == 1.0]
    checked = _is_checked(record) and (item == PICTURE or not found or bool(sure))
    sure = sure if checked else []
    scores: dict[str, float] = {}
    generic: dict[str, float] = {}
    for one in sure or found:
        into = scores if one.classes or one.category.lower() != _ANIMAL else generic
        for label, score in (one.classes or {one.category: one.confidence}).items():
            into[label] = max(score, into.get(label, 0.0))
    if not any(one.classes for one in sure or found):  # an animal without a class adds nothing to one with a class
        scores |= generic
    top = max((one.confidence for one in found), default=None)
    if record.get("detections") == []:
        scores = {named.blank: 1.0}
    elif item != PICTURE and top is not None and not checked:
        scores.setdefault(named.blank, max(1.0 - top, LEAST_WEIGHT))  # it may have found nothing there
    path = str(record["file"])
    cells: Cells = {
        ITEM: name,
        PATH: "" if path.lower().endswith(_VIDEOS) else path,
        CONFIDENCE: "" if top is None else repr(top),
        BOXES: json_text([one.box for one in found]) if found else "",
        **{fact: record[fact] for fact in _FACTS if record.get(fact) not in (None, "")},
    }
    if item == DETECTION:
        sides = found[0].box["bbox"] if len(found) == 1 else ["", "", "", ""]
        cells |= dict(zip(BOX_SIDES, sides, strict=True))  # type: ignore[arg-type]
    rate, frame = record.get("frame_rate"), found[0].frame if found and item != PICTURE else None
    if isinstance(rate, int | float) and rate > 0 and isinstance(frame, int):
        cells[SECOND] = round(frame / rate, 3)
    made = Row(cells)
    if checked and len(scores) == 1:
        made.truth = next(iter(scores))
    for label, score in scores.items():
        made.name(label, 1.0 if checked else max(score, LEAST_WEIGHT / 100))
    return made


def _confidences(image: Json) -> list[float]:
    detections = At(image).get("detections").objects()
    return [conf for one in detections if isinstance(conf := one["conf"].value, float)]


def _is_checked(image: Json) -> bool:
    return At(image).get("manually_checked").value is True


@dataclass(frozen=True)
class Box:
    """A detection in a picture: the name of its category, its confidence, and its place.

    place : left, top, width and height as shares of the picture, within it
    """

    name: str
    confidence: float
    place: tuple[float, float, float, float]


def boxes_of(table: LabelTable, row: int) -> tuple[Box, ...]:
    """Return the detections in the picture of a row, best first; none if MegaDetector has not processed it.

    They have no names if the row's true label is known, because the category may be that label.
    """
    if not {BOXES, WHOLE_FILE} <= set(table.cells.columns) or table.roles.picture_columns != (PATH,):
        return ()
    (cell,) = table.cells_of(row, (BOXES,))
    named = table.truth is None or table.truth[row] < 0
    boxes = [_drawn(one.object(), named) for one in At(json_in(cell)).objects()]
    return tuple(sorted((box for box in boxes if box), key=lambda box: -box.confidence))


def _drawn(kept: JsonObject, named: bool) -> Box | None:
    """Return the box of a cell; None if the cell was changed and contains no such box."""
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


def _classes(detection: At, named: _Names) -> dict[str, float]:
    """Return the classes of a detection with their scores; of several ids with one name, the best score counts."""
    found: dict[str, float] = {}
    for pair in detection["classifications"].items():
        if not isinstance(pair.value, list) or len(pair.value) != 2:
            raise pair.refuse("expected the id of a class and its score.", _FIX)
        number, score = pair.items()[0].name("an id"), pair.items()[1].number("a score")
        if number not in named.classes:
            message = f"the class {number!r} is not in {CLASSES}."
            raise pair.refuse(message, f"Add it to {CLASSES}, or remove it here.")
        label = named.classes[number]
        found[label] = max(score, found.get(label, 0.0))
    return found


def _notes(rows: Sequence[Row], images: Records, item: str, cut: float) -> list[str]:
    files = {str(one.get("file")) for one in images if isinstance(one, dict) and not one.get("failure")}
    blank = sum(not row.cells[BOXES] and bool(row.weights) for row in rows)
    checked = sum(row.truth is not None for row in rows)
    unclear = sum(_is_checked(one) for one in images) - checked
    several = sum(sum(sure >= LIKELY for sure in _confidences(one)) > 1 for one in images)
    notes = []
    if blank:
        whose = "their only candidate is" if blank > 1 else "its only candidate is"
        notes.append(f"MegaDetector found nothing in {blank:,} of {counted(len(files), 'file')}: {whose} blank.")
    if checked:
        what = counted(checked, "file" if item == PICTURE else "item")
        notes.append(f"{what} {'was' if checked == 1 else 'were'} checked by a person: the class is the true label.")
    if item == PICTURE and unclear > 0:
        notes.append(
            f"Files that a person checked in which there are several classes, so no single true label: {unclear}."
        )
    if item == PICTURE and several:
        notes.append(
            f"Several detections are in {several:,} of {counted(len(files), 'file')}, which may be several animals. "
            "Winnow asks for one class a file; it can also ask about each detection."
        )
    if item == DETECTION:
        weak = [one for image in images for one in _confidences(image) if one < cut]
        if weak:
            notes.append(f"Detections below the confidence {cut:g}, which are not items of their own: {len(weak):,}.")
    unseen = {str(row.cells[ITEM]).partition("#")[0] for row in rows if not row.cells[PATH]}
    if unseen:
        notes.append(f"Videos are not shown: {len(unseen):,} of {counted(len(files), 'file')}.")
    if any(isinstance(one, dict) and one.get("detections") is None and not one.get("failure") for one in images):
        notes.append("Files without a list of detections were not processed: every class stays possible there.")
    return notes


def _groups(whole: At, named: _Names) -> dict[str, tuple[str, ...]]:
    """Return the classes below each rank, if the file describes its classes as
    class;order;family;genus;species;name."""
    labels: dict[Taxon, str] = {}
    described = whole[_DESCRIPTIONS].value
    for number, text in (described if isinstance(described, dict) else {}).items():
        parts = [part.strip() for part in text.split(";")] if isinstance(text, str) else []
        if number in named.classes and len(parts) in (6, 7):
            *ranks, species, common = parts[-6:]
            labels[Taxon(tuple(ranks), species, common)] = named.classes[number]
    return groups_of(labels)


def _read_wildlife(records: Records, called: str) -> TableReading:
    """Read one row for each image of Pytorch-Wildlife's lists. Its boxes, in pixels of pictures of unknown size, are
    left out. Raises TableError."""
    whole = At(records[0] if records else None)
    detectors = whole.first(("det_categories", "categories")).value
    images = read_each([one.value for one in whole["annotations"].items()], _wildlife_image)
    inside: JsonObject = {
        DETECTORS: detectors if isinstance(detectors, dict) else {},
        CLASSES: whole["clf_categories"].value,
        IMAGES: [*images],
    }
    reading = _read([inside], called)
    # It is not a batch file of MegaDetector, so it is not exported as one.
    return replace(reading, cells=reading.cells.drop(columns=[BOXES, WHOLE_FILE, ORIGINAL_ROWS]))


def _wildlife_image(record: At) -> JsonObject:
    """Return an image record in MegaDetector's layout."""
    found = record.first(("det_category", "category")).items()
    sure = record.first(("det_confidence", "confidence")).items_for(found, "a value", "detection")
    detections: list[JsonObject] = [
        {"category": one.value, "conf": conf.value, "bbox": [0, 0, 1, 1]} for one, conf in zip(found, sure, strict=True)
    ]
    lists = [record["clf_category"], record["clf_confidence"]]
    if any(one.items() for one in lists):
        classes, scores = (one.items_for(found, "a value", "detection") for one in lists)
        for one, label, score in zip(detections, classes, scores, strict=True):
            one["classifications"] = [[label.value, score.value]]
    return {"file": record["img_id"].value, "detections": [*detections]}


_LISTS = Fields({"annotations": list}, (("categories", "det_categories"),), inside={"annotations": ("img_id", "bbox")})
PYTORCH_WILDLIFE = RecordTool(
    "Pytorch-Wildlife JSON", lambda records: len(records) == 1 and _LISTS.match(records), _read_wildlife
)
"""One object with lists of the boxes, categories and scores of each image. Categories count from 0."""


def _read_addax(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    labels, paths = texts_of(cells, columns["label"]), texts_of(cells, columns["relative_path"])
    scores = scores_of(cells, columns["confidence"], "a confidence")
    verified = [text.lower() == "true" for text in texts_of(cells, columns["human_verified"])]
    rows: dict[str, Row] = {}
    checked: dict[str, set[str]] = {}
    for path, label, score, by_person in zip(paths, labels, scores, verified, strict=True):
        shown_path = "" if path.lower().endswith(_VIDEOS) else path
        row = rows.setdefault(path, Row({ITEM: path, PATH: shown_path, CONFIDENCE: ""}))
        if by_person:
            checked.setdefault(path, set()).add(label)
        before = row.weights.get(label)
        row.weights[label] = before if score is None else max(score, before or 0.0)
    for row in rows.values():
        top = fill_unscored(row.weights)
        row.cells[CONFIDENCE] = "" if top is None else repr(top)
    for path, names_ in checked.items():  # a person's observation replaces the model's
        rows[path].weights = dict.fromkeys(sorted(names_), 1.0)
        rows[path].truth = min(names_) if len(names_) == 1 else None
    unclear = sum(len(names_) > 1 for names_ in checked.values())
    notes = [f"Files that a person verified, whose class is the true label: {len(checked) - unclear}."]
    notes += unscored_notes(scores)
    if unclear:
        notes.append(f"Files that a person verified with several classes: {unclear}: no single true label.")
    return scored_reading(list(rows.values()), called, ALONE, {"numbers": (CONFIDENCE,)}, notes=notes)


ADDAXAI = TableTool(
    "AddaxAI detections",
    _read_addax,
    Fingerprint(names("relative_path", "data_type", "label", "confidence", "human_verified")),
)
"""`results_detections.csv` of AddaxAI, formerly EcoAssist: one detection per line."""


def is_megadetector(cells: pd.DataFrame) -> bool:
    """Whether a table was read from MegaDetector's JSON."""
    return WHOLE_FILE in cells.columns and IMAGE in first_original(cells)
