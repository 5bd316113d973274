"""Manifest of a backup, and refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from winnow_labels import __version__

FORMAT = 1
HOME, ALONE, PROJECT = "home", "database", "project"
"""Contents of a file: everything, only the database, or one project."""
DATABASE = "winnow.sqlite3"
CONTENT = "project.json"
MANIFEST = "manifest.json"


class BackupError(ValueError):
    """A backup cannot be made, or the given file cannot be restored; in words."""


class DamagedError(BackupError):
    """A backup is not as it was written. place : the member or other part      expected, came : its expected and actual
    content"""

    def __init__(self, name: str, place: str, expected: str, came: str) -> None:
        super().__init__(
            f"The backup {name} is damaged at {place}: expected {expected}, got {came}. Nothing was restored. Fix: "
            "use another backup, or copy this one again from its source."
        )
        self.place = place
        self.parts = (name, place, expected, came)


@dataclass(frozen=True)
class PackedFile:
    """A file in a backup. size : bytes      sha256 : hex digits"""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Manifest of a backup.

    kind : HOME, ALONE or PROJECT      winnow : version that made it      schema : revision of the database's tables
    made_at : ISO 8601, UTC      counts : {name: number}, for people to read
    missing, damaged : names of files named by the tables that were missing, or had changed since their import
    """

    kind: str
    schema: str
    made_at: str
    counts: dict[str, int]
    members: tuple[PackedFile, ...] = ()
    missing: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    winnow: str = __version__
    format: int = FORMAT

    @property
    def size(self) -> int:
        """Return the bytes of all members."""
        return sum(one.size for one in self.members)


_ONE = {"projects": "project", "entries": "entry of their logs", "people": "person"}
_SEVERAL = {"entries": "entries of their logs"}


def counted(counts: dict[str, int]) -> str:
    """Describe the counts: "1 project, 2,000 entries of their logs, 1 person"."""
    return ", ".join(
        f"{count:,} {_ONE[name] if count == 1 else _SEVERAL.get(name, name)}" for name, count in counts.items()
    )


def understand(data: bytes, name: str) -> Manifest:
    """Return the manifest in these bytes. name : of the backup      Raises BackupError."""
    try:
        said: dict[str, Any] = json.loads(data)
        if said["format"] > FORMAT:
            raise BackupError(
                f"The backup {name} was made by Winnow {said['winnow']}, in a newer form than this one knows "
                f"({said['format']}, here {FORMAT}). Fix: restore it with that version."
            )
        lists = {key: tuple(map(str, said[key])) for key in ("missing", "damaged")}
        members = tuple(PackedFile(**one) for one in said["members"])
        found = Manifest(**{**said, **lists, "members": members})
        _check_kinds(found)
        return found
    except BackupError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedError(name, MANIFEST, "the manifest of a backup", f"something else ({error})") from error


def _check_kinds(found: Manifest) -> None:
    """Raise TypeError if a value has the wrong type: readers of the manifest rely on that."""
    _check_kind({key: getattr(found, key) for key in ("kind", "schema", "made_at", "winnow")}, str)
    _check_kind({"counts": found.counts}, dict)
    _check_kind(found.counts, int)
    for one in found.members:
        _check_kind({"name": one.name, "sha256": one.sha256}, str)
        _check_kind({"size": one.size}, int)


def _check_kind(values: dict[str, Any], kind: type) -> None:
    for key, value in values.items():
        if type(value) is not kind:
            raise TypeError(f"{key} is of {type(value).__name__}, not {kind.__name__}")
