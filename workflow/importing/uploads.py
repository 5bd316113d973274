"""From an uploaded file to a project: name the columns, find every problem, create the project.

The file is a table of any format that `plcore.tables.readers` reads, or a zip of one with the images and recordings its
cells name. Nothing is stored until the whole table has been read without a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db import projects as stored
from plcore import LabelTable, Problem, Roles, TableError
from plcore.arrays import quoted
from plcore.tables import (
    MAX_FILE_MB,
    MAX_FILES,
    MAX_PIXELS,
    MAX_RECORDING_MB,
    MAX_UNPACKED_MB,
    MAX_ZIP_MB,
    Doubt,
    ReadingSummary,
    describe,
)
from workflow import kinds
from workflow.access import Right
from workflow.files import limited
from workflow.importing.named_columns import adjusted, further_roles, without_further
from workflow.importing.reading import NO_WAYS, Out, Upload, checked_table, read_paths, read_upload, room_wanted
from workflow.projects import linking, managing
from workflow.projects.managing import CannotLearn

if TYPE_CHECKING:
    from workflow.opened import Reading
    from workflow.seat import Seat

MAX_UPLOAD_MB = MAX_ZIP_MB
LIMITS = (
    f"A zip may have {MAX_ZIP_MB} MB, {MAX_FILES:,} files and, unpacked, {MAX_UNPACKED_MB:,} MB; a recording "
    f"{MAX_RECORDING_MB:,} MB, an image {MAX_FILE_MB} MB and {MAX_PIXELS // 1_000_000} million points. Images: PNG, "
    "JPEG, WebP, GIF. Recordings: WAV, MP3, Ogg, FLAC, M4A."
)


def read_as_named(
    file: Path,
    columns: Mapping[str, Any],
    *,
    rows: Path | None = None,
    vectors: Path | None = None,
    as_it_is: bool = False,
    ways: Mapping[str, str] = NO_WAYS,
    further: Collection[str] = (),
) -> tuple[Upload, LabelTable]:
    """Read a file and make its table, with the roles of these columns given (see `adjusted`) and the others guessed.
    further : columns of further questions, which have no role

    Raises TableError."""
    upload = read_paths(file, rows=rows, vectors=vectors, as_it_is=as_it_is, ways=ways)
    roles = without_further(adjusted(upload.suggest_roles(), columns, upload.cells), further)
    found = check(upload, roles)
    if found.table is None:
        raise TableError(*found.problems)
    return upload, found.table


def doubts_of(upload: Upload, doubts: Iterable[Doubt], roles: Roles, columns: Mapping[str, Any]) -> tuple[Doubt, ...]:
    """Return the doubts about a file and these about its table, without the one about which column lists the candidates
    if the owner has chosen that column. columns : those that the owner named, as in `adjusted`"""
    chosen = bool(columns.get("candidates")) or roles.candidates != upload.guess.candidates
    return (*upload.doubts, *(one for one in doubts if not (chosen and one.name == "other-lists")))


@dataclass(frozen=True)
class Checked:
    """The result of reading the file with the chosen columns: a table and its oddities, or the problems that prevent
    one."""

    table: LabelTable | None
    problems: tuple[Problem, ...] = ()
    doubts: tuple[Doubt, ...] = ()


def check(
    upload: Upload,
    roles: Roles,
    on_step: Callable[[float], None] | None = None,
    on_wait: limited.OnWait | None = None,
    columns: Mapping[str, Any] = NO_WAYS,
) -> Checked:
    """Read the cells under these roles; returns every problem, up to the table's own limit.

    on_step : called now and then with the share of the files checked, in [0, 1]; they take longest
    on_wait : as in `read_upload`
    columns : those that the owner named, as in `doubts_of`
    Raises LongLine if too many files are ahead of it.
    """
    try:
        with room_wanted():
            out = Out(upload)
            given = {"roles": roles.to_json(), "out": str(out.folder)}
            found = limited.run_in_turn("check", given, upload.folder, upload.bounds, on_step, on_wait).result
    except TableError as error:
        return Checked(None, problems=error.problems)
    doubts = doubts_of(upload, (Doubt(**one) for one in found["doubts"]), roles, columns)
    return Checked(checked_table(upload, roles, out, found), doubts=doubts)


@dataclass(frozen=True)
class FurtherQuestion:
    """A further question about the rows of a file, which becomes a project of its own.

    column : of its candidates      reading : a sentence about it, as of the first question
    """

    column: str
    table: LabelTable
    reading: str
    doubts: tuple[Doubt, ...]


def read_further(upload: Upload, roles: Roles, columns: Iterable[str]) -> list[FurtherQuestion]:
    """Read the columns of further questions. roles : of the first one, `without_further`      Raises TableError."""
    return [
        further_question(upload, roles, one, check(upload, further_roles(roles, one, upload.cells))) for one in columns
    ]


def further_question(upload: Upload, roles: Roles, column: str, checked: Checked) -> FurtherQuestion:
    """Return the question about a column that was checked with its `further_roles`. Raises TableError if it has
    problems, or if the rows of the first question could not be found in its table."""
    if checked.table is None:
        raise TableError(*checked.problems)
    if roles.unlabelled == "leave-out" and roles.id is None:
        message = "Rows without a candidate are left out of the first question, so its rows cannot be recognized."
        raise TableError(
            Problem(None, None, None, message, "Keep every class possible (--unlabelled all), or choose an id column.")
        )
    reading = str(described(upload, checked.table))
    # The others are about columns that the first question reads.
    return FurtherQuestion(column, checked.table, reading, tuple(one for one in checked.doubts if one.stops))


def described(upload: Upload, table: LabelTable) -> ReadingSummary:
    """Describe how the file is understood, before anything of it is stored."""
    return describe(table, upload.reading.format)


@dataclass(frozen=True)
class DryRun:
    """A report on how a file would be read. reading : a sentence about it

    notes : what was left out, or could be read in several ways      doubts : oddities, those that stop the import first
    """

    table: LabelTable
    reading: str
    notes: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    further: tuple[FurtherQuestion, ...] = ()


def dry_run(
    seat: Seat,
    source: bytes | Path,
    name: str,
    columns: Mapping[str, Any],
    *,
    as_it_is: bool = False,
    ways: Mapping[str, str] = NO_WAYS,
    further: Sequence[str] = (),
) -> DryRun:
    """Read a file as an import does, and store nothing.

    source : its bytes or path      name : as its owner calls it      columns : those named, as in `adjusted`
    further : columns of further questions about the same rows
    Raises TableError if it cannot be read or has a problem; LongLine; NotAllowed unless the person is an owner.
    """
    return _tried(seat, source, name, columns, as_it_is, ways, {}, further)[1]


def bring_in(
    seat: Seat,
    source: bytes | Path,
    name: str,
    columns: Mapping[str, Any],
    *,
    project: str,
    description: str = "",
    settings: Mapping[str, object],
    accept: Collection[str] = (),
    as_it_is: bool = False,
    ways: Mapping[str, str] = NO_WAYS,
    further: Sequence[str] = (),
) -> tuple[int, DryRun]:
    """Read a file and create a project of this name from it, and one for each further question; returns the number of
    the first, and how the file was read.

    settings : changes from the defaults      accept : names of doubts to accept; each would otherwise stop the import
    Raises as `dry_run` and `create`; TableError for a doubt that was not accepted; CannotLearn for a setting.
    """
    check_new(seat, project, description)
    upload, found = _tried(seat, source, name, columns, as_it_is, ways, settings, further)
    if stops := [one for one in found.doubts if one.stops and one.name not in accept]:
        raise TableError(
            *(
                Problem(None, None, None, one.message, f"{one.fix} If it is right as it is read, accept {one.name}.")
                for one in stops
            )
        )
    chosen = settings_for(found.table, settings)
    return create(seat, project, found.table, chosen, description, upload, further=found.further), found


def _tried(
    seat: Seat,
    source: bytes | Path,
    name: str,
    columns: Mapping[str, Any],
    as_it_is: bool,
    ways: Mapping[str, str],
    settings: Mapping[str, object],
    further: Sequence[str],
) -> tuple[Upload, DryRun]:
    with seat.everywhere.reading(Right.OWN, changes=True):
        pass  # check permissions before reading anything
    upload = read_upload(source, name, as_it_is=as_it_is, ways=ways)
    roles = without_further(adjusted(upload.suggest_roles(), columns, upload.cells), further)
    found = check(upload, roles, columns=columns)
    if found.table is None:
        raise TableError(*found.problems)
    others = read_further(upload, roles, further)
    more = (*made_before(seat, upload), *doubts_about(found.table, settings_for(found.table, settings)))
    reading = str(described(upload, found.table))
    notes = (*upload.notes, *further_notes(others))
    return upload, DryRun(found.table, reading, notes, (*with_further(found.doubts, others), *more), tuple(others))


def with_further(doubts: Iterable[Doubt], further: Sequence[FurtherQuestion]) -> tuple[Doubt, ...]:
    """Return the doubts about a file with those about its further questions, without remarks on the columns of these:
    they are not left out."""
    asked = [quoted(one.column) for one in further]
    own = [one for one in doubts if one.stops or not any(name in one.message for name in asked)]
    return tuple(dict.fromkeys((*own, *(doubt for one in further for doubt in one.doubts))))


def further_notes(further: Iterable[FurtherQuestion]) -> tuple[str, ...]:
    """Return a sentence on how each further question is read."""
    return tuple(f"Further question {one.column!r}: {one.reading}" for one in further)


def create(
    seat: Seat,
    name: str,
    table: LabelTable,
    settings: kinds.KindSettings | None = None,
    description: str = "",
    upload: Upload | None = None,
    also: managing.Also | None = None,
    further: Sequence[FurtherQuestion] = (),
) -> int:
    """Create the project, and one with the default settings for each further question about its rows, all or none.
    Returns the number of the first.

    upload : source of the table, if the project is to know its file and its groups
    also : as in ``create_project``, for each of them

    Raises as ``workflow.projects.managing.create_projects``.
    """
    known = (upload.source_hash, upload.groups) if upload else (None, None)
    new = [managing.NewProject(name, table, settings, description, *known)]
    for one in further:
        title = f"{name.strip()}: {one.column}"[: managing.NAME_LENGTH]
        new.append(managing.NewProject(title, one.table, None, description, *known))

    def with_them(owning: Reading, ids: list[int]) -> None:
        if further:
            linking.link_in(owning, ids[0], ids[1:])
        if also is not None:
            for project_id in ids:
                also(owning, project_id)

    first, *_ = managing.create_projects(seat, new, with_them)
    for made in new:
        made.table.let_go()
    return first


def check_new(seat: Seat, name: str, description: str = "") -> None:
    """Check a new project's name and description before its file is read, which may take long. Raises ProjectNameError
    if they are not allowed, NotAllowed unless the person is an owner."""
    name = managing.checked_name(name)
    managing.checked_description(description)
    with seat.everywhere.reading(Right.OWN) as reading:
        managing.check_free(reading, name)


@dataclass(frozen=True)
class MadeBefore(Doubt):
    """The doubt that a project was already made from the file.

    project_id, project_name : of the latest one      archived : whether it is archived, so that no page opens it
    """

    project_id: int = field(kw_only=True)
    project_name: str = field(kw_only=True)
    archived: bool = field(kw_only=True)


def made_before(seat: Seat, upload: Upload) -> list[MadeBefore]:
    """Return the doubt that a project was already made from the same file, whatever the roles of its columns; [] if
    there is none. Raises NotAllowed unless the person is an owner."""
    with seat.everywhere.reading(Right.OWN) as reading:
        found = stored.by_source(reading.session, upload.source_hash)
    if found is None:
        return []
    archived = found.archived_at is not None
    where, instead = (", which is archived,", "Restore it on Home") if archived else ("", "Open that project")
    message = f"Project {quoted(found.name)}{where} was made from the same file on {found.created_at:%Y-%m-%d}."
    fix = f"{instead} instead: its answers are not in a new one."
    return [MadeBefore("same-file", message, fix, project_id=found.id, project_name=found.name, archived=archived)]


def doubts_about(table: LabelTable, settings: kinds.KindSettings) -> list[Doubt]:
    """Return the oddities of a project of this table with these settings."""
    truth = kinds.of_settings(settings).HIDDEN_TRUTH
    found = [] if truth is None else truth.doubts(table, settings)
    return [*found, *kinds.latest_doubts(settings)]


def kind_of_table(table: LabelTable) -> str:
    """Return the name of the kind of a project of this table."""
    return kinds.of_table(table).NAME


def settings_for(table: LabelTable, changes: Mapping[str, object]) -> kinds.KindSettings:
    """Return the settings of a new project of this table: the defaults with these changes. Raises CannotLearn for a
    wrong one."""
    try:
        return kinds.with_changes(kinds.of_table(table), managing.default_settings(table), changes)
    except ValueError as error:
        raise CannotLearn(str(error)) from error
