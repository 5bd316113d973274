"""From an uploaded file to a project: read the cells, guess the columns, find every problem, create.

The file is a table of any format that `plcore.tables.formats` reads, or a zip of one with the images and recordings
its cells name.
Bad input never half-enters: nothing is stored until the whole table has been read without a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from plcore import LabelTable, Problem, Roles, TableError
from plcore.tables import (
    MAX_FILE_MB,
    MAX_FILES,
    MAX_PIXELS,
    MAX_PROBLEMS,
    MAX_UNPACKED_MB,
    MAX_ZIP_MB,
    MISSING,
    NEEDS_ROWS,
    WAYS_IN,
    Doubt,
    MediaFiles,
    TableReading,
    find_doubts,
    joined,
    look_through,
    read_table,
    shape_name,
    shaped,
)
from workflow import kinds, projects
from workflow.projects import NAME_LENGTH, CannotLearn

if TYPE_CHECKING:
    from workflow.seat import Seat

MAX_UPLOAD_MB = MAX_ZIP_MB
LIMITS = (
    f"A zip may have {MAX_ZIP_MB} MB, {MAX_FILES:,} files and, unpacked, {MAX_UNPACKED_MB:,} MB; an image or "
    f"recording {MAX_FILE_MB} MB, an image {MAX_PIXELS // 1_000_000} million points. Images: PNG, JPEG, WebP, GIF. "
    "Recordings: WAV, MP3, Ogg, FLAC, M4A."
)

__all__ = [
    "LIMITS",
    "MAX_PROBLEMS",
    "MAX_UPLOAD_MB",
    "MISSING",
    "NAME_LENGTH",
    "CannotLearn",
    "Checked",
    "Doubt",
    "LabelTable",
    "Problem",
    "Roles",
    "TableError",
    "Upload",
    "adjusted",
    "check",
    "create",
    "find_doubts",
    "kind_of_table",
    "read_upload",
    "settings_for",
]


@dataclass(frozen=True)
class Upload:
    """A file as it was understood (see `plcore.tables.formats`), and what else it may be.

    shape : where each row of the file seems to be a vote or a score and no item, what it is, in words; the reading then
        has one row for each item, unless that was not wanted
    needs_rows : whether nothing in it describes the rows, so that a table of them is wanted beside it
    """

    reading: TableReading
    shape: str | None = None

    @property
    def cells(self) -> pd.DataFrame:
        return self.reading.cells

    @property
    def files(self) -> MediaFiles | None:
        return self.reading.files

    @property
    def notes(self) -> tuple[str, ...]:
        return self.reading.notes

    @property
    def needs_rows(self) -> bool:
        return NEEDS_ROWS in self.reading.notes

    def suggest_roles(self) -> Roles:
        """What the format says each column is for, or a guess."""
        return self.reading.suggest_roles()


def read_upload(
    source: bytes | Path,
    name: str | None = None,
    *,
    rows: tuple[bytes | Path, str | None] | None = None,
    as_it_is: bool = False,
) -> Upload:
    """The upload of these bytes, or of the file at this path.

    name : of the file, where only its bytes are given
    rows : bytes or path, and name, of the table of the rows that the candidates or votes of the file are about
    as_it_is : take every row of the file as an item, whatever its columns are called
    Raises TableError where it cannot be read at all.
    """
    reading = read_table(source, name)
    shape = shape_name(reading)
    if rows is not None:
        return Upload(joined(reading, read_table(*rows)), shape)
    return Upload(reading if shape is None or as_it_is else shaped(reading), shape)


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
        table = LabelTable.from_cells(upload.cells, roles, upload.files)
        return Checked(table, doubts=tuple(find_doubts(table)))
    except TableError as error:
        return Checked(None, problems=error.problems)


def create(
    seat: Seat,
    name: str,
    table: LabelTable,
    settings: kinds.KindSettings | None = None,
    description: str = "",
) -> int:
    """Make the project. Raises as ``workflow.projects.create_project``."""
    project_id = projects.create_project(seat, name, table, settings, description)
    if table.media.files is not None:
        table.media.files.close()
    return project_id


def kind_of_table(table: LabelTable) -> str:
    """The name of the kind of a project of this table."""
    return kinds.of_table(table).NAME


def settings_for(table: LabelTable, changes: Mapping[str, Any]) -> Any:
    """The settings of a new project of this table: as by default, but for these. Raises CannotLearn for a wrong one."""
    try:
        return kinds.with_changes(kinds.of_table(table), projects.default_settings(table), changes)
    except ValueError as error:
        raise CannotLearn(str(error)) from error


def adjusted(guess: Roles, chosen: Mapping[str, Any]) -> Roles:
    """The guessed roles with those a person named; a column named for one role leaves the one guessed for it.

    chosen : fields of `Roles`; None: as guessed, "" for a role of one column: nobody has it
    Raises ValueError for a role that there is not.
    """
    named = {
        role: (value or None) if role in _ONE_COLUMN else value
        for role, value in chosen.items()
        if value is not None
    }
    columns = {column for role in named for column in _columns_of(role, named[role])}
    roles = guess.to_json()
    if way := next((way for way in WAYS_IN if named.get(way)), None):
        alone = Roles().to_json()
        gone = {*WAYS_IN, "choice_scores", "not_labels", "form", "score_prefix", "cut", "cut_at"} - {way}
        roles |= {role: alone[role] for role in gone}
        if way in ("candidates", "annotators", "choices", "score_columns") and "label_vectors" not in named:
            roles["label_vectors"] = False
        if way == "candidates":
            roles["form"] = guess.form if guess.candidates == named[way] else "list"
    for role, value in roles.items():
        if role in _NO_COLUMNS:
            continue
        if isinstance(value, list):
            roles[role] = [name for name in value if name not in columns]
        elif value in columns:
            roles[role] = None
    roles["image_features"] = roles["image_features"] and roles["image"] is not None
    return Roles.from_json(roles | named)


_ONE_COLUMN = ("candidates", "not_labels", "truth", "id", "text", "image", "audio")
_NO_COLUMNS = (
    "separator",
    "form",
    "ignored",
    "score_prefix",
    "cut",
    "cut_at",
    "label_vectors",
    "image_features",
)


def _columns_of(role: str, value: Any) -> tuple[str, ...]:
    """The columns that a person named for a role."""
    if role in _NO_COLUMNS:
        return ()
    return (value,) if isinstance(value, str) else tuple(value or ())
