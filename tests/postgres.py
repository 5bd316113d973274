"""A PostgreSQL server for the test run; its databases are copies of a migrated one."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from db.engine import Database
from tests.postgres_programs import find

TEMPLATE = "migrated"

# Backups may skip files that only help after a power cut.
FAST = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=4GB",
    "checkpoint_timeout=1h",
    "autovacuum=off",
    "jit=off",
)

# All rows of the tables that are named go, past the triggers of the logs, and numbers begin with 1 again.
EMPTY = """
DO $$ DECLARE one regclass; BEGIN
    SET LOCAL session_replication_role = replica;
    FOREACH one IN ARRAY '{{{tables}}}'::regclass[] LOOP
        EXECUTE 'DELETE FROM ' || one;
    END LOOP;
    FOR one IN SELECT oid FROM pg_class WHERE relkind = 'S' LOOP
        PERFORM setval(one, 1, false);
    END LOOP;
END $$
"""
# Counters that change with every table, index or trigger.
SHAPE = """
SELECT md5(string_agg(found.what, ',' ORDER BY found.what)) FROM (
    SELECT concat('table ', oid, ' ', xmin) AS what FROM pg_class
    UNION ALL SELECT concat('trigger ', oid, ' ', xmin) FROM pg_trigger
) AS found
"""

Databases = Callable[[], str]


# Waits until its parent closes the input or ends in any way; then it stops the server.
WATCH = 'cat; "$0" -D "$1/data" -m immediate -s stop; rm -rf "$1"'


class Server:
    """Start with ``start()``. Its socket is in a private folder, which no one else can reach. It ends with the process
    that started it, even if that is killed.

    Copying a database takes 25 ms of CPU time, emptying it 5: a returned database whose tables are unchanged is emptied
    and lent again.

    programs : folder of initdb, pg_ctl and postgres      options : the server's
    """

    def __init__(self, programs: Path, options: Sequence[str] = FAST) -> None:
        self.programs = programs
        self.options = ("listen_addresses=''", *options)
        self.folder = Path(tempfile.mkdtemp(prefix="winnow-pg-"))  # short: a socket's path has 100 characters
        self._numbers = itertools.count()
        self._engines: dict[str, Engine] = {}
        self._free: list[str] = []
        self._user = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            self._user = {"user": "nobody"}
            shutil.chown(self.folder, "nobody")

    def start(self) -> Server:
        data = str(self.folder / "data")
        self._watcher = subprocess.Popen(
            ["sh", "-c", WATCH, str(self.programs / "pg_ctl"), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # or it would be killed together with its parent
            **self._user,
        )
        self._run("initdb", "-D", data, "-A", "trust", "-U", "winnow", "-E", "UTF8", "--no-sync")
        self.go_on()
        self._ask("postgres", f"CREATE DATABASE {TEMPLATE}")
        made = Database(self._url_of(TEMPLATE))
        made.migrate()
        made.close()
        tables = self._ask(TEMPLATE, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        self._filled = [one for one in tables if self._rows(TEMPLATE, one)]
        self._empty = EMPTY.format(tables=",".join(sorted(set(tables) - set(self._filled))))
        self._shape, self._lines = self._ask(TEMPLATE, SHAPE), self._filled_with(TEMPLATE)
        self._forget(TEMPLATE)  # or it could not be copied
        return self

    def go_on(self) -> None:
        """Start it, at first and after `go_away`."""
        options = " ".join(["-k", str(self.folder), *(f"-c {one}" for one in self.options)])
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "600", "-l", log, "-o", options, "start")

    def go_away(self, how: str) -> None:
        """Stop it as an administrator does ("fast"), or as a crash ("immediate")."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "600", "-m", how, "stop")

    def lend(self) -> str:
        """The URL of a database with all tables and only the rows that migrations insert."""
        if self._free:
            return self._url_of(self._free.pop())
        return self.create(f"TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")

    def take_back(self, url: str) -> None:
        """Take a database back; anyone still connected to it is disconnected."""
        name = url.partition("?")[0].rpartition("/")[2]
        self._ask(
            name,
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        if self._ask(name, SHAPE) == self._shape and self._filled_with(name) == self._lines:
            self._ask(name, self._empty)
            self._free.append(name)
        else:
            self.drop(url)

    def create(self, how: str = "") -> str:
        """The URL of a new database, empty by default."""
        name = f"t{next(self._numbers)}"
        self._ask("postgres", f"CREATE DATABASE {name} {how}")
        return self._url_of(name)

    @contextmanager
    def empty_database(self) -> Iterator[str]:
        """The URL of a database without tables, for the duration of the block."""
        url = self.create()
        yield url
        self.drop(url)

    def drop(self, url: str) -> None:
        """Drop a database; anyone still connected to it is disconnected."""
        name = url.partition("?")[0].rpartition("/")[2]
        self._forget(name)
        self._ask("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def stop(self) -> None:
        for name in [*self._engines]:
            self._forget(name)
        self._watcher.communicate()

    def _filled_with(self, name: str) -> list[object]:
        """The rows that migrations insert."""
        return [self._rows(name, table) for table in self._filled]

    def _rows(self, name: str, table: object) -> list[object]:
        return self._ask(name, f"SELECT one::text FROM {table} AS one")  # noqa: S608 - tables of our own

    def _url_of(self, name: str) -> str:
        return f"postgresql+psycopg://winnow@/{name}?host={self.folder}"

    def _forget(self, name: str) -> None:
        if name in self._engines:
            self._engines.pop(name).dispose()

    def _ask(self, name: str, statement: str) -> list[object]:
        """The first column of a query's result."""
        if name not in self._engines:
            self._engines[name] = create_engine(self._url_of(name), isolation_level="AUTOCOMMIT")
        with self._engines[name].connect() as connection:
            found = connection.exec_driver_sql(statement)
            return list(found.scalars()) if found.returns_rows else []

    def _run(self, program: str, *arguments: str) -> None:
        # Output to a file: the server started by pg_ctl would hold a pipe open for ever.
        with (self.folder / "programs.log").open("ab") as log:
            command = [str(self.programs / program), *arguments]
            subprocess.run(command, check=True, cwd=self.folder, stdout=log, stderr=log, **self._user)


@contextmanager
def running(programs: Path, options: Sequence[str] = FAST) -> Iterator[Server]:
    """A running server, for the duration of the block."""
    server = Server(programs, options)
    try:
        yield server.start()
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Started when the first test of the process needs it."""
    programs = find()
    assert programs is not None, "tests marked `postgres` are left out where there is no PostgreSQL"
    with running(programs) as server:
        yield server


@pytest.fixture
def postgres_databases(postgres_server: Server) -> Iterator[Databases]:
    """Creates databases with all tables and no rows, for this test, and returns their URL."""
    made: list[str] = []

    def create() -> str:
        made.append(postgres_server.lend())
        return made[-1]

    yield create
    for url in made:
        postgres_server.take_back(url)


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """URL of an empty database."""
    with postgres_server.empty_database() as url:
        yield url
