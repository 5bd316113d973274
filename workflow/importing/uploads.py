"""From an uploaded file to a project: read the cells, guess the columns, find every problem, create.

The file is a table of any format that `plcore.tables.formats` reads, or a zip of one with the images and recordings
its cells name.
Bad input never half-enters: nothing is stored until the whole table has been read without a problem.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from db import projects as stored
from plcore import LabelTable, Problem, Roles, TableError
from plcore.common import listed, quoted
from plcore.tables import (
    MAX_FILE_MB,
    MAX_FILES,
    MAX_PIXELS,
    MAX_RECORDING_MB,
    MAX_UNPACKED_MB,
    MAX_ZIP_MB,
    Doubt,
    Folder,
    MediaFiles,
    TableReading,
    find_doubts,
    joined,
    lacks_rows,
    look_through,
    read_table,
    read_vectors,
    shape_name,
    shaped,
    with_vectors,
)
from workflow import kinds, projects
from workflow.access import Right
from workflow.common.room import MOST_GROUPED, Groups
from workflow.importing.named_columns import adjusted
from workflow.projects import CannotLearn

if TYPE_CHECKING:
    from workflow.seat import Seat

MAX_UPLOAD_MB = MAX_ZIP_MB
LIMITS = (
    f"A zip may have {MAX_ZIP_MB} MB, {MAX_FILES:,} files and, unpacked, {MAX_UNPACKED_MB:,} MB; a recording "
    f"{MAX_RECORDING_MB:,} MB, an image {MAX_FILE_MB} MB and {MAX_PIXELS // 1_000_000} million points. Images: PNG, "
    "JPEG, WebP, GIF. Recordings: WAV, MP3, Ogg, FLAC, M4A."
)


@dataclass(frozen=True)
class Upload:
    """A file as it was understood (see `plcore.tables.formats`), and what else it may be.

    shape : where each row of the file seems to be a vote or a score and no item, what it is, in words; the reading then
        has one row for each item, unless that was not wanted
    source_hash : SHA-256 of the bytes of the file, and of the files beside it where there are any
    needs_rows : whether nothing in it describes the rows, so that a table of them is wanted beside it
    """

    reading: TableReading
    shape: str | None = None
    source_hash: str = ""

    @property
    def cells(self) -> pd.DataFrame:
        return self.reading.cells

    @property
    def files(self) -> MediaFiles | None:
        return self.reading.files

    @cached_property
    def groups(self) -> Groups:
        """Those of the file's taxonomy; none where they are too many."""
        fit = sum(map(len, self.reading.groups.values())) <= MOST_GROUPED
        return self.reading.groups if fit else {}

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.reading.groups:
            return self.reading.notes
        names = listed(list(self.reading.groups), 3)
        said = f"Groups of the taxonomy can be answers, too: {names}."
        if not self.groups:
            said = f"The groups of the taxonomy are left out: of their classes, at most {MOST_GROUPED:,} are taken."
        return (*self.reading.notes, said)

    @cached_property
    def needs_rows(self) -> bool:
        # A vote in each row that shall be items as they are describes itself.
        return shape_name(self.reading) is None and lacks_rows(self.reading)

    def suggest_roles(self) -> Roles:
        """What the format says each column is for, or a guess."""
        return self.reading.suggest_roles()


def read_upload(
    source: bytes | Path,
    name: str | None = None,
    *,
    rows: tuple[bytes | Path, str | None] | None = None,
    vectors: tuple[bytes | Path, str | None] | None = None,
    as_it_is: bool = False,
) -> Upload:
    """The upload of these bytes, or of the file at this path.

    name : of the file, where only its bytes are given
    rows : bytes or path, and name, of the table of the rows that the candidates or votes of the file are about
    vectors : bytes or path, and name, of a file of embeddings of the rows
    as_it_is : take every row of the file as an item, whatever its columns are called
    Raises TableError where it cannot be read at all.
    """
    given = [_in_hand(*one) for one in ((source, name), rows, vectors) if one is not None]
    source_hash = hashlib.sha256(b"".join(_digest(data) for data, _ in given)).hexdigest()
    reading = read_table(*given[0])
    shape = shape_name(reading)
    if rows is not None:
        reading = joined(reading, read_table(*given[1]))
    elif shape is not None and not as_it_is:
        reading = shaped(reading)
    if vectors is not None:
        reading = with_vectors(reading, read_vectors(*given[-1]))
    return Upload(reading, shape, source_hash)


