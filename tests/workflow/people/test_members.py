"""Who may see a project: listed, added, changed, removed, and what is left of them."""

from __future__ import annotations

import pytest

from db import people as stored_people
from db import questions
from tests.workflow.world import annotator, answer_next, small_project, somebody
from workflow.access import RIGHTS, NotAllowed, NotFound, Right, Role
from workflow.answering import loop
from workflow.people import members, team
from workflow.people.members import MemberError
from workflow.projects import managing
from workflow.rows import reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


def names(seat: Seat) -> dict[str, str]:
    return {one.name: one.role for one in members.list_members(seat).members}


def test_a_new_project_is_its_owners_alone(seat: Seat) -> None:
    ada = somebody(seat.home, seat.person_id, "Ada")
    view = members.list_members(seat)
    (only,) = view.members
    assert (only.person_id, only.role, only.everywhere, only.ended) == (seat.person_id, "owner", True, False)
    assert view.others == ((ada, "Ada"),)
    assert view.groups == ()
    assert managing.list_projects(Seat(seat.home, ada)) == []


def test_people_are_added_changed_and_removed(seat: Seat) -> None:
    home = seat.home
    ada, bob = (somebody(home, seat.person_id, name) for name in ("Ada", "Bob"))
    members.give_role(seat, [ada, bob], "annotator")
    assert names(seat) == {"owner": "owner", "Ada": "annotator", "Bob": "annotator"}
    assert members.list_members(seat).others == ()
    members.give_role(seat, [ada], "reviewer")
    members.remove_member(seat, bob)
    members.remove_member(seat, bob)
    assert names(seat) == {"owner": "owner", "Ada": "reviewer"}
    assert [one.role for one in managing.list_projects(Seat(home, ada))] == [Role.REVIEWER]
    assert managing.list_projects(Seat(home, bob)) == []
    team.disable_person(Seat(home, seat.person_id), ada)
    assert [one.ended for one in members.list_members(seat).members] == [False, True]
    assert members.list_members(seat).others == ((bob, "Bob"),)


def test_what_does_not_fit_is_refused_and_nobody_is_added(seat: Seat) -> None:
    ada = somebody(seat.home, seat.person_id, "Ada")
    with pytest.raises(MemberError, match=r"one of owner, reviewer, annotator, viewer\. Got 'king'"):
        members.give_role(seat, [ada], "king")
    with pytest.raises(MemberError, match="nobody of that name"):
        members.give_role(seat, [ada, 99], "viewer")
    for act in (
        lambda: members.give_role(seat, [ada, seat.person_id], "viewer"),
        lambda: members.remove_member(seat, seat.person_id),
    ):
        with pytest.raises(MemberError, match="owner owns this Winnow, and so every project"):
            act()
    assert names(seat) == {"owner": "owner"}


def test_the_owner_of_a_project_shares_it_and_has_no_other(seat: Seat) -> None:
    home = seat.home
    other = small_project(home, seat.person_id, "other")
    ada, bob = (somebody(home, seat.person_id, name) for name in ("Ada", "Bob"))
    members.give_role(seat, [ada], "owner")
    hers = Seat(home, ada, seat.project_id)
    members.give_role(hers, [bob], "viewer")
    assert names(hers) == {"owner": "owner", "Ada": "owner", "Bob": "viewer"}
    assert members.rights_of(hers) == frozenset(Right)
    assert members.may_upload(Seat(home, ada))
    assert not members.may_upload(Seat(home, bob))
    with pytest.raises(NotFound):
        members.list_members(hers.at(other))
    for act in (
        lambda: managing.create_project(Seat(home, ada), "mine", None),  # type: ignore[arg-type]
        lambda: members.share(Seat(home, ada), "Bob", [seat.project_id or 0], "owner"),
        lambda: team.make_link(Seat(home, ada), "Cleo"),
    ):
        with pytest.raises(NotAllowed, match="Only the owner may do this; Ada is an annotator"):
            act()
    managing.archive_project(hers)
    assert [one.name for one in managing.put_away(Seat(home, ada)).archived] == ["small"]
    assert managing.put_away(Seat(home, bob)).archived == ()
    managing.restore_project(hers)


def test_a_name_taken_in_a_project_that_is_not_theirs_tells_nothing(seat: Seat) -> None:
    small_project(seat.home, seat.person_id, "secret")
    ada = Seat(seat.home, somebody(seat.home, seat.person_id, "Ada"), seat.project_id)
    members.give_role(seat, [ada.person_id], "owner")
    managing.rename_project(ada, "secret", "")
    assert managing.get_project(ada).name == "secret"
    managing.rename_project(seat, "secret", "Another description, the same name.")


def test_a_project_keeps_an_owner_who_can_sign_in(seat: Seat) -> None:
    """That is an owner of this Winnow, unless somebody has taken them away outside of it."""
    home = seat.home
    ada, bob = (somebody(home, seat.person_id, name) for name in ("Ada", "Bob"))
    members.give_role(seat, [ada, bob], "owner")
    hers = Seat(home, ada, seat.project_id)
    with home.database.write() as session:
        stored_people.disable(session, seat.person_id, managing.get_project(hers).created_at)
    members.give_role(hers, [bob], "viewer")
    for act in (
        lambda: members.give_role(hers, [ada], "viewer"),
        lambda: members.remove_member(hers, ada),
    ):
        with pytest.raises(MemberError, match="needs an owner who can sign in"):
            act()
    assert members.rights_of(hers) == frozenset(Right), "nothing was stored"
    members.give_role(hers, [bob], "owner")
    members.remove_member(hers, ada)
    with pytest.raises(NotFound):
        members.rights_of(hers)


