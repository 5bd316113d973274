"""A project as one file: downloaded from one Winnow, imported into another.

It holds the project's log, its tables, their images and recordings, its settings, its marks and notes, its members, and
the names of people: no passwords, no links. People whose names are unknown where it is imported are added there, but
cannot sign in until an owner makes a link.
"""

from __future__ import annotations

import json
import logging
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError
from sqlalchemy.orm import Session

from db import copies, entries, people
from db.engine import revisions
from plcore import TableError
from plcore.loop import EntryKind
from workflow.access import NotAllowed, Right
from workflow.backups import project_content
from workflow.backups.archive import Tell, is_project_file, write_into
from workflow.backups.making import in_words
from workflow.backups.manifest import CONTENT, PROJECT, BackupError, DamagedError, Manifest
from workflow.backups.project_content import set_aside_in
from workflow.files import limited
from workflow.files.prepared import Taken, Whose
from workflow.files.stored import BRINGING, MAKING, flush_all, path_of, whole_file
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.projects.managing import check_free, checked_name
from workflow.saving import saving_files
from workflow.seat import Seat
from workflow.server.home import Home

SUFFIX = ".winnow.zip"
"""Suffix of the names that Winnow gives to such files."""
PARTS = 1000
"""Parts of a file, for reporting the progress of writing it."""

logger = logging.getLogger("winnow")
_OF_PERSON = re.compile(r"(?P<batch>batch\.)?(?P<person>[0-9]+)\.(?P<rest>.*)", re.S)


@dataclass(frozen=True)
class BroughtIn:
    """Result of an import. known : people who existed here under the same name and are taken for the same      new :
    people who were added"""

    project_id: int
    name: str
    known: tuple[str, ...]
    new: tuple[str, ...]


def take_along(seat: Seat, path: Path, tell: Tell | None = None) -> Manifest:
    """Write the project to a new file. Raises BackupError, NotAllowed unless the person is an owner of the project,
    NotFound."""
    with seat.reading(Right.OWN):
        pass  # before anything is written
    _note_taken(seat)
    if not path.parent.is_dir():
        raise BackupError(f"There is no folder {path.parent}. Fix: make it, or name another one.")
    if path.exists():
        raise BackupError(f"There is a file {path} already. Fix: name another one.")
    with in_words(path), whole_file(path) as file:
        return _write(seat, file, tell)


def _note_taken(seat: Seat) -> None:
    with seat.owning() as owning:
        audit.note_at(owning, EventKind.PROJECT_TAKEN)


def _write(seat: Seat, file: BinaryIO, tell: Tell | None) -> Manifest:
    """Write the current project. Raises as `take_along`."""
    home = seat.home
    with seat.reading(Right.OWN) as reading:  # no annotator has to wait for it, however long the log is
        session, project = reading.session, reading.project
        values, rows = copies.take(session, project.id)
        named = {one.id: one.name for one in people.listed(session)}
    who = copies.people_in(rows) | {project.created_by} | set(set_aside_in(rows))
    content = {"project": values, "rows": rows, "people": {str(one): named[one] for one in sorted(who)}}
    files = _files_of(home, project_content.table_hashes(project.table_hash, rows))
    manifest = Manifest(
        kind=PROJECT,
        schema=revisions()[0],
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        counts={"projects": 1, "entries": len(rows["entries"]), "people": len(who)},
        missing=tuple(sorted(name for name, source in files.items() if not source.is_file())),
    )
    if manifest.missing:
        raise BackupError(
            f"The project cannot be exported: {manifest.missing[0]} is missing in the data folder. Fix: put it back "
            "from a backup (winnow doctor names all that is missing)."
        )
    with tempfile.TemporaryDirectory(dir=Path(file.name).parent, prefix=MAKING) as folder:
        (Path(folder) / CONTENT).write_text(json.dumps(content, ensure_ascii=False))
        return write_into(file, manifest, [(CONTENT, Path(folder) / CONTENT), *sorted(files.items())], tell)


def prepare(seat: Seat, stem: str) -> str:
    """Request the project's file for this person, as `workflow.exporting.files.prepare` does for other files; return
    its key.

    stem : first part of the file's name

    Raises NotAllowed unless the person is an owner of the project, NotFound, NotSaved.
    """
    with seat.reading(Right.OWN) as reading:
        whose = Whose(reading.person.id, reading.project.id)
        seq = entries.last_seq(reading.session, reading.project.id)
    _note_taken(seat)

    def write(file: BinaryIO, tell: Callable[[int], None]) -> int:
        tell(0)
        manifest = _write(seat, file, lambda done, total: tell(round(PARTS * done / max(total, 1))))
        return manifest.counts["entries"]

    with saving_files():
        taken = Taken(PARTS, seq, write, counts_rows=False)
        return seat.home.prepared.begin(seat.home.exports_dir, whose, f"{stem}{SUFFIX}", taken)


