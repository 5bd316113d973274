"""The tools whose files are known by name, and the tables that are really another shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import pandas as pd

from plcore.tables.media.files import MediaFiles
from plcore.tables.readers.candidate_rows import NEEDS_ROWS, Records
from plcore.tables.readers.joining import join_candidates
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.tools.argilla import NESTED_RECORDS, Argilla
from plcore.tables.readers.tools.camera_traps import Timelapse
from plcore.tables.readers.tools.crowds import CROWD_TABLES
from plcore.tables.readers.tools.detections import is_detections, with_recordings
from plcore.tables.readers.tools.kaleidoscope import KALEIDOSCOPE_TABLES
from plcore.tables.readers.tools.label_studio import LabelStudioCsv, LabelStudioMin, LabelStudioTasks
from plcore.tables.readers.tools.language_models import Batches, LongScores, ModelCandidates, ZeroShot
from plcore.tables.readers.tools.megadetector import MegaDetector
from plcore.tables.readers.tools.monitoring import STATION_TABLES
from plcore.tables.readers.tools.prodigy import Prodigy
from plcore.tables.readers.tools.sound_detectors import DETECTION_TABLES
from plcore.tables.readers.tools.speciesnet import SpeciesNet, names_pictures, with_pictures
from plcore.tables.readers.tools.votes import LongVotes, join_votes
from plcore.tables.readers.tools.weak_labels import LabelMatrixTable, Wrench
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.suggestion import suggest_roles


class RecordFormat(Protocol):
    """What a tool writes as JSON objects.

    name : of the tool and its file, in words: "Label Studio JSON"
    fits : whether these records are of this tool, by the names of their fields; never raises
    read : the table in them. Raises TableError
    """

    @property
    def name(self) -> str: ...

    def fits(self, records: Records, /) -> bool: ...

    def read(self, records: Records, /) -> TableReading: ...


class Shape(Protocol):
    """What is written as a table that is really another one: a vote, a score or a detection in each row.

    name, fits, read : as of a `RecordFormat`, by the names of the columns
    """

    @property
    def name(self) -> str: ...

    def fits(self, cells: pd.DataFrame, /) -> bool: ...

    def read(self, cells: pd.DataFrame, /) -> TableReading: ...


RECORD_FORMATS: tuple[RecordFormat, ...] = (
    MegaDetector(),
    *NESTED_RECORDS,
    SpeciesNet(),
    LabelStudioTasks(),
    LabelStudioMin(),
    Argilla(),
    Prodigy(),
    Batches(),
    ModelCandidates(),
    ZeroShot(),
    Wrench(),
)
"""The first that fits reads the file; where none does, every field is a column."""

_WITH_ROWS: tuple[Shape, ...] = (LabelStudioCsv(), Timelapse(), *KALEIDOSCOPE_TABLES, *STATION_TABLES)

TOOL_TABLES: tuple[Shape, ...] = (*_WITH_ROWS, *CROWD_TABLES)
"""Tables of single tools, each known by its fingerprint. They are tried before any shape is guessed."""

ROWS_IN_THEMSELVES: tuple[Shape, ...] = (*_WITH_ROWS, *DETECTION_TABLES)
"""Shapes that never speak of the rows of another file."""

SHAPES: tuple[Shape, ...] = (
    *TOOL_TABLES,
    *DETECTION_TABLES,
    LongVotes(),
    LongScores(),
    LabelMatrixTable(),
)
"""The first that fits reads the table; where none does, every row is one."""


def shape_name(reading: TableReading) -> str | None:
    """The shape, in words, that a plain table has by the names of its columns; None where each row is one item, or
    where the format has said what the columns are."""
    found = None if reading.roles is not None else _shape_of(reading.cells)
    return None if found is None else found.name


def shaped(reading: TableReading) -> TableReading:
    """The table read in the shape that `shape_name` tells, one row for each item. Raises TableError."""
    shape = _shape_of(reading.cells)
    if shape is None:
        return reading
    found = _with_files(shape.read(reading.cells), reading.files)
    return replace(found, notes=(*reading.notes, *found.notes))


def lacks_rows(reading: TableReading, guess: Roles | None = None) -> bool:
    """Whether it holds votes or candidates of rows that nothing in it describes, or may hold them of another's.

    guess : `reading.suggest_roles()`, where it is at hand
    """
    roles = reading.suggest_roles() if guess is None else guess
    describing = roles.numbers or roles.categories or roles.text or roles.image or roles.audio
    alone = roles.has_candidates and roles.id is not None and not (describing or roles.embedding)
    shape = None if reading.roles is not None else _shape_of(reading.cells)
    another = shape is not None and shape not in ROWS_IN_THEMSELVES
    return alone or NEEDS_ROWS in reading.notes or another


def joined(candidates: TableReading, rows: TableReading) -> TableReading:
    """The rows of a second file, each with its votes or candidates of the first. Raises TableError.

    candidates : as `read_table` gave it, in no other shape
    """
    shape = None if candidates.roles is not None else _shape_of(candidates.cells)
    if isinstance(shape, LongVotes):
        found = join_votes(candidates.cells, rows.cells)
    else:
        found = join_candidates(candidates if shape is None else shape.read(candidates.cells), rows.cells)
    notes = dict.fromkeys((*candidates.notes, *rows.notes, *found.notes))
    told = tuple(note for note in notes if note != NEEDS_ROWS)
    # The rows stand as in their own table, and so do its vectors.
    return replace(_with_files(found, rows.files), notes=told, arrays=rows.arrays)


def _with_files(found: TableReading, files: MediaFiles | None) -> TableReading:
    """The reading with these files, and the columns that name images and recordings among them as such."""
    if is_detections(found.cells):
        return with_recordings(replace(found, files=files))
    if names_pictures(found.cells):
        return with_pictures(replace(found, files=files))
    roles = found.suggest_roles()
    labels = [column for role, column in roles.used() if role in ("candidates", "truth")]
    seen = suggest_roles(found.cells.drop(columns=labels), files=files is not None)
    if files is None or seen.image is seen.audio is None:
        return replace(found, files=files)
    named = {*seen.picture_columns, seen.audio}
    categories = tuple(name for name in roles.categories if name not in named)
    text = None if roles.text in named else roles.text
    numbers = tuple(name for name in roles.numbers if name not in (seen.start, seen.end))
    told = replace(roles, categories=categories, numbers=numbers, text=text)
    told = replace(told, image=seen.image, more_images=seen.more_images)
    told = replace(told, audio=seen.audio, start=seen.start, end=seen.end)
    look = seen.image is not None and roles.embedding is None
    hear = seen.audio is not None and roles.embedding is None
    return replace(found, files=files, roles=replace(told, image_features=look, sound_features=hear))


def _shape_of(cells: pd.DataFrame) -> Shape | None:
    return next((shape for shape in SHAPES if shape.fits(cells)), None)