def test_a_group_is_invited_at_once_and_nobody_loses_a_role(seat: Seat) -> None:
    home = seat.home
    ada, bob, cleo, dan = (somebody(home, seat.person_id, name) for name in ("Ada", "Bob", "Cleo", "Dan"))
    nowhere = Seat(home, seat.person_id)
    experts = members.make_group(nowhere, "Experts", [ada, bob, cleo])
    members.give_role(seat, [ada], "reviewer")
    team.disable_person(nowhere, cleo)
    assert members.list_members(seat).groups == ((experts, "Experts", 1),)
    assert members.invite_group(seat, experts, "viewer") == 1
    assert names(seat) == {"owner": "owner", "Ada": "reviewer", "Bob": "viewer"}
    assert members.invite_group(seat, experts, "viewer") == 0
    members.change_group(nowhere, experts, "Experts", [dan])
    assert names(seat) == {"owner": "owner", "Ada": "reviewer", "Bob": "viewer"}, "a group gives no rights"
    members.remove_group(nowhere, experts)
    with pytest.raises(MemberError, match="no such group"):
        members.invite_group(seat, experts, "viewer")


def test_several_projects_are_shared_by_name_or_none(seat: Seat) -> None:
    home, nowhere = seat.home, Seat(seat.home, seat.person_id)
    second = small_project(home, seat.person_id, "second")
    small_project(home, seat.person_id, "third")
    ada = Seat(home, somebody(home, seat.person_id, "Ada Lovelace"))
    with pytest.raises(NotFound):
        members.share(nowhere, "Ada Lovelace", [second, 99], "viewer")
    assert managing.list_projects(ada) == []
    members.share(nowhere, " ada  lovelace ", [second, seat.project_id or 0], "viewer")
    assert {one.name for one in managing.list_projects(ada)} == {"small", "second"}
    assert members.rights_of(ada) == RIGHTS[Role.VIEWER]
    with pytest.raises(MemberError, match="nobody of that name"):
        members.share(nowhere, "Bob", [second], "viewer")


@pytest.mark.parametrize(("first", "then"), [("reviewer", "viewer"), ("viewer", "reviewer")])
def test_sharing_by_name_changes_nobody_s_role(seat: Seat, first: str, then: str) -> None:
    home, nowhere = seat.home, Seat(seat.home, seat.person_id)
    second = small_project(home, seat.person_id, "second")
    ada = somebody(home, seat.person_id, "Ada")
    members.give_role(seat, [ada], first)
    with pytest.raises(MemberError, match=f"Ada is {first} in small already"):
        members.share(nowhere, "Ada", [second, seat.project_id or 0], then)
    assert names(seat)["Ada"] == first
    assert len(managing.list_projects(Seat(home, ada))) == 1, "in all, or in none"
    members.share(nowhere, "Ada", [second, seat.project_id or 0], first)
    assert [one.role for one in managing.list_projects(Seat(home, ada))] == [first, first]


def test_whose_membership_ended_stops_at_the_next_press(seat: Seat) -> None:
    home = seat.home
    ada = Seat(home, annotator(home, seat.person_id, "Ada"), seat.project_id)
    asked = loop.next_question(ada)
    members.remove_member(seat, ada.person_id)
    with pytest.raises(NotFound, match="nobody has shared it with you"):
        loop.submit_answer(ada, asked.token, "is", asked.choices[:1])
    with home.database.read() as session:
        assert questions.get(session, seat.project_id or 0, ada.person_id) is None, "its row is free"
    assert loop.ask_next(seat, asked.view.row).view.row == asked.view.row
    members.give_role(seat, [ada.person_id], "annotator")
    assert loop.next_question(ada) is not None


def test_who_becomes_a_viewer_stops_at_the_next_press(seat: Seat) -> None:
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    asked = loop.next_question(ada)
    members.give_role(seat, [ada.person_id], "viewer")
    with pytest.raises(NotAllowed, match=r"Only annotators, reviewers and the owner .* Ada is a viewer"):
        loop.submit_answer(ada, asked.token, "is", asked.choices[:1])
    assert managing.get_project(ada).answered == 0


def test_a_reviewer_sees_and_corrects_the_answers_of_all(seat: Seat) -> None:
    home, project = seat.home, seat.project_id or 0
    ada = annotator(home, seat.person_id, "Ada")
    somebody(home, seat.person_id, "Stranger")
    bob = Seat(home, annotator(home, seat.person_id, "Bob", "reviewer"), project)
    saved = answer_next(home, ada, project)
    found = reviewing.find(bob, Search())
    assert [(one.row, one.person) for one in found.rows] == [(saved.row, "Ada")]
    known = [name for _, name in reviewing.options(bob).people]
    assert known == [*names(seat)], "of people who have nothing to do with the project nothing is said"
    members.remove_member(seat, ada)
    assert "Ada" in [name for _, name in reviewing.options(bob).people], "her answer stays"
    opened = reviewing.open_row(bob, saved.row)
    assert opened.may_correct
    reviewing.correct(bob, saved.row, opened.token, "bad")
    assert reviewing.open_row(seat, saved.row).out


def test_projects_are_counted_that_are_listed(seat: Seat) -> None:
    mine, ada = Seat(seat.home, seat.person_id), Seat(seat.home, somebody(seat.home, seat.person_id, "Ada"))
    assert (members.count_projects(mine), members.count_projects(ada)) == (1, 0)
    members.give_role(seat, [ada.person_id], "viewer")
    assert members.count_projects(ada) == 1
    managing.archive_project(seat)
    assert (members.count_projects(mine), members.count_projects(ada)) == (0, 0)
    with pytest.raises(NotAllowed):
        members.count_projects(Seat(seat.home, 99))
