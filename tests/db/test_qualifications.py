"""Attempts: stored as they stand, each person's in order, beside the log."""

from __future__ import annotations

from dataclasses import replace

from db import entries, members
from db.engine import Database
from db.members import Attempt
from tests.db.conftest import NOW, add_project, new_entry

FIRST = Attempt(person_id=2, attempt=1, rows=[4, 1], given=[], n_right=0, began_at=NOW)


def test_an_attempt_is_stored_as_it_stands(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    on, over = replace(FIRST, given=["wren"], n_right=1), replace(FIRST, given=["wren", "robin"], n_right=1)
    second = replace(FIRST, attempt=2, rows=[0])
    let_in = replace(FIRST, person_id=1, rows=[], passed_at=NOW, let_in_by=1)
    assert not FIRST.over
    assert not on.over
    assert over.over
    with database.write() as session:
        for one in (FIRST, second, on, over, let_in):
            members.put_qualification(session, birds, one)
        members.put_qualification(session, frogs, on)
    with database.read() as session:
        assert members.of_person(session, birds, 2) == [over, second]
        assert members.of_project(session, birds) == [let_in, over, second]
        assert members.of_person(session, frogs, 2) == [on]
        assert members.of_person(session, frogs, 1) == []


def test_whoever_has_an_entry_has_answered(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        entries.append(session, new_entry(birds, person_id=2))
        members.put_qualification(session, birds, FIRST)
    with database.read() as session:
        assert members.has_entries(session, birds, 2)
        assert not members.has_entries(session, birds, 1)
        assert not members.has_entries(session, frogs, 2)
