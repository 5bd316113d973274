"""Checks of a copy of the database before anyone relies on it. Its tables may be of any earlier version."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from sqlalchemy import Column, bindparam, insert, select, text
from sqlalchemy.orm import Session

from db.base import Base, UtcTime
from db.entries import NO_ROW
from db.sqlite import Extra, find_differences, revisions

_COUNTED = ("projects", "entries", "people")
_FAULTS = 3


class DamagedCopyError(ValueError):
    """A copy is not a complete Winnow database. The message ends without a full stop."""


class AlienObjectError(ValueError):
    """An object that others added to the database may change how Winnow behaves. The message ends without a full
    stop. Nothing is damaged by it; only `fix` says how to remove it."""

    def __init__(self, extra: Extra) -> None:
        super().__init__(f"{extra} in it is not Winnow's")
        self.fix = f"drop it ({extra.drop})."


@dataclass(frozen=True)
class CopyFacts:
    """revision : of its tables      counts : number of rows by table, for people to read      table_hashes : SHA-256
    of every uploaded table that a project has or had      beside : harmless tables and indices that are not
    Winnow's"""

    revision: str
    counts: dict[str, int]
    table_hashes: frozenset[str]
    beside: tuple[str, ...] = ()


def check_copy(path: Path, rows_kind: str, *, live: bool = False) -> CopyFacts:
    """Check all of the copy: its bytes by SQLite's own checks, and that its tables and triggers are Winnow's, if its
    revision is known here. Tables of others, and indices that are not unique, are skipped.

    rows_kind : kind of the entries that name the project's table
    live : it is not a copy but a database that others may be writing to

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
                raise DamagedCopyError(f"row {lost[1]} of {lost[0]} names a row of {lost[2]} that is not there")
            counts = {
                name: copy.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608 - names of ours
                for name in _COUNTED
            }
            hashes = {one for (one,) in copy.execute("SELECT table_hash FROM projects")}
            told = copy.execute("SELECT before, after FROM entries WHERE row = ? AND kind = ?", (NO_ROW, rows_kind))
            for before, after in told:
                hashes |= {*json.loads(before), *json.loads(after)}
    except (sqlite3.Error, ValueError, TypeError) as error:
        if isinstance(error, (DamagedCopyError, AlienObjectError)):
            raise
        raise DamagedCopyError(str(error)) from error
    return CopyFacts(revision, counts, frozenset(hashes), tuple(str(one) for one in extras))


def drop_aliens(path: Path) -> list[str]:
    """Drop all objects of the copy that may change what Winnow does, triggers and views first; return what they were.

    `check_copy` then checks whether the rest is Winnow's. Raises DamagedCopyError.
    """
    try:
        with closing(sqlite3.connect(path)) as copy, copy:
            copy.execute("PRAGMA trusted_schema=OFF")
            revision = _revision(copy)
            extras = find_differences(copy, revision).extras if revision in revisions() else ()
            aliens = [one for one in extras if not one.harmless]
            for one in aliens:
                copy.execute(one.drop)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise DamagedCopyError(str(error)) from error
    return [str(one) for one in aliens]


def _compared(copy: sqlite3.Connection) -> tuple[str, tuple[Extra, ...]]:
    """Return the revision, and the objects that are not Winnow's. Raises DamagedCopyError, AlienObjectError."""
    revision = _revision(copy)
    if revision not in revisions():
        return revision, ()
    differences = find_differences(copy, revision)
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
    """Return the first row of Winnow's that refers to a missing row: its table, its number, the table referred to."""
    for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if name not in beside:
            for lost in copy.execute("SELECT * FROM pragma_foreign_key_check(?)", (name,)):
                return str(lost[0]), int(lost[1]), str(lost[2])
    return None


def look_at(session: Session, rows_kind: str) -> CopyFacts:
    """Do the same for PostgreSQL, which checks its files itself. Raises SQLAlchemyError."""
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


# A copy of the database that is about to replace another: access that has ended since must not work again.
#
# In a backup, sign-ins and tokens that ended after it was made, and links used since, are still valid. Its tables
# may be of any earlier version.

