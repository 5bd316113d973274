"""How SQLite is opened, and what is said of its files."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from db.base import is_damaged
from db.opened_file import OpenedFile
from db.sqlite import BUSY_SECONDS, path_in, sqlite_engine


def test_connections_are_set_up_to_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    engine = sqlite_engine(f"sqlite:///{path}", OpenedFile(path), writes=True)
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "recursive_triggers": 1,
        "busy_timeout": BUSY_SECONDS * 1000,
        "query_only": 0,
    }
    with engine.begin() as connection:
        assert {name: connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in wanted} == wanted
    engine.dispose()


def test_the_path_of_a_url_may_be_a_uri(tmp_path: Path) -> None:
    assert path_in(str(tmp_path / "a b.sqlite3")) == tmp_path / "a b.sqlite3"
    assert path_in(f"file:{tmp_path}/a%20b.sqlite3?mode=rw") == tmp_path / "a b.sqlite3"


def test_a_file_of_something_else_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    path.write_bytes(b"x" * 8192)
    engine = sqlite_engine(f"sqlite:///{path}", OpenedFile(path), writes=False)
    with pytest.raises(DatabaseError) as caught, engine.begin():
        pass  # pragma: no cover
    assert is_damaged(caught.value)
    engine.dispose()
