"""Members of projects as they are stored."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from db import members, people
from db.engine import Database
from tests.db.conftest import NOW, add_project


@pytest.fixture
def who(database: Database) -> dict[str, int]:
    with database.write() as session:
        return {
            name: people.add(session, name, role, NOW)
            for name, role in (("zoe", "owner"), ("bea", "annotator"), ("abe", "annotator"))
        }


def test_the_roles_of_a_person(database: Database, who: dict[str, int]) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        members.put(session, birds, who["bea"], "viewer", at=NOW, by=who["zoe"])
        members.put(session, frogs, who["bea"], "reviewer", at=NOW, by=None)
    with database.read() as session:
        assert members.roles_of(session, who["bea"]) == {birds: "viewer", frogs: "reviewer"}
        assert members.roles_of(session, who["abe"]) == {}


def test_another_role_is_no_second_membership(database: Database, who: dict[str, int]) -> None:
    birds = add_project(database, "birds")
    later = NOW.replace(year=2027)
    with database.write() as session:
        members.put(session, birds, who["bea"], "viewer", at=NOW, by=who["zoe"])
        members.put(session, birds, who["bea"], "owner", at=later, by=None)
        members.put(session, birds, who["abe"], "annotator", at=later, by=who["bea"])
    with database.read() as session:
        found = members.listed(session, birds)
    assert [(person.name, one.role, one.added_at, one.added_by) for person, one in found] == [
        ("abe", "annotator", later, who["bea"]),
        ("bea", "owner", NOW, who["zoe"]),
    ]


def test_a_membership_ends(database: Database, who: dict[str, int]) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        for project in (birds, frogs):
            members.put(session, project, who["bea"], "viewer", at=NOW, by=None)
        members.remove(session, birds, who["bea"])
        members.remove(session, birds, who["abe"])
        assert members.roles_of(session, who["bea"]) == {frogs: "viewer"}


def test_what_is_no_role_or_no_person_is_refused(database: Database, who: dict[str, int]) -> None:
    birds = add_project(database, "birds")
    for project, person, role in (
        (birds, who["bea"], "king"),
        (birds, 99, "viewer"),
        (99, who["bea"], "viewer"),
    ):
        with pytest.raises(IntegrityError), database.write() as session:
            members.put(session, project, person, role, at=NOW, by=None)
    with database.read() as session:
        assert members.listed(session, birds) == []


def test_owners_are_those_of_the_project_and_of_winnow_who_can_sign_in(
    database: Database, who: dict[str, int]
) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        members.put(session, birds, who["bea"], "owner", at=NOW, by=None)
        members.put(session, birds, who["abe"], "reviewer", at=NOW, by=None)
        mine = [one.id for one in people.listed(session) if one.is_owner]
        assert members.owners(session, birds) == sorted([*mine, who["bea"]])
        assert members.owners(session, frogs) == mine
        for one in mine:
            people.disable(session, one, NOW)
        assert members.owners(session, birds) == [who["bea"]]
        people.disable(session, who["bea"], NOW)
        assert members.owners(session, birds) == []
