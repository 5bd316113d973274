"""Who may do what, and the words for who may not."""

from __future__ import annotations

import pytest

from tests.workflow.world import annotator
from workflow import access, projects
from workflow.home import Home
from workflow.people import team
from workflow.seat import Seat


def test_persons_and_owners(home: Home, owner: int) -> None:
    ada = annotator(home, owner, "Ada")
    with home.database.read() as session:
        assert access.require_person(session, ada).name == "Ada"
        assert access.require_owner(session, owner).is_owner
        with pytest.raises(access.NotAllowed, match="Only the owner may do this; Ada is an annotator"):
            access.require_owner(session, ada)
        for require in (access.require_person, access.require_owner):
            with pytest.raises(
                access.NotAllowed, match="Ask the owner of this Winnow for a new sign-in link"
            ):
                require(session, 99)
    team.disable_person(Seat(home, owner), ada)
    with home.database.read() as session:
        for require in (access.require_person, access.require_owner):
            with pytest.raises(access.NotAllowed, match="Your access has ended"):
                require(session, ada)
    assert issubclass(access.NotAllowed, PermissionError)
    assert issubclass(access.NotFound, LookupError)


def test_projects_in_use(home: Home, owner: int, project: int) -> None:
    def words() -> str:
        with home.database.read() as session:
            try:
                return access.require_project(session, project).name
            except access.NotFound as refusal:
                return str(refusal)

    seat = Seat(home, owner, project)
    assert words() == "small"
    projects.archive_project(seat)
    assert words() == "small is archived; the owner can restore it on the Home page."
    projects.bin_project(seat)
    assert words() == "small is in the bin; the owner can restore it on the Home page."
    projects.restore_project(seat)
    assert words() == "small"
    with (
        home.database.read() as session,
        pytest.raises(access.NotFound, match=r"no project 99 here. Fix: choose"),
    ):
        access.require_project(session, 99)
