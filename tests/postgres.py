"""A PostgreSQL server of the test run's own, where a server program is on PATH: for a folder's conftest to import."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text


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
