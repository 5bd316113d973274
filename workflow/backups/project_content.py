"""Check a project file before storing any of it.

The file may have been made by hand. It is accepted if Winnow could have written it: every value fits its column,
every setting is read by its own reader, and table and log match.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypedDict

from db import copies, projects
from db.copies import Rows
from db.engine import BRIDGE, is_older, revisions, writer_of
from db.entries import NO_ROW, LogEntry
from plcore import LabelTable
from plcore.arrays import counted, forbidden_in_name, unstorable_in
from plcore.loop import EntryKind, class_changes
from plcore.tables import Roles, is_kept_name, read_kept_names
from workflow import kinds
from workflow.access import Role
from workflow.answering.asked import AskedAs, checked_note
from workflow.answering.room_settings import RoomSettings
from workflow.backups.archive import check_archive, extract_all
from workflow.backups.manifest import CONTENT, PROJECT, BackupError, DamagedError, Manifest
from workflow.exporting.snapshots import checked_snapshot_name
from workflow.files.limited import Bounds
from workflow.kinds import AnyKind
from workflow.log.lines import first_table
from workflow.log.reading import learner_entry
from workflow.log.verifying import LogError, check_fold
from workflow.people import examples, team
from workflow.people.examples import PURPOSES
from workflow.people.goals import Goal
from workflow.projects.classes import NAME_LENGTH
from workflow.projects.managing import checked_description

_ANEW = {"id": 0, "created_by": 0, "archived_at": None, "deleted_at": None}
_WRONG = (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Errors that an invalid value raises if no reader gives its own message."""
_LATER: Mapping[str, object] = {"room": {}, "stop_rules": None, "source_hash": None}
"""Defaults for project files from before a column existed."""


MOST_PEOPLE = 10_000
"""Maximum number of people in a file."""
LONGEST = 200
"""Maximum characters of a token, and of the name of a strategy; those of Winnow have fewer."""
MOST_SECONDS = 366 * 86_400.0
"""Maximum seconds of an answer: a question can be open for months."""


def read_content(called: str, aside: Path) -> tuple[dict[str, Any], copies.Rows, dict[int, str]]:
    """Return (the project, its rows by table, {id: name} of people) of the file unpacked in `aside`, with values in the
    form of their columns. called : the file's name for users      Raises DamagedError."""
    try:
        said = json.loads((aside / CONTENT).read_bytes())
        _check_storable(said)
        given: copies.Rows = {**{key: [] for key in copies.LATER}, **said["rows"]}
        rows = {name: list(given[name]) for name in copies.PARTS}
        values = dict(said["project"])
        copies.check(values, rows)
        named = {int(one): _name(name) for one, name in said["people"].items()}
        _check_named(named, copies.people_in(rows) | set(set_aside_in(rows)))
        return values, rows, named
    except (*_WRONG, RecursionError) as error:  # deeply nested lists
        raise DamagedError(called, CONTENT, "a project as Winnow writes it", f"something else ({error})") from error


def set_aside_in(rows: copies.Rows) -> list[int]:
    """Return the people whose answers were excluded: the log names them by id."""
    return [int(one["labels"][0]) for one in rows["entries"] if one["kind"] == EntryKind.ASIDE]


def check_content(
    called: str, path_of: Callable[[str], Path], values: Mapping[str, Any], rows: copies.Rows
) -> dict[str, int]:
    """Return the project's counts, from its table, after checking everything: whether a learner can be created from
    table and log and agrees with the log for each row, and whether every setting can be read. path_of : returns the
    path of the table with a SHA-256      Raises BackupError."""
    try:
        project = projects.Project(**{**_LATER, **values, **_ANEW})
        log = [_entry(one) for one in rows["entries"]]
        first = first_table(log, project.table_hash)
        kind = kinds.of_table(LabelTable.read(path_of(first)))
        _check_settings(kind, project.settings)
        check_fold(kind, path_of, project, first, log)
        table = LabelTable.read(path_of(project.table_hash))
        changes = class_changes(learner_entry(one) for one in log if one.row == NO_ROW)
        pool = kind.make_pool(table, kind.read_settings(project.settings), changes)
        _check_project(kind, project)
        _check_parts(kind, rows, table.n_rows)
        return {"n_rows": table.n_rows, "n_classes": len(pool.classes), "n_to_ask": pool.n_to_ask}
    except (LogError, *_WRONG) as error:
        raise BackupError(f"{called} contains no project that works: {error}") from error


def _check_storable(said: object) -> None:
    """Check that a database takes every text and number. Raises ValueError."""
    left = [said]
    while left:
        one = left.pop()
        if isinstance(one, str):
            if (found := unstorable_in(one)) is not None:
                raise ValueError(f"a text with {found}")
        elif isinstance(one, float):
            if not math.isfinite(one):
                raise ValueError(f"{one} is not a number")
        elif isinstance(one, Mapping):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one


