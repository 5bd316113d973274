"""Groups of people as they are stored."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from db import members, people
from db.engine import Database
from db.members import Group
from tests.db.conftest import NOW


@pytest.fixture
def team(database: Database) -> list[int]:
    with database.write() as session:
        return [people.add(session, name, "annotator", NOW) for name in ("ada", "bob", "cleo")]


def test_groups_are_made_changed_and_removed(database: Database, team: list[int]) -> None:
    ada, bob, cleo = team
    with database.write() as session:
        experts = members.add(session, "experts", [cleo, ada, ada], NOW)
        nobody = members.add(session, "all", [], NOW)
        assert members.list_groups(session) == [
            Group(nobody, "all", ()),
            Group(experts, "experts", (ada, cleo)),
        ]
        members.change(session, experts, "birders", [bob])
        assert members.find(session, experts) == Group(experts, "birders", (bob,))
        members.remove_group(session, experts)
        members.remove_group(session, experts)
        assert members.find(session, experts) is None
        assert members.list_groups(session) == [Group(nobody, "all", ())]
        assert {one.id for one in people.listed(session)} >= set(team), "the people stay"


def test_a_name_is_taken_once_and_people_must_exist(database: Database, team: list[int]) -> None:
    with database.write() as session:
        members.add(session, "experts", team, NOW)
    for name, within in (("experts", []), ("others", [99])):
        with pytest.raises(IntegrityError), database.write() as session:
            members.add(session, name, within, NOW)
    with database.read() as session:
        assert [one.name for one in members.list_groups(session)] == ["experts"]
