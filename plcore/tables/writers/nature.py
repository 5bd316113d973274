"""Export verified labels to biodiversity databases, or as the imported table for its tool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, BinaryIO

import pandas as pd

from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import Json, JsonObject, json_in, json_text, objects_in, shown
from plcore.tables.readers.tools.camera_traps import TIMELAPSE_FORMAT
from plcore.tables.readers.tools.detections import (
    END,
    ITEM,
    NO_SPECIES,
    NOTHING,
    ORIGINAL_ROWS,
    RECORDING,
    START,
    VERIFIED,
    WHOLE_FILE,
    read_original,
)
from plcore.tables.readers.tools.kaleidoscope import KALEIDOSCOPE_FORMAT
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
from plcore.tables.readers.tools.monitoring import CAMTRAP_OBSERVATIONS
from plcore.tables.readers.tools.speciesnet import BLANK, PATH, PREDICTIONS
from plcore.tables.text.arrow import csv_header, csv_lines
from plcore.tables.text.csv import csv_text
from plcore.tables.writers.disambiguated import DECIDING, VERDICT, Disambiguated, Tell, names_beside
from plcore.tables.writers.verdicts import (
    PeoplesVerdict,
    first_original,
    has_original_rows,
    original_columns,
    original_rows,
    verdicts,
)
from plcore.tables.writers.writing import FileFormat

CAMTRAP_DP = (
    "observationID", "deploymentID", "mediaID", "eventID", "eventStart", "eventEnd", "observationLevel",
    "observationType", "cameraSetupType", "scientificName", "count", "lifeStage", "sex", "behavior", "individualID",
    "individualPositionRadius", "individualPositionAngle", "individualSpeed", "bboxX", "bboxY", "bboxWidth",
    "bboxHeight", "classificationMethod", "classifiedBy", "classificationTimestamp", "classificationProbability",
    "observationTags", "observationComments",
)  # fmt: skip
"""The fields of `observations.csv`, in the order of its table schema (Camtrap DP 1.0, tdwg/camtrap-dp)."""

DARWIN_CORE = (
    "occurrenceID", "basisOfRecord", "eventDate", "decimalLatitude", "decimalLongitude", "scientificName",
    "vernacularName", "taxonRank", "identifiedBy", "dateIdentified", "identificationVerificationStatus",
    "identificationQualifier", "identificationRemarks", "associatedMedia",
)  # fmt: skip

EBIRD = (
    "Common Name", "Genus", "Species", "Number", "Species Comments", "Location Name", "Latitude", "Longitude", "Date",
    "Start Time", "State/Province", "Country Code", "Protocol", "Number of Observers", "Duration",
    "All observations reported?", "Effort Distance Miles", "Effort area acres", "Submission Comments",
)  # fmt: skip
"""The columns of eBird's record format (extended), which has no header."""

TYPES = {NOTHING: "blank", BLANK: "blank", "human": "human", "vehicle": "vehicle", **NO_SPECIES}
"""The observation type in Camtrap DP of the detectors' classes that are not species."""

COLUMNS = {
    "deployment": ("deploymentid", "deployment_id", "deployment", "station", "recorder", "camera"),
    "place": ("location name", "location_name", "locality", "location", "site", "locationname"),
    "latitude": ("latitude", "lat", "decimallatitude"),
    "longitude": ("longitude", "lon", "lng", "long", "decimallongitude"),
    "when": ("eventstart", "datetime", "date_time", "timestamp", "eventdate", "recorded_at", "date"),
    "end": ("eventend",),
    "time": ("start time", "start_time", "time"),
    "state": ("state", "stateprovince", "admin1_region"),
    "country": ("country code", "countrycode", "country"),
}
"""Columns, in lower case, that may give facts that Winnow cannot know."""


@dataclass(frozen=True)
class _Item:
    """An item with the known facts about it.

    known : its cells and those of its first row in the file, by names in lower case
    """

    name: str
    known: Mapping[str, str]
    verdict: PeoplesVerdict
    answers: Sequence[Mapping[str, Any]]

    def said(self, what: str) -> str:
        """Return the value of one of `COLUMNS` in its table; "" for none."""
        return next((text for name in COLUMNS[what] if (text := self.known.get(name, ""))), "")

    @property
    def media(self) -> str:
        return self.known.get(RECORDING, "") or self.known.get(PATH, "")

    def span(self, words: str) -> str:
        """Format the words with its seconds of the recording; "" if it is not part of a recording."""
        seconds = self.known.get(START), self.known.get(END)
        return words.format(*seconds) if all(seconds) else ""

    @property
    def when(self) -> datetime | None:
        """Return the time in its table, if it is written in ISO 8601."""
        return _moment(self.said("when"))


