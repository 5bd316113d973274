"""Marked rows: one mark a row, of its project alone."""

from __future__ import annotations

from dataclasses import replace

from db import members
from db.engine import Database
from db.members import Marked
from tests.db.conftest import NOW, add_project

WREN = Marked(3, "wren", "example", "look at the tail", 1, NOW)


def test_a_row_has_one_mark(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    asked = replace(WREN, purpose="qualification", note="")
    first = replace(WREN, row=1)
    with database.write() as session:
        members.put_example(session, birds, WREN)
        members.put_example(session, birds, asked)
        members.put_example(session, birds, replace(WREN, row=4))
        members.put_example(session, birds, first)
    with database.read() as session:
        assert members.of_row(session, birds, 3) == asked
        assert members.of_row(session, birds, 2) is None
        assert members.of_row(session, frogs, 3) is None
        assert members.list_examples(session, birds, "example") == [first, replace(WREN, row=4)]
        assert members.list_examples(session, birds, "qualification") == [asked]
        assert members.list_examples(session, frogs, "example") == []


def test_a_mark_is_taken_away(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        members.put_example(session, birds, WREN)
        members.put_example(session, frogs, WREN)
        members.remove_example(session, birds, 3)
        members.remove_example(session, birds, 3)
    with database.read() as session:
        assert members.of_row(session, birds, 3) is None
        assert members.of_row(session, frogs, 3) == WREN
