"""How SQLite is opened: its settings, and how transactions begin."""

from __future__ import annotations

import re
import sqlite3
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from db.base import is_damaged
from db.identity import begin_counting
from db.opened_file import OpenedFile

BUSY_SECONDS = 30
"""Seconds a writer waits for another process (SQLite) or another thread before it gives up."""
FORGET_PAGES = "PRAGMA shrink_memory"
PASSING = "winnow_passing"
"""Execution option of an engine, on either database: what is committed need not be on the disk at once."""
_SYNCED = {False: "PRAGMA synchronous=FULL", True: "PRAGMA synchronous=NORMAL"}


def path_in(database: str) -> Path:
    """The file of a URL's database, which may be a URI of SQLite's own."""
    return Path(unquote(urlsplit(database).path) if database.startswith("file:") else database).absolute()


def sqlite_engine(url: str, file: OpenedFile, *, writes: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=20, hide_parameters=True)

    @event.listens_for(engine, "do_connect")
    def _look(*_: object) -> None:
        file.check()  # otherwise SQLite would create a deleted file again, empty

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the listener below begins transactions, not the driver
        # recursive_triggers: without it INSERT OR REPLACE deletes a row past the append-only trigger.
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            f"busy_timeout={BUSY_SECONDS * 1000}",
            "foreign_keys=ON",
            "recursive_triggers=ON",
        ):
            connection.execute("PRAGMA " + pragma)
        if not writes:
            connection.execute("PRAGMA query_only=ON")
        try:
            file.opened()
        except BaseException:
            connection.close()
            raise

    @event.listens_for(engine, "handle_error")
    def _note_damage(context: ExceptionContext) -> None:
        found = context.sqlalchemy_exception
        file.damaged |= isinstance(found, DBAPIError) and is_damaged(found)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if writes:
            # Otherwise it would use pages that were read before someone overwrote the file.
            connection.exec_driver_sql(FORGET_PAGES)
            connection.exec_driver_sql(_SYNCED[PASSING in connection.get_execution_options()])
            begin_counting(connection)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def is_whole(session: Session) -> bool:
    """Whether SQLite finds every page of its file as it should be."""
    try:
        return session.execute(text("PRAGMA quick_check(1)")).scalar() == "ok"
    except DBAPIError as error:
        if not is_damaged(error):
            raise
        return False


# Which versions of the tables this Winnow knows.

MIGRATIONS = Path(__file__).with_name("migrations")


BRIDGE = "commit 0a5ac252"
"""The last Winnow that can upgrade tables older than those of the first migration."""


class UnknownTablesError(RuntimeError):
    """The tables are of a revision that this Winnow does not know."""

    def __init__(self, revision: str) -> None:
        super().__init__(f"was written by {writer_of(revision)}")
        self.revision = revision


@cache  # each opening calls this three times
def revisions() -> tuple[str, ...]:
    """The table revisions that this Winnow knows, newest first. They are read from the names of the migration files,
    so that no command loads Alembic to learn that there is nothing to do."""
    files = (MIGRATIONS / "versions").glob("[0-9]*.py")
    return tuple(sorted((path.name.split("_")[0] for path in files), reverse=True))


def is_older(revision: str | None) -> bool:
    """Whether tables of this revision are older than all revisions known here."""
    return revision is not None and revision < revisions()[-1]


def writer_of(revision: str | None) -> str:
    """Describe which Winnow wrote tables of a revision that is unknown here."""
    if is_older(revision):
        return f"an earlier Winnow (its tables are of revision {revision}, known here from {revisions()[-1]} on)"
    return f"a newer Winnow (its tables are of revision {revision}, known here up to {revisions()[0]})"


def how_to_open(revision: str | None) -> str:
    """Say what to do about a database whose revision is not known here; without a full stop."""
    if is_older(revision):
        return f"start Winnow of {BRIDGE} on it once, which brings its tables up to date, then this one"
    return "start that version, or restore the backup from before it"


def check_known(session: Session) -> None:
    """Raise UnknownTablesError if the tables of the database are of a revision that is not known here."""
    found = _revision_in(session.connection())
    if found is not None and found not in revisions():
        raise UnknownTablesError(found)


def _revision_in(connection: Connection) -> str | None:
    """Return the revision of the tables, or None if Winnow has made none. Raises MultipleResultsFound."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return found


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the tables to a revision, inside the connection's transaction."""
    if revision == "head" and _revision_in(connection) == revisions()[0]:
        return
    from alembic import command  # a quarter of a second, needed only if the tables change
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


