"""A copy of the database, looked into before anybody relies on it. Its tables may be of any earlier version."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from db.entries import NO_ROW
from db.revisions import revisions
from db.sqlite_schema import Extra, what_differs

_COUNTED = ("projects", "entries", "people")
_FAULTS = 3


class DamagedCopyError(ValueError):
    """A copy is no whole database of Winnow's; in words that end without a full stop."""


class AlienObjectError(ValueError):
    """Somebody has put something in that may change what Winnow does; in words that end without a full stop. Nothing
    is damaged by that: `fix` says how it goes, and nothing else does."""

    def __init__(self, extra: Extra) -> None:
        super().__init__(f"{extra} in it is not Winnow's")
        self.fix = f"drop it ({extra.drop})."


@dataclass(frozen=True)
class CopyFacts:
    """revision : of its tables      counts : rows of what people count, by table      table_hashes : SHA-256 of every
    uploaded table that a project has or had      beside : tables and indices that are not Winnow's, and do no harm"""

    revision: str
    counts: dict[str, int]
    table_hashes: frozenset[str]
    beside: tuple[str, ...] = ()


def look_into(path: Path, rows_kind: str, *, live: bool = False) -> CopyFacts:
    """Check all of the copy: its bytes by SQLite's own means, and that its tables and triggers are Winnow's, where its
    revision is one that is known here. Tables of others, and indices that are not unique, are passed over.

    rows_kind : of entries that name the project's table
    live : it is no copy, but a database that others may be writing to

    Raises DamagedCopyError, AlienObjectError.
    """
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'' if live else '&immutable=1'}", uri=True)
        ) as copy:
            copy.execute("PRAGMA trusted_schema=OFF")
            revision, extras = _compared(copy)
            faults = [str(one) for (one,) in copy.execute(f"PRAGMA integrity_check({_FAULTS})")]
            if faults != ["ok"]:
                raise DamagedCopyError("; ".join(faults))
            lost = _lost_row(copy, {one.name for one in extras})
            if lost:
                raise DamagedCopyError(
                    f"row {lost[1]} of {lost[0]} names a row of {lost[2]} that is not there"
                )
            counts = {
                name: copy.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608 - names of ours
                for name in _COUNTED
            }
            hashes = {one for (one,) in copy.execute("SELECT table_hash FROM projects")}
            told = copy.execute(
                "SELECT before, after FROM entries WHERE row = ? AND kind = ?", (NO_ROW, rows_kind)
            )
            for before, after in told:
                hashes |= {*json.loads(before), *json.loads(after)}
    except (sqlite3.Error, ValueError, TypeError) as error:
        if isinstance(error, (DamagedCopyError, AlienObjectError)):
            raise
        raise DamagedCopyError(str(error)) from error
    return CopyFacts(revision, counts, frozenset(hashes), tuple(str(one) for one in extras))


def drop_aliens(path: Path) -> list[str]:
    """Drop all of the copy that may change what Winnow does, triggers and views first; what it was.

    Whether it is Winnow's then `look_into` says. Raises DamagedCopyError.
    """
    try:
        with closing(sqlite3.connect(path)) as copy, copy:
            copy.execute("PRAGMA trusted_schema=OFF")
            revision = _revision(copy)
            extras = what_differs(copy, revision).extras if revision in revisions() else ()
            aliens = [one for one in extras if not one.harmless]
            for one in aliens:
                copy.execute(one.drop)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise DamagedCopyError(str(error)) from error
    return [str(one) for one in aliens]


def _compared(copy: sqlite3.Connection) -> tuple[str, tuple[Extra, ...]]:
    """The revision, and what there is beside Winnow's. Raises DamagedCopyError, AlienObjectError."""
    revision = _revision(copy)
    if revision not in revisions():
        return revision, ()
    differences = what_differs(copy, revision)
    if differences.fault is not None:
        raise DamagedCopyError(differences.fault)
    for one in differences.extras:
        if not one.harmless:
            raise AlienObjectError(one)
    return revision, differences.extras


def _revision(copy: sqlite3.Connection) -> str:
    (revision,) = copy.execute("SELECT version_num FROM alembic_version").fetchone() or ("",)
    return str(revision)


def _lost_row(copy: sqlite3.Connection, beside: set[str]) -> tuple[str, int, str] | None:
    """The first row of Winnow's that names one that is not there: its table, its number, the table named."""
    for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if name not in beside:
            for lost in copy.execute("SELECT * FROM pragma_foreign_key_check(?)", (name,)):
                return str(lost[0]), int(lost[1]), str(lost[2])
    return None


def look_at(session: Session, rows_kind: str) -> CopyFacts:
    """The same of PostgreSQL, which looks after its files itself. Raises SQLAlchemyError."""
    told = text("SELECT before, after FROM entries WHERE row = :row AND kind = :kind")
    rows = session.execute(told.bindparams(bindparam("row", NO_ROW), bindparam("kind", rows_kind)))
    hashes = {str(one) for one in session.execute(text("SELECT table_hash FROM projects")).scalars()}
    for before, after in rows:
        hashes |= {*before, *after}
    return CopyFacts(
        str(session.execute(text("SELECT version_num FROM alembic_version")).scalar_one()),
        {
            name: int(session.execute(text(f"SELECT count(*) FROM {name}")).scalar_one())  # noqa: S608 - names of ours
            for name in _COUNTED
        },
        frozenset(hashes),
    )
