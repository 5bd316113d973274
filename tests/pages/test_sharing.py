"""The people with access to a project, on pages: the settings, groups, invitations, the navigation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, by_label, listed, press, words
from tests.workflow.world import annotator, answer_next, small_project, somebody
from workflow.access import Role
from workflow.people import members
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

SETTINGS = "project_page.py"


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, small_project(home, owner))


def roles(seat: Seat) -> dict[str, str]:
    return {one.name: one.role for one in members.list_members(seat).members}


@pytest.fixture
def settings(seat: Seat, show: Open) -> Callable[[], AppTest]:
    return lambda: show(seat.person_id, SETTINGS, project=str(seat.project_id))


def test_people_are_added_by_name_and_given_roles(seat: Seat, settings: Callable[[], AppTest]) -> None:
    ada, bob = (somebody(seat.home, seat.person_id, name) for name in ("Ada *", "Bob"))
    test = settings()
    assert "Only you see this project" in words(test)
    by_label(test.multiselect, "Add people").set_value([ada, bob])
    by_label(test.selectbox, "Role").set_value(Role.REVIEWER)
    press(test, "Add them")
    assert roles(seat) == {"owner": "owner", "Ada *": "reviewer", "Bob": "reviewer"}
    assert [one.value for one in test.toast] == ["2 people added"]
    assert "Ada \\*" in words(test), "a name is shown as it is"
    assert not [one for one in test.multiselect if one.label == "Add people"], "no one is left to add"
    by_label(test.selectbox, "Role of Bob").set_value(Role.VIEWER).run()
    assert roles(seat)["Bob"] == "viewer"
    press(test, "Remove Bob")
    assert roles(seat) == {"owner": "owner", "Ada *": "reviewer"}
    assert not test.exception


def test_refused_sharing_change_is_reported(
    seat: Seat, settings: Callable[[], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = annotator(seat.home, seat.person_id, "Ada")
    test = settings()

    def refuse(*_: object) -> None:
        raise members.MemberError("A project needs an owner who can sign in.")

    monkeypatch.setattr(members, "remove_member", refuse)
    press(test, "Remove Ada")
    assert "needs an owner who can sign in" in words(test)
    assert members.rights_of(Seat(seat.home, ada, seat.project_id))


def test_group_is_made_changed_invited_and_removed(seat: Seat, show: Open, settings: Callable[[], AppTest]) -> None:
    nowhere = Seat(seat.home, seat.person_id)
    assert "Groups" not in [one.value for one in show(seat.person_id, "people.py").subheader]
    ada, bob = (somebody(seat.home, seat.person_id, name) for name in ("Ada", "Bob"))
    test = show(seat.person_id, "people.py")
    by_label(test.text_input, "New group").set_value("Experts")
    by_label(test.multiselect, "People in it").set_value([ada])
    press(test, "Create group")
    assert [one.people for one in members.list_groups(nowhere)] == [(ada,)]
    by_label(test.text_input, "New group").set_value("experts")
    press(test, "Create group")
    assert "A group named 'Experts' exists already" in words(test).replace("\\", "")
    by_label(test.multiselect, "People in it").set_value([ada, bob])
    press(test, "Save")
    assert [one.people for one in members.list_groups(nowhere)] == [(ada, bob)]

    invited = settings()
    by_label([one for one in invited.selectbox if one.key and "-group-as" in one.key], "Role").set_value(Role.VIEWER)
    press(invited, "Add the group")
    assert roles(seat) == {"owner": "owner", "Ada": "viewer", "Bob": "viewer"}

    test = show(seat.person_id, "people.py")
    press(test, "Delete group")
    assert members.list_groups(nowhere) == []
    assert roles(seat)["Ada"] == "viewer"
    assert not test.exception


def test_projects_are_shared_with_invited_person(seat: Seat, show: Open) -> None:
    second = small_project(seat.home, seat.person_id, "second")
    test = show(seat.person_id, "people.py")
    by_label(test.text_input, "Name of the annotator").set_value("Ada")
    by_label(test.multiselect, "Projects").set_value([second])
    by_label(test.selectbox, "Role").set_value(Role.VIEWER)
    press(test, "Create sign-in link")
    assert roles(seat.at(second)) == {"owner": "owner", "Ada": "viewer"}
    assert roles(seat) == {"owner": "owner"}
    assert by_label(test.multiselect, "Projects").value == []
    by_label(test.text_input, "Name of the annotator").set_value("Bob")
    press(test, "Create sign-in link")
    assert roles(seat) == {"owner": "owner"}, "nothing is shared that was not chosen"


def test_sharing_is_hidden_without_projects(owner: int, show: Open) -> None:
    assert not [one for one in show(owner, "people.py").multiselect if one.label == "Projects"]


SHOWN = {
    Role.OWNER: "Answer Progress Map Queue Review Disputes Team Models Suggest labels Export Project settings "
    "My account",
    Role.REVIEWER: "Answer Progress Map Queue Review Disputes Team My account",
    Role.ANNOTATOR: "Answer Progress Map Queue Review My account",
    Role.VIEWER: "Progress Map My account",
}


@pytest.mark.parametrize("role", list(Role))
def test_navigation_shows_what_role_may_see(
    seat: Seat, show: Open, role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = annotator(seat.home, seat.person_id, "Eve", role)
    small_project(seat.home, seat.person_id, "not hers")
    seen: list[str] = []
    navigation = st.navigation

    def look(pages, **more):
        seen[:] = [one.title for part in pages.values() for one in part if one.visibility == "visible"]
        return navigation(pages, **more)

    monkeypatch.setattr(st, "navigation", look)
    test = show(eve)
    assert " ".join(seen) == f"Home {SHOWN[role]}"
    assert "not hers" not in words(test)
    show(eve, project=str(seat.project_id))
    assert " ".join(seen) == f"Home {SHOWN[role]}"
    show(seat.person_id)
    assert " ".join(seen) == (
        "Home Answer Progress Map Queue Review Disputes Team Models "
        "Import Suggest labels Export Project settings People Backups Audit My account"
    )
    show(somebody(seat.home, seat.person_id, "Zoe"))
    assert seen == ["Home", "My account"]


def test_navigation_follows_project_in_address(seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    eve = annotator(seat.home, seat.person_id, "Eve", "viewer")
    second = small_project(seat.home, seat.person_id, "second")
    members.share(Seat(seat.home, seat.person_id), "Eve", [second], "owner")
    seen: list[str] = []
    navigation = st.navigation

    def look(pages, **more):
        seen[:] = [one.title for part in pages.values() for one in part if one.visibility == "visible"]
        return navigation(pages, **more)

    monkeypatch.setattr(st, "navigation", look)
    show(eve, "progress.py", project=str(seat.project_id))
    assert "Export" not in seen
    show(eve, "progress.py", project=str(second))
    assert "Export" in seen
    test = show(eve, "export.py")
    assert "second" in words(test), "the one of hers that the page can be about"


@pytest.mark.parametrize("page", ["annotate.py", "queue_page.py", "review_page.py"])
def test_viewer_sees_that_page_is_for_annotators(seat: Seat, show: Open, page: str) -> None:
    eve = annotator(seat.home, seat.person_id, "Eve", "viewer")
    test = show(eve, page, project=str(seat.project_id))
    assert words(test).strip().startswith("This page is for annotators.")
    assert not test.button


def test_home_offers_actions_by_role(seat: Seat, show: Open) -> None:
    eve = annotator(seat.home, seat.person_id, "Eve", "viewer")
    test = show(eve)
    assert "You are a viewer here." in words(test)
    assert [one.label for one in test.button if one.label in ("View", "Start", "Continue")] == ["View"]
    assert [menu.options for menu in test.menu_button] == [["Progress"]]
    members.give_role(seat, [eve], "owner")
    managing.archive_project(seat)
    test = show(eve)
    assert "Archived (1)" in [one.label for one in test.expander]
    press(test, "Restore")
    assert managing.get_project(seat).name == "small"


def test_reviewer_finds_answers_of_everyone(seat: Seat, show: Open) -> None:
    home, project = seat.home, seat.project_id or 0
    ada = annotator(home, seat.person_id, "Ada")
    eve = annotator(home, seat.person_id, "Eve", "reviewer")
    saved = answer_next(home, ada, project)
    test = show(eve, "review_page.py", project=str(project))
    assert list(listed(test).Row) == [saved.row_id]
    assert list(listed(test).Annotator) == ["Ada"]
    assert [one for one in test.selectbox if one.label == "Annotator"]