def write_camtrap_dp(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write an observation for each person whose latest answer names one class, or none of them (`unknown`): several
    people may classify one medium. Ids of deployments are those of the table; a package must have them. Observations
    that the table was imported from come first, unchanged."""
    taxa = _taxa(table)
    columns: Sequence[str] = CAMTRAP_DP
    known: set[str] = set()
    before: list[Sequence[str]] = []
    if _is_camtrap(table.cells):
        columns = tuple(dict.fromkeys((*original_columns(table), *CAMTRAP_DP)))
        for piece in original_rows(table):
            before += ([str(row.cells.get(name, "")) for name in columns] for row in piece)
        known = {line[columns.index(CAMTRAP_DP[0])] for line in before}
    _write(file, columns, _pieces(table, tell), lambda item: _observations(item, taxa, known), before)


def write_darwin_core(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write an occurrence for each item that people identified as one species; nothing, people and vehicles do not
    count."""
    taxa = _taxa(table)
    _write(file, DARWIN_CORE, _pieces(table, tell), lambda item: _occurrences(item, taxa))


def write_ebird(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write a line for each species that people verified in each list, that is, at each place and date; without a
    header, and with X for the count."""
    taxa = _taxa(table)
    lists: dict[tuple[str, ...], list[str]] = {}
    for items in _pieces(table, tell):
        for item in items:
            if taxa.is_species(item.verdict.label):
                lists.setdefault(_line_of_list(item, taxa), []).append(item.verdict.person)
    lines = []
    for line, people in lists.items():
        times = f"{len(people)} detection{'s' if len(people) > 1 else ''}, verified by "
        lines.append((*line[:4], times + ", ".join(dict.fromkeys(people)), *line[5:]))
    file.write(csv_text(lines).encode())
    tell(len(table.ids))


@dataclass(frozen=True)
class _Taxa:
    """Taxonomic facts about the classes, by their current names.

    scientific : {class: its scientific name}
    types : {class: its type of observation}, of those that are not species
    """

    scientific: Mapping[str, str]
    types: Mapping[str, str]

    def is_species(self, label: str) -> bool:
        return bool(label) and label not in self.types


def _taxa(table: Disambiguated) -> _Taxa:
    """Return the scientific names, from the rows of the file that name only one class."""
    found: dict[str, str] = {}
    for cell in table.cells[ORIGINAL_ROWS]:
        for one in read_original(cell):
            if one["scientific"] and len(one["labels"]) == 1 and (label := one["labels"][0]) not in NO_SPECIES:
                found.setdefault(table.renamed.get(label, label), one["scientific"])
    return _Taxa(found, {table.renamed.get(name, name): kind for name, kind in TYPES.items()})


def _observations(item: _Item, taxa: _Taxa, known: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield the observations of an item. known : ids that observations have already"""
    # "None of these, but that" is stored as two answers, and people correct themselves: their latest answer counts.
    numbered = enumerate(item.answers, start=1)
    latest = {one["person"]: (number, one) for number, one in numbered if one["kind"] in DECIDING}
    for number, answer in latest.values():
        names_one = answer["kind"] in ("is", "none") or (answer["kind"] == VERDICT and answer["labels"])
        if not names_one or len(answer["labels"]) > 1:
            continue
        label = "".join(answer["labels"])
        kind = taxa.types.get(label, "animal") if label else "unknown"
        name = f"{item.name}:{number}"
        while name in known:
            name += "+"
        yield {
            "observationID": name,
            "deploymentID": item.said("deployment"),
            "mediaID": item.known.get("mediaid", item.media),
            "eventID": item.known.get("eventid", item.name),
            "eventStart": _zoned(item.said("when")),
            "eventEnd": _zoned(item.said("end") or item.said("when")),
            "observationLevel": item.known.get("observationlevel", "media"),
            "observationType": kind,
            "scientificName": taxa.scientific.get(label, "") if kind == "animal" else "",
            "classificationMethod": "human",
            "classifiedBy": str(answer["person"]),
            "classificationTimestamp": _zoned(str(answer["at"])),
            "observationTags": item.span("start:{} | end:{}"),
            "observationComments": label,
        }


def _occurrences(item: _Item, taxa: _Taxa) -> Iterator[dict[str, str]]:
    verdict = item.verdict
    if not taxa.is_species(verdict.label):
        return
    name = taxa.scientific.get(verdict.label, "")
    yield {
        "occurrenceID": item.name,
        "basisOfRecord": "MachineObservation",
        "eventDate": item.said("when"),
        "decimalLatitude": item.said("latitude"),
        "decimalLongitude": item.said("longitude"),
        "scientificName": name,
        "vernacularName": verdict.label,
        "taxonRank": {2: "species", 3: "subspecies"}.get(len(name.split()), ""),
        "identifiedBy": verdict.person,
        "dateIdentified": verdict.at,
        "identificationVerificationStatus": "verified by a person",
        "identificationRemarks": item.span("seconds {} to {} of the recording"),
        "associatedMedia": item.media,
    }


def _line_of_list(item: _Item, taxa: _Taxa) -> tuple[str, ...]:
    """Return the cells of `EBIRD`, without its comment."""
    label, when = item.verdict.label, item.when
    genus, _, species = taxa.scientific.get(label, "").partition(" ")
    known = {
        "Common Name": label,
        "Genus": genus,
        "Species": species,
        "Number": "X",
        "Location Name": item.said("place"),
        "Latitude": item.said("latitude"),
        "Longitude": item.said("longitude"),
        "Date": "" if when is None else f"{when:%m/%d/%Y}",
        "Start Time": item.said("time"),
        "State/Province": item.said("state"),
        "Country Code": item.said("country"),
        "All observations reported?": "N",
    }
    return tuple(known.get(name, "") for name in EBIRD)


def _pieces(table: Disambiguated, tell: Tell) -> Iterator[list[_Item]]:
    for piece in table.pieces(tell=tell):
        answers, said = piece.answers_by_row(), verdicts(piece)
        items = []
        for row, cells in enumerate(piece.records()):
            kept = read_original(cells.get(ORIGINAL_ROWS, ""))
            origin: Mapping[str, object] = kept[0]["cells"] if kept else {}
            known = {str(name).strip().lower(): str(value) for name, value in {**origin, **cells}.items()}
            name = cells.get(ITEM) or str(piece.ids[row])
            items.append(_Item(name, known, said[row], answers.get(row, [])))
        yield items


def _write(
    file: BinaryIO,
    columns: Sequence[str],
    pieces: Iterator[list[_Item]],
    lines_of: Callable[[_Item], Iterator[dict[str, str]]],
    before: Sequence[Sequence[str]] = (),
) -> None:
    file.write(csv_text([columns, *before]).encode())
    for items in pieces:
        found = [line for item in items for line in lines_of(item)]
        file.write(csv_text([line.get(name, "") for name in columns] for line in found).encode())


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _zoned(text: str) -> str:
    """Format a time for Camtrap DP, to the second and with its zone; "" if the text is none."""
    when = _moment(text)
    return "" if when is None or when.tzinfo is None else f"{when:%Y-%m-%dT%H:%M:%S%z}"


OCCURRENCE_FORMATS = (
    FileFormat(
        "camtrap-dp",
        "Camtrap DP observations",
        ".observations.csv",
        "An observation for each person's answer, as the standard of camera traps has it; ids of deployments and times "
        "are taken from columns of the table, or stay empty.",
        write_camtrap_dp,
        has_original_rows,
    ),
    FileFormat(
        "darwin-core",
        "Darwin Core occurrences",
        ".occurrences.csv",
        "An occurrence for each species that people verified; dates and coordinates are taken from columns of the "
        "table, or stay empty.",
        write_darwin_core,
        has_original_rows,
    ),
    FileFormat(
        "ebird",
        "eBird record format",
        ".ebird.csv",
        "A line without header for each species that people verified at a place on a date; what the table does not say "
        "stays empty for you to fill in.",
        write_ebird,
        has_original_rows,
    ),
)
"""Formats of biodiversity databases."""


_RAVEN = "begin time (s)"


def write_detections(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as CSV (UTF-8, comma, LF)."""
    columns = original_columns(table)
    file.write(csv_header(_header(columns)))
    for rows in _cells(table, columns, tell):
        file.write(csv_lines(rows))


def write_selections(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as Raven does: tabs between cells, no quotes; tabs and line ends inside cells become spaces."""
    columns = original_columns(table)
    file.write(_line(_header(columns)))
    for rows in _cells(table, columns, tell):
        file.write(b"".join(map(_line, rows)))


def write_predictions(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write SpeciesNet's JSON with four more fields in each prediction; `verified` is true, false or null. Fields from
    an earlier export are renamed as in `_header`."""
    new_names = names_beside(original_columns(table), VERIFIED)
    file.write(f'{{"{PREDICTIONS}": ['.encode())
    before = "\n"
    for piece in original_rows(table):
        texts = []
        for row in piece:
            said, *rest = row.verified
            values = ({"true": True, "false": False}.get(said), *(text or None for text in rest))
            cells = {new_names.get(name, name): value for name, value in row.cells.items()}
            texts.append(json_text(cells | dict(zip(VERIFIED, values, strict=True))))
        file.write((before + ",\n".join(texts)).encode())
        before = ",\n"
        tell(piece[-1].item)
    file.write(b"\n]}\n")
    tell(len(table.ids))


def _header(columns: Sequence[str]) -> list[str]:
    """Return the imported columns; those added by an earlier export are renamed to `before_verified`."""
    new_names = names_beside(columns, VERIFIED)
    return [*(new_names.get(name, name) for name in columns), *VERIFIED]


def _cells(table: Disambiguated, columns: Sequence[str], tell: Tell) -> Iterator[list[list[str]]]:
    """Yield the cell of each row, some thousand at a time."""
    furthest = 0
    for piece in original_rows(table):
        yield [[*(str(row.cells.get(name, "")) for name in columns), *row.verified] for row in piece]
        furthest = max(furthest, piece[-1].item)
        tell(furthest)
    tell(len(table.ids))


def _line(cells: Sequence[str]) -> bytes:
    return ("\t".join(" ".join(cell.splitlines()).replace("\t", " ") for cell in cells) + "\n").encode()


def _is_speciesnet(cells: pd.DataFrame) -> bool:
    return PATH in cells.columns and PATH in first_original(cells)


def _is_camtrap(cells: pd.DataFrame) -> bool:
    return CAMTRAP_OBSERVATIONS.fits(pd.DataFrame(columns=list(first_original(cells))))


def _is_table(cells: pd.DataFrame) -> bool:
    """Whether the table accepts further columns; Camtrap DP, which has its own format, does not."""
    others = (_is_speciesnet, is_megadetector, _is_camtrap)
    return bool(first_original(cells)) and not any(is_other(cells) for is_other in others)


VERIFIED_FORMATS = (
    FileFormat(
        "detections",
        "The same table, verified",
        ".verified.csv",
        "The original detections, each with verified (true, false or nothing), verified_label, verified_by and "
        "verified_at; only people's answers count.",
        write_detections,
        _is_table,
    ),
    FileFormat(
        "raven",
        "Raven selection table, verified",
        ".verified.txt",
        "The same with tabs between the cells, as Raven Pro opens it.",
        write_selections,
        lambda cells: any(name.strip().lower() == _RAVEN for name in first_original(cells)),
    ),
    FileFormat(
        "speciesnet",
        "SpeciesNet JSON, verified",
        ".verified.json",
        "The original predictions, each with verified (true, false or null), verified_label, verified_by and "
        "verified_at; only people's answers count.",
        write_predictions,
        _is_speciesnet,
    ),
)
"""Formats of tables that came from detectors."""


def write_megadetector(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the imported JSON with people's verdicts added.

    The class of a verdict comes first in each detection, with the score 1; `manually_checked` and `human_verified_by`
    are added to its image. A blank image has no detections. Unreadable files come last.

    If an item is a detection or a frame, its verdict applies only to its detections: they get confidence 1, and blank
    ones are removed. The image is `manually_checked` once there is a verdict about each of its items.
    """
    header = _whole_header(table.cells)
    left_out = objects_in(header.pop("left_out", []))
    classes, detectors = (_texts(header.get(field)) for field in (CLASSES, DETECTORS))
    file.write(f'{{"{IMAGES}": ['.encode())
    before = "\n"
    for _, items in groupby(_image_items(table, tell), key=lambda one: one.image):
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
class _ImageItem:
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


def _image_items(table: Disambiguated, tell: Tell) -> Iterator[_ImageItem]:
    """Yield the rows imported from the file, in its order."""
    done = 0
    for piece in table.pieces():
        for place, (cell, said) in enumerate(zip(piece.cells[ORIGINAL_ROWS], verdicts(piece), strict=True)):
            cells = kept[0]["cells"] if (kept := read_original(cell)) else {}
            if IMAGE not in cells:
                continue  # of another file
            own, others = cells.get(OWN), cells.get(OTHERS)
            yield _ImageItem(
                done + place,
                _stored_object(str(cells[IMAGE]), ORIGINAL_ROWS),
                [one for one in own if isinstance(one, int)] if isinstance(own, list) else None,
                others if isinstance(others, dict) else {},
                said,
            )
        done += len(piece.ids)
        tell(done)


def _whole(items: Sequence[_ImageItem], classes: dict[str, str], detectors: Mapping[str, str]) -> JsonObject:
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


def _whole_header(cells: pd.DataFrame) -> JsonObject:
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
    "The original batch file, with the classes that people named in its detections, as Timelapse reads it.",
    write_megadetector,
    is_megadetector,
)


NATURE_FORMATS: Mapping[str, FileFormat[Disambiguated]] = {
    each.name: each
    for each in (*VERIFIED_FORMATS, MEGADETECTOR_FORMAT, TIMELAPSE_FORMAT, KALEIDOSCOPE_FORMAT, *OCCURRENCE_FORMATS)
}
"""The formats by name: the imported table first."""
