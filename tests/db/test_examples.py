"""Marked rows: one mark a row, of its project alone."""

from __future__ import annotations

from dataclasses import replace

from db import examples
from db.engine import Database
from db.examples import Marked
from tests.db.conftest import NOW, add_project

WREN = Marked(3, "wren", "example", "look at the tail", 1, NOW)


def test_a_row_has_one_mark(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    asked = replace(WREN, purpose="qualification", note="")
    first = replace(WREN, row=1)
    with database.write() as session:
        examples.put(session, birds, WREN)
        examples.put(session, birds, asked)
        examples.put(session, birds, replace(WREN, row=4))
        examples.put(session, birds, first)
    with database.read() as session:
        assert examples.of_row(session, birds, 3) == asked
        assert examples.of_row(session, birds, 2) is None
        assert examples.of_row(session, frogs, 3) is None
        assert examples.listed(session, birds, "example") == [first, replace(WREN, row=4)]
        assert examples.listed(session, birds, "qualification") == [asked]
        assert examples.listed(session, frogs, "example") == []


def test_a_mark_is_taken_away(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        examples.put(session, birds, WREN)
        examples.put(session, frogs, WREN)
        examples.remove(session, birds, 3)
        examples.remove(session, birds, 3)
    with database.read() as session:
        assert examples.of_row(session, birds, 3) is None
        assert examples.of_row(session, frogs, 3) == WREN
