from __future__ import annotations

import pytest
from sqlalchemy import text

from db import projects
from db.engine import Database

from .conftest import NOW, add_project


def test_the_latest_project_of_a_file_is_found_again(database: Database) -> None:
    first, second = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        for number in (first, second):
            session.execute(
                text("UPDATE projects SET source_hash = 'abc' WHERE id = :number"), {"number": number}
            )
        assert projects.by_source(session, "abd") is None
        assert projects.by_source(session, "abc") == projects.get(session, second)
        projects.archive(session, second, NOW)
        assert projects.by_source(session, "abc") == projects.get(session, second)
        projects.bin_project(session, second, NOW)
        assert projects.by_source(session, "abc") == projects.get(session, first)


def test_projects_are_found_listed_and_archived(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        found = projects.get(session, birds)
        assert (found.id, found.name, found.created_at, found.archived_at) == (birds, "birds", NOW, None)
        assert found.roles == {"candidates": "c", "numbers": ["x"]}
        assert found.settings == {"n_neighbors": 3}
        projects.archive(session, frogs, NOW)
    with database.read() as session:
        assert [one.name for one in projects.listed(session)] == ["birds"]
        assert projects.get(session, frogs).archived_at == NOW
        assert projects.count(session) == 2
        with pytest.raises(projects.NoSuchProjectError, match="99"):
            projects.get(session, 99)


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, -(2**70), 10**30])
def test_a_number_that_no_id_can_be_is_no_project(database: Database, number: int) -> None:
    with database.read() as session, pytest.raises(projects.NoSuchProjectError, match=str(number)):
        projects.get(session, number)