_HAS = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
_END_SIGN_INS = "UPDATE sign_ins SET ended_at = :now WHERE ended_at IS NULL AND expires_at > :now"
_END_LINKS = "UPDATE links SET expires_at = :now WHERE used_at IS NULL AND expires_at > :now"
_END_TOKENS = "UPDATE tokens SET ended_at = :now WHERE ended_at IS NULL AND (expires_at IS NULL OR expires_at > :now)"
_NOTE = "INSERT INTO events (at, what, details, address) VALUES (:now, :what, :details, '')"


def end_access(copy: Path, at: datetime, what: str, file: str) -> None:
    """End every sign-in, link and token in this SQLite file that is valid at that moment, and record an event.

    what : the event's kind, stored as it is      file : name of the backup, for the event
    Raises sqlite3.Error; then nothing was changed.
    """
    now = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")  # SQLAlchemy's format of times in SQLite
    with closing(sqlite3.connect(copy)) as there, there:
        sign_ins = there.execute(_END_SIGN_INS, {"now": now}).rowcount
        links = there.execute(_END_LINKS, {"now": now}).rowcount
        has = {one: there.execute(_HAS, (one,)).fetchone() == (1,) for one in ("events", "tokens")}
        tokens = there.execute(_END_TOKENS, {"now": now}).rowcount if has["tokens"] else 0
        if has["events"]:  # both came with later versions
            details = json.dumps({"file": file, "sign_ins": sign_ins, "links": links, "tokens": tokens})
            there.execute(_NOTE, {"now": now, "what": what, "details": details})


# All that is stored of one project, as plain values, to be moved to another database.
#
# Left out: open questions, and what workers can compute again (model versions, comparisons, estimates).

PARTS = ("entries", "members", "examples", "dispute_notes", "qualifications", "goals", "past_settings", "snapshots")
"""The tables whose rows are a project's."""
LATER = frozenset({"past_settings", "snapshots"})
"""Tables that are newer than the first project files: a file may lack them."""
_OF_HERE = {"id", "created_by", "archived_at", "deleted_at"}
"""Columns of a project that each database sets for itself."""

_LARGEST = 2**31 - 1
_AT_ONCE = 1_000
"""Number of rows that `put` keeps in memory at once."""

Rows = dict[str, list[dict[str, Any]]]


class MisfitError(ValueError):
    """The copied data does not match the tables. The message ends without a full stop."""


def take(session: Session, project_id: int) -> tuple[dict[str, Any], Rows]:
    """Return the project itself, and its rows by table, in the order of their keys; moments as ISO 8601."""
    table = Base.metadata.tables["projects"]
    (project,) = session.execute(select(table).where(table.c.id == project_id))
    rows: Rows = {}
    for name in PARTS:
        part = Base.metadata.tables[name]
        found = session.execute(
            select(*_columns(name)).where(part.c.project_id == project_id).order_by(*part.primary_key)
        )
        rows[name] = [_plain(row._mapping) for row in found]
    return {key: value for key, value in _plain(project._mapping).items() if key not in _OF_HERE}, rows


def people_in(rows: Rows) -> set[int]:
    """Return the ids of the people that these rows name."""
    return {
        row[column.name]
        for name, found in rows.items()
        for column in _people_columns(name)
        for row in found
        if row.get(column.name) is not None
    }


def put(
    session: Session,
    project: Mapping[str, Any],
    rows: Mapping[str, Iterable[Mapping[str, Any]]],
    people: Mapping[int, int],
    created_by: int,
) -> int:
    """Store a project that `take` returned; return its id here. people : {id there: id here}

    Raises KeyError, TypeError, ValueError if it is not as `take` returns it; `check` reports that beforehand with a
    message.
    """
    table = Base.metadata.tables["projects"]
    values = _typed("projects", {key: project[key] for key in project if key not in _OF_HERE})
    made = insert(table).values(values | {"created_by": created_by}).returning(table.c.id)
    project_id = int(session.execute(made).scalar_one())
    for name in PARTS:
        who = {column.name for column in _people_columns(name)}
        made_of = insert(Base.metadata.tables[name])
        stored = (
            {
                key: people[value] if key in who and value is not None else value
                for key, value in _typed(name, row).items()
            }
            | {"project_id": project_id}
            for row in rows[name]
        )
        while some := list(islice(stored, _AT_ONCE)):
            session.execute(made_of, some)
    return project_id


