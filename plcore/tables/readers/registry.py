"""List of all known formats and tools: the first entry that fits reads the file.

To add a tool, add an entry to `READERS`, and a module or a `RecordMap`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from plcore.arrays.words import counted, listed, quoted
from plcore.tables.media.file_tree import ZIP_FAULTS, ZIP_STARTS
from plcore.tables.media.files import MediaFiles
from plcore.tables.problems import refusal
from plcore.tables.readers.arff_libsvm import (
    looks_like_arff,
    looks_like_fasttext,
    looks_like_libsvm,
    read_arff,
    read_fasttext,
    read_libsvm,
)
from plcore.tables.readers.arrays import MAT_START, read_mat, read_npy, read_npz
from plcore.tables.readers.candidate_rows import NEEDS_ROWS, Records
from plcore.tables.readers.excel import XLS_START, read_workbook
from plcore.tables.readers.joining import join_candidates
from plcore.tables.readers.mapping import RecordTool, TableTool
from plcore.tables.readers.parquet import FEATHER_START, PARQUET_START, read_feather, read_parquet
from plcore.tables.readers.reading import TableReading, refusing, roles_with
from plcore.tables.readers.records import looks_like_json, read_json
from plcore.tables.readers.tools import (
    annotation_tools,
    argilla_prodigy,
    camera_traps,
    crowds,
    detections,
    kaleidoscope,
    label_studio,
    language_models,
    megadetector,
    monitoring,
    plain_records,
    sound_detectors,
    speciesnet,
    votes,
    weak_labels,
)
from plcore.tables.roles.roles import Roles
from plcore.tables.writers.label_vectors import OWN_LONG, OWN_WIDE
from plcore.tables.writers.sheets import OWN_SHEET


@dataclass(frozen=True)
class ByteFormat:
    """A binary format, recognised by the first bytes.

    starts : alternative first bytes
    read : returns the table in the whole file. Raises TableError
    has_names : whether a zip with entries of these names has this format; None if the format is not a zip
    """

    starts: tuple[bytes, ...]
    read: Callable[[bytes], TableReading]
    has_names: Callable[[frozenset[str]], bool] | None = None

    def fits(self, data: bytes) -> bool:
        """Whether the file has this format."""
        return data.startswith(self.starts) and (self.has_names is None or self.has_names(names_in_zip(data)))


@dataclass(frozen=True)
class TextFormat:
    """A text format (UTF-8) other than CSV.

    fits : whether a text in a file of this name has this format
    read : returns the table in a text, given the file's name and MULAN's list of labels, if there is one. Raises
        TableError
    """

    fits: Callable[[bytes, str], bool]
    read: Callable[[bytes, str, str | None], TableReading]


def names_in_zip(data: bytes) -> frozenset[str]:
    """Return the names of a zip's entries; empty if it cannot be read, which `Archive` reports."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return frozenset(file.namelist())
    except ZIP_FAULTS:
        return frozenset()


def _refused(what: str, fix: str, *starts: bytes) -> ByteFormat:
    return ByteFormat(starts, refusing(f"This is {what}.", fix))


_AS_CSV = "Export the table as CSV in UTF-8 and import that."
_NAMED = "Import a zip of the images and a table that names them."
_PACK = "Pack it as .gz or .zip, or import the table in it."
NPY = ByteFormat((b"\x93NUMPY",), read_npy)
NPZ = ByteFormat(ZIP_STARTS, read_npz, lambda names: bool(names) and all(name.endswith(".npy") for name in names))

TOGETHER = (
    plain_records.DOCCANO_CONFIG,
    plain_records.DOCCANO_MEMBERS,
    weak_labels.WRENCH_SPLITS,
    language_models.BATCH_FILES,
)
"""Tools that write several JSON files, as `RecordFiles`."""

