"""From an uploaded file to a project: read the cells, guess the columns, find every problem, create.

The file is a CSV, or a zip of one CSV with the images and recordings its cells name.
Bad input never half-enters: nothing is stored until the whole table has been read without a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from plcore import LabelTable, Problem, Roles, TableError, read_cells, suggest_roles
from plcore.tables import (
    MAX_FILE_MB,
    MAX_FILES,
    MAX_PIXELS,
    MAX_PROBLEMS,
    MAX_UNPACKED_MB,
    MAX_ZIP_MB,
    MISSING,
    WAYS_IN,
    ZIP_STARTS,
    Archive,
    Doubt,
    MediaFiles,
    doubts,
    look_through,
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
    "doubts",
    "kind_of_table",
    "read_upload",
    "settings_for",
]


@dataclass(frozen=True)
class Upload:
    """The cells of an uploaded file, untouched, and the files that came with them; None for a CSV alone."""

    cells: pd.DataFrame
    files: MediaFiles | None = None

    def suggest_roles(self) -> Roles:
        """A guess at what each column is for."""
        return suggest_roles(self.cells, files=self.files is not None)


def read_upload(source: bytes | Path) -> Upload:
    """The upload of these bytes, or of the file at this path. Raises TableError where it cannot be read at all."""
    if not _is_zip(source):
        return Upload(read_cells(source))
    archive = Archive(source)
    return Upload(read_cells(archive.table()), MediaFiles(archive))


def _is_zip(source: bytes | Path) -> bool:
    if isinstance(source, bytes):
        return source.startswith(ZIP_STARTS)
    with source.open("rb") as file:
        return file.read(4) in ZIP_STARTS


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
        return Checked(table, doubts=tuple(doubts(table)))
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
    """The settings of a new project of this table: as by default, but for these. Raises ValueError for a wrong one."""
    kind, known = kinds.of_table(table), projects.default_settings(table).to_json()
    if unknown := sorted(set(changes) - set(known)):
        raise CannotLearn(f"A project has no setting {unknown[0]!r}. It has {', '.join(sorted(known))}.")
    try:
        return kind.read_settings({**known, **changes})
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