def _check_named(named: Mapping[int, str], spoken_of: set[int]) -> None:
    """Check that the names are those of people in the rows; the project's creator may be named too.

    named : {id: name}      spoken_of : ids in the rows

    Raises ValueError."""
    if len(set(named.values())) < len(named):
        raise ValueError("two people have the same name")
    if lost := spoken_of - named.keys():
        raise ValueError(f"person {min(lost)} has no name")
    if len(named) > min(len(spoken_of) + 1, MOST_PEOPLE):
        raise ValueError(
            f"{counted(len(named), 'person', 'people')}, of whom the log and the lists name {len(spoken_of):,}"
        )


def _name(name: object) -> str:
    if not isinstance(name, str) or team.checked_name(name) != name:
        raise ValueError(f"{name!r:.80} is not a name of a person")
    return name


def _check_settings(kind: AnyKind, settings: Mapping[str, object]) -> None:
    if not kinds.is_stored(kind, settings):
        raise ValueError("its settings belong to another kind of project than its table")
    kind.read_settings(settings)


def _check_project(kind: AnyKind, project: projects.Project) -> None:
    Roles.from_json(project.roles)
    RoomSettings.from_json(project.room)
    if project.stop_rules is not None:
        kind.DEFAULT_RULES.from_json(project.stop_rules)
    checked_description(project.description)


def _check_parts(kind: AnyKind, rows: copies.Rows, n_rows: int) -> None:
    n_entries = len(rows["entries"])
    for one in rows["members"]:
        Role(one["role"])
    for one in rows["goals"]:
        Goal(one["answers"], one["minutes"], one["break_after"])
        if one["reached_on"] is not None:
            date.fromisoformat(one["reached_on"])
    for one in rows["examples"]:
        _check_rows("an example", [one["row"]], n_rows)
        if one["purpose"] not in PURPOSES:
            raise ValueError(f"an example cannot be for {one['purpose']!r:.80}")
        checked_note(one["note"], examples.NOTE_LENGTH)
    for one in rows["dispute_notes"]:
        _check_rows("a note", [one["row"]], n_rows)
        checked_note(one["text"])
    for one in rows["qualifications"]:
        _check_rows("a qualification", one["rows"], n_rows)
        if not 0 <= one["n_right"] <= len(one["given"]) <= len(one["rows"]):
            raise ValueError("a qualification has more answers than rows")
    for one in rows["past_settings"]:
        _check_settings(kind, one["settings"])
        _check_seq("past settings", one["until_seq"], n_entries)
    for one in rows["snapshots"]:
        _check_settings(kind, one["settings"])
        _check_seq("a snapshot", one["seq"], n_entries)
        if checked_snapshot_name(one["name"]) != one["name"]:
            raise ValueError(f"{one['name']!r:.80} is not a name of a snapshot")


def _check_rows(what: str, about: Sequence[int], n_rows: int) -> None:
    if any(not 0 <= row < n_rows for row in about):
        raise ValueError(f"{what} is about a row that is not in the table")


def _check_seq(what: str, seq: int, n_entries: int) -> None:
    if not 0 <= seq <= n_entries:
        raise ValueError(f"{what} of entry {seq:,}, but the log has {n_entries:,}")


def _entry(row: Mapping[str, Any]) -> LogEntry:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    values |= {"project_id": 0, "at": datetime.fromisoformat(row["at"]), "label": row["label"] or None}
    if row.get("asked") is not None:
        _check_asked(row["asked"])
    _check_typed(row)
    return LogEntry(**values)


def _check_typed(row: Mapping[str, Any]) -> None:
    """Check the limits of answers sent by people and programs. Raises ValueError."""
    where = f"entry {row['seq']}"
    checked_note(row.get("note"))
    if not 0 <= (row.get("seconds") or 0) <= MOST_SECONDS:
        raise ValueError(f"{where} cannot have taken {row['seconds']!r} seconds")
    for name in ("token", "strategy"):
        text = row.get(name) or ""
        if len(text) > LONGEST or forbidden_in_name(text) is not None:
            raise ValueError(f"the {name} of {where} cannot be {text!r:.80}")
    new = row["labels"][-1] if row["kind"] == EntryKind.CLASS and row["labels"][0] == "rename" else ""
    if len(new) > NAME_LENGTH or forbidden_in_name(new) is not None:
        raise ValueError(f"{where} cannot name a class {new!r:.80}")


def _check_asked(asked: Mapping[str, object]) -> None:
    kinds_of = {"form": str, "about": list, "drawn": bool, "choices": int, "first": list, "batch": str}
    texts = (text for value in asked.values() if isinstance(value, list) for text in value)
    fits = all(type(value) is kinds_of.get(key) for key, value in asked.items())
    if not fits or not all(isinstance(one, str) for one in texts):
        raise ValueError(f"a question cannot be put as {asked!r:.80}")
    AskedAs.from_json(asked)