READERS: tuple[ByteFormat | TextFormat | RecordTool | TableTool, ...] = (
    ByteFormat((XLS_START,), read_workbook),
    ByteFormat(
        ZIP_STARTS, read_workbook, lambda names: "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= names
    ),
    NPZ,
    ByteFormat((PARQUET_START,), read_parquet),
    ByteFormat((FEATHER_START,), read_feather),
    ByteFormat((MAT_START,), read_mat),
    _refused(
        "a MATLAB file of version 7.3, which is HDF5",
        "Save it with save(name, '-v7').",
        b"\x89HDF\r\n\x1a\n",
        b"MATLAB 7.3 MAT-file",
    ),
    NPY,
    _refused("a Python pickle, which could run programs", _AS_CSV, *(bytes([0x80, k]) for k in (2, 3, 4, 5))),
    _refused("a PDF document", _AS_CSV, b"%PDF"),
    _refused("a 7z archive", "Pack it as .zip, or import the table in it.", b"7z\xbc\xaf"),
    _refused("a RAR archive", "Pack it as .zip, or import the table in it.", b"Rar!"),
    _refused("a bzip2 archive", _PACK, b"BZh"),
    _refused("an xz archive", _PACK, b"\xfd7zXZ"),
    _refused("a zstd archive", _PACK, b"\x28\xb5\x2f\xfd"),
    _refused("an SQLite database", _AS_CSV, b"SQLite format 3"),
    _refused("an image", _NAMED, b"\x89PNG", b"\xff\xd8\xff", b"GIF8"),
    TextFormat(lambda data, _name: looks_like_json(data), lambda data, _name, _xml: read_json(data, read_records)),
    TextFormat(lambda data, _name: looks_like_arff(data), lambda data, _name, xml: read_arff(data, xml)),
    TextFormat(
        lambda data, name: looks_like_libsvm(data) and not name.lower().endswith((".csv", ".tsv")),
        lambda data, _name, _xml: read_libsvm(data),
    ),
    TextFormat(lambda data, _name: looks_like_fasttext(data), lambda data, _name, _xml: read_fasttext(data)),
    TextFormat(
        lambda data, _name: annotation_tools.looks_like_brat(data),
        annotation_tools.refuse_spans("a file of brat (standoff annotation)"),
    ),
    TextFormat(
        lambda data, _name: annotation_tools.looks_like_webanno(data),
        annotation_tools.refuse_spans("a file of WebAnno or INCEpTION (TSV)"),
    ),
    TextFormat(
        lambda data, _name: sound_detectors.looks_like_labels(data),
        lambda data, name, _xml: sound_detectors.read_labels(data, name),
    ),
    TextFormat(
        lambda data, _name: plain_records.is_list_of_addresses(data),
        lambda data, _name, _xml: plain_records.read_addresses(data),
    ),
    OWN_SHEET,
    OWN_WIDE,
    OWN_LONG,
    megadetector.MEGADETECTOR,
    megadetector.PYTORCH_WILDLIFE,
    plain_records.OWN_VECTORS,
    argilla_prodigy.ARGILLA_NESTED,
    language_models.ANTHROPIC_BATCHES,
    plain_records.DOCCANO,
    speciesnet.SPECIESNET,
    label_studio.LABEL_STUDIO,
    label_studio.LABEL_STUDIO_MIN,
    argilla_prodigy.ARGILLA,
    argilla_prodigy.PRODIGY,
    language_models.BATCHES,
    language_models.GEMINI_BATCHES,
    language_models.BATCH_REQUESTS,
    language_models.OLLAMA,
    language_models.LLAMA_CPP,
    plain_records.OWN_LINES,
    plain_records.MODEL_CANDIDATES,
    plain_records.ZERO_SHOT,
    monitoring.BIRDNET_GO,
    crowds.TOLOKA_JSON,
    weak_labels.WRENCH,
    annotation_tools.GROUND_TRUTH,
    annotation_tools.LABELBOX,
    annotation_tools.LABELBOX_OLD,
    plain_records.COCO,
    annotation_tools.PEOPLE_IN_RECORDS,
    annotation_tools.PEOPLE_BY_LABEL,
    *annotation_tools.NO_CANDIDATES,
    label_studio.LABEL_STUDIO_CSV,
    camera_traps.TIMELAPSE,
    megadetector.ADDAXAI,
    speciesnet.SPECIESNET_TABLE,
    kaleidoscope.KALEIDOSCOPE_IDS,
    kaleidoscope.KALEIDOSCOPE_CLUSTERS,
    kaleidoscope.KALEIDOSCOPE_META,
    monitoring.BIRDNET_PI,
    monitoring.BIRDNET_GO_NOTES,
    monitoring.BIRDNET_GO_SUMMARY,
    monitoring.CAMTRAP_OBSERVATIONS,
    crowds.MECHANICAL_TURK,
    crowds.TOLOKA,
    plain_records.TOLOKA_AGGREGATED,
    crowds.PROLIFIC,
    crowds.PROLIFIC_EXPORT,
    crowds.APPEN,
    plain_records.APPEN_AGGREGATED,
    crowds.QUALTRICS,
    crowds.GORILLA,
    annotation_tools.JSPSYCH,
    annotation_tools.PSYCHOPY,
    annotation_tools.ZOONIVERSE,
    plain_records.DOCCANO_CSV,
    *sound_detectors.DETECTIONS,
    votes.LONG_VOTES,
    language_models.LONG_SCORES,
    weak_labels.LABEL_MATRIX,
    annotation_tools.ANSWERS,
    annotation_tools.CELLS_OF_VOTES,
)
"""All readers by kind: files by first bytes, texts by their beginning, JSON records by fields, tables by columns.

Tables of specific tools come before general shapes. Any other text is CSV, and any other table has one item per row.
"""