def _digest(source: bytes | Path) -> bytes:
    """SHA-256 of a file's bytes; of a folder that of its tables."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).digest()
    folder = Folder(source)
    return hashlib.sha256(b"".join(_digest(folder.table(name)) for name in folder.table_names)).digest()


def _in_hand(source: bytes | Path, name: str | None) -> tuple[bytes | Path, str | None]:
    """The bytes of a file and its name; a folder as it is."""
    if isinstance(source, bytes) or source.is_dir():
        return source, name
    return source.read_bytes(), name or source.name


def read_paths(
    file: Path, *, rows: Path | None = None, vectors: Path | None = None, as_it_is: bool = False
) -> Upload:
    """`read_upload` of files at these paths."""
    beside = [None if one is None else (one, None) for one in (rows, vectors)]
    return read_upload(file, rows=beside[0], vectors=beside[1], as_it_is=as_it_is)


def read_as_named(
    file: Path,
    columns: Mapping[str, Any],
    *,
    rows: Path | None = None,
    vectors: Path | None = None,
    as_it_is: bool = False,
) -> tuple[Upload, LabelTable]:
    """The upload of a file and the table that it makes, with these columns named (see `adjusted`) and the others
    guessed. Raises TableError."""
    upload = read_paths(file, rows=rows, vectors=vectors, as_it_is=as_it_is)
    roles = adjusted(upload.suggest_roles(), columns, upload.cells)
    return upload, LabelTable.from_cells(upload.cells, roles, upload.files, upload.reading.arrays)


@dataclass(frozen=True)
class Checked:
    """What the chosen columns make of the file: a table with what is odd about it, or the problems that keep it from
    being one."""

    table: LabelTable | None
    problems: tuple[Problem, ...] = ()
    doubts: tuple[Doubt, ...] = ()


def check(upload: Upload, roles: Roles, on_step: Callable[[float], None] | None = None) -> Checked:
    """Read the cells under these roles; every problem found, up to the table's own limit.

    on_step : called now and then with the share of the files looked at, in [0, 1]; they take longest
    """
    try:
        if upload.files is not None and on_step is not None:
            look_through(upload.files, upload.cells, roles, on_step)
        table = LabelTable.from_cells(upload.cells, roles, upload.files, upload.reading.arrays)
        return Checked(table, doubts=tuple(find_doubts(table)))
    except TableError as error:
        return Checked(None, problems=error.problems)


def create(
    seat: Seat,
    name: str,
    table: LabelTable,
    settings: kinds.KindSettings | None = None,
    description: str = "",
    upload: Upload | None = None,
) -> int:
    """Make the project. upload : what the table was made of, where the project shall know its file and its groups

    Raises as ``workflow.projects.create_project``.
    """
    source_hash, groups = (upload.source_hash, upload.groups) if upload else (None, None)
    project_id = projects.create_project(seat, name, table, settings, description, source_hash, groups)
    if table.media.files is not None:
        table.media.files.close()
    return project_id


def made_before(seat: Seat, upload: Upload) -> list[Doubt]:
    """The doubt that a project was made from the same file already, whatever its columns were taken for; none where
    there is none. Raises NotAllowed unless the person is an owner."""
    with seat.everywhere.reading(Right.OWN) as reading:
        found = stored.by_source(reading.session, upload.source_hash)
    if found is None:
        return []
    where = "" if found.archived_at is None else ", which is archived,"
    message = (
        f"Project {quoted(found.name)}{where} was made from the same file on {found.created_at:%Y-%m-%d}."
    )
    return [
        Doubt(
            "same-file",
            message,
            "Open that project instead: its answers are not in a new one.",
        )
    ]


def doubts_about(table: LabelTable, settings: kinds.KindSettings) -> list[Doubt]:
    """What is odd about a project of this table with these settings."""
    found: list[Doubt] = kinds.of_settings(settings).doubts(table, settings)
    return found


def kind_of_table(table: LabelTable) -> str:
    """The name of the kind of a project of this table."""
    return kinds.of_table(table).NAME


def settings_for(table: LabelTable, changes: Mapping[str, Any]) -> Any:
    """The settings of a new project of this table: as by default, but for these. Raises CannotLearn for a wrong one."""
    try:
        return kinds.with_changes(kinds.of_table(table), projects.default_settings(table), changes)
    except ValueError as error:
        raise CannotLearn(str(error)) from error