def check(project: Mapping[str, Any], rows: Rows) -> None:
    """Check that these are values as `take` returns them. Raises MisfitError.

    A newer column, which may be empty or has a default, may be missing: in all rows of a table, or in none.
    """
    own = {key: column for key, column in _by_name("projects").items() if key not in _OF_HERE}
    _check_row("projects", own, project)
    for name in PARTS:
        columns, found = _by_name(name), rows[name]
        key = [one.name for one in Base.metadata.tables[name].primary_key if one.name in columns]
        seen = set()
        for row in found:
            _check_row(name, columns, row)
            if row.keys() != found[0].keys():
                raise MisfitError(f"{name}: not all rows have the same columns")
            mine = tuple(row[one] for one in key)
            if key and mine in seen:
                raise MisfitError(f"{name}: two rows have {', '.join(key)} {', '.join(map(str, mine))}")
            seen.add(mine)


def _check_row(name: str, columns: Mapping[str, Column[Any]], row: object) -> None:
    if not isinstance(row, dict):
        raise MisfitError(f"{name}: {row!r} is not a row")
    for key, value in row.items():
        if key not in columns:
            raise MisfitError(f"{name}: there is no column {key!r}")
        if not _holders(name)[key](value):
            raise MisfitError(f"{name}: {key} cannot be {value!r:.80}")
    for key, column in columns.items():
        if key not in row and not column.nullable and column.server_default is None:
            raise MisfitError(f"{name}: {key} is missing")


@cache
def _holders(name: str) -> dict[str, Callable[[object], bool]]:
    """For each column of a table, the test whether it can hold a value."""
    (of,) = (one.class_ for one in Base.registry.mappers if one.local_table.description == name)
    hints = get_type_hints(of)
    return {key: _holder(get_args(hints[key])[0]) for key in _by_name(name)}


def _holder(hint: object) -> Callable[[object], bool]:
    if isinstance(hint, UnionType):
        among = [_holder(one) for one in get_args(hint)]
        return lambda value: any(one(value) for one in among)
    if get_origin(hint) is list:
        (of,) = map(_holder, get_args(hint))
        return lambda value: isinstance(value, list) and all(map(of, value))
    return _HOLDS[get_origin(hint) or hint]


def _is_moment(value: object) -> bool:
    try:
        if not isinstance(value, str) or datetime.fromisoformat(value).utcoffset() is None:
            return False
        year = datetime.fromisoformat(value).astimezone(UTC).year  # fails for year 1 east of Greenwich
    except (ValueError, OverflowError):
        return False
    return 1970 <= year < 2200  # no clock gives other years, and adding to them could overflow


_HOLDS: Mapping[Any, Callable[[object], bool]] = {
    NoneType: lambda value: value is None,
    bool: lambda value: type(value) is bool,
    int: lambda value: type(value) is int and -_LARGEST <= value <= _LARGEST,
    float: lambda value: type(value) is float or (type(value) is int and abs(value) <= _LARGEST),
    str: lambda value: isinstance(value, str),
    dict: lambda value: isinstance(value, dict),
    datetime: _is_moment,
}


def _by_name(name: str) -> dict[str, Column[Any]]:
    return {column.name: column for column in _columns(name)}


def _columns(name: str) -> list[Column[Any]]:
    """Columns that mean the same in every database."""
    table = Base.metadata.tables[name]
    own_key = [column for column in table.primary_key if column.name == "id"]
    return [column for column in table.columns if column.name != "project_id" and column not in own_key]


def _people_columns(name: str) -> list[Column[Any]]:
    return [one for one in _columns(name) if any(key.target_fullname == "people.id" for key in one.foreign_keys)]


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}


def _typed(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row in the types of the columns; newer columns may be missing."""
    columns = Base.metadata.tables[name].c
    found = {}
    for key, value in row.items():
        is_moment = isinstance(columns[key].type, UtcTime)
        found[key] = datetime.fromisoformat(value) if is_moment and value is not None else value
    return found
