"""How questions are put, on the settings page."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.project_parts import in_words
from tests.pages.conftest import Open, words
from tests.workflow.four import four_class_project
from tests.workflow.vector_world import vector_project
from workflow.answering import loop, room
from workflow.answering.room import FormsNow, RoomSettings
from workflow.kinds.one_label import forms
from workflow.seat import Seat
from workflow.server.home import Home


def button(test: AppTest) -> Any:
    return next(one for one in test.button if one.label == "Save how questions are put")


def test_the_owner_chooses_and_nothing_else_of_the_room_changes(show: Open, home: Home, owner: int) -> None:
    seat = Seat(home, owner, four_class_project(home, owner))
    room.change_room(seat, RoomSettings("Look.", "fixed", {"ant": "small"}))
    test = show(owner, "project_page.py", project=str(seat.project_id))
    assert "recommended from 200 answers on; this project has 0: until then it asks" in words(test)
    forms = next(one for one in test.radio if one.label == "Questions are put")
    drawn = next(one for one in test.checkbox if one.label.startswith("Put one question in twenty"))
    assert (forms.value, drawn.value) == ("which", True)
    forms.set_value("cheapest")
    drawn.uncheck()
    button(test).click().run()
    assert not test.exception
    wanted = RoomSettings("Look.", "fixed", {"ant": "small"}, forms="cheapest", drawn_forms=False)
    assert room.room_of(seat) == wanted


def test_of_label_vectors_there_is_nothing_to_choose(show: Open, home: Home, owner: int) -> None:
    test = show(owner, "project_page.py", project=str(vector_project(home, owner)))
    assert "How questions are put" not in words(test)


def test_it_says_what_forms_cost() -> None:
    assert in_words(FormsNow(40, 200, 0, 4.8, 2.6)) == (
        "The second is recommended from 200 answers on; this project has 40: until then it asks “Which of these?” "
        "either way. Until answers tell, Winnow assumes: “Which of these four?” takes 4.8 s, yes or no 2.6 s."
    )
    assert in_words(FormsNow(1200, 200, 1187, 4.8, 2.6)) == (
        "The second is recommended from 200 answers on; this project has 1,200. By the seconds of 1,187 answers here: "
        "“Which of these four?” takes 4.8 s, yes or no 2.6 s."
    )


def test_review_says_what_was_asked_in_yes_and_no(
    show: Open, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "FIRST_AS_USUAL", 0)
    monkeypatch.setattr(forms, "FROM_ANSWERS", 0)
    seat = Seat(home, owner, four_class_project(home, owner))
    room.change_room(seat, RoomSettings(drawn_forms=False))
    first = loop.next_question(seat)
    room.change_room(seat, RoomSettings(forms="cheapest", drawn_forms=False))
    assert loop.next_question(seat).yes_no is None  # it stays as it was put
    loop.submit_answer(seat, first.token, "not", [first.choices[0]])
    second = loop.next_question(seat)
    assert second.yes_no is not None  # of two, one is asked about
    loop.submit_answer(seat, second.token, "is", [second.yes_no.name])
    page = show(owner, "review_page.py", project=str(seat.project_id))
    page.session_state[state.REVIEW_ROW] = seat.project_id, first.view.row
    page.run()
    assert not page.exception
    (history,) = (one.value for one in page.dataframe if "Said" in one.value.columns)
    assert list(history.Asked) == ["", f"is it {second.yes_no.name}?"]
