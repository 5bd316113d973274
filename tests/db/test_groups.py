"""Groups of people as they are stored."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from db import groups, people
from db.engine import Database
from db.groups import Group
from tests.db.conftest import NOW


@pytest.fixture
def team(database: Database) -> list[int]:
    with database.write() as session:
        return [people.add(session, name, "annotator", NOW) for name in ("ada", "bob", "cleo")]


def test_groups_are_made_changed_and_removed(database: Database, team: list[int]) -> None:
    ada, bob, cleo = team
    with database.write() as session:
        experts = groups.add(session, "experts", [cleo, ada, ada], NOW)
        nobody = groups.add(session, "all", [], NOW)
        assert groups.listed(session) == [Group(nobody, "all", ()), Group(experts, "experts", (ada, cleo))]
        groups.change(session, experts, "birders", [bob])
        assert groups.find(session, experts) == Group(experts, "birders", (bob,))
        groups.remove(session, experts)
        groups.remove(session, experts)
        assert groups.find(session, experts) is None
        assert groups.listed(session) == [Group(nobody, "all", ())]
        assert {one.id for one in people.listed(session)} >= set(team), "the people stay"


def test_a_name_is_taken_once_and_people_must_exist(database: Database, team: list[int]) -> None:
    with database.write() as session:
        groups.add(session, "experts", team, NOW)
    for name, within in (("experts", []), ("others", [99])):
        with pytest.raises(IntegrityError), database.write() as session:
            groups.add(session, name, within, NOW)
    with database.read() as session:
        assert [one.name for one in groups.listed(session)] == ["experts"]
