"""Homes on SQLite and on PostgreSQL, for a folder's conftest to import.

A test with such a fixture runs on SQLite. In the files of `ON_BOTH` it runs twice, and the one on PostgreSQL is marked
`postgres`. A single test is marked `on_both`, `on_sqlite` or `on_postgres`; a folder of tests of one database has its
own `backend` fixture in its conftest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.migrated import lay_database
from tests.postgres import postgres_databases, postgres_server, postgres_url
from workflow.server.settings import Settings

__all__ = [
    "BOTH",
    "ON_BOTH",
    "Laying",
    "backend",
    "choose_backends",
    "lay",
    "on_both",
    "on_postgres",
    "on_postgres_in_proofs",
    "on_sqlite",
    "postgres_databases",
    "postgres_server",
    "postgres_url",
]

BOTH = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))

ON_BOTH = (
    "tests/db/",
    "tests/workflow/test_double_presses.py",
    "tests/workflow/test_no_nul.py",
    "tests/workflow/projects/test_finding_projects.py",
)
"""The paths of files all of whose tests could behave differently on the two databases. Elsewhere a single test is
marked `on_both`: SQL, locks, transactions, every use case once."""

on_sqlite = pytest.mark.parametrize("backend", BOTH[:1], indirect=True)
on_postgres = pytest.mark.parametrize("backend", BOTH[1:], indirect=True)
on_both = pytest.mark.parametrize("backend", BOTH, indirect=True)
"""For folders whose `backend` is a single one unless a test asks for both."""

on_postgres_in_proofs = pytest.mark.parametrize(
    "backend", [BOTH[0], pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.proof])], indirect=True
)
"""For what runs the same statements on both, which other tests compare."""

Laying = Callable[..., Settings]


@pytest.fixture(scope="session")
def backend(request: pytest.FixtureRequest) -> str:
    """sqlite or postgres, as `choose_backends` or a mark of the test says."""
    return str(request.param)


def choose_backends(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test that uses the fixture `backend` of this module by the databases it runs on."""
    marked = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    fixtures = metafunc.definition._fixtureinfo.name2fixturedefs.get("backend", ())
    if not fixtures or fixtures[-1].func.__module__ != __name__ or any("backend" in names for names in marked):
        return
    path = metafunc.definition.nodeid.partition("::")[0]
    metafunc.parametrize("backend", BOTH if path.startswith(ON_BOTH) else BOTH[:1], indirect=True)


@pytest.fixture
def lay(backend: str, request: pytest.FixtureRequest) -> Laying:
    """Makes a folder a home, whose database has all tables and no rows; further settings by name."""
    if backend == "postgres":
        create = request.getfixturevalue("postgres_databases")

    def lay_it(folder: Path, **more: str) -> Settings:
        if backend == "sqlite":
            lay_database(folder)
        else:
            more["WINNOW_DATABASE_URL"] = create()
        return Settings.from_environment({"WINNOW_HOME": str(folder), **more})

    return lay_it
