"""What is said of a press that was refused, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from pages.parts import one_label
from tests.pages.conftest import Open, pressing
from tests.workflow.world import small_project
from workflow.answering import loop
from workflow.answering import press as route
from workflow.projects import standing
from workflow.seat import Seat
from workflow.server.home import Home


def test_a_press_past_the_page_while_it_is_drawn_makes_no_old_question_new(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    real = one_label.question_card

    def pressed_meanwhile(there: Seat, question: Any, *more: Any) -> Any:
        route.press(there, question.token, "skip")
        return real(there, question, *more)

    monkeypatch.setattr(one_label, "question_card", pressed_meanwhile)
    show(owner, "annotate.py", project=str(seat.project_id))
    assert sent[-1]["height"] == standing.standing(seat).height - 1, "it is as old as its question"


def test_a_refusal_is_over_once_later_answers_were_stored(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]]
) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    page = show(owner, "annotate.py", project=str(seat.project_id))
    pressing(page, "pause", token="x")
    assert sent[-1]["saved"]["tone"] == "bad"
    page.run()
    assert sent[-1]["saved"]["tone"] == "bad", "until something else is saved"
    route.press(seat, loop.next_question(seat).token, "skip")  # past the page
    page.run()
    assert sent[-1]["saved"]["tone"] == "good"
