"""Who may do what, and the words for who may not."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from tests.workflow.world import annotator, small_project, somebody
from workflow import access
from workflow.access import RIGHTS, Right, Role
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


def test_persons(home: Home, owner: int) -> None:
    ada = annotator(home, owner, "Ada")
    with home.database.read() as session:
        assert access.require_person(session, ada).name == "Ada"
        with pytest.raises(access.NotAllowed, match="Ask the owner of this Winnow for a new sign-in link"):
            access.require_person(session, 99)
    team.disable_person(Seat(home, owner), ada)
    with home.database.read() as session:
        with pytest.raises(access.NotAllowed, match="Your access has ended"):
            access.require_person(session, ada)
        with pytest.raises(access.NotAllowed, match="Your access has ended"):
            access.role_here(session, ada)
    assert issubclass(access.NotAllowed, PermissionError)
    assert issubclass(access.NotFound, LookupError)


def test_roles_at_no_project(home: Home, owner: int) -> None:
    ada = annotator(home, owner, "Ada")
    with home.database.read() as session:
        assert access.role_here(session, owner).role is Role.OWNER
        nobody = access.role_here(session, ada)
        assert nobody.role is None
        assert [right for right in Right if nobody.may(right)] == [Right.SEE]
        with pytest.raises(access.NotAllowed, match=r"Only the owner may do this; Ada is an annotator\.$"):
            access.require_right(nobody, Right.OWN)


@pytest.mark.parametrize("role", list(Role))
def test_roles_at_a_project(home: Home, owner: int, project: int, role: Role) -> None:
    ada = annotator(home, owner, "Ada", role)
    with home.database.read() as session:
        rights, found, coming = access.at_project(session, ada, project)
        assert (found.id, coming.height) == (project, 0)
        assert (rights.person.name, rights.role) == ("Ada", role)
        assert {right for right in Right if rights.may(right)} == RIGHTS[role]
        assert rights.whose == (None if role in (Role.OWNER, Role.REVIEWER) else ada)
        for right in Right:
            if right in RIGHTS[role]:
                access.require_right(rights, right)
            else:
                with pytest.raises(access.NotAllowed, match=f"Ada is an? {role} of this project"):
                    access.require_right(rights, right)
        owners, *_ = access.at_project(session, owner, project)
        assert (owners.role, owners.whose) == (Role.OWNER, None)


@pytest.mark.parametrize("number", [2, 99, 0, -1, 2**31, 10**30])
def test_who_is_no_member_hears_of_no_project(home: Home, owner: int, project: int, number: int) -> None:
    eve = somebody(home, owner, "Eve")
    words = []
    with home.database.read() as session:
        for one in (project, number):
            with pytest.raises(access.NotFound, match="nobody has shared it with you") as refused:
                access.at_project(session, eve, one)
            words.append(str(refused.value).replace(f"project {one} ", "project N "))
        with pytest.raises(access.NotFound) as missing:
            access.project_for(session, number)  # as an owner of this Winnow hears it
        words.append(str(missing.value).replace(f"project {number} ", "project N "))
    assert len(set(words)) == 1


def test_a_person_sees_the_projects_they_are_members_of(home: Home, owner: int, project: int) -> None:
    ada, eve = annotator(home, owner, "Ada", "viewer"), somebody(home, owner, "Eve")
    second = small_project(home, owner, "second")
    managing.archive_project(Seat(home, owner, second))

    def seen(person: int) -> list[tuple[int, str]]:
        with home.database.read() as session:
            found = access.visible_projects(session, access.require_person(session, person))
        return [(one.id, role) for one, role in found]

    assert seen(owner) == [(project, "owner"), (second, "owner")]
    assert seen(ada) == [(project, "viewer")]
    assert seen(eve) == []


def test_projects_in_use(home: Home, owner: int, project: int) -> None:
    def words() -> str:
        with home.database.read() as session:
            assert access.at_project(session, owner, project, anywhere=True)[1].id == project
            try:
                assert access.at_project(session, owner, project)[1].name == "small"
                return access.project_for(session, project).name
            except access.NotFound as refusal:
                return str(refusal)

    seat = Seat(home, owner, project)
    assert words() == "small"
    managing.archive_project(seat)
    assert words() == "small is archived; the owner can restore it on the Home page."
    managing.bin_project(seat)
    assert words() == "small is in the bin; the owner can restore it on the Home page."
    managing.restore_project(seat)
    assert words() == "small"


def test_a_press_asks_once_what_the_person_is(home: Home, owner: int, project: int) -> None:
    """One statement for person, role, project and height: it stands in the way of every answer."""
    said = []
    with home.database.read() as session:
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", lambda *all_of_it: said.append(all_of_it[2]))
        access.at_project(session, owner, project)
    assert len(said) == 1
