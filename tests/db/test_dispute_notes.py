"""Notes beside rows that people disagree on: each of its row and project, in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from db import members
from db.engine import Database
from db.members import DisputeNote
from tests.db.conftest import NOW, add_project

ASKED = DisputeNote(3, 1, NOW, "Who took this picture?")
TOLD = DisputeNote(3, 2, NOW - timedelta(minutes=1), "I did; its clock is slow.")


def test_the_notes_of_a_row_come_in_the_order_they_were_written(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        members.add_dispute_note(session, birds, ASKED)
        members.add_dispute_note(session, frogs, replace(ASKED, text="a frog"))
        members.add_dispute_note(session, birds, replace(ASKED, row=4))
        members.add_dispute_note(session, birds, TOLD)
    with database.read() as session:
        assert members.dispute_notes_of_row(session, birds, 3) == [ASKED, TOLD]
        assert members.dispute_notes_of_row(session, birds, 5) == []
        assert [one.text for one in members.dispute_notes_of_row(session, frogs, 3)] == ["a frog"]


def test_a_note_says_the_same_twice_where_it_was_written_twice(database: Database) -> None:
    birds = add_project(database)
    with database.write() as session:
        members.add_dispute_note(session, birds, ASKED)
        members.add_dispute_note(session, birds, ASKED)
    with database.read() as session:
        assert members.dispute_notes_of_row(session, birds, 3) == [ASKED, ASKED]
