"""The one statement with which a transaction at a project begins."""

from __future__ import annotations

import pytest

from db import entries, members, people, projects, questions
from db.engine import Database
from tests.db.conftest import NOW, add_project, new_entry


@pytest.mark.parametrize("number", [99, 0, -1, 2**31, 10**30])
def test_a_person_comes_with_their_role_the_project_and_the_length_of_its_log(
    database: Database, number: int
) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        zoe, bea = (
            people.add(session, name, role, NOW) for name, role in (("zoe", "owner"), ("bea", "annotator"))
        )
        members.put(session, birds, bea, "viewer", at=NOW, by=zoe)
        members.put(session, frogs, bea, "reviewer", at=NOW, by=None)
        for row in range(3):
            entries.append(session, new_entry(frogs, row=row))
        people.disable(session, bea, NOW)
    with database.read() as session:
        for person, project, role, height in (
            (bea, birds, "viewer", 0),
            (bea, frogs, "reviewer", 3),
            (zoe, frogs, None, 3),
        ):
            found = questions.find(session, person, project)
            assert found is not None
            assert found.person == people.find(session, person)
            assert found.project == projects.get(session, project)
            assert (found.role, found.height) == (role, height)
        nowhere = questions.find(session, bea, number)
        assert nowhere is not None
        assert (nowhere.role, nowhere.project, nowhere.height) == (None, None, 0)
        assert questions.find(session, 99, birds) is None
