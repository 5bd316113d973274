"""The cursor by which SQLAlchemy asks PostgreSQL. A module of its own: psycopg is loaded where there is PostgreSQL."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from psycopg import Cursor

_NOTHING = (None,) * 5


class ShortCursor(Cursor[Any]):
    """Describes a column by its name and type alone, which is what SQLAlchemy asks of every result: to word all that
    PostgreSQL knows of each takes as long as a statement."""

    @property
    def description(self) -> Any:
        found = self.pgresult
        if found is None or not found.nfields:
            return None
        return [(_name(found.fname(at)), found.ftype(at), *_NOTHING) for at in range(found.nfields)]


@lru_cache(1_000)
def _name(given: bytes | None) -> str:
    return (given or b"").decode()
