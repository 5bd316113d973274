"""Choices shown first: chosen in the settings, measured there and on Progress, and what the card is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from pages.parts.one_label import card as one_label_card
from tests.pages.conftest import Open, words
from tests.pages.test_owner_pages import box, button
from tests.workflow.shortlisted import answer_rows, checks_left, shortlist_project, want
from tests.workflow.vector_world import vector_project
from workflow.answering import loop, room
from workflow.seat import Seat
from workflow.server.home import Home


def test_the_promise_is_chosen_in_the_settings(home: Home, owner: int, show: Open) -> None:
    project, truth = shortlist_project(home, owner, None)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[:12], truth)
    test = show(owner, "project_page.py", project=str(project))
    assert "All choices are shown at once." in words(test)
    box(test.text_area, "Guidelines").set_value("Look twice.")
    box(test.selectbox, "Choices shown first").set_value(0.95)
    button(test, "Save the answering room").click().run()
    assert not test.exception
    now = room.room_of(seat)
    assert (now.shortlist, now.guidelines) == (0.95, "Look twice.")
    test = show(owner, "project_page.py", project=str(project))
    assert "7 more blind checks must be answered for 95\u00a0%. Until then all choices are shown." in words(
        test
    )
    box(test.selectbox, "Choices shown first").set_value(0.0)
    button(test, "Save the answering room").click().run()
    assert room.room_of(seat).shortlist is None


def test_label_vectors_have_no_such_setting(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "project_page.py", project=str(vector_project(home, owner)))
    assert "Choices shown first" not in [one.label for one in test.selectbox]


def test_progress_says_what_was_promised_and_what_was_held(home: Home, owner: int, show: Open) -> None:
    project, truth = shortlist_project(home, owner, None)
    seat = Seat(home, owner, project)
    assert "Choices shown first" not in words(show(owner, "progress.py", project=str(project)))
    want(seat, 0.9)
    checks = checks_left(home, owner, project)
    answer_rows(seat, checks[:30], truth, none=checks[:1])
    view = room.shortlists_of(seat)
    assert view is not None
    said = words(show(owner, "progress.py", project=str(project)))
    assert "Choices shown first" in said
    assert f"Promised 90\u00a0%, held in {view.held} of {view.measured} checks" in said
    assert (
        "In 1 of 30 blind checks (3\u00a0%, 0 to 17\u00a0%) the truth was none of the row's choices." in said
    )


@pytest.mark.parametrize("promise", [None, 0.9])
def test_the_card_is_told_how_many_are_shown_first(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch, promise: float | None
) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(one_label_card, "_CARD", lambda data, **_: told.append(data))
    project, truth = shortlist_project(home, owner, promise)
    seat = Seat(home, owner, project)
    answer_rows(seat, checks_left(home, owner, project)[:40], truth)
    with seat.learner() as opened:
        rows = [int(row) for row in opened.learner.pool.train]
    asked = (loop.ask_next(seat, row) for row in rows)
    question = next(one for one in asked if promise is None or one.first is not None)
    show(owner, "annotate.py", project=str(project))
    sent = told[-1]["question"]
    assert sent["first"] == question.first
    assert (sent["first"] is None) == (promise is None)
    assert [one["label"] for one in sent["rows"]] == [one.label for one in question.candidates]