def byte_format(data: bytes) -> ByteFormat | None:
    """Return the format of a binary file; None for texts and for archives of several files."""
    return next((one for one in READERS if isinstance(one, ByteFormat) and one.fits(data)), None)


def text_format(data: bytes, name: str) -> TextFormat | None:
    """Return the format of a text (UTF-8) in a file of this name; None for CSV."""
    return next((one for one in READERS if isinstance(one, TextFormat) and one.fits(data, name)), None)


def read_together(files: Mapping[str, Records]) -> TableReading | None:
    """Read the table in several JSON files that one tool wrote; None for others. Raises TableError."""
    tool = next((one for one in TOGETHER if one.fits(files)), None)
    return None if tool is None else tool.reader(files, tool.name)


def read_records(records: Records) -> TableReading | None:
    """Read the table in records that a tool wrote; None for others. Raises TableError."""
    tool = next((one for one in READERS if isinstance(one, RecordTool) and one.fits(records)), None)
    return None if tool is None else tool.read(records)


def shape_of(cells: pd.DataFrame) -> TableTool | None:
    """Return the shape of a table whose rows are not items; None if every row is one item."""
    return next((one for one in READERS if isinstance(one, TableTool) and one.fits(cells)), None)


def shape_name(reading: TableReading) -> str | None:
    """Name the shape that a plain table has according to its columns; None if each row is one item, or the format gives
    the roles."""
    found = None if reading.roles is not None else shape_of(reading.cells)
    return None if found is None else found.name


def shaped(reading: TableReading) -> TableReading:
    """Convert a table to one row per item, if it has another shape (`shape_name`). Raises TableError."""
    shape = None if reading.roles is not None else shape_of(reading.cells)
    if shape is None:
        return reading
    found = with_files(shape.read(reading.cells, typed=reading.typed), reading.files)
    return replace(found, notes=(*reading.notes, *found.notes), asks=(*reading.asks, *found.asks))


def lacks_rows(reading: TableReading, guess: Roles | None = None) -> bool:
    """Whether it holds votes or candidates whose rows it does not describe, or may belong to the rows of another table.

    guess : `reading.suggest_roles()`, if already known
    """
    roles = reading.suggest_roles() if guess is None else guess
    describing = roles.numbers or roles.categories or roles.text or roles.image or roles.audio
    alone = roles.has_candidates and roles.id is not None and not (describing or roles.embedding)
    shape = None if reading.roles is not None else shape_of(reading.cells)
    another = shape is not None and not shape.has_rows
    return alone or NEEDS_ROWS in reading.notes or another


def joined(candidates: TableReading, rows: TableReading) -> TableReading:
    """Join the rows of a second file with their votes or candidates in the first. Raises TableError.

    candidates : from `read_table`, in no other shape
    """
    shape = None if candidates.roles is not None else shape_of(candidates.cells)
    if shape is votes.LONG_VOTES:
        found = votes.join_votes(candidates.cells, rows.cells, typed=candidates.typed)
    else:
        found = join_candidates(candidates if shape is None else shape.read(candidates.cells), rows.cells)
    notes = dict.fromkeys((*candidates.notes, *rows.notes, *found.notes))
    told = tuple(note for note in notes if note != NEEDS_ROWS)
    # The rows, and so their vectors, are in the order of their own table.
    asks = tuple(dict.fromkeys((*candidates.asks, *rows.asks, *found.asks)))
    return replace(with_files(found, rows.files), notes=told, arrays=rows.arrays, asks=asks)


def with_files(found: TableReading, files: MediaFiles | None) -> TableReading:
    """Add the files to the reading, and the roles of columns that name images or recordings among them."""
    if detections.is_detections(found.cells):
        return detections.with_recordings(replace(found, files=files))
    if speciesnet.names_pictures(found.cells):
        return speciesnet.with_pictures(replace(found, files=files))
    roles = found.suggest_roles()
    labels = [column for role, column in roles.used() if role in ("candidates", "truth")]
    seen = roles_with(found.cells.drop(columns=labels), files)
    if files is None or seen.image is seen.audio is None:
        return replace(found, files=files)
    named = {*seen.picture_columns, seen.audio}
    categories = tuple(name for name in roles.categories if name not in named)
    text = None if roles.text in named else roles.text
    more_texts = () if text is None else tuple(name for name in roles.more_texts if name not in named)
    numbers = tuple(name for name in roles.numbers if name not in (seen.start, seen.end))
    told = replace(roles, categories=categories, numbers=numbers, text=text, more_texts=more_texts)
    told = replace(told, image=seen.image, more_images=seen.more_images)
    told = replace(told, audio=seen.audio, start=seen.start, end=seen.end)
    look = seen.image is not None and roles.embedding is None
    hear = seen.audio is not None and roles.embedding is None
    return replace(found, files=files, roles=replace(told, image_features=look, sound_features=hear))


