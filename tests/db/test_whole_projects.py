"""All rows of a project, out of one database and into another."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from db import copies, entries, members, people, projects
from db.base import Base
from db.engine import Database
from db.members import DisputeNote
from tests.db.conftest import NOW, new_entry


@pytest.fixture
def project(database: Database) -> int:
    with database.write() as session:
        for name in ("Ada", "Bob", "Cy"):
            people.add(session, name, "annotator", NOW)
        made = projects.add(
            session,
            name="p",
            table_hash="0",
            roles={"id": "x"},
            settings={},
            n_rows=3,
            n_classes=2,
            n_to_ask=3,
            created_by=1,
            created_at=NOW,
        )
        entries.append(session, new_entry(project_id=made, person_id=2, labels=("a",), token="2.0.0"))
        members.put(session, made, 3, "viewer", at=NOW, by=1)
        members.add_dispute_note(session, made, DisputeNote(row=1, person_id=2, at=NOW, text="Look."))
    return made


def test_what_is_taken_is_put_elsewhere_with_the_numbers_of_there(database: Database, project: int) -> None:
    with database.write() as session:
        values, rows = copies.take(session, project)
        assert copies.people_in(rows) == {1, 2, 3}
        other = copies.put(session, values, rows, {1: 3, 2: 1, 3: 2}, created_by=2)
        again, moved = copies.take(session, other)
        assert again == values
        assert (moved["entries"][0]["person_id"], moved["members"][0]["person_id"]) == (1, 2)
        assert moved["members"][0]["added_by"] == 3
        back = copies.put(session, again, moved, {3: 1, 1: 2, 2: 3}, created_by=1)
        assert copies.take(session, back) == (values, rows)
        assert projects.get(session, other).created_by == 2


def test_every_table_of_a_project_is_taken_or_made_again() -> None:
    """A table that comes later has to be put in one of the two."""
    made_again = {
        "questions",
        "batches",
        "models",
        "trainings",
        "comparisons",
        "random_orders",
        "encodings",
        "events",
    }
    of_projects = {name for name, table in Base.metadata.tables.items() if "project_id" in table.c}
    assert of_projects == made_again | set(copies.PARTS)


def test_what_is_taken_fits(database: Database, project: int) -> None:
    with database.read() as session:
        values, rows = copies.take(session, project)
    copies.check(values, rows)
    for name, held in (("name", 1), ("n_rows", True), ("room", []), ("created_at", "2026-01-01"), ("id", 1)):
        with pytest.raises(copies.MisfitError, match=name):
            copies.check({**values, name: held}, rows)
    with pytest.raises(copies.MisfitError, match="members: two rows have person_id 3"):
        copies.check(values, {**rows, "members": rows["members"] * 2})


def test_whoever_is_unknown_is_refused(database: Database, project: int) -> None:
    with database.read() as session:
        values, rows = copies.take(session, project)
    with pytest.raises(KeyError), database.write() as session:
        copies.put(session, values, rows, {1: 1}, created_by=1)
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM projects")).scalar_one() == 1


def test_more_rows_than_are_in_memory_are_stored_and_a_second_of_one_is_refused(
    database: Database, project: int
) -> None:
    with database.read() as session:
        values, taken = copies.take(session, project)
    (entry,) = taken["entries"]
    log = [entry | {"seq": number, "revision": number, "token": f"2.{number}"} for number in range(1, 2_501)]
    rows = {name: iter(()) for name in copies.PARTS}
    with database.write() as session:
        other = copies.put(session, values, rows | {"entries": iter(log)}, {2: 2}, created_by=1)
        assert entries.last_seq(session, other) == 2_500
    with pytest.raises(IntegrityError), database.write() as session:
        copies.put(session, values, rows | {"entries": iter([entry, entry])}, {2: 2}, created_by=1)
