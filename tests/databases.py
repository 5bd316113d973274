"""Homes on SQLite and on PostgreSQL: a test that uses such a fixture is two tests. For a folder's conftest to import.

The half on PostgreSQL is marked `postgres`. What is about one of them alone is marked `on_sqlite` or `on_postgres` and
is one test; where that is a whole folder, its conftest has a fixture `backend` of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.migrated import lay_database
from tests.postgres import postgres_databases, postgres_server, postgres_url
from workflow.settings import Settings

__all__ = [
    "BOTH",
    "Laying",
    "backend",
    "lay",
    "on_both",
    "on_postgres",
    "on_sqlite",
    "postgres_databases",
    "postgres_server",
    "postgres_url",
]

BOTH = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))

on_sqlite = pytest.mark.parametrize("backend", BOTH[:1], indirect=True)
on_postgres = pytest.mark.parametrize("backend", BOTH[1:], indirect=True)
on_both = pytest.mark.parametrize("backend", BOTH, indirect=True)
"""Where a folder's `backend` is one of them unless a test asks for both."""

Laying = Callable[..., Settings]


@pytest.fixture(scope="session", params=BOTH)
def backend(request: pytest.FixtureRequest) -> str:
    """sqlite, then postgres."""
    return str(request.param)


@pytest.fixture
def lay(backend: str, request: pytest.FixtureRequest) -> Laying:
    """Makes a folder a home, with a database that has all tables and nothing in them; further settings by name."""
    if backend == "postgres":
        create = request.getfixturevalue("postgres_databases")

    def lay_it(folder: Path, **more: str) -> Settings:
        if backend == "sqlite":
            lay_database(folder)
        else:
            more["WINNOW_DATABASE_URL"] = create()
        return Settings.from_environment({"WINNOW_HOME": str(folder), **more})

    return lay_it
