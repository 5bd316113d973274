"""Groups of classes on the pages: set in the answering room, told to the card, said at import."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import one_label, question_card
from pages.parts.one_label import card as one_label_card
from tests.pages.conftest import Open, listed_problems, words
from tests.pages.file_boxes import give
from tests.workflow.four import ask, four_class_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator
from workflow.answering import room
from workflow.answering.room import RoomSettings
from workflow.projects import standing
from workflow.seat import Seat
from workflow.server.home import Home

GROUPS = "A file of groups"
FUR = {"furry": ("cat", "dog"), "insect": ("ant", "bee")}


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def settings(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, "project_page.py", project=str(seat.project_id))


def button(test: AppTest, label: str) -> Any:
    return next(one for one in test.button if one.label == label)


def test_a_file_is_looked_at_set_and_removed(show: Open, seat: Seat) -> None:
    room.change_room(seat, RoomSettings("Look.", "fixed", {"ant": "small"}))
    test = settings(show, seat)
    assert "Remove all groups" not in [one.label for one in test.button]
    file = b"class,group,more\ncat,furry,one\ndog,furry,\nant,insect,\nbee,insect,\n"
    give(test, GROUPS, "groups.csv", file)
    assert not test.exception
    assert "1 group of one class" in words(test)
    assert room.groups_of(seat) == {}
    button(test, "Use these 2 groups").click().run()
    assert not test.exception
    assert room.groups_of(seat) == FUR
    shown = [one.value for one in test.dataframe if "Group" in one.value.columns]
    assert [list(one.Group) for one in shown] == [["furry", "insect"]]
    assert list(shown[0].Which) == ["cat, dog", "ant, bee"]
    assert room.room_of(seat).guidelines == "Look."
    # Saving the rest of the room leaves them as they are.
    button(test, "Save the answering room").click().run()
    assert room.groups_of(seat) == FUR
    button(test, "Remove all groups").click().run()
    assert not test.exception
    assert room.groups_of(seat) == {}


def test_what_is_wrong_with_the_file_is_listed(show: Open, seat: Seat) -> None:
    test = settings(show, seat)
    give(test, GROUPS, "groups.csv", b"class,group\ncow,furry\nant,bee\n")
    assert "2 problems to mend before these can be groups. Nothing was stored." in words(test)
    first, second = listed_problems(test)
    assert "'cow' is no class of the project." in first
    assert "The group 'bee' is called like a class." in second
    assert not [one for one in test.button if one.label.startswith("Use th")]


def test_groups_that_are_all_of_one_class_are_of_no_use(show: Open, seat: Seat) -> None:
    test = settings(show, seat)
    give(test, GROUPS, "groups.csv", b"class,group\ncat,furry\n")
    assert not test.exception
    assert button(test, "Use these 0 groups").disabled


def test_label_vectors_have_no_groups(home: Home, owner: int, show: Open) -> None:
    test = settings(show, Seat(home, owner, vector_project(home, owner)))
    assert "Groups of classes" not in words(test)


def test_the_card_and_its_search_are_told(
    home: Home, owner: int, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seat.project_id is not None
    room.set_groups(seat, FUR)
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(one_label_card, "_CARD", lambda data, **_: told.append(data))
    monkeypatch.setattr(one_label_card, "_CLASSES", lambda key, data: told.append(data))
    monkeypatch.setattr(question_card.st, "session_state", {})
    draw = one_label.question_card(seat, ask(home, owner, seat.project_id))
    draw(standing.standing(seat), None, lambda: None)
    assert told.pop()["question"]["groups"] == [
        {"key": "1", "name": "insect", "labels": ("ant", "bee")},
        {"key": "2", "name": "furry", "labels": ("cat",)},
    ]
    one_label.class_list(seat.project_id, ("ant", "bee", "cat", "dog"), {}, room.groups_of(seat))
    assert told.pop()["groups"] == [["furry", ("cat", "dog")], ["insect", ("ant", "bee")]]


def test_the_annotate_page_of_everybody_has_them(home: Home, owner: int, show: Open, seat: Seat) -> None:
    room.set_groups(seat, FUR)
    ada = annotator(home, owner, "Ada")
    for person in (owner, ada):
        assert not show(person, "annotate.py", project=str(seat.project_id)).exception