# Comparing the tables, indices and triggers of an SQLite file with those that Winnow's migrations make.
#
# A file from elsewhere may look complete and lack the triggers that keep the log append-only, or have one that makes
# everyone an owner. The SQL statements that made the objects are compared, without regard to case, spaces, quotes
# and the order of columns: these depend on the library versions and the migrations that made the tables. A missing
# index does not count either: it costs only time.
#
# Additions are not damage. A further table, or an index that only makes something faster, made by an administrator
# or a replication tool, does not change what Winnow does. A trigger, a view or a unique index may.

Made = dict[tuple[str, str], tuple[str, ...]]
"""By type and name: the object's table, and the words of the statement that made it."""

_LISTED = (
    "SELECT type, name, tbl_name, sql FROM sqlite_master "
    r"WHERE type NOT IN ('table', 'index') OR name NOT LIKE 'sqlite\_%' ESCAPE '\'"
)
_HARMLESS = (("table", "create", "table"), ("index", "create", "index"))
"""Type and first words of the statement: objects that do not change what Winnow does."""
_DROPPED = ("trigger", "view", "index", "table")
"""Order of dropping: triggers and views before the tables that they act on."""
_WORD = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^]]*\]|\w+|\S""")
_making = threading.Lock()  # Alembic runs one migration at a time in a process


@dataclass(frozen=True)
class Extra:
    """An object in the file that is not Winnow's. kind : "table", "index", "trigger" or "view"      name : of it
    harmless : a table or an index that changes nothing of what Winnow does"""

    kind: str
    name: str
    harmless: bool

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r}"

    @property
    def drop(self) -> str:
        """The statement that removes it."""
        quoted = self.name.replace('"', '""')
        return f'DROP {self.kind.upper()} "{quoted}"'


@dataclass(frozen=True)
class Differences:
    """fault : the first object that is missing, or not as Winnow makes it, as a message without a final full stop;
    None:
    all are there      extras : what is not Winnow's, in the order in which it can be dropped"""

    fault: str | None
    extras: tuple[Extra, ...]


def find_differences(file: sqlite3.Connection, revision: str) -> Differences:
    """Differences from the tables of this revision, which must be known.

    Nothing of the file is run for it. Raises sqlite3.Error.
    """
    found, wanted = _understood(file.execute(_LISTED).fetchall()), _wanted(revision)
    extras = [
        Extra(kind, name, harmless=(kind, *found[kind, name][1:3]) in _HARMLESS)
        for kind, name in found.keys() - wanted.keys()
    ]
    return Differences(
        _fault(found, wanted), tuple(sorted(extras, key=lambda one: (_DROPPED.index(one.kind), one.name)))
    )


def _fault(found: Made, wanted: Made) -> str | None:
    for key in sorted(wanted.keys() - found.keys()):
        if key[0] != "index" or "unique" in wanted[key]:
            return f"the {key[0]} {key[1]!r} is missing"
    for key in sorted(found.keys() & wanted.keys()):
        if found[key] != wanted[key]:
            return f"the {key[0]} {key[1]!r} is not as Winnow makes it"
    return None


def _wanted(revision: str) -> Made:
    with _making:
        return _made_by_migrations(revision)


@cache
def _made_by_migrations(revision: str) -> Made:
    engine = create_engine("sqlite://")
    try:
        with engine.connect() as connection:
            return _made(connection, revision)
    finally:
        engine.dispose()


def _made(connection: Connection, revision: str) -> Made:
    upgrade(connection, revision)
    return _understood([tuple(row) for row in connection.exec_driver_sql(_LISTED)])


def _understood(rows: list[tuple[str, str, str, str | None]]) -> Made:
    return {(kind, name): (of.lower(), *_words(kind, sql or "")) for kind, name, of, sql in rows}


def _words(kind: str, sql: str) -> tuple[str, ...]:
    """The words of a statement; the parts of a table in the order of the alphabet."""
    words = [_plain(word) for word in _WORD.findall(sql)]
    if kind != "table" or "(" not in words:
        return tuple(words)
    parts: list[list[str]] = [[]]
    start, depth = words.index("("), 0
    for at, word in enumerate(words[start:], start):
        depth += (word == "(") - (word == ")")
        if not depth:
            return (*words[:start], *(" ".join(part) for part in sorted(parts)), *words[at:])
        if word == "," and depth == 1:
            parts.append([])
        elif at > start:
            parts[-1].append(word)
    return tuple(words)


def _plain(word: str) -> str:
    if word[0] == "'":
        return word
    return (word[1:-1] if word[0] in '"`[' and len(word) > 1 else word).lower()
