"""MegaDetector's imported batch JSON, with people's verdicts added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import BinaryIO

import pandas as pd

from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import Json, JsonObject, json_in, json_text, objects_in, shown
from plcore.tables.readers.tools.detections import ORIGINAL_ROWS, WHOLE_FILE, read_original
from plcore.tables.readers.tools.megadetector import (
    BLANKS,
    CLASSES,
    DETECTORS,
    IMAGE,
    IMAGES,
    OTHERS,
    OWN,
    is_megadetector,
)
from plcore.tables.writers.disambiguated import Disambiguated, Tell
from plcore.tables.writers.verdicts import PeoplesVerdict, verdicts
from plcore.tables.writers.writing import FileFormat


def write_megadetector(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the imported JSON with people's verdicts added.

    The class of a verdict comes first in each detection, with the score 1; `manually_checked` and `human_verified_by`
    are added to its image. A blank image has no detections. Unreadable files come last.

    If an item is a detection or a frame, its verdict applies only to its detections: they get confidence 1, and blank
    ones are removed. The image is `manually_checked` once there is a verdict about each of its items.
    """
    header = _header(table.cells)
    left_out = objects_in(header.pop("left_out", []))
    classes, detectors = (_texts(header.get(field)) for field in (CLASSES, DETECTORS))
    file.write(f'{{"{IMAGES}": ['.encode())
    before = "\n"
    for _, items in groupby(_items(table, tell), key=lambda one: one.image):
        text = json_text(_whole(list(items), classes, detectors))
        file.write((before + text).encode())
        before = ",\n"
    for record in left_out:
        file.write((before + json_text(record)).encode())
        before = ",\n"
    if classes:
        header[CLASSES] = dict(classes)
    rest = "".join(f",\n{json_text(name)}: {json_text(value)}" for name, value in header.items())
    file.write(f"\n]{rest}}}\n".encode())
    tell(len(table.ids))


@dataclass(frozen=True)
class _Item:
    """A row imported from the file. record : its image, with only the row's detections unless the row is the whole
    image

    own : their positions in the image's list, from 1; None if the row is the whole image      others : detections of no
        item
    """

    row: int
    record: JsonObject
    own: list[int] | None
    others: JsonObject
    said: PeoplesVerdict

    @property
    def image(self) -> tuple[Json, int | None]:
        """Key shared by the items of one image; unique if the row is a whole image."""
        return self.record.get("file"), self.row if self.own is None else None


def _items(table: Disambiguated, tell: Tell) -> Iterator[_Item]:
    """Yield the rows imported from the file, in its order."""
    done = 0
    for piece in table.pieces():
        for place, (cell, said) in enumerate(zip(piece.cells[ORIGINAL_ROWS], verdicts(piece), strict=True)):
            cells = kept[0]["cells"] if (kept := read_original(cell)) else {}
            if IMAGE not in cells:
                continue  # of another file
            own, others = cells.get(OWN), cells.get(OTHERS)
            yield _Item(
                done + place,
                _stored_object(str(cells[IMAGE]), ORIGINAL_ROWS),
                [one for one in own if isinstance(one, int)] if isinstance(own, list) else None,
                others if isinstance(others, dict) else {},
                said,
            )
        done += len(piece.ids)
        tell(done)


def _whole(items: Sequence[_Item], classes: dict[str, str], detectors: Mapping[str, str]) -> JsonObject:
    """Return an image with the verdicts about all its items."""
    if items[0].own is None:
        return _verified(items[0].record, items[0].said, classes, detectors)
    detections: dict[int, Json] = {
        int(place): one for item in items for place, one in item.others.items() if place.isdecimal()
    }
    for item in items:
        own = objects_in(_verified(item.record, item.said, classes, detectors).get("detections"))
        sure = [{**one, "conf": 1.0} for one in own] if item.said.label else own
        detections |= dict(zip([*(item.own or []), *range(-len(sure), 0)], sure, strict=False))
    people = dict.fromkeys(item.said.person for item in items if item.said.label)
    marks: JsonObject = {"human_verified_by": ", ".join(people)} if people else {}
    if all(item.said.label for item in items):
        marks["manually_checked"] = True
    found: JsonObject = {**items[0].record, **marks}
    if found.get("detections") is not None:
        found["detections"] = [detections[place] for place in sorted(detections, key=lambda one: (one < 0, one))]
    return found


def _header(cells: pd.DataFrame) -> JsonObject:
    if WHOLE_FILE not in cells.columns:
        return {}
    filled = cells[WHOLE_FILE][cells[WHOLE_FILE] != ""]
    return _stored_object(filled.iloc[0], WHOLE_FILE) if len(filled) else {}


def _stored_object(text: str, column: str) -> JsonObject:
    """Return the object in a cell that was made when the file was read. Raises TableError if someone has changed it."""
    if isinstance(found := json_in(text), dict):
        return found
    message = f"expected a part of MegaDetector's file as JSON, got {shown(text)}."
    raise refusal(message, "Import the file as MegaDetector wrote it, and export that project.", column=column)


def _texts(value: Json) -> dict[str, str]:
    """Return the names in an object of a file that was read before."""
    return {number: str(name) for number, name in value.items()} if isinstance(value, dict) else {}


def _verified(
    record: JsonObject, said: PeoplesVerdict, classes: dict[str, str], detectors: Mapping[str, str]
) -> JsonObject:
    """Return an image with the verdict about it. A class without an id in the file is added to `classes`."""
    if not said.label:
        return record
    marked: JsonObject = {**record, "manually_checked": True, "human_verified_by": said.person}
    if said.label.lower() in BLANKS:
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
    return {**marked, "detections": [{**one, "classifications": [[number, 1.0]]} for one in detections]}


MEGADETECTOR_FORMAT = FileFormat(
    "megadetector",
    "MegaDetector JSON, verified",
    ".megadetector.json",
    "The batch file as it came, with the classes that people named in its detections, as Timelapse reads it.",
    write_megadetector,
    is_megadetector,
)