@dataclass(frozen=True)
class Way:
    """A choice about a file. name : for programs      question : for users

    options : description of each value; the first is the default. If there are none, the value is typed
    """

    name: str
    question: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class _Chooser:
    """A choice that some files have.

    options_of : returns the values that a file has      read : reads it with such a value
    """

    way: Way
    options_of: Callable[[TableReading], tuple[str, ...]]
    read: Callable[[TableReading, str], TableReading]


_CHOOSERS = (
    _Chooser(
        Way(
            "item",
            "What is one item?",
            dict(
                zip(
                    megadetector.ITEMS,
                    (
                        "a picture or video, with all its detections",
                        "a detection, whose box alone is drawn; a picture without one stays an item",
                        "a picture, or a frame of a video",
                    ),
                    strict=True,
                )
            ),
        ),
        megadetector.items_of,
        megadetector.read_by,
    ),
    _Chooser(
        Way(
            "item",
            "What is one item?",
            dict(
                zip(monitoring.LEVELS, ("a picture, video or recording", "an event, with all its media"), strict=True)
            ),
        ),
        monitoring.items_of,
        monitoring.read_by,
    ),
    _Chooser(
        Way(
            "unfinished",
            "Answers of people who did not finish",
            dict(zip(crowds.UNFINISHED, ("leave them out", "count them"), strict=True)),
        ),
        lambda reading: crowds.UNFINISHED if crowds.has_unfinished(reading) else (),
        crowds.with_answers,
    ),
)
CLASSES = Way("classes", "Nothing is labelled yet? Type the classes, with commas between them", {})
"""The classes of a file without labels, each of which is possible in every row."""
WAYS = (*(one.way for one in _CHOOSERS), CLASSES)
"""All choices with all their values; several kinds of files may have a choice of the same name."""
_MOST_LISTED_MB = 200


def lacks_labels(reading: TableReading, roles: Roles) -> bool:
    """Whether no column holds labels, or the one that lists them is empty. roles : as suggested for it"""
    column = roles.candidates
    return not (roles.has_candidates if column is None else any(str(cell).strip() for cell in reading.cells[column]))


def with_classes(reading: TableReading, typed: str) -> TableReading:
    """Add a column that lists these classes in every row, to a reading without labels. typed : with commas between
    them, or a line for each. Raises TableError: a reading with labels, fewer than two classes, or too much text."""
    roles = reading.suggest_roles()
    if not lacks_labels(reading, roles):
        raise refusal("The file has labels, so it needs no list of classes.", "Leave the list out.")
    said = typed.split("\n") if "\n" in typed.strip() else typed.split(",")
    classes = [*dict.fromkeys(one.strip() for one in said if one.strip())]
    if len(classes) < 2:
        raise refusal(f"{quoted(typed.strip())} names fewer than two classes.", "Type at least two, as in wren, robin.")
    cell = json.dumps(classes, ensure_ascii=False)
    if len(cell) * len(reading.cells) > _MOST_LISTED_MB * 1_000_000:
        message = f"{len(classes):,} classes in each of {counted(len(reading.cells), 'row')} are too much text."
        raise refusal(message, "Import the rows in parts, or name fewer classes.")
    names = (one for one in ("candidates", "candidate_labels", "candidate_set") if one not in reading.cells.columns)
    name = roles.candidates or next(names)
    cells = reading.cells.assign(**{name: cell}).astype("str")
    given = None if reading.roles is None else replace(reading.roles, candidates=name, form="json")
    return replace(reading, cells=cells, roles=given)


def _choosers_of(reading: TableReading) -> list[tuple[_Chooser, Way]]:
    """Return the choices of this file, with their values; at most one of each name."""
    found = []
    for one in _CHOOSERS:
        values = one.options_of(reading)
        if len(values) > 1:
            found.append((one, replace(one.way, options={name: one.way.options[name] for name in values})))
    return found


def ways_of(reading: TableReading) -> tuple[Way, ...]:
    """Return the choices of this file. reading : from `read_table`, in no other shape"""
    return tuple(way for _, way in _choosers_of(reading))


def read_in(reading: TableReading, chosen: Mapping[str, str]) -> TableReading:
    """Read the file with these choices. chosen : values by name; the default applies to the others

    Raises TableError for a choice or value that the file does not have.
    """
    choosers = _choosers_of(reading)
    offered = {way.name: way for _, way in choosers}
    for name, value in chosen.items():
        if name not in offered or value not in offered[name].options:
            values = list(offered[name].options) if name in offered else []
            have = f"it can be {listed(values)}" if values else "this file has no such choice"
            message = f"The choice {name} cannot be {quoted(value)}: {have}."
            raise refusal(message, "Leave it out, or choose another.")
    for one, way in choosers:
        if way.name in chosen:
            reading = one.read(reading, chosen[way.name])
    return reading
