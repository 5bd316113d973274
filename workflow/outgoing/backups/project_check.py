"""Looking into the file of a project that was taken along. Whoever made it may have meant harm, so only a limited
process of its own (`workflow.common.limited`) ever does; the server reads what that has left and checked, nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from db import whole_projects
from db.engine import revisions
from db.whole_projects import Rows
from plcore.loop import EntryKind
from plcore.tables import is_kept_name, read_kept_names
from workflow.common.limited import Bounds
from workflow.outgoing.backups.archive import check_archive, extract_all
from workflow.outgoing.backups.manifest import CONTENT, PROJECT, BackupError, DamagedError, Manifest
from workflow.outgoing.backups.project_content import check_content, read_content

JOB = f"{__name__}.look"
ROWS = "rows-{}.jsonl"
"""What the rows of a table of the database are called in the folder of the job: a line of JSON for each."""
_LEAST_MB = 600
_PATIENCE = 5
"""Times the seconds that other files of this size may take: every entry of the log is folded anew."""

Given = Mapping[str, Any]


def bounds_of(size: int) -> Bounds:
    """What looking into a file of so many bytes may cost."""
    usual = Bounds.of_file(size, _LEAST_MB)
    return replace(usual, cpu=_PATIENCE * usual.cpu, wall=_PATIENCE * usual.wall)


def table_hashes(last: str, rows: Rows) -> set[str]:
    """Of the tables that the project has, or had before rows were added. last : of the one that it has"""
    added = (one for one in rows["entries"] if one["kind"] == EntryKind.ROWS)
    return {last, *(name for one in added for name in (*one["before"], *one["after"]))}


def look(given: Given, folder: Path, tell: Callable[[float], None]) -> dict[str, Any]:
    """Check all of a project's file: every byte, every value, and whether table and log fit, entry for entry.

    given : `path`; `called`, the file's name for people
    Leaves in the folder the members at their names, and the rows as ROWS. Gives `project`, its values; `people`,
    {id: name}; `files`, the members that are to be kept. Or `damaged`, the parts of a DamagedError, or `refused`, in
    words.
    """
    path, called = Path(given["path"]), str(given["called"])
    try:
        manifest = check_archive(path, lambda done, total: tell(0.4 * done / max(total, 1)), called)
        _check_kind(called, manifest)
        extract_all(
            path, manifest, folder, lambda done, total: tell(0.4 + 0.2 * done / max(total, 1)), called
        )
        values, rows, named = read_content(called, folder)
        _check_files(called, manifest, folder, values, rows)
        tell(0.7)
        values |= check_content(called, lambda one: folder / "tables" / f"{one}.parquet", values, rows)
    except DamagedError as error:
        return {"damaged": error.parts}
    except BackupError as error:
        return {"refused": str(error)}
    for name in whole_projects.PARTS:
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
        raise BackupError(
            f"{called} was taken from a newer Winnow, {manifest.winnow} (tables of revision {manifest.schema}, here "
            f"{revisions()[0]}). Fix: bring it in to that version, or a newer one."
        )
    for one in manifest.members:
        named = Path(one.name).stem
        if len(named) == 64 and named != one.sha256:  # it would be kept for all projects under this name
            raise DamagedError(called, one.name, f"SHA-256 {named}, which it is called by", one.sha256)


def _check_files(
    called: str, manifest: Manifest, folder: Path, values: Mapping[str, Any], rows: Rows
) -> None:
    """Whether every table that the project names is in the file, and every file that those name, and no other: no name
    leads to another place, and nothing is kept that nobody asked for."""
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
