"""Whether the tables, indices and triggers of an SQLite file are those that Winnow's migrations make, and what others
there are.

A file from elsewhere may look whole and lack the triggers that keep the log append-only, or have one that makes
everybody an owner. Compared is what each is made by. How that is written does not count: letters' size, spaces, quotes
about names, and the order of the columns, for these depend on which version of a library, and which way, has made the
tables. Nor does an index that is missing, which costs time alone.

What others have added is no damage. A table beside Winnow's, or an index that only makes something faster, as an
administrator or a program that copies databases makes them, changes nothing of what Winnow does. A trigger, a view or a
unique index may.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Connection, create_engine

from db.revisions import upgrade

Made = dict[tuple[str, str], tuple[str, ...]]
"""By type and name: the table that it is of, and what it is made by."""

_LISTED = (
    "SELECT type, name, tbl_name, sql FROM sqlite_master "
    r"WHERE type NOT IN ('table', 'index') OR name NOT LIKE 'sqlite\_%' ESCAPE '\'"
)
_HARMLESS = (("table", "create", "table"), ("index", "create", "index"))
"""Type, and the first words that it is made by: what changes nothing of Winnow's."""
_DROPPED = ("trigger", "view", "index", "table")
"""In which order: what acts by itself before what it acts on."""
_WORD = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^]]*\]|\w+|\S""")
_making = threading.Lock()  # Alembic runs one migration at a time in a process


@dataclass(frozen=True)
class Extra:
    """Something in the file that is not Winnow's. kind : "table", "index", "trigger" or "view"      name : of it
    harmless : a table or an index that changes nothing of what Winnow does
    """

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
    """fault : the first object that is missing, or not as Winnow makes it, in words that end without a full stop; None:
    all are there      extras : what is not Winnow's, in the order in which it can be dropped"""

    fault: str | None
    extras: tuple[Extra, ...]


def what_differs(file: sqlite3.Connection, revision: str) -> Differences:
    """What is not as in tables of this revision, which is one that is known here.

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
