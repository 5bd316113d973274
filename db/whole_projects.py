"""All that is stored of one project, as plain values, to be taken to another database.

Not of it: what is open before people now, and what workers make again (versions of models, comparisons, estimates).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from sqlalchemy import Column, insert, select
from sqlalchemy.orm import Session

from db.base import Base, UtcTime

PARTS = (
    "entries",
    "members",
    "examples",
    "dispute_notes",
    "qualifications",
    "goals",
    "past_settings",
    "snapshots",
)
"""The tables whose rows are a project's."""
LATER = frozenset({"past_settings", "snapshots"})
"""Those of them that came when projects had been taken along already: a file may lack them."""
_OF_HERE = {"id", "created_by", "archived_at", "deleted_at"}
"""What a project has anew in every database."""

_LARGEST = 2**31 - 1
_AT_ONCE = 1_000
"""Rows that `put` has in memory."""

Rows = dict[str, list[dict[str, Any]]]


class MisfitError(ValueError):
    """What was taken is not as the tables are; in words that end without a full stop."""


def take(session: Session, project_id: int) -> tuple[dict[str, Any], Rows]:
    """The project itself, and its rows by table, in the order of their keys; moments as ISO 8601."""
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
    """The people, by id, whom these rows name."""
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
    """Store a project that was taken; its id here. people : {id there: id here}

    Raises KeyError, TypeError, ValueError where it is not as `take` gives it; `check` says so before, in words.
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
    """Whether these are values as `take` gives them. Raises MisfitError.

    A column that came later, which may be empty or has a default, may be missing: in all rows of a table, or in none.
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


def _check_row(name: str, columns: Mapping[str, Column[Any]], row: Any) -> None:
    if not isinstance(row, dict):
        raise MisfitError(f"{name}: {row!r} is no row")
    for key, value in row.items():
        if key not in columns:
            raise MisfitError(f"{name}: there is no column {key!r}")
        if not _holders(name)[key](value):
            raise MisfitError(f"{name}: {key} cannot be {value!r:.80}")
    for key, column in columns.items():
        if key not in row and not column.nullable and column.server_default is None:
            raise MisfitError(f"{name}: {key} is missing")


@cache
def _holders(name: str) -> dict[str, Callable[[Any], bool]]:
    """Of each column of a table, whether it holds a value, as its class says."""
    (of,) = (one.class_ for one in Base.registry.mappers if one.local_table.description == name)
    hints = get_type_hints(of)
    return {key: _holder(get_args(hints[key])[0]) for key in _by_name(name)}


def _holder(hint: Any) -> Callable[[Any], bool]:
    if isinstance(hint, UnionType):
        among = [_holder(one) for one in get_args(hint)]
        return lambda value: any(one(value) for one in among)
    if get_origin(hint) is list:
        (of,) = map(_holder, get_args(hint))
        return lambda value: isinstance(value, list) and all(map(of, value))
    return _HOLDS[get_origin(hint) or hint]


def _is_moment(value: Any) -> bool:
    try:
        if not isinstance(value, str) or datetime.fromisoformat(value).utcoffset() is None:
            return False
        datetime.fromisoformat(value).astimezone(UTC)  # as it is stored: the year 1 in the east has none
    except (ValueError, OverflowError):
        return False
    return True


_HOLDS: Mapping[Any, Callable[[Any], bool]] = {
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
    """Those that mean the same in every database."""
    table = Base.metadata.tables[name]
    own_key = [column for column in table.primary_key if column.name == "id"]
    return [column for column in table.columns if column.name != "project_id" and column not in own_key]


def _people_columns(name: str) -> list[Column[Any]]:
    return [
        one for one in _columns(name) if any(key.target_fullname == "people.id" for key in one.foreign_keys)
    ]


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        str(key): value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()
    }


def _typed(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row as the columns have them; columns that came later may be missing."""
    columns = Base.metadata.tables[name].c
    found = {}
    for key, value in row.items():
        is_moment = isinstance(columns[key].type, UtcTime)
        found[key] = datetime.fromisoformat(value) if is_moment and value is not None else value
    return found
