"""Snapshots: a name for the current state of a project, with hashes that identify it later.

Nothing is copied: the state is folded again from the log whenever it is wanted, and its hashes say whether it is the
same.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import entries, people, projects
from db.projects import NameTakenError, StoredSnapshot
from plcore.arrays import forbidden_in_name
from plcore.loop import EntryKind
from workflow.access import NotFound, Right
from workflow.exporting.as_of import AsOfError, open_past, past_now, past_of, read_as_of
from workflow.exporting.project_files import ExportChoice, find_file
from workflow.people import audit
from workflow.people.audit import EventKind

if TYPE_CHECKING:
    from db.entries import LogEntry
    from workflow.exporting.snapshot import Past
    from workflow.seat import Seat

NAME_LENGTH = 100
_HASHED = (
    *("seq", "kind", "row", "label", "labels", "person_id", "revision", "at", "target_seq", "strategy", "score"),
    *("model_version", "before", "after", "seconds", "note", "predicted", "flagged", "asked"),
)
"""Fields of an entry in the first stored hash. Later columns are hashed only if they have a value, as in seals, so
stored entries keep their hash."""
_OF_HERE = ("project_id", "token")
"""Fields of an entry that differ between databases."""


class SnapshotError(ValueError):
    """A snapshot cannot be made under this name."""


@dataclass(frozen=True)
class NamedSnapshot:
    """seq : of the log's last entry in it      by : the name of its creator
    sha256 : of the table as CSV, all rows, which is the file that an export as of the snapshot gives
    """

    name: str
    seq: int
    made_at: datetime
    by: str
    sha256: str


@dataclass(frozen=True)
class CheckedSnapshot:
    """holds : whether the state is unchanged      said : the result as a sentence"""

    name: str
    holds: bool
    said: str


def list_snapshots(seat: Seat) -> tuple[NamedSnapshot, ...]:
    """List the project's snapshots, in the order they were made. Raises NotAllowed unless the person is an owner,
    NotFound."""
    with seat.reading(Right.OWN) as reading:
        names = {one.id: one.name for one in people.listed(reading.session)}
        found = projects.list_snapshots(reading.session, reading.project.id)
    return tuple(NamedSnapshot(one.name, one.seq, one.made_at, names.get(one.made_by, ""), one.sha256) for one in found)


def make_snapshot(seat: Seat, name: str) -> NamedSnapshot:
    """Give the current state this name, which is unique in the project.

    Raises
    SnapshotError : The name is taken, empty, too long, or would be read as an entry or a moment.
    NotAllowed : The person is not an owner.
    NotSaved, NotFound
    """
    name = checked_snapshot_name(name)
    with seat.reading(Right.OWN) as reading:
        project, person = reading.project, reading.person
        if projects.get_snapshot(reading.session, project.id, name) is not None:
            raise _taken(name)
        past = past_now(reading.session, project)
    sha256, log_sha256 = _hashes(seat, past)
    new = StoredSnapshot(
        name=name,
        seq=past.seq,
        made_at=datetime.now(UTC),
        made_by=person.id,
        settings=past.settings,
        model_version=past.version,
        sha256=sha256,
        log_sha256=log_sha256,
    )
    try:
        with seat.owning() as owning:
            projects.add_snapshot(owning.session, owning.project.id, new)
            audit.note_at(owning, EventKind.SNAPSHOT_MADE, name=name, entry=past.seq)
    except NameTakenError as error:
        raise _taken(name) from error
    return NamedSnapshot(name, new.seq, new.made_at, person.name, sha256)


def check_snapshot(seat: Seat, name: str) -> CheckedSnapshot:
    """Fold the log again and compare. Raises as `list_snapshots`; NotFound, too, if there is no such snapshot."""
    with seat.reading(Right.OWN) as reading:
        stored = projects.get_snapshot(reading.session, reading.project.id, name)
        if stored is None:
            raise NotFound(f"There is no snapshot {name!r} of this project. Fix: choose one that is listed.")
        try:
            past = past_of(reading.session, reading.project, stored)
        except AsOfError as error:
            return CheckedSnapshot(name, holds=False, said=str(error))
    sha256, log_sha256 = _hashes(seat, past)
    if log_sha256 != stored.log_sha256:
        said = (
            f"Snapshot {name!r} is not what it was: table or log up to entry {stored.seq:,} were changed outside "
            "Winnow. Fix: winnow verify names the entry; restore a backup."
        )
    elif sha256 != stored.sha256:
        said = (
            f"Snapshot {name!r} is not what it was: table and log are the same, but the labels that follow from them "
            "are others. Fix: compute them with the version of Winnow, and of its libraries, that made it."
        )
    else:
        said = f"Snapshot {name!r} is unchanged: SHA-256 {sha256}."
    return CheckedSnapshot(name, (sha256, log_sha256) == (stored.sha256, stored.log_sha256), said)


def hash_entries(log: Iterable[LogEntry], table_hash: str) -> str:
    """SHA-256 of the content of these entries, after the table's. People count by the order of their first entries:
    neither
    their names nor their numbers, which are others where a project is imported, change it."""
    numbers: dict[int, int] = {}
    found = hashlib.sha256(table_hash.encode())
    for entry in log:
        said = {
            key: value
            for key, value in vars(entry).items()
            if key in _HASHED or (key not in _OF_HERE and value is not None)
        }
        said |= {"at": entry.at.isoformat(), "person_id": numbers.setdefault(entry.person_id, len(numbers) + 1)}
        said["asked"] = {key: value for key, value in (entry.asked or {}).items() if key != "batch"}
        if entry.kind == EntryKind.ASIDE:
            about = int(entry.labels[0])
            said["labels"] = [numbers.setdefault(about, len(numbers) + 1)]
        found.update(json.dumps(said, sort_keys=True).encode() + b"\n")
    return found.hexdigest()


def _hashes(seat: Seat, past: Past) -> tuple[str, str]:
    """(of the table as CSV, of the log) of a state."""
    with open_past(seat, past) as opened:
        file = find_file(opened.kind, next(iter(opened.kind.FORMATS)))
        taken = file.take(file.form, opened, ExportChoice())
        log = entries.each(opened.session, past.project_id, past.seq)
        log_sha256 = hash_entries(log, past.table_hash)
    with tempfile.TemporaryFile() as out:
        taken.write(out, lambda _done: None)
        out.seek(0)
        return hashlib.file_digest(out, "sha256").hexdigest(), log_sha256


def checked_snapshot_name(name: str) -> str:
    """A snapshot's name in its stored form. Raises SnapshotError."""
    name = name.strip()
    if not name:
        raise SnapshotError("A snapshot needs a name. Fix: type one, such as first release.")
    if len(name) > NAME_LENGTH:
        raise SnapshotError(
            f"A snapshot's name has at most {NAME_LENGTH} characters; this one has {len(name)}. Fix: shorten it."
        )
    if (found := forbidden_in_name(name)) is not None:
        raise SnapshotError(f"A snapshot's name cannot be stored with {found}. Fix: type another.")
    if not isinstance(read_as_of(name), str):
        raise SnapshotError(f"{name!r} would be read as an entry or a moment. Fix: begin the name with a word.")
    return name


def _taken(name: str) -> SnapshotError:
    return SnapshotError(f"There is a snapshot {name!r} of this project already. Fix: choose another name.")
