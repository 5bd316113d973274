"""The header of SQLite's file, as SQLite itself says it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.opened_file import MAGIC, FileHeader, is_empty, is_no_sqlite, read_header


def header_of(path: Path) -> FileHeader | None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return read_header(descriptor)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_it_is_what_sqlite_says(tmp_path: Path, page: int) -> None:
    path = tmp_path / "a.sqlite3"
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"PRAGMA page_size = {page}")
        made.execute("CREATE TABLE t (x)")
        made.execute("PRAGMA application_id = 2147483647")
        made.execute("PRAGMA user_version = 123456789")
        cookie = made.execute("PRAGMA schema_version").fetchone()[0]
    assert header_of(path) == FileHeader(2147483647, 123456789, cookie, path.stat().st_size)


@pytest.mark.parametrize("content", [b"", b"x" * 4096, MAGIC, MAGIC + b"\0" * 40])
def test_what_is_none_has_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    assert header_of(tmp_path / "a") is None


@pytest.mark.parametrize(
    ("content", "said"), [(b"", (True, True)), (b"x" * 4096, (False, True)), (MAGIC, (False, False))]
)
def test_it_is_said_of_a_path_before_it_is_opened(
    tmp_path: Path, content: bytes, said: tuple[bool, bool]
) -> None:
    path = tmp_path / "a"
    assert (is_empty(path), is_no_sqlite(path)) == (False, False), "there is nothing"
    path.write_bytes(content)
    assert (is_empty(path), is_no_sqlite(path)) == said