# Reading a project file. It may be malicious, so only a limited process (`workflow.files.limited`) reads it; the
# server reads only what that process has checked and left.

JOB = f"{__name__}.look"
ROWS = "rows-{}.jsonl"
"""Name of the file with the rows of a database table in the job's folder: one line of JSON per row."""
_LEAST_MB = 600
_PATIENCE = 5
"""Multiple of the seconds that other files of this size may take: every log entry is folded again."""


class ProjectFileGiven(TypedDict):
    """Arguments of `look`. called : the file's name for people"""

    path: str
    called: str


class ProjectFileFound(TypedDict, total=False):
    """The result of `look`; see there."""

    project: dict[str, Any]
    people: dict[int, str]
    files: list[str]
    damaged: tuple[str, str, str, str]
    refused: str


def bounds_of(size: int) -> Bounds:
    """Return the limits for checking a file of this size."""
    usual = Bounds.of_file(size, _LEAST_MB)
    return replace(usual, cpu=_PATIENCE * usual.cpu, wall=_PATIENCE * usual.wall)


def table_hashes(last: str, rows: Rows) -> set[str]:
    """Return the hashes of the tables that the project has, or had before rows were added. last : that of the current
    table"""
    added = (one for one in rows["entries"] if one["kind"] == EntryKind.ROWS)
    return {last, *(name for one in added for name in (*one["before"], *one["after"]))}


def look(given: ProjectFileGiven, folder: Path, tell: Callable[[float], None]) -> ProjectFileFound:
    """Check a whole project file: every byte, every value, and whether table and log fit, entry for entry.

    given : `path`; `called`, the file's name for users

    Leaves the members in the folder under their names, and the rows as ROWS. Returns `project`, its values; `people`,
    {id: name}; `files`, the members to store. Or `damaged`, the parts of a DamagedError, or `refused`, in words.
    """
    path, called = Path(given["path"]), str(given["called"])
    try:
        manifest = check_archive(path, lambda done, total: tell(0.4 * done / max(total, 1)), called)
        _check_kind(called, manifest)
        extract_all(path, manifest, folder, lambda done, total: tell(0.4 + 0.2 * done / max(total, 1)), called)
        values, rows, named = read_content(called, folder)
        _check_files(called, manifest, folder, values, rows)
        tell(0.7)
        values |= check_content(called, lambda one: folder / "tables" / f"{one}.parquet", values, rows)
    except DamagedError as error:
        return {"damaged": error.parts}
    except BackupError as error:
        return {"refused": str(error)}
    for name in copies.PARTS:
        with (folder / ROWS.format(name)).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=True) + "\n" for row in rows[name])
    kept = [one.name for one in manifest.members if one.name != CONTENT]
    return {"project": values, "people": named, "files": kept}


def _check_kind(called: str, manifest: Manifest) -> None:
    if manifest.kind != PROJECT:
        raise BackupError(
            f"{called} is a whole Winnow, not one project. Fix: restore it (winnow restore {called} --to FOLDER)."
        )
    if manifest.schema not in revisions():
        older = f"import it into Winnow {BRIDGE}, and download the project from there"
        newer = "import it into that version, or a newer one"
        fix = older if is_older(manifest.schema) else newer
        raise BackupError(f"{called} was written by {writer_of(manifest.schema)}. Fix: {fix}.")
    for one in manifest.members:
        named = Path(one.name).stem
        if len(named) == 64 and named != one.sha256:  # it would be stored for all projects under this name
            raise DamagedError(called, one.name, f"SHA-256 {named}, which it is called by", one.sha256)


def _check_files(called: str, manifest: Manifest, folder: Path, values: Mapping[str, Any], rows: Rows) -> None:
    """Check that the file has every table that the project names, every file that those name, and no others: no name
    leads to another place, and nothing unneeded is stored."""
    there = {one.name for one in manifest.members} - {CONTENT}
    tables = {f"tables/{one}.parquet" for one in map(str, table_hashes(values["table_hash"], rows))}
    for one in sorted(tables - there):
        raise DamagedError(called, CONTENT, "tables that are in the file", f"{one!r}, which is not")
    files = set()
    for table in sorted(tables):
        try:
            names = read_kept_names(folder / table)
        except (OSError, ValueError, TypeError, AttributeError) as error:  # Arrow's is a ValueError
            raise DamagedError(called, table, "a table of Winnow's", f"something else ({error})") from error
        for name in names:
            if not is_kept_name(name):
                raise DamagedError(called, table, "names of images and recordings", repr(name)[:80])
            files.add(f"media/{name[:2]}/{name}")
    for one in sorted(files - there):
        raise DamagedError(called, one, "it in the file, as a table names it", "nothing")
    for one in sorted(there - tables - files):
        raise DamagedError(called, one, "only what the project names", "a file that it does not name")