def bring_in(seat: Seat, path: Path, name: str | None = None, tell: Tell | None = None, called: str = "") -> BroughtIn:
    """Create a project from a file that `take_along` wrote. name : None for its original name

    The whole file is checked in a limited process before anything is stored: every byte, every value, and whether table
    and log fit, entry for entry.

    called : the file's name for users, if it is another one

    Raises BackupError, ProjectNameError, NotAllowed unless the person is an owner of this Winnow, NotSaved.
    """
    home, called = seat.home, called or path.name
    with seat.everywhere.reading(Right.OWN) as reading:  # before a byte is read
        if name is not None:
            check_free(reading, checked_name(name))
    try:
        with tempfile.TemporaryDirectory(dir=home.settings.home, prefix=BRINGING) as folder:
            aside = Path(folder)
            found = _looked_into(path, called, aside, tell)
            own = found["project"]
            own["name"] = checked_name(str(own["name"]) if name is None else name)
            own.get("room", {}).pop("further", None)  # its ids are those of another Winnow
            with seat.everywhere.reading(Right.OWN) as reading:
                check_free(reading, own["name"])
            _put_files(home, aside, found["files"])
            with seat.everywhere.owning() as owning:
                check_free(owning, own["name"])
                here, known, new = _people_here(owning.session, found["people"])
                rows = {part: _rows(aside, part, here) for part in copies.PARTS}
                with _fitting(called):
                    project_id = copies.put(owning.session, own, rows, here, seat.person_id)
                brought = EventKind.PROJECT_BROUGHT_IN
                audit.note(owning.session, brought, person_id=seat.person_id, project_id=project_id, file=called)
    except NotAllowed:  # is an OSError, too
        raise
    except OSError as error:
        raise BackupError(f"{called} could not be imported: {error}.") from error
    return BroughtIn(project_id, own["name"], known, new)


def _looked_into(path: Path, called: str, aside: Path, tell: Tell | None) -> project_content.ProjectFileFound:
    """Check the file in the limited process; return its description. Raises BackupError."""
    size = path.stat().st_size

    def on_step(share: float) -> None:
        if tell is not None:
            tell(round(share * size), size)

    given = {"path": str(path.absolute()), "called": called}
    try:
        found: project_content.ProjectFileFound = limited.ask(
            project_content.JOB, given, aside, project_content.bounds_of(size), on_step
        ).result
    except TableError as error:  # a limit was exceeded
        raise BackupError(
            f"{called} cannot be imported. {error.problems[0].message} Nothing was stored. Fix: download the project "
            "again from its server, and import that file."
        ) from error
    except RuntimeError as error:
        logger.exception("Checking the file of a project failed.")
        raise BackupError(
            f"{called} cannot be imported: reading it failed unexpectedly; the log of the server has the details. "
            "Nothing was stored. Fix: download the project again from its server, and import that file."
        ) from error
    if "damaged" in found:
        raise DamagedError(*found["damaged"])
    if "refused" in found:
        raise BackupError(found["refused"])
    if other := [one for one in found["files"] if not is_project_file(one)]:
        raise DamagedError(called, repr(other[0]), "a file of Winnow's", "an invalid name")
    found["people"] = {int(one): str(name) for one, name in found["people"].items()}
    on_step(1.0)
    return found


def _files_of(home: Home, hashes: set[str]) -> dict[str, Path]:
    from plcore.tables import read_kept_names

    files = {f"tables/{one}.parquet": home.table_path(one) for one in hashes}
    for table in list(files.values()):
        if not table.is_file():
            continue  # reported by the caller
        for name in read_kept_names(table):
            source = path_of(home.media_dir, name)
            files[f"media/{source.parent.name}/{name}"] = source
    return files


def _put_files(home: Home, aside: Path, names: Iterable[str]) -> None:
    """Move all tables and files to their places; existing ones are identical, since names depend on the content."""
    for name in names:
        target = home.settings.home / name
        if not target.exists():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (aside / name).replace(target)
    flush_all()  # before a project names them


@contextmanager
def _fitting(called: str) -> Iterator[None]:
    """Turn errors that the check missed into messages; other errors of the store are raised unchanged."""
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError, StatementError) as error:
        if isinstance(error, DBAPIError) and not isinstance(error, (IntegrityError, DataError)):
            raise
        raise BackupError(f"{called} contains no project that can be stored here: {error}") from error


def _people_here(session: Session, named: Mapping[int, str]) -> tuple[dict[int, int], tuple[str, ...], tuple[str, ...]]:
    """Return {id there: id here}, the people known here by the same name, and the others."""
    there = {one.name: one.id for one in people.listed(session)}
    here, now = {}, datetime.now(UTC)
    for number, name in named.items():
        if name in there:
            here[number] = there[name]
        else:
            here[number] = people.add(session, name, "annotator", now)
            people.disable(session, here[number], now)
    known = tuple(sorted(name for name in named.values() if name in there))
    return here, known, tuple(sorted(set(named.values()) - set(known)))


def _rows(aside: Path, part: str, here: Mapping[int, int]) -> Iterator[dict[str, object]]:
    """Yield the rows of a table, as left by the job, with the ids that people have here."""
    with (aside / project_content.ROWS.format(part)).open(encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, object] = json.loads(line)
            yield _renumbered(row, here) if part == "entries" else row


def _renumbered(row: Mapping[str, Any], here: Mapping[int, int]) -> dict[str, Any]:
    """Return an entry with the ids that people have here, also inside the names of clicks and batches: another person's
    click must never be taken for one of these."""

    def press(token: str) -> str:
        named = _OF_PERSON.fullmatch(token)
        if named is None or int(named["person"]) != row["person_id"]:
            return token
        return f"{named['batch'] or ''}{here[row['person_id']]}.{named['rest']}"

    own = {**row, "token": press(row["token"])}
    if row["kind"] == EntryKind.ASIDE:
        own["labels"] = [str(here[int(row["labels"][0])])]
    if row.get("asked") and row["asked"].get("batch"):
        own["asked"] = {**row["asked"], "batch": press(row["asked"]["batch"])}
    return own
