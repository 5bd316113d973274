"""Every test of the query modules runs on SQLite and, where a server program is on PATH, on PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from db import entries, people, projects
from db.engine import Database

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a PostgreSQL server of this test run's own, on a socket in a folder of its own."""
    if missing := [name for name in ("initdb", "pg_ctl", "postgres") if shutil.which(name) is None]:
        pytest.skip(f"NOT RUN on PostgreSQL: {', '.join(missing)} not on PATH")
    folder = Path(tempfile.mkdtemp(prefix="winnow-pg-"))  # short: a socket's path has about 100 characters
    as_user: dict[str, str] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        as_user = {"user": "nobody"}
        shutil.chown(folder, "nobody")

    def run(*command: str) -> None:
        # Output to a file: the server started by pg_ctl would hold a pipe open for ever.
        with (folder.parent / f"{folder.name}.log").open("ab") as log:
            subprocess.run(command, check=True, cwd=folder, stdout=log, stderr=log, **as_user)

    data, log = folder / "data", folder / "log"
    try:
        run("initdb", "-D", str(data), "-A", "trust", "-U", "winnow", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-D", str(data), "-w", "-l", str(log), "-o", options, "start")
        try:
            yield f"postgresql+psycopg://winnow@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        (folder.parent / f"{folder.name}.log").unlink(missing_ok=True)


@pytest.fixture
def postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of an empty database."""
    name = f"t{abs(hash(request.node.nodeid))}"
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield postgres_server.replace("/postgres?", f"/{name}?")
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'winnow.sqlite3'}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database with all tables and nothing in them."""
    made = Database(request.getfixturevalue(f"{request.param}_url"))
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def sqlite(sqlite_url: str) -> Iterator[Database]:
    made = Database(sqlite_url)
    made.migrate()
    yield made
    made.close()


def add_project(database: Database, name: str = "birds") -> int:
    """A project; its first owner is person 1, an annotator is person 2."""
    with database.write() as session:
        if people.first_owner(session) is None:
            people.add(session, "ada", "owner", NOW)
            people.add(session, "bob", "annotator", NOW)
        return projects.add(
            session,
            name=name,
            table_hash="0" * 64,
            roles={"candidates": "c", "numbers": ["x"]},
            settings={"n_neighbors": 3},
            description="",
            n_rows=5,
            n_classes=2,
            n_to_ask=4,
            created_by=1,
            created_at=NOW,
        )


def new_entry(project_id: int, revision: int = 0, **changes: object) -> entries.NewEntry:
    values: dict[str, object] = {
        "project_id": project_id,
        "kind": "is",
        "row": 3,
        "person_id": 1,
        "revision": revision,
        "at": NOW,
        "labels": ("wren",),
        "before": ("robin", "wren"),
        "after": ("wren",),
    } | changes
    values.setdefault(
        "token", f"{values['person_id']}.{values['row']}.{values.get('label')}.{values['revision']}"
    )
    return entries.NewEntry(**values)  # type: ignore[arg-type]
