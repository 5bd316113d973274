"""Notes beside rows that people disagree on: each of its row and project, in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from db import dispute_notes
from db.dispute_notes import DisputeNote
from db.engine import Database
from tests.db.conftest import NOW, add_project

ASKED = DisputeNote(3, 1, NOW, "Who took this picture?")
TOLD = DisputeNote(3, 2, NOW - timedelta(minutes=1), "I did; its clock is slow.")


def test_the_notes_of_a_row_come_in_the_order_they_were_written(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        dispute_notes.add(session, birds, ASKED)
        dispute_notes.add(session, frogs, replace(ASKED, text="a frog"))
        dispute_notes.add(session, birds, replace(ASKED, row=4))
        dispute_notes.add(session, birds, TOLD)
    with database.read() as session:
        assert dispute_notes.of_row(session, birds, 3) == [ASKED, TOLD]
        assert dispute_notes.of_row(session, birds, 5) == []
        assert [one.text for one in dispute_notes.of_row(session, frogs, 3)] == ["a frog"]


def test_a_note_says_the_same_twice_where_it_was_written_twice(database: Database) -> None:
    birds = add_project(database)
    with database.write() as session:
        dispute_notes.add(session, birds, ASKED)
        dispute_notes.add(session, birds, ASKED)
    with database.read() as session:
        assert dispute_notes.of_row(session, birds, 3) == [ASKED, ASKED]
